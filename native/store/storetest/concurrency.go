package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/icefield/icefield/native/store"
)

// testConcurrentSwaps lets writers race for one pointer with read, then swap in
// another transaction: the log must be one unbroken chain of what was
// acknowledged.
func testConcurrentSwaps(t *testing.T, s store.Store) {
	const writers, each = 8, 25
	makeNamespaces(t, s, ns("a"))
	made := makeObject(t, s, object(id("t", "a"), store.Table, "start"))
	var group sync.WaitGroup
	var lost atomic.Int64
	for w := range writers {
		group.Go(func() {
			for i := range each {
				for {
					var read store.Object
					if err := s.View(context.Background(), func(tx store.Tx) (err error) {
						read, err = tx.Object(id("t", "a"))
						return err
					}); err != nil {
						t.Error(err)
						return
					}
					err := s.Update(context.Background(), func(tx store.Tx) error {
						return second(tx.Swap(id("t", "a"), read.Location, fmt.Sprintf("w%d-%d", w, i), by(fmt.Sprint("w", w))))
					})
					if err == nil {
						break
					}
					if !errors.Is(err, store.ErrMoved) {
						t.Error(err)
						return
					}
					lost.Add(1)
				}
			}
		})
	}
	group.Wait()
	log := commits(t, s, made.ID)
	if len(log) != writers*each+1 {
		t.Fatalf("%d swaps were acknowledged and %d rows logged", writers*each, len(log)-1)
	}
	seen := map[string]bool{}
	for i, c := range log {
		if i > 0 && c.From != log[i-1].To || c.Generation != uint64(i+1) || seen[c.To] {
			t.Errorf("row %d breaks the chain: %+v", i, c)
		}
		seen[c.To] = true
	}
	if got := load(t, s, id("t", "a")); got.Location != log[len(log)-1].To || got.Generation != uint64(len(log)) {
		t.Errorf("the pointer is %+v, the log ends with %+v", got, log[len(log)-1])
	}
	t.Logf("%d swaps won, %d lost", writers*each, lost.Load())
}

func testConcurrentCreates(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	for round := range 10 {
		var group sync.WaitGroup
		var won atomic.Int64
		for range 8 {
			group.Go(func() {
				err := s.Update(context.Background(), func(tx store.Tx) error {
					return second(tx.Create(object(id(fmt.Sprint("t", round), "a"), store.Table, "l"), by("x")))
				})
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, store.ErrExists):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			t.Errorf("round %d had %d winners", round, won.Load())
		}
	}
}

// testFailuresBeside mixes closures that succeed, that fail before and after
// writing, and that panic: each must have exactly its own fate.
func testFailuresBeside(t *testing.T, s store.Store) {
	const writers = 60
	var group sync.WaitGroup
	name := func(i int) string { return fmt.Sprintf("n%03d", i) }
	for i := range writers {
		group.Go(func() {
			err := s.Update(context.Background(), func(tx store.Tx) error {
				if i%5 == 1 {
					return errOwn
				}
				if err := tx.CreateNamespace(record(ns(name(i)), nil)); err != nil {
					return err
				}
				switch i % 5 {
				case 2:
					return errOwn
				case 3:
					panic("a fault of the closure")
				}
				return nil
			})
			switch i % 5 {
			case 0, 4:
				if err != nil {
					t.Errorf("writer %d failed with its neighbours: %v", i, err)
				}
			case 1, 2:
				if !errors.Is(err, errOwn) {
					t.Errorf("writer %d: %v", i, err)
				}
			case 3:
				if err == nil {
					t.Errorf("writer %d panicked and succeeded", i)
				}
			}
		})
	}
	group.Wait()
	var left []string
	view(t, s, func(tx store.Tx) (err error) {
		left, err = tx.Children(nil, "", 1000)
		return err
	})
	if len(left) != writers*2/5 {
		t.Errorf("%d namespaces are left, want %d: %q", len(left), writers*2/5, left)
	}
}
