package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/icefield/icefield/native/store"
)

// step is what is left to do, as the fences tell.
type step uint8

const (
	// fresh: nothing was begun.
	fresh step = iota
	// reopened: the destination was begun to be filled, and the source is open.
	reopened
	// unclaimed: the source is closed, and the destination is open.
	unclaimed
	// underway: both are closed; the copy is complete or not.
	underway
	// copied: the copy was verified and the source marked; the destination has to
	// be opened.
	copied
	// moved: all is done.
	moved
)

// look reads both fences and decides what is left to do, or refuses.
func (r *run) look(ctx context.Context) (step, error) {
	from, err := r.from.CurrentFence(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.From, err)
	}
	to, err := r.to.CurrentFence(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.To, err)
	}
	switch {
	case from != nil && from.Role == store.FenceDestination:
		return 0, refusef("%s cannot be moved: it holds part of a copy of %s, begun %s. Finish that move first, or abort it at %s",
			r.From, from.Peer, stamp(from), r.From)
	case to != nil && to.Role != store.FenceDestination:
		return 0, refusef("%s cannot be filled: it was, or is being, moved to %s itself (since %s). Give the copy another store", r.To, to.Peer, stamp(to))
	case from != nil && to != nil && from.Migration != to.Migration:
		return 0, refusef("the two belong to different moves: %s goes to %s (since %s), and %s gets a copy of %s (since %s). Finish or abort those first",
			r.From, from.Peer, stamp(from), r.To, to.Peer, stamp(to))
	case from == nil && to == nil:
		return fresh, nil
	case from == nil:
		if to.Peer != r.From {
			return 0, refusef("%s holds part of a copy of %s, begun %s, and is not filled from %s. Finish that move first, or abort it at %s",
				r.To, to.Peer, stamp(to), r.From, r.To)
		}
		r.id = to.Migration
		return reopened, nil
	}
	r.id = from.Migration
	switch {
	case from.Role == store.FenceMoved && to != nil:
		return copied, nil
	case to != nil:
		return underway, nil
	case from.Peer != r.To && from.Role == store.FenceMoved:
		return 0, refusef("%s was moved to %s at %s, and is out of date since. Move that one", r.From, from.Peer, stamp(from))
	case from.Peer != r.To:
		return 0, refusef("%s is being moved to %s (since %s). Finish that move, or abort it at %s", r.From, from.Peer, stamp(from), r.From)
	case from.Role == store.FenceSource:
		return unclaimed, nil
	}
	return moved, r.stillThere(ctx, from)
}

// stillThere refuses to call a move done whose destination is empty.
func (r *run) stillThere(ctx context.Context, f *store.Fence) error {
	here, err := r.from.Counts(ctx)
	if err != nil {
		return err
	}
	there, err := r.to.Counts(ctx)
	if err != nil {
		return err
	}
	if here.Total() > 0 && there.Total() == 0 {
		return refusef("%s was moved to %s at %s, and %s is empty now. If that is right and nothing newer exists anywhere, abort the move at %s and say that it may be reopened though it was moved; then move it again",
			r.From, r.To, stamp(f), r.To, r.From)
	}
	return nil
}

func stamp(f *store.Fence) string { return f.Since.UTC().Format(time.RFC3339) }

// set swaps a fence. One that is as it should be already is fine: an attempt
// whose outcome was unknown did it, or another run of the same move.
func (r *run) set(ctx context.Context, s store.Portable, from, to *store.Fence) error {
	return r.again(ctx, func() error {
		err := s.SetFence(ctx, from, to)
		if errors.Is(err, store.ErrFenceMoved) {
			now, looked := s.CurrentFence(ctx)
			if looked == nil && now.Same(to) {
				return nil
			}
		}
		return err
	})
}

// The waits between attempts at a store that is away, as in a restart of a
// database: about a quarter of a minute in all.
const (
	attempts  = 8
	firstWait = 100 * time.Millisecond
)

// again does what can be done twice until the store is there. A context that
// ended is not tried again.
func (r *run) again(ctx context.Context, f func() error) error {
	wait := cmp.Or(r.wait, firstWait)
	for left := attempts - 1; ; left-- {
		err := f()
		if left == 0 || ctx.Err() != nil || !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrOutcomeUnknown) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		wait *= 2
	}
}
