package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// Update implements store.Store.
//
// It runs in READ COMMITTED and locks what it reads. Writes wait in the client
// until something has to be read or the closure returned, and go out together
// with that question, or with COMMIT: a swap costs two round trips, one that reads
// and locks the pointer and one that writes and commits.
//
// Where a write rests on what was not read (a name that is free, a namespace that
// is empty) the first run takes that for granted, and the database's constraints
// refuse it if it is not so; then the closure runs again, and looks first.
func (s *Store) Update(ctx context.Context, f func(store.Tx) error) error {
	return s.with(ctx, func(conn session, careful bool) (bool, error) {
		u := s.newUpdate(ctx, conn, careful)
		err := safely(f, u)
		switch {
		case errors.Is(u.failure, store.ErrFenced):
			return true, u.failure
		case u.failure != nil:
			return false, u.failure
		case err != nil && u.assumed:
			return false, errAssumed
		case err != nil:
			return true, err
		}
		return u.commit()
	})
}

// update is the Tx of an Update.
type update struct {
	reads
	s *Store
	// The interface of a transaction has no context of its own.
	ctx  context.Context
	conn session
	// id names the transaction, as in the log.
	id uuid.UUID
	// careful: look before writing.
	careful bool
	// begun: the server knows the transaction, and it holds its locks.
	begun bool
	// pending are writes that the server has not seen yet, and assumed that some of
	// them rest on what was not read.
	pending []call
	assumed bool
	// wrote: the server has seen a write.
	wrote bool
	// proof is a row of the log that is there exactly if this was committed.
	proof *proof
	// failure is why the transaction cannot go on.
	failure error
	known   known
}

func (s *Store) newUpdate(ctx context.Context, conn session, careful bool) *update {
	u := &update{s: s, ctx: ctx, conn: conn, id: uuid.New(), careful: careful, known: newKnown()}
	u.reads = reads{sql: s.sql, ask: u.ask}
	return u
}

// start are the calls that begin the transaction: its settings and locks, and
// then, in a statement that sees what was committed before the fence's lock was
// had, the fence.
func (u *update) start() []call {
	s := u.s
	return []call{s.sql.begin.with(), s.sql.setup.with(append(s.settings(), number(s.fenceKey), number(transactionKey(u.id)))...), s.sql.fence.with()}
}

// settings are the bounds of a transaction, in milliseconds.
func (s *Store) settings() [][]byte {
	millis := func(d time.Duration) []byte { return []byte(strconv.FormatInt(d.Milliseconds(), 10)) }
	return [][]byte{millis(s.limits.statement), millis(s.limits.lock), millis(s.limits.roundTrip())}
}

// send flushes what is pending and makes the calls, in one round trip; first
// comes a table lock, if there is one.
func (u *update) send(lock *call, calls ...call) ([]answer, error) {
	if u.failure != nil {
		return nil, u.failure
	}
	var all []call
	if !u.begun {
		all = u.start()
	}
	if lock != nil {
		all = append(all, *lock)
	}
	all = append(append(all, u.pending...), calls...)
	answers, err := u.s.roundTrip(u.ctx, u.conn.PgConn, all...)
	if !u.begun && len(answers) > 2 {
		if f, fenceErr := decodeFence(answers[2].rows); fenceErr != nil {
			err = fenceErr
		} else if refusal := f.Refuses(true); refusal != nil {
			err = refusal
		}
	}
	if err != nil {
		u.failure = err
		return nil, err
	}
	u.begun = true
	u.wrote = u.wrote || len(u.pending) > 0
	u.pending, u.assumed = nil, false
	return answers[len(answers)-len(calls):], nil
}

func (u *update) ask(r reading, args ...[]byte) ([][][]byte, error) {
	question := r.update
	if u.careful {
		question = r.careful
	}
	var lock *call
	if r.lock.text != "" {
		lock = &call{statement: r.lock}
	}
	answers, err := u.send(lock, question.with(args...))
	if err != nil {
		return nil, err
	}
	return answers[0].rows, nil
}

// write queues a write.
func (u *update) write(c call) { u.pending = append(u.pending, c) }

// run makes a write at once and says how many rows it changed.
func (u *update) run(c call) (int, error) {
	answers, err := u.send(nil, c)
	if err != nil {
		return 0, err
	}
	u.wrote = true
	return int(answers[0].affected), nil
}

// commit ends the transaction.
func (u *update) commit() (final bool, err error) {
	s := u.s
	if len(u.pending) == 0 && !u.wrote {
		_, err := u.send(nil, s.sql.commit.with())
		return err == nil || errors.Is(err, store.ErrFenced), err
	}
	// COMMIT goes out when the server has answered once: then the transaction's
	// lock is held, by which a lost commit is found.
	if !u.begun {
		waiting := u.pending
		u.pending = nil
		if _, err := u.send(nil); err != nil {
			return errors.Is(err, store.ErrFenced), err
		}
		u.pending = waiting
	}
	if err := ended(u.ctx); err != nil {
		return true, err
	}
	calls := u.pending
	if u.proof == nil {
		calls = append(calls, s.mark(u.id)...)
	}
	// From here on a caller that leaves changes nothing.
	answers, err := s.roundTrip(context.WithoutCancel(u.ctx), u.conn.PgConn, append(calls, s.sql.commit.with())...)
	switch {
	case err == nil && answers[len(answers)-1].tag == "COMMIT":
		return true, nil
	case err == nil:
		return false, fmt.Errorf("postgres: the database answered COMMIT with %s", answers[len(answers)-1].tag)
	case !ambiguous(err):
		return false, err
	}
	switch s.resolve(u.ctx, u.id, u.proof) {
	case committed:
		return true, nil
	case aborted:
		return false, fmt.Errorf("%w: %w", errLost, err)
	}
	return true, fmt.Errorf("postgres: %s: %w: the connection broke while the transaction was being committed: %w", s.place, store.ErrOutcomeUnknown, err)
}

// errLost is a connection that broke and took an uncommitted transaction along.
var errLost = errors.New("the transaction was lost with its connection")

// errAssumed is a closure that failed after something was taken for granted.
var errAssumed = errors.New("postgres: the closure failed on an assumption")
