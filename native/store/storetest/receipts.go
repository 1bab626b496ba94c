package storetest

import (
	"bytes"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/native/store"
)

// receipt is one under a key that begins so, and expires a while after moment.
func receipt(key byte, outcome string, expires time.Duration) store.Receipt {
	r := store.Receipt{Outcome: []byte(outcome), Created: moment, Expires: moment.Add(expires)}
	for i := range r.Key {
		r.Key[i], r.Fingerprint[i] = key, byte(i)-key
	}
	return r
}

func put(r store.Receipt, now time.Time) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.PutReceipt(r, now) }
}

// remembered reads a receipt and compares it with what should be there.
func remembered(t *testing.T, s store.Store, want store.Receipt) {
	t.Helper()
	var got store.Receipt
	view(t, s, func(tx store.Tx) (err error) {
		got, err = tx.Receipt(want.Key)
		return err
	})
	if got.Key != want.Key || got.Fingerprint != want.Fingerprint || !bytes.Equal(got.Outcome, want.Outcome) ||
		!got.Created.Equal(want.Created) || !got.Expires.Equal(want.Expires) {
		t.Errorf("remembered is %+v, want %+v", got, want)
	}
}

func forgotten(t *testing.T, s store.Store, key store.ReceiptKey) {
	t.Helper()
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return second(tx.Receipt(key)) })
}

func testReceipts(t *testing.T, s store.Store) {
	first := receipt(1, "\x00answer\xff", time.Hour)
	forgotten(t, s, first.Key)
	update(t, s, put(first, moment))
	remembered(t, s, first)
	// Another one of the key, as long as the first one counts: up to the last
	// microsecond of it.
	again := receipt(1, "another answer", 3*time.Hour)
	for _, now := range []time.Time{moment, moment.Add(time.Hour - time.Microsecond)} {
		refused(t, s, store.ErrExists, put(again, now))
	}
	remembered(t, s, first)
	update(t, s, put(again, moment.Add(time.Hour)))
	remembered(t, s, again)
	// It is the new one that counts now, for the pruning too.
	refused(t, s, store.ErrExists, put(first, moment.Add(2*time.Hour)))
	if n := pruneReceipts(t, s, moment.Add(2*time.Hour), 10); n != 0 {
		t.Errorf("%d receipts that still count were pruned", n)
	}
	remembered(t, s, again)

	// A transaction that finds a receipt and goes on has changed nothing of it, and
	// sees what it wrote itself.
	other := receipt(2, "", time.Hour)
	var found, twice error // of the run that counts
	update(t, s, func(tx store.Tx) error {
		found = tx.PutReceipt(first, moment)
		if err := tx.PutReceipt(other, moment); err != nil {
			return err
		}
		twice = tx.PutReceipt(other, moment)
		return nil
	})
	if !errors.Is(found, store.ErrExists) {
		t.Errorf("a receipt that counts was replaced: %v", found)
	}
	if !errors.Is(twice, store.ErrExists) {
		t.Errorf("a receipt of the same transaction was replaced: %v", twice)
	}
	remembered(t, s, again)
	remembered(t, s, other)

	large := receipt(3, string(bytes.Repeat([]byte{0, 1, 0xFE}, store.MaxOutcome/3)), time.Hour)
	update(t, s, put(large, moment))
	remembered(t, s, large)
	over := receipt(4, string(make([]byte, store.MaxOutcome+1)), time.Hour)
	if err := s.Update(t.Context(), put(over, moment)); err == nil || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("an outcome over the bound: %v", err)
	}
	forgotten(t, s, over.Key)
}

func pruneReceipts(t *testing.T, s store.Store, now time.Time, limit int) (n int) {
	t.Helper()
	update(t, s, func(tx store.Tx) (err error) {
		n, err = tx.PruneReceipts(now, limit)
		return err
	})
	return n
}

