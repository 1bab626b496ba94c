package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// View implements store.Store.
//
// A closure that reads once, as the load of a table does, costs one round trip
// and no transaction. When it reads again, both questions are asked together in
// one snapshot: if the first answer is the one that the closure saw, it goes on
// and has seen one state, after two round trips; else it runs again in a snapshot
// from its first question on.
func (s *Store) View(ctx context.Context, f func(store.Tx) error) error {
	whole := false
	return s.with(ctx, func(conn session, _ bool) (bool, error) {
		v := &view{s: s, ctx: ctx, conn: conn, whole: whole}
		v.reads = reads{sql: s.sql, ask: v.ask}
		err := safely(f, v)
		switch {
		case v.failure == nil && err == nil && len(v.seen) == 0:
			return s.fencedView(ctx, conn, false)
		case v.failure == nil:
			return true, err
		case errors.Is(v.failure, errChanged):
			whole = true
		case errors.Is(v.failure, store.ErrFenced):
			return s.fencedView(ctx, conn, true)
		}
		return false, v.failure
	})
}

// fencedView is the answer to a View that met a fence, or asked nothing.
func (s *Store) fencedView(ctx context.Context, conn session, met bool) (bool, error) {
	s.finish(ctx, conn)
	f, err := s.readFence(ctx, conn)
	if err != nil {
		return false, err
	}
	if refusal := f.Refuses(false); refusal != nil {
		return true, refusal
	}
	if met {
		return false, errChanged
	}
	return true, nil
}

// safely turns a panic into the closure's error.
func safely(f func(store.Tx) error, tx store.Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("postgres: a transaction panicked: %v\n%s", v, debug.Stack())
		}
	}()
	return f(tx)
}

// errChanged is a state that changed between the readings of a View.
var errChanged = errors.New("postgres: the state changed between two readings")

var errView = errors.New("postgres: a View cannot write")

// view is the Tx of a View.
type view struct {
	reads
	s *Store
	// The interface of a transaction has no context of its own.
	ctx  context.Context
	conn session
	// seen is what was asked and answered so far.
	seen []exchange
	// whole: a snapshot from the first question on. open: it is there.
	whole, open bool
	// failure is why the transaction cannot go on.
	failure error
}

type exchange struct {
	asked call
	rows  [][][]byte
}

func (v *view) ask(r reading, args ...[]byte) ([][][]byte, error) {
	if v.failure != nil {
		return nil, v.failure
	}
	question := r.view.with(args...)
	calls := []call{question}
	again := 0
	if !v.open && (v.whole || len(v.seen) > 0) {
		calls = []call{v.s.sql.beginView.with()}
		for _, e := range v.seen {
			calls = append(calls, e.asked)
		}
		again = len(v.seen)
		calls = append(calls, question)
		// Two questions are mostly all: then the snapshot can end with them.
		if v.open = v.whole || len(v.seen) > 1; !v.open {
			calls = append(calls, v.s.sql.commit.with())
		}
	}
	answers, err := v.s.roundTrip(v.ctx, v.conn.PgConn, calls...)
	if err != nil {
		v.failure = err
		return nil, err
	}
	if len(calls) > 1 {
		answers = answers[1:]
	}
	for i, e := range v.seen[:again] {
		if !equalRows(e.rows, answers[i].rows) {
			v.failure = errChanged
			return nil, errChanged
		}
	}
	rows := answers[again].rows
	v.seen = append(v.seen, exchange{question, rows})
	if len(rows) == 0 || len(rows[0]) < 2 {
		v.failure = errRecord
	} else if rows[0][0] != nil {
		v.failure = store.ErrFenced
	}
	if v.failure != nil {
		return nil, v.failure
	}
	// What was asked stands behind the fence's column, null if there is nothing.
	var found [][][]byte
	for _, row := range rows {
		if row[1] != nil {
			found = append(found, row[1:])
		}
	}
	return found, nil
}

func equalRows(a, b [][][]byte) bool {
	return slices.EqualFunc(a, b, func(a, b [][]byte) bool {
		return slices.EqualFunc(a, b, func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) })
	})
}

// The writing methods of a View.

func (v *view) CreateNamespace(store.Namespace) error               { return errView }
func (v *view) PutNamespace(store.Namespace) error                  { return errView }
func (v *view) DropNamespace(mounts.Namespace) error                { return errView }
func (v *view) CreateJob(store.Job) error                           { return errView }
func (v *view) PutJob(store.Job) error                              { return errView }
func (v *view) PruneJobs(time.Time, int) (int, error)               { return 0, errView }
func (v *view) PutReceipt(store.Receipt, time.Time) error           { return errView }
func (v *view) PruneReceipts(time.Time, int) (int, error)           { return 0, errView }
func (v *view) Create(store.Object, store.By) (store.Object, error) { return store.Object{}, errView }
func (v *view) Swap(mounts.Identifier, string, string, store.By) (store.Object, error) {
	return store.Object{}, errView
}
func (v *view) Rename(mounts.Identifier, mounts.Identifier, store.By) error { return errView }
func (v *view) Drop(mounts.Identifier, store.By) (store.Object, error) {
	return store.Object{}, errView
}
