package migrate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
)

var moment = time.Date(2026, 3, 4, 5, 6, 7, 891_000, time.UTC)

var names = Options{From: "store://from", To: "store://to", Batch: 4, wait: time.Microsecond}

func open(t testing.TB) store.Portable {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// fill makes a registry of about n tables and views, with receipts, jobs, and
// the logs of some that are gone.
func fill(t testing.TB, s store.Store, n int) {
	t.Helper()
	who := store.By{Time: moment, Principal: "ann\x00", RequestID: "r\xff", IdempotencyKey: "k"}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for i := range n {
			path := mounts.Namespace{fmt.Sprintf("ns\x00%03d", i/100), "inner"}
			if i%100 == 0 {
				for _, p := range []mounts.Namespace{path[:1], path} {
					if err := tx.CreateNamespace(store.Namespace{Path: p, ID: uuid.New(), Owner: "acme", Properties: map[string]string{"b": "1", "a": ""}, Created: moment, Updated: moment}); err != nil {
						return err
					}
				}
			}
			ident := mounts.Identifier{Namespace: path, Name: fmt.Sprintf("t%05d", i)}
			o, err := tx.Create(store.Object{Namespace: path, Name: ident.Name, Kind: store.Kind(i%3/2 + 1), ID: uuid.New(), Location: fmt.Sprint("l", i)}, who)
			if err != nil {
				return err
			}
			var id [32]byte
			id[0], id[1] = byte(i>>8), byte(i)
			switch i % 5 {
			case 0:
				_, err = tx.Swap(ident, o.Location, "swapped", who)
			case 1:
				_, err = tx.Drop(ident, who)
			case 2:
				err = tx.PutReceipt(store.Receipt{Key: id, Fingerprint: id, Outcome: []byte(ident.Name), Created: moment, Expires: moment.Add(time.Hour)}, moment)
			case 3:
				err = tx.CreateJob(store.Job{ID: uuid.UUID(id[:16]), Kind: "purge", Object: o.ID, Ident: ident, ObjectKind: store.Table, State: store.JobState(i%4 + 1), Created: moment, Updated: moment, By: who})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// contents is a digest of everything in a registry.
func contents(t testing.TB, s store.Portable) *digest {
	t.Helper()
	d := newDigest()
	for position := []byte(nil); ; {
		batch, next, err := s.Export(context.Background(), position, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			d.add(e)
		}
		if next == nil {
			return d
		}
		position = next
	}
}

func roleOf(t testing.TB, s store.Portable) store.FenceRole {
	t.Helper()
	f, err := s.CurrentFence(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		return 0
	}
	return f.Role
}

// complete checks that the move is done: the destination is open and has what
// the source has, which is closed.
func complete(t testing.TB, from, to store.Portable, result Result) {
	t.Helper()
	if a, b := roleOf(t, from), roleOf(t, to); a != store.FenceMoved || b != 0 {
		t.Errorf("at the end the fences are %d and %d", a, b)
	}
	one, other := contents(t, from), contents(t, to)
	if one.total() != other.total() || one.counts != other.counts || result.Digest != one.total() || result.Counts != one.counts {
		t.Errorf("the source has %+v, the copy %+v, the result says %+v", one.counts, other.counts, result)
	}
	if err := to.Update(t.Context(), func(store.Tx) error { return nil }); err != nil {
		t.Errorf("the copy cannot be used: %v", err)
	}
	if err := from.Update(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the original can be used: %v", err)
	}
}

// fault stands before a store and fails some of its calls.
type fault struct {
	store.Portable
	// fail is asked before and after each call; an error of before means that it
	// is not done.
	fail func(call string, after bool) error
}

func (f *fault) around(call string, do func() error) error {
	if err := f.fail(call, false); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return f.fail(call, true)
}

func (f *fault) CurrentFence(ctx context.Context) (fence *store.Fence, err error) {
	err = f.around("CurrentFence", func() error { fence, err = f.Portable.CurrentFence(ctx); return err })
	return fence, err
}

func (f *fault) SetFence(ctx context.Context, from, to *store.Fence) error {
	return f.around("SetFence", func() error { return f.Portable.SetFence(ctx, from, to) })
}

func (f *fault) Export(ctx context.Context, after []byte, limit int) (entries []store.Entry, next []byte, err error) {
	err = f.around("Export", func() error { entries, next, err = f.Portable.Export(ctx, after, limit); return err })
	return entries, next, err
}

func (f *fault) Import(ctx context.Context, id uuid.UUID, entries []store.Entry) error {
	return f.around("Import", func() error { return f.Portable.Import(ctx, id, entries) })
}

func (f *fault) Clear(ctx context.Context, id uuid.UUID) error {
	return f.around("Clear", func() error { return f.Portable.Clear(ctx, id) })
}

func (f *fault) Counts(ctx context.Context) (c store.Counts, err error) {
	err = f.around("Counts", func() error { c, err = f.Portable.Counts(ctx); return err })
	return c, err
}
