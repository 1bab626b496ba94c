package storetest

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// RunPortable runs what a store.Portable must do besides; what fresh opens is
// one.
func RunPortable(t *testing.T, fresh func(t *testing.T) Opener) {
	open := func(t *testing.T, opener Opener) store.Portable {
		t.Helper()
		s, err := opener()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // closing twice is allowed
		p, ok := s.(store.Portable)
		if !ok {
			t.Fatalf("%T is no store.Portable", s)
		}
		return p
	}
	for _, part := range []struct {
		name string
		run  func(*testing.T, store.Portable)
	}{
		{"AnEmptyRegistryExportsNothing", testExportNothing},
		{"ExportsHoldEveryRecordInOrder", testExport},
		{"ImportsNeedTheirFence", testImportRefused},
		{"ImportsReplaceWhatIsThere", testImportReplaces},
		{"ClearLeavesTheFenceAlone", testClear},
		{"FencesAreSwapped", testSetFence},
		{"ConcurrentFencesHaveOneWinner", testConcurrentFences},
		{"ASourceIsReadAndNotWritten", testFencedSource},
		{"ADestinationAndAMovedOneAreNeitherReadNorWritten", testFencedDestination},
		{"AFenceStopsRunningWriters", func(t *testing.T, p store.Portable) { testFenceStopsWriters(t, p, p) }},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, open(t, fresh(t))) })
	}
	t.Run("AnImportIsTheSameRegistry", func(t *testing.T) { testImport(t, open(t, fresh(t)), open(t, fresh(t))) })
	t.Run("FencesSurviveAReopen", func(t *testing.T) {
		opener := fresh(t)
		testFenceReopened(t, func() store.Portable { return open(t, opener) })
	})
}

var (
	migration      = uuid.UUID{1, 2, 3}
	otherMigration = uuid.UUID{1, 2, 4}
)

func fence(role store.FenceRole) *store.Fence {
	return &store.Fence{Role: role, Migration: migration, Peer: "the other store", Since: moment}
}

