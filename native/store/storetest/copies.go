package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// spell writes a record out for a message.
func spell(e store.Entry) string {
	switch {
	case e.Namespace != nil:
		return fmt.Sprintf("namespace %+v", *e.Namespace)
	case e.Object != nil:
		return fmt.Sprintf("object %+v", *e.Object)
	case e.Commit != nil:
		return fmt.Sprintf("commit %+v", *e.Commit)
	case e.Receipt != nil:
		return fmt.Sprintf("receipt %+v", *e.Receipt)
	case e.Job != nil:
		return fmt.Sprintf("job %+v", *e.Job)
	}
	return "nothing"
}

func testExportNothing(t *testing.T, p store.Portable) {
	if got := export(t, p, 10); len(got) != 0 {
		t.Errorf("an empty registry holds %v", got)
	}
	if c := counts(t, p); c.Total() != 0 {
		t.Errorf("an empty registry counts %+v", c)
	}
	if _, _, err := p.Export(t.Context(), []byte("\xffno position"), 10); err == nil {
		t.Error("what is no position was taken for one")
	}
}

func testExport(t *testing.T, p store.Portable) {
	want := fill(t, p)
	for _, size := range []int{1, 2, 7, 100, len(want) - 1, len(want), len(want) + 1} {
		sameEntries(t, fmt.Sprintf("in batches of %d", size), export(t, p, size), want)
	}
	if got, want := counts(t, p), countEntries(want); got != want {
		t.Errorf("the counts are %+v, want %+v", got, want)
	}
	// Large records make no huge batch: the suite only wants them whole.
	update(t, p, func(tx store.Tx) error {
		for i := range 20 {
			if err := tx.PutReceipt(receipt(byte(230+i), string(make([]byte, store.MaxOutcome)), time.Hour), moment); err != nil {
				return err
			}
		}
		return nil
	})
	if got := countEntries(export(t, p, 1000)); got != counts(t, p) {
		t.Errorf("with large records the export has %+v, the registry %+v", got, counts(t, p))
	}
	// A fence is no record.
	setFence(t, p, nil, fence(store.FenceDestination))
	if got := countEntries(export(t, p, 1000)); got != counts(t, p) || got.Receipts < 20 {
		t.Errorf("fenced, the export has %+v, the registry %+v", got, counts(t, p))
	}
}

// importAll imports entries in batches of a size.
func importAll(t *testing.T, p store.Portable, entries []store.Entry, size int) {
	t.Helper()
	for part := range slices.Chunk(entries, size) {
		if err := p.Import(t.Context(), migration, part); err != nil {
			t.Fatal(err)
		}
	}
}

func testImport(t *testing.T, from, to store.Portable) {
	want := fill(t, from)
	setFence(t, from, nil, fence(store.FenceSource))
	setFence(t, to, nil, fence(store.FenceDestination))
	importAll(t, to, export(t, from, 50), 50)
	sameEntries(t, "imported", export(t, to, 33), want)
	// As after an interruption: some of it again, then all of it.
	importAll(t, to, want[len(want)/3:len(want)/2], 7)
	importAll(t, to, want, 1000)
	sameEntries(t, "imported again", export(t, to, 1000), want)
	if got := counts(t, to); got != counts(t, from) {
		t.Errorf("the counts are %+v and %+v", got, counts(t, from))
	}
	hasFence(t, to, fence(store.FenceDestination))
	setFence(t, to, fence(store.FenceDestination), nil)
	setFence(t, from, fence(store.FenceSource), nil)
	sameAnswers(t, from, to)
	// The copy goes on as the original would: with a swap, a receipt and a job.
	for _, s := range []store.Store{from, to} {
		o := load(t, s, id("é", "a"))
		update(t, s, func(tx store.Tx) error { return second(tx.Swap(o.Identifier(), o.Location, "next", by("x"))) })
		if log := commits(t, s, o.ID); log[len(log)-1].Generation != o.Generation+1 || log[len(log)-1].To != "next" {
			t.Errorf("the log goes on with %+v", log)
		}
		refused(t, s, store.ErrNotEmpty, func(tx store.Tx) error { return tx.DropNamespace(ns("a")) })
		refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.CreateNamespace(record(ns("a"), nil)) })
		update(t, s, func(tx store.Tx) error { return second(tx.PruneReceipts(moment, 1000)) })
		update(t, s, func(tx store.Tx) error { return second(tx.PruneJobs(moment.Add(time.Hour), 1000)) })
	}
	sameAnswers(t, from, to)
	if got := counts(t, to); got != counts(t, from) {
		t.Errorf("later the counts are %+v and %+v", got, counts(t, from))
	}
}

// sameAnswers asks two registries what an index answers.
func sameAnswers(t *testing.T, a, b store.Store) {
	t.Helper()
	ask := func(s store.Store) string {
		var said string
		view(t, s, func(tx store.Tx) error {
			held, err1 := tx.Holders("", 1000)
			roots, err2 := tx.Children(nil, "", 1000)
			tables, err3 := tx.Names(ns("a"), store.Table, "", 1000)
			views, err4 := tx.Names(ns("a"), store.View, "", 1000)
			jobs, err5 := tx.Jobs(uuid.Nil, 1000)
			due, err6 := tx.DueJob(moment)
			if errors.Is(err6, store.ErrNotFound) {
				err6 = nil
			}
			said = fmt.Sprintf("%q %q %q %d jobs, due %v; held:", roots, tables, views, len(jobs), due.ID)
			for _, o := range held {
				said += fmt.Sprintf("\n%q by %v", o.Location, o.ID)
			}
			return errors.Join(err1, err2, err3, err4, err5, err6)
		})
		return said
	}
	if one, two := ask(a), ask(b); one != two {
		t.Errorf("the original answers %s\nthe copy %s", one, two)
	}
}