func testPruneReceipts(t *testing.T, s store.Store) {
	// Keys and expiries do not sort alike, and some are before 1970.
	expiries := []time.Duration{5 * time.Hour, time.Hour, 3 * time.Hour, -900_000 * time.Hour, 3 * time.Hour, 4 * time.Hour}
	update(t, s, func(tx store.Tx) error {
		for i, expires := range expiries {
			if err := tx.PutReceipt(receipt(byte(i), "", expires), moment.Add(-1_000_000*time.Hour)); err != nil {
				return err
			}
		}
		return nil
	})
	now := moment.Add(3 * time.Hour)
	pruned := 0
	for _, want := range []int{3, 1, 0} {
		n := pruneReceipts(t, s, now, 3)
		if n != want {
			t.Errorf("after %d, %d receipts were pruned, want %d", pruned, n, want)
		}
		pruned += n
	}
	var left []byte
	view(t, s, func(tx store.Tx) error {
		for i := range expiries {
			if _, err := tx.Receipt(receipt(byte(i), "", 0).Key); err == nil {
				left = append(left, byte(i))
			} else if !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	if !bytes.Equal(left, []byte{0, 5}) {
		t.Errorf("the receipts %v are left", left)
	}
	// Pruning in a transaction that fails is undone with it.
	refused(t, s, errOwn, func(tx store.Tx) error {
		if n, err := tx.PruneReceipts(moment.Add(9*time.Hour), 10); n != 2 || err != nil {
			t.Errorf("%d pruned (%v)", n, err)
		}
		return errOwn
	})
	remembered(t, s, receipt(0, "", expiries[0]))
}

// testReceiptsAreOfTheirTransaction: a receipt without the change that it
// vouches for, or a change without its receipt, would be a lie.
func testReceiptsAreOfTheirTransaction(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	makeObject(t, s, object(id("t", "a"), store.Table, "l1"))
	r := receipt(7, "swapped", time.Hour)
	swap := func(from, to string) func(store.Tx) error {
		return func(tx store.Tx) error {
			if err := second(tx.Swap(id("t", "a"), from, to, by("x"))); err != nil {
				return err
			}
			if err := tx.CreateJob(job(1)); err != nil {
				return err
			}
			return tx.PutReceipt(r, moment)
		}
	}
	refused(t, s, errOwn, func(tx store.Tx) error { return errors.Join(swap("l1", "l2")(tx), errOwn) })
	forgotten(t, s, r.Key)
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return second(tx.Job(job(1).ID)) })
	update(t, s, swap("l1", "l2"))
	remembered(t, s, r)
	// The same request again: its receipt refuses it, and its swap is undone.
	refused(t, s, store.ErrExists, func(tx store.Tx) error {
		if err := second(tx.Swap(id("t", "a"), "l2", "l3", by("x"))); err != nil {
			return err
		}
		return tx.PutReceipt(r, moment)
	})
	if o := load(t, s, id("t", "a")); o.Location != "l2" || o.Generation != 2 {
		t.Errorf("a refused request left %+v", o)
	}
}

// testOneReceiptOfManyRequests sends one request many times at once: one of them
// may be done.
func testOneReceiptOfManyRequests(t *testing.T, s store.Store) {
	for round := range byte(10) {
		makeNamespaces(t, s, ns(string(rune('a'+round))))
		// In every other round an expired receipt is in the way.
		if round%2 == 1 {
			update(t, s, put(receipt(round, "old", 0), moment.Add(-time.Hour)))
		}
		var group sync.WaitGroup
		var won atomic.Int64
		for i := range rune(8) {
			group.Go(func() {
				err := s.Update(t.Context(), func(tx store.Tx) error {
					if err := tx.PutReceipt(receipt(round, "new", time.Hour), moment); err != nil {
						return err
					}
					return tx.CreateNamespace(record(ns(string(rune('a'+round)), string('0'+i)), nil))
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
		view(t, s, func(tx store.Tx) error {
			children, err := tx.Children(ns(string(rune('a'+round))), "", 10)
			if won.Load() != 1 || len(children) != 1 {
				t.Errorf("round %d had %d winners, who made %q", round, won.Load(), children)
			}
			return err
		})
	}
}

// testCommitsRemember checks all that a row of the log says of the request.
func testCommitsRemember(t *testing.T, s store.Store) {
	makeNamespaces(t, s, ns("a"))
	who := func(i int64, key string) store.By {
		return store.By{Time: moment.Add(time.Duration(i) * time.Microsecond), Principal: "p\x00\xff", RequestID: "é", IdempotencyKey: key}
	}
	var made store.Object
	update(t, s, func(tx store.Tx) (err error) {
		if made, err = tx.Create(object(id("t", "a"), store.View, "l1"), who(1, "k1\x00")); err != nil {
			return err
		}
		if _, err = tx.Swap(id("t", "a"), "l1", "l2", who(2, "")); err != nil {
			return err
		}
		_, err = tx.Drop(id("t", "a"), who(3, "k3"))
		return err
	})
	want := []store.Commit{
		{Object: made.ID, Generation: 1, To: "l1", By: who(1, "k1\x00")},
		{Object: made.ID, Generation: 2, From: "l1", To: "l2", By: who(2, "")},
		{Object: made.ID, Generation: 3, From: "l2", By: who(3, "k3")},
	}
	got := commits(t, s, made.ID)
	for i := range got {
		got[i].Time = got[i].Time.UTC()
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the log is %+v, want %+v", got, want)
	}
}
