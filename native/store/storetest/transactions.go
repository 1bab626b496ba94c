package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

var errOwn = errors.New("the closure's own error")

func testRollback(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	o := makeObject(t, s, object(id("t", "a"), store.Table, "l1"))
	refused(t, s, errOwn, func(tx store.Tx) error {
		for _, err := range []error{
			tx.CreateNamespace(record(ns("b"), nil)),
			second(tx.Swap(id("t", "a"), "l1", "l2", by("x"))),
			second(tx.Create(object(id("u", "b"), store.Table, "l"), by("x"))),
			tx.Rename(id("t", "a"), id("v", "b"), by("x")),
		} {
			if err != nil {
				return err
			}
		}
		// Inside the transaction its own writes are seen.
		if got, err := tx.Object(id("v", "b")); err != nil || got.Location != "l2" {
			return fmt.Errorf("inside the transaction: %+v, %w", got, err)
		}
		return errOwn
	})
	if got := load(t, s, id("t", "a")); got.Location != "l1" || got.Generation != 1 {
		t.Errorf("a failed transaction left %+v", got)
	}
	view(t, s, func(tx store.Tx) error {
		if roots, _ := tx.Children(nil, "", 10); len(roots) != 1 {
			t.Errorf("a failed transaction left the namespaces %q", roots)
		}
		return nil
	})
	if log := commits(t, s, o.ID); len(log) != 1 {
		t.Errorf("a failed transaction left the log %+v", log)
	}
}

func second[A any](_ A, err error) error { return err }

func testPanic(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	for _, dirty := range []bool{false, true} {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			if dirty {
				if err := tx.CreateNamespace(record(ns("b"), nil)); err != nil {
					return err
				}
			}
			panic("a fault of the closure")
		})
		if err == nil || !strings.Contains(err.Error(), "a fault of the closure") || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("a panic became %v", err)
		}
	}
	makeNamespaces(t, s, ns("b"))
}

func testView(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	for what, f := range map[string]func(store.Tx) error{
		"create namespace": func(tx store.Tx) error { return tx.CreateNamespace(record(ns("b"), nil)) },
		"put namespace":    func(tx store.Tx) error { return tx.PutNamespace(record(ns("a"), nil)) },
		"drop namespace":   func(tx store.Tx) error { return tx.DropNamespace(ns("a")) },
		"create":           func(tx store.Tx) error { return second(tx.Create(object(id("t", "a"), store.Table, "l"), by("x"))) },
		"put receipt":      put(receipt(1, "", 0), moment),
		"create job":       create(job(1)),
	} {
		if err := s.View(context.Background(), f); err == nil {
			t.Errorf("%s was done in a View", what)
		}
	}
	if err := s.View(context.Background(), func(store.Tx) error { return errOwn }); !errors.Is(err, errOwn) {
		t.Errorf("the closure's error became %v", err)
	}
}

func testContext(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ran := false
	for what, run := range map[string]func(context.Context, func(store.Tx) error) error{"View": s.View, "Update": s.Update} {
		err := run(ctx, func(store.Tx) error { ran = true; return nil })
		if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrOutcomeUnknown) || ran {
			t.Errorf("%s with an ended context: %v (ran: %v)", what, err, ran)
		}
	}
}

func testClose(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	var writers sync.WaitGroup
	results := make([]error, 32)
	for i := range results {
		writers.Go(func() {
			results[i] = s.Update(context.Background(), func(tx store.Tx) error {
				return tx.CreateNamespace(record(ns(fmt.Sprint("n", i)), nil))
			})
		})
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	writers.Wait()
	for i, err := range results {
		if err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("writer %d beside a close: %v", i, err)
		}
	}
	nothing := func(store.Tx) error { return nil }
	if err := s.Update(context.Background(), nothing); !errors.Is(err, store.ErrClosed) {
		t.Errorf("an Update after the close: %v", err)
	}
	if err := s.View(context.Background(), nothing); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a View after the close: %v", err)
	}
}

func testReopen(t *testing.T, open Opener) {
	var want []mounts.Identifier
	for round := range 3 {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		for i, ident := range want {
			if got := load(t, s, ident); got.Location != fmt.Sprint("loc", i) {
				t.Errorf("round %d: %v came back as %+v", round, ident, got)
			}
		}
		path := ns(fmt.Sprint("n", round))
		makeNamespaces(t, s, path)
		for i := range 20 {
			ident := mounts.Identifier{Namespace: path, Name: fmt.Sprint("t", i)}
			makeObject(t, s, object(ident, store.Table, fmt.Sprint("loc", len(want))))
			want = append(want, ident)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
