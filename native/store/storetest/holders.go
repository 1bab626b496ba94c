package storetest

import (
	"slices"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// holders lists who holds pointers that begin so, as name and pointer.
func holders(t *testing.T, s store.Store, prefix string, limit int) (got []string) {
	t.Helper()
	view(t, s, func(tx store.Tx) error {
		held, err := tx.Holders(prefix, limit)
		for _, o := range held {
			// What is found is the whole record.
			if same, err := tx.Object(o.Identifier()); err != nil || same.ID != o.ID || same.Location != o.Location || same.Kind != o.Kind ||
				same.Generation != o.Generation || same.Previous != o.Previous || !same.Created.Equal(o.Created) || !same.Updated.Equal(o.Updated) {
				t.Errorf("the holder %+v is %+v (%v)", o, same, err)
			}
			got = append(got, o.Name+" "+o.Location)
		}
		return err
	})
	return got
}

func testHolders(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"), ns("b"))
	expect := func(prefix string, want ...string) {
		t.Helper()
		if got := holders(t, s, prefix, 100); !slices.Equal(got, want) {
			t.Errorf("pointers that begin with %q are held by %q, want %q", prefix, got, want)
		}
	}
	expect("")
	makeObject(t, s, object(id("t", "a"), store.Table, "s3://w/t/1"))
	makeObject(t, s, object(id("v", "b"), store.View, "s3://w/t/2"))
	makeObject(t, s, object(id("u", "a"), store.Table, "s3://w/u/1"))
	expect("s3://w/t/", "t s3://w/t/1", "v s3://w/t/2")
	expect("s3://w/t/1", "t s3://w/t/1")
	expect("s3://w/t/11")
	expect("s3a://w/t/")
	expect("S3://w/t/")
	expect("", "t s3://w/t/1", "v s3://w/t/2", "u s3://w/u/1")

	// A swap moves the entry, in the transaction that makes it.
	refused(t, s, errOwn, func(tx store.Tx) error {
		if err := second(tx.Swap(id("t", "a"), "s3://w/t/1", "s3://w/t/3", by("x"))); err != nil {
			return err
		}
		if held, err := tx.Holders("s3://w/t/3", 10); err != nil || len(held) != 1 || held[0].Generation != 2 {
			t.Errorf("inside the transaction: %+v (%v)", held, err)
		}
		if held, err := tx.Holders("s3://w/t/1", 10); err != nil || len(held) != 0 {
			t.Errorf("inside the transaction the old pointer is held by %+v (%v)", held, err)
		}
		return errOwn
	})
	expect("s3://w/t/", "t s3://w/t/1", "v s3://w/t/2")
	update(t, s, func(tx store.Tx) error {
		return second(tx.Swap(id("t", "a"), "s3://w/t/1", "s3://w/t/3", by("x")))
	})
	expect("s3://w/t/", "v s3://w/t/2", "t s3://w/t/3")
	// To the same place, as a roll back and forth does.
	update(t, s, func(tx store.Tx) error {
		return second(tx.Swap(id("t", "a"), "s3://w/t/3", "s3://w/t/3", by("x")))
	})
	expect("s3://w/t/3", "t s3://w/t/3")
	// A rename moves none.
	update(t, s, func(tx store.Tx) error { return tx.Rename(id("t", "a"), id("r", "b"), by("x")) })
	expect("s3://w/t/", "v s3://w/t/2", "r s3://w/t/3")
	// A drop removes it, and only its own.
	twin := makeObject(t, s, object(id("twin", "a"), store.Table, "s3://w/t/3"))
	if got := holders(t, s, "s3://w/t/3", 100); len(got) != 2 {
		t.Errorf("a pointer of two objects is held by %q", got)
	}
	update(t, s, func(tx store.Tx) error { return second(tx.Drop(id("r", "b"), by("x"))) })
	expect("s3://w/t/", "v s3://w/t/2", "twin s3://w/t/3")
	view(t, s, func(tx store.Tx) error {
		held, err := tx.Holders("s3://w/t/3", 10)
		if len(held) != 1 || held[0].ID != twin.ID || !held[0].Namespace.Equal(ns("a")) {
			t.Errorf("the twin is found as %+v", held)
		}
		return err
	})
	// A new object of the old name is another holder.
	makeObject(t, s, object(id("t", "a"), store.View, "s3://w/z"))
	expect("s3://w/z", "t s3://w/z")
	if got := holders(t, s, "s3://", 2); !slices.Equal(got, []string{"v s3://w/t/2", "twin s3://w/t/3"}) {
		t.Errorf("the first two holders are %q", got)
	}
	if got := holders(t, s, "s3://", 0); len(got) != 0 {
		t.Errorf("none of the holders are %q", got)
	}
}

// testHoldersOfAnyBytes compares with a plain search, for pointers and prefixes
// that a LIKE, a collation, a terminator or an increment of the last byte would
// get wrong.
func testHoldersOfAnyBytes(t *testing.T, s store.Store) {
	pieces := []string{"\x00", "\x00\x01", "\x00\xff", "\x01", "%", "_", "\\", "*", "a", "A", "é", "e\u0301", "\x7f", "\xfe", "\xff", "\xff\xff"}
	locations := []string{}
	for _, a := range pieces {
		locations = append(locations, "l"+a, a)
		for _, b := range pieces {
			locations = append(locations, "l"+a+b)
		}
	}
	slices.Sort(locations)
	locations = slices.Compact(locations)
	makeNamespaces(t, s, ns("a"))
	update(t, s, func(tx store.Tx) error {
		for i, location := range locations {
			kind := store.Table
			if i%2 == 0 {
				kind = store.View
			}
			o := object(mounts.Identifier{Namespace: ns("a"), Name: location}, kind, location)
			if err := second(tx.Create(o, by("x"))); err != nil {
				return err
			}
		}
		return nil
	})
	for _, prefix := range append([]string{"", "l", "l\xff\xff\xff", "m"}, locations...) {
		var want []string
		for _, location := range locations {
			if len(location) >= len(prefix) && location[:len(prefix)] == prefix {
				want = append(want, location+" "+location)
			}
		}
		if got := holders(t, s, prefix, 1000); !slices.Equal(got, want) {
			t.Errorf("pointers that begin with %q are held by %q, want %q", prefix, got, want)
		}
	}
}
