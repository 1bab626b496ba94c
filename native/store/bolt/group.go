package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"syscall"

	"go.etcd.io/bbolt"

	"github.com/icefield/icefield/native/store"
)

// commit makes one transaction of a group and answers its writers; an exclusive
// one divides the group and has its own. A closure that failed before it wrote
// anything stays in the group, where it has no effect; one that failed later
// cannot be undone alone, so then each runs in a transaction of its own.
func (s *Store) commit(group []*write) {
	live := group[:0]
	for _, w := range group {
		if w.state.CompareAndSwap(waiting, taken) {
			live = append(live, w)
		}
	}
	for len(live) > 0 {
		part := live[:1]
		for !part[0].exclusive && len(part) < len(live) && !live[len(part)].exclusive {
			part = live[:len(part)+1]
		}
		live = live[len(part):]
		if !s.together(part) {
			for _, w := range part {
				s.alone(w)
			}
		}
		for _, w := range part {
			close(w.done)
		}
	}
}

// together reports false, with nothing done, if the group must be split.
func (s *Store) together(group []*write) bool {
	if err := s.stopped(); err != nil {
		answerAll(group, err)
		return true
	}
	btx, err := s.db.Begin(true)
	if err != nil {
		answerAll(group, closedError(err))
		return true
	}
	wrote := false
	for _, w := range group {
		tx := newTx(btx)
		if !w.exclusive {
			if w.err = s.fence.Load().Refuses(true); w.err != nil {
				continue
			}
		}
		w.err = safely(w.f, tx)
		if w.err != nil && tx.wrote {
			rollback(btx)
			return len(group) == 1
		}
		wrote = wrote || tx.wrote
	}
	if !wrote {
		rollback(btx)
		return true
	}
	if err := s.durable(btx); err != nil {
		rollback(btx)
		if !diskFull(err) {
			s.stop(err)
		}
		for _, w := range group {
			if w.err == nil {
				w.err = fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
			} else {
				// Its reason may rest on a neighbour that is not certain now.
				w.err = fmt.Errorf("bolt: the group's transaction failed: %w", err)
			}
		}
		return true
	}
	for _, w := range group {
		if w.err == nil && w.durably != nil {
			w.durably()
		}
	}
	return true
}

// stop ends the store's work after a failed commit. What the commit wrote may be
// in the system's memory and never reach the disk, whatever a later flush says:
// one that builds on it could be lost after it was answered, and a reader would
// take for certain what is not.
func (s *Store) stop(cause error) {
	s.failure.CompareAndSwap(nil, &cause)
}

// stopped is nil, or why nothing can be done any more.
func (s *Store) stopped() error {
	if cause := s.failure.Load(); cause != nil {
		return fmt.Errorf("bolt: %s: %w: %w", s.path, store.ErrStopped, *cause)
	}
	return nil
}

// diskFull reports a write that the file system refused for want of room, before
// anything was flushed: pages in use were not touched, so the store can go on
// when there is room again. A failed flush is another matter, also for want of
// room.
func diskFull(err error) bool {
	var refused *fs.PathError
	return errors.As(err, &refused) && refused.Op == "write" && errors.Is(refused, syscall.ENOSPC)
}

func (s *Store) alone(w *write) {
	s.together([]*write{w})
}

// rollback's error only says that the transaction had ended already, which is
// what it is for.
func rollback(btx *bbolt.Tx) { _ = btx.Rollback() }

func answerAll(group []*write, err error) {
	for _, w := range group {
		w.err = err
	}
}

// safely turns a panic into the closure's error: the committing goroutine
// belongs to everybody.
func safely(f func(store.Tx) error, tx *tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("bolt: a transaction panicked: %v\n%s", v, debug.Stack())
		}
	}()
	return f(tx)
}