func testImportRefused(t *testing.T, p store.Portable) {
	entry := []store.Entry{{Namespace: &store.Namespace{Path: ns("a"), ID: uuid.New(), Properties: map[string]string{}, Created: moment, Updated: moment}}}
	refuse := func(what string) {
		t.Helper()
		if err := p.Import(t.Context(), migration, entry); !errors.Is(err, store.ErrNotDestination) {
			t.Errorf("an import into %s: %v", what, err)
		}
		if err := p.Clear(t.Context(), migration); !errors.Is(err, store.ErrNotDestination) {
			t.Errorf("clearing %s: %v", what, err)
		}
	}
	makeNamespaces(t, p, ns("mine"))
	before := export(t, p, 10)
	refuse("an open registry")
	source := fence(store.FenceSource)
	setFence(t, p, nil, source)
	refuse("a source")
	other := fence(store.FenceDestination)
	other.Migration = otherMigration
	setFence(t, p, source, other)
	refuse("the destination of another migration")
	sameEntries(t, "after refused imports", export(t, p, 10), before)
	setFence(t, p, other, fence(store.FenceDestination))
	// What hangs in nothing is refused, with all of its batch.
	o := object(id("t", "b"), store.Table, "l")
	o.Generation, o.Created, o.Updated = 1, moment, moment
	inner := record(ns("b", "c"), map[string]string{})
	for _, stray := range []store.Entry{{Object: &o}, {Namespace: &inner}} {
		if err := p.Import(t.Context(), migration, append(slices.Clone(entry), stray)); !errors.Is(err, store.ErrNoNamespace) {
			t.Errorf("a record without its namespace: %v", err)
		}
	}
	sameEntries(t, "after refused batches", export(t, p, 10), before)
	if err := p.Import(t.Context(), migration, []store.Entry{{}}); err == nil {
		t.Error("an entry without a record was taken")
	}
	if err := p.Import(t.Context(), migration, nil); err != nil {
		t.Errorf("a batch of none: %v", err)
	}
}

// testImportReplaces imports records over others of their identity, whose index
// entries must not stay.
func testImportReplaces(t *testing.T, p store.Portable) {
	makeNamespaces(t, p, ns("a"))
	o := makeObject(t, p, object(id("t", "a"), store.Table, "l1"))
	r, j := receipt(1, "old", time.Hour), job(1)
	update(t, p, func(tx store.Tx) error { return errors.Join(tx.PutReceipt(r, moment), tx.CreateJob(j)) })
	var n store.Namespace
	view(t, p, func(tx store.Tx) (err error) {
		n, err = tx.Namespace(ns("a"))
		return err
	})
	n.Owner, n.Properties = "other", map[string]string{"k": "v"}
	o.Location, o.Previous, o.Generation, o.Updated = "l2", "l1", 2, moment.Add(1000)
	o.Kind = store.View
	r.Outcome, r.Expires = []byte("new"), moment.Add(3*time.Hour)
	j.State, j.Updated = store.JobDone, moment.Add(time.Hour)
	c := store.Commit{Object: o.ID, Generation: 1, To: "elsewhere", By: by("new")}
	want := []store.Entry{{Namespace: &n}, {Object: &o}, {Commit: &c}, {Receipt: &r}, {Job: &j}}
	for i := range want {
		want[i] = comparableEntry(t, want[i])
	}
	setFence(t, p, nil, fence(store.FenceDestination))
	importAll(t, p, want, 10)
	sameEntries(t, "replaced", export(t, p, 10), want)
	setFence(t, p, fence(store.FenceDestination), nil)
	if got := holders(t, p, "", 10); !slices.Equal(got, []string{"t l2"}) {
		t.Errorf("the pointers are held by %q", got)
	}
	if got := due(t, p, moment.Add(9*time.Hour)); got != -1 {
		t.Errorf("the finished job %d is due", got)
	}
	if n := pruneReceipts(t, p, moment.Add(2*time.Hour), 10); n != 0 {
		t.Errorf("%d receipts were pruned by an expiry that was replaced", n)
	}
	update(t, p, func(tx store.Tx) error {
		if n, err := tx.PruneJobs(moment.Add(time.Minute), 10); n != 0 || err != nil {
			t.Errorf("%d jobs were pruned by a time that was replaced (%v)", n, err)
		}
		return nil
	})
}

func testClear(t *testing.T, p store.Portable) {
	all := fill(t, p)
	f := fence(store.FenceDestination)
	setFence(t, p, nil, f)
	if err := p.Clear(t.Context(), migration); err != nil {
		t.Fatal(err)
	}
	hasFence(t, p, f)
	if got, c := export(t, p, 10), counts(t, p); len(got) != 0 || c.Total() != 0 {
		t.Errorf("a cleared registry holds %d records and counts %+v", len(got), c)
	}
	importAll(t, p, all[:len(all)/2], 100)
	if err := p.Clear(t.Context(), migration); err != nil {
		t.Fatal(err)
	}
	setFence(t, p, f, nil)
	if got := holders(t, p, "", 10); len(got) != 0 {
		t.Errorf("a cleared registry's pointers are held by %q", got)
	}
	if got := due(t, p, moment.Add(time.Hour)); got != -1 {
		t.Errorf("job %d of a cleared registry is due", got)
	}
	makeNamespaces(t, p, ns("a"))
}