// setFence swaps fences and checks that it did.
func setFence(t *testing.T, p store.Portable, from, to *store.Fence) {
	t.Helper()
	if err := p.SetFence(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	hasFence(t, p, to)
}

func hasFence(t *testing.T, p store.Portable, want *store.Fence) {
	t.Helper()
	got, err := p.CurrentFence(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got != nil {
		got.Since = got.Since.UTC()
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the fence is %+v, want %+v", got, want)
	}
}

// export lists everything in batches of a size, in a comparable form.
func export(t *testing.T, p store.Portable, size int) (all []store.Entry) {
	t.Helper()
	var position []byte
	for {
		entries, next, err := p.Export(t.Context(), position, size)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > size || len(entries) == 0 && next != nil {
			t.Fatalf("a batch of %d has %d records, next is %q", size, len(entries), next)
		}
		for _, entry := range entries {
			all = append(all, comparableEntry(t, entry))
		}
		if next == nil {
			return all
		}
		position = next
	}
}

// comparableEntry drops what may differ between stores: the zone of times, and nil as
// against empty.
func comparableEntry(t *testing.T, e store.Entry) store.Entry {
	t.Helper()
	set := 0
	utc := func(times ...*time.Time) {
		set++
		for _, at := range times {
			*at = at.UTC()
		}
	}
	if e.Namespace != nil {
		n := *e.Namespace
		utc(&n.Created, &n.Updated)
		e.Namespace = &n
	}
	if e.Object != nil {
		o := *e.Object
		utc(&o.Created, &o.Updated)
		e.Object = &o
	}
	if e.Commit != nil {
		c := *e.Commit
		utc(&c.Time)
		e.Commit = &c
	}
	if e.Receipt != nil {
		r := *e.Receipt
		utc(&r.Created, &r.Expires)
		r.Outcome = append([]byte{}, r.Outcome...)
		e.Receipt = &r
	}
	if e.Job != nil {
		set++
		j := plain(*e.Job)
		e.Job = &j
	}
	if set != 1 {
		t.Fatalf("an entry holds %d records", set)
	}
	return e
}

// fill makes a registry with records of every kind and returns them in the order
// of an export.
func fill(t *testing.T, s store.Store) []store.Entry {
	t.Helper()
	var namespaces []store.Namespace
	var objects []store.Object
	var log []store.Commit
	var receipts []store.Receipt
	var jobs []store.Job
	odd := append(slices.Clone(awkward), "\x00", "\x00\x01", "\x00\xff", "\xff", "a\x00", "a\xff", "a\x00b")
	update(t, s, func(tx store.Tx) error {
		// Closures may run again.
		namespaces, objects, log, receipts, jobs = nil, nil, nil, nil, nil
		addNamespace := func(n store.Namespace) error {
			namespaces = append(namespaces, n)
			return tx.CreateNamespace(n)
		}
		addObject := func(path mounts.Namespace, name string, kind store.Kind, location string) error {
			who := by(name)
			who.IdempotencyKey = "key of " + name
			o, err := tx.Create(object(mounts.Identifier{Namespace: path, Name: name}, kind, location), who)
			objects = append(objects, o)
			log = append(log, store.Commit{Object: o.ID, Generation: 1, To: location, By: who})
			return err
		}
		for i, name := range odd {
			n := record(ns(name), map[string]string{"k": name, name: "v"})
			n.Owner = name
			if err := errors.Join(addNamespace(n), addNamespace(record(ns(name, "inner"), map[string]string{})), addNamespace(record(ns(name, "inner", name), map[string]string{}))); err != nil {
				return err
			}
			kind := store.Table
			if i%3 == 0 {
				kind = store.View
			}
			if err := errors.Join(addObject(ns(name, "inner"), name, kind, "l\xff"+name), addObject(ns("a"), name, kind, "m"+name)); err != nil {
				return err
			}
			r := receipt(byte(200-i), name, time.Duration(i-5)*time.Hour)
			j := job(1000 - i)
			j.Ident, j.State, j.Lease = id(name, name, "x"), store.JobState(i%4+1), name
			receipts, jobs = append(receipts, r), append(jobs, j)
			if err := errors.Join(tx.PutReceipt(r, moment), tx.CreateJob(j)); err != nil {
				return err
			}
		}
		// An object with a history, and the log of one that is gone.
		for i := range objects[:4] {
			o, err := tx.Swap(objects[i].Identifier(), objects[i].Location, "swapped", by("swapper"))
			if err != nil {
				return err
			}
			log = append(log, store.Commit{Object: o.ID, Generation: 2, From: objects[i].Location, To: "swapped", By: by("swapper")})
			objects[i] = o
		}
		gone := objects[2]
		objects = slices.Delete(objects, 2, 3)
		log = append(log, store.Commit{Object: gone.ID, Generation: 3, From: "swapped", By: by("dropper")})
		return second(tx.Drop(gone.Identifier(), by("dropper")))
	})

	levels := func(a, b mounts.Namespace) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare(a, b)
	}
	var want []store.Entry
	slices.SortFunc(namespaces, func(a, b store.Namespace) int { return levels(a.Path, b.Path) })
	for _, n := range namespaces {
		want = append(want, store.Entry{Namespace: &n})
	}
	slices.SortFunc(objects, func(a, b store.Object) int {
		if c := levels(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, o := range objects {
		want = append(want, store.Entry{Object: &o})
	}
	slices.SortFunc(log, func(a, b store.Commit) int {
		if c := slices.Compare(a.Object[:], b.Object[:]); c != 0 {
			return c
		}
		return cmp.Compare(a.Generation, b.Generation)
	})
	for _, c := range log {
		want = append(want, store.Entry{Commit: &c})
	}
	slices.SortFunc(receipts, func(a, b store.Receipt) int { return slices.Compare(a.Key[:], b.Key[:]) })
	for _, r := range receipts {
		want = append(want, store.Entry{Receipt: &r})
	}
	slices.SortFunc(jobs, func(a, b store.Job) int { return slices.Compare(a.ID[:], b.ID[:]) })
	for _, j := range jobs {
		want = append(want, store.Entry{Job: &j})
	}
	for i := range want {
		want[i] = comparableEntry(t, want[i])
	}
	return want
}

// sameEntries compares exports and names the first difference.
func sameEntries(t *testing.T, what string, got, want []store.Entry) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: record %d is %s, want %s", what, i, spell(got[i]), spell(want[i]))
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d records, want %d", what, len(got), len(want))
	}
}

func counts(t *testing.T, p store.Portable) store.Counts {
	t.Helper()
	c, err := p.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func countEntries(entries []store.Entry) (c store.Counts) {
	for _, e := range entries {
		switch {
		case e.Namespace != nil:
			c.Namespaces++
		case e.Object != nil:
			c.Objects++
		case e.Commit != nil:
			c.Commits++
		case e.Receipt != nil:
			c.Receipts++
		case e.Job != nil:
			c.Jobs++
		}
	}
	return c
}
