package postgres

import (
	"context"
	"fmt"

	"github.com/icefield/icefield/native/store"
)

// maxPeer bounds a fence's peer.
const maxPeer = 1024

// decodeFence reads the answer of the fence statement.
func decodeFence(rows [][][]byte) (*store.Fence, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	c := columns{rest: rows[0]}
	f := &store.Fence{Role: store.FenceRole(c.short()), Migration: c.id(), Peer: c.text(), Since: c.moment()}
	return f, c.err
}

func (s *Store) readFence(ctx context.Context, conn session) (*store.Fence, error) {
	answers, err := s.roundTrip(ctx, conn.PgConn, s.sql.fence.with())
	if err != nil {
		return nil, err
	}
	return decodeFence(answers[0].rows)
}

// with runs f on a connection, again where nothing was done. See attempt for its
// parameters and results.
func (s *Store) with(ctx context.Context, f func(conn session, careful bool) (final bool, err error)) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	return s.try(ctx, func(careful bool) (bool, error) {
		if err := ended(ctx); err != nil {
			return true, err
		}
		conn, err := s.acquire(ctx)
		if err != nil {
			return false, err
		}
		defer s.release(ctx, conn)
		return f(conn, careful)
	})
}

// CurrentFence implements store.Portable.
func (s *Store) CurrentFence(ctx context.Context) (fence *store.Fence, err error) {
	err = s.with(ctx, func(conn session, _ bool) (bool, error) {
		fence, err = s.readFence(ctx, conn)
		return err == nil, err
	})
	return fence, err
}

// SetFence implements store.Portable.
func (s *Store) SetFence(ctx context.Context, from, to *store.Fence) error {
	if to != nil && len(to.Peer) > maxPeer {
		return fmt.Errorf("postgres: a fence's peer of %d bytes; the most is %d", len(to.Peer), maxPeer)
	}
	return s.with(ctx, func(conn session, _ bool) (bool, error) {
		there, err := s.alone(ctx, conn)
		if err != nil {
			return false, err
		}
		if !there.Same(from) {
			return true, fmt.Errorf("postgres: %s: %w", s.place, store.ErrFenceMoved)
		}
		calls := []call{s.sql.dropFence.with()}
		if to != nil {
			calls = append(calls, s.sql.setFence.with(short(uint8(to.Role)), id(to.Migration), text(to.Peer), moment(to.Since)))
		}
		return s.commitAll(ctx, conn, calls)
	})
}

// alone begins a transaction beside which no Update runs, and reads the fence.
func (s *Store) alone(ctx context.Context, conn session) (*store.Fence, error) {
	if !s.advisory {
		return nil, fmt.Errorf("this database has no advisory locks that hold writers off, so it cannot be copied while it is served; export it with its own tools")
	}
	// Updates end within the bounds of a transaction.
	bounds := s.settings()
	bounds[0], bounds[1] = bounds[2], bounds[2]
	answers, err := s.roundTrip(ctx, conn.PgConn, s.sql.begin.with(), s.sql.exclusive.with(append(bounds, number(s.fenceKey))...), s.sql.fence.with())
	if err != nil {
		return nil, err
	}
	return decodeFence(answers[2].rows)
}

// commitAll makes the last calls of a transaction and commits it. What broke then
// is of unknown outcome.
func (s *Store) commitAll(ctx context.Context, conn session, calls []call) (bool, error) {
	_, err := s.roundTrip(ctx, conn.PgConn, append(calls, s.sql.commit.with())...)
	if err != nil && ambiguous(err) {
		return true, fmt.Errorf("postgres: %s: %w: %w", s.place, store.ErrOutcomeUnknown, err)
	}
	return err == nil, err
}
