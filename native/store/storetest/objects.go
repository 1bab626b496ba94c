package storetest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

func testSharedNames(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	makeObject(t, s, object(id("t", "a"), store.Table, "lt"))
	makeObject(t, s, object(id("v", "a"), store.View, "lv"))
	for _, name := range []string{"t", "v"} {
		for _, kind := range []store.Kind{store.Table, store.View} {
			refused(t, s, store.ErrExists, func(tx store.Tx) error {
				_, err := tx.Create(object(id(name, "a"), kind, "l"), by("second"))
				return err
			})
		}
	}
	if o := load(t, s, id("v", "a")); o.Kind != store.View || o.Location != "lv" {
		t.Errorf("the view is %+v", o)
	}
	for kind, want := range map[store.Kind]string{store.Table: "t", store.View: "v"} {
		view(t, s, func(tx store.Tx) error {
			names, err := tx.Names(ns("a"), kind, "", 10)
			if len(names) != 1 || names[0] != want {
				t.Errorf("the %ss are %q", kind, names)
			}
			return err
		})
	}
}

func testObjectsInNamespaces(t *testing.T, s store.Store) {
	refused(t, s, store.ErrNoNamespace, func(tx store.Tx) error {
		_, err := tx.Create(object(id("t", "a"), store.Table, "l"), by("x"))
		return err
	})
	refused(t, s, store.ErrNoNamespace, func(tx store.Tx) error {
		_, err := tx.Create(object(id("t"), store.Table, "l"), by("x"))
		return err
	})
	makeNamespaces(t, s, ns("a"), ns("b"))
	for _, kind := range []store.Kind{store.Table, store.View} {
		made := makeObject(t, s, object(id("o", "a"), kind, "l"))
		refused(t, s, store.ErrNotEmpty, func(tx store.Tx) error { return tx.DropNamespace(ns("a")) })
		update(t, s, func(tx store.Tx) error {
			dropped, err := tx.Drop(id("o", "a"), by("dropper"))
			if dropped.ID != made.ID || dropped.Location != "l" {
				t.Errorf("dropped %+v, made %+v", dropped, made)
			}
			return err
		})
		for what, f := range map[string]func(store.Tx) error{
			"object": func(tx store.Tx) error { _, err := tx.Object(id("o", "a")); return err },
			"drop":   func(tx store.Tx) error { _, err := tx.Drop(id("o", "a"), by("x")); return err },
			"swap":   func(tx store.Tx) error { _, err := tx.Swap(id("o", "a"), "l", "m", by("x")); return err },
			"rename": func(tx store.Tx) error { return tx.Rename(id("o", "a"), id("p", "b"), by("x")) },
		} {
			t.Log(what)
			refused(t, s, store.ErrNotFound, f)
		}
		log := commits(t, s, made.ID)
		if len(log) != 2 || log[1].From != "l" || log[1].To != "" || log[1].Generation != 2 || log[1].Principal != "dropper" {
			t.Errorf("the log of a dropped %s is %+v", kind, log)
		}
	}
	update(t, s, func(tx store.Tx) error { return tx.DropNamespace(ns("a")) })
}

func testSwap(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	made := makeObject(t, s, object(id("t", "a"), store.Table, "l1"))
	if made.Generation != 1 || made.Previous != "" || made.Location != "l1" || !made.Created.Equal(moment) || !made.Updated.Equal(moment) {
		t.Errorf("created as %+v", made)
	}
	later := by("ann")
	later.Time = moment.Add(5_000)
	var swapped store.Object
	update(t, s, func(tx store.Tx) (err error) {
		swapped, err = tx.Swap(id("t", "a"), "l1", "l2", later)
		return err
	})
	if got := load(t, s, id("t", "a")); got.Location != "l2" || got.Previous != "l1" || got.Generation != 2 || got.ID != made.ID ||
		!got.Created.Equal(moment) || !got.Updated.Equal(later.Time) || got.Generation != swapped.Generation || got.Name != "t" || got.Kind != store.Table {
		t.Errorf("after the swap %+v, answered %+v", got, swapped)
	}
	for _, stale := range []string{"l1", "", "l3"} {
		refused(t, s, store.ErrMoved, func(tx store.Tx) error {
			_, err := tx.Swap(id("t", "a"), stale, "l9", by("bob"))
			return err
		})
	}
	log := commits(t, s, made.ID)
	want := []store.Commit{
		{Object: made.ID, Generation: 1, From: "", To: "l1", By: by("maker")},
		{Object: made.ID, Generation: 2, From: "l1", To: "l2", By: later},
	}
	if len(log) != 2 || !sameCommit(log[0], want[0]) || !sameCommit(log[1], want[1]) {
		t.Errorf("the log is %+v, want %+v", log, want)
	}
	view(t, s, func(tx store.Tx) error {
		if page, err := tx.Commits(made.ID, 1, 10); err != nil || len(page) != 1 || page[0].Generation != 2 {
			t.Errorf("the log after 1 is %+v (%v)", page, err)
		}
		if page, err := tx.Commits(made.ID, 0, 1); err != nil || len(page) != 1 || page[0].Generation != 1 {
			t.Errorf("one row of the log is %+v (%v)", page, err)
		}
		if page, err := tx.Commits(uuid.New(), 0, 10); err != nil || len(page) != 0 {
			t.Errorf("the log of nobody is %+v (%v)", page, err)
		}
		return nil
	})
}

func sameCommit(a, b store.Commit) bool {
	return a.Object == b.Object && a.Generation == b.Generation && a.From == b.From && a.To == b.To &&
		a.Time.Equal(b.Time) && a.Principal == b.Principal && a.RequestID == b.RequestID && a.IdempotencyKey == b.IdempotencyKey
}

func testRename(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"), ns("b"))
	made := makeObject(t, s, object(id("t", "a"), store.Table, "l"))
	makeObject(t, s, object(id("taken", "b"), store.View, "lv"))
	refused(t, s, store.ErrNoNamespace, func(tx store.Tx) error { return tx.Rename(id("t", "a"), id("t", "c"), by("x")) })
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.Rename(id("t", "a"), id("taken", "b"), by("x")) })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.Rename(id("nobody", "a"), id("u", "b"), by("x")) })
	update(t, s, func(tx store.Tx) error { return tx.Rename(id("t", "a"), id("u", "b"), by("x")) })
	if got := load(t, s, id("u", "b")); got.ID != made.ID || got.Location != "l" || got.Generation != 1 || got.Name != "u" || !got.Namespace.Equal(ns("b")) {
		t.Errorf("renamed to %+v", got)
	}
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error {
		_, err := tx.Object(id("t", "a"))
		return err
	})
	update(t, s, func(tx store.Tx) error { return tx.DropNamespace(ns("a")) })
	makeNamespaces(t, s, ns("a"))
	makeObject(t, s, object(id("t", "a"), store.Table, "l2"))
	if log := commits(t, s, made.ID); len(log) != 1 || log[0].To != "l" {
		t.Errorf("whoever took the old name wrote into the log of the renamed one: %+v", log)
	}
}
