package storetest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// awkward are names that break a store which joins, quotes, folds or pads them.
var awkward = []string{
	"a", "ab", "a.b", "b", "A", "a b", "a+b", "a%20b", "a/b", "a..b", ".", "..", "a#b", "a?b", "'", `"`, "`", `\`, "a;--",
	"é", "e\u0301", "🧊", "日本語", " ", " a", "a ", "a\x01", "a\x01b", "a\x7f", "\u00ff", strings.Repeat("x", 255), strings.Repeat("🧊", 255),
}

func testNames(t *testing.T, s store.Store) {
	for _, name := range awkward {
		makeNamespaces(t, s, ns(name), ns(name, "inner"))
		makeObject(t, s, object(id(name, name), store.Table, "loc of "+name))
	}
	sorted := slices.Sorted(slices.Values(awkward))
	view(t, s, func(tx store.Tx) error {
		roots, err := tx.Children(nil, "", 1000)
		if err != nil {
			return err
		}
		if !slices.Equal(roots, sorted) {
			t.Errorf("the root lists %q, want %q", roots, sorted)
		}
		for _, name := range awkward {
			inner, err := tx.Children(ns(name), "", 1000)
			if err != nil || !slices.Equal(inner, []string{"inner"}) {
				t.Errorf("%q holds %q (%v)", name, inner, err)
			}
			tables, err := tx.Names(ns(name), store.Table, "", 1000)
			if err != nil || !slices.Equal(tables, []string{name}) {
				t.Errorf("%q lists the tables %q (%v)", name, tables, err)
			}
			o, err := tx.Object(id(name, name))
			if err != nil || o.Location != "loc of "+name {
				t.Errorf("%q loads %+v (%v)", name, o, err)
			}
			n, err := tx.Namespace(ns(name))
			if err != nil || !n.Path.Equal(ns(name)) {
				t.Errorf("%q loads %+v (%v)", name, n, err)
			}
		}
		return nil
	})
}

func testNamespaces(t *testing.T, s store.Store) {
	refused(t, s, store.ErrNoNamespace, func(tx store.Tx) error { return tx.CreateNamespace(record(ns("a", "b"), nil)) })
	made := record(ns("a"), map[string]string{"k": "v", "": "empty key", "empty": "", "é": "🧊"})
	made.Owner = "acme"
	update(t, s, func(tx store.Tx) error { return tx.CreateNamespace(made) })
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.CreateNamespace(record(ns("a"), nil)) })
	makeNamespaces(t, s, ns("a", "b"), ns("a", "b", "c"))

	same := func(want store.Namespace) {
		t.Helper()
		var got store.Namespace
		view(t, s, func(tx store.Tx) (err error) {
			got, err = tx.Namespace(want.Path)
			return err
		})
		if !got.Path.Equal(want.Path) || got.ID != want.ID || got.Owner != want.Owner || !maps.Equal(got.Properties, want.Properties) ||
			!got.Created.Equal(want.Created) || !got.Updated.Equal(want.Updated) || got.Properties == nil {
			t.Errorf("read %+v, want %+v", got, want)
		}
	}
	same(made)
	owners := func(tx store.Tx) error {
		got, err := tx.Owners([]string{"x", "a", "b", "a", "\x00"})
		if none, e := tx.Owners(nil); e != nil || len(none) != 0 {
			t.Errorf("the owners of nothing: %v, %v", none, e)
		}
		if err != nil || !maps.Equal(got, map[string]string{"a": "acme"}) {
			t.Errorf("the owners are %v, %v", got, err)
		}
		return err
	}
	view(t, s, owners)
	update(t, s, owners)
	changed := made
	changed.Properties, changed.Updated = map[string]string{"k": "w"}, moment.Add(1000)
	update(t, s, func(tx store.Tx) error { return tx.PutNamespace(changed) })
	same(changed)
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.PutNamespace(record(ns("b"), nil)) })

	refused(t, s, store.ErrNotEmpty, func(tx store.Tx) error { return tx.DropNamespace(ns("a")) })
	refused(t, s, store.ErrNotEmpty, func(tx store.Tx) error { return tx.DropNamespace(ns("a", "b")) })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.DropNamespace(ns("a", "x")) })
	for _, path := range []mounts.Namespace{ns("a", "b", "c"), ns("a", "b"), ns("a")} {
		update(t, s, func(tx store.Tx) error { return tx.DropNamespace(path) })
		refused(t, s, store.ErrNotFound, func(tx store.Tx) error {
			_, err := tx.Namespace(path)
			return err
		})
	}
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error {
		_, err := tx.Namespace(nil)
		return err
	})
}

func testListings(t *testing.T, s store.Store) {
	names := slices.Sorted(slices.Values(awkward))
	makeNamespaces(t, s, ns("p"), ns("p2"), ns("p2", "other"), ns("other"))
	for _, name := range names {
		makeNamespaces(t, s, ns("p", name), ns("p", name, "deeper"))
		makeObject(t, s, object(id(name, "p"), store.Table, "l"))
		makeObject(t, s, object(id(name, "p", name), store.View, "l"))
	}
	makeObject(t, s, object(id("view", "p"), store.View, "l"))
	for size := 1; size <= 7; size++ {
		for what, list := range map[string]func(tx store.Tx, after string) ([]string, error){
			"children": func(tx store.Tx, after string) ([]string, error) { return tx.Children(ns("p"), after, size) },
			"tables":   func(tx store.Tx, after string) ([]string, error) { return tx.Names(ns("p"), store.Table, after, size) },
		} {
			var seen []string
			for after := ""; ; after = seen[len(seen)-1] {
				var page []string
				view(t, s, func(tx store.Tx) (err error) {
					page, err = list(tx, after)
					return err
				})
				if len(page) == 0 {
					break
				}
				if len(page) > size || len(seen) > len(names) {
					t.Fatalf("%s: a page of %d has %d rows, after %d", what, size, len(page), len(seen))
				}
				seen = append(seen, page...)
			}
			if !slices.Equal(seen, names) {
				t.Errorf("%s in pages of %d: %q, want %q", what, size, seen, names)
			}
		}
	}
	view(t, s, func(tx store.Tx) error {
		// A position that is nobody's name is still a position.
		if page, err := tx.Names(ns("p"), store.Table, "a-nobody", 1); err != nil || len(page) != 1 || page[0] <= "a-nobody" {
			t.Errorf("after a name that is not there: %q (%v)", page, err)
		}
		if page, err := tx.Children(ns("nobody"), "", 10); err != nil || len(page) != 0 {
			t.Errorf("a namespace that does not exist has the children %q (%v)", page, err)
		}
		return nil
	})
}
