package migrate

import (
	"context"
	"fmt"

	"github.com/icefield/icefield/native/store"
)

// AbortOptions say what an operator takes on.
type AbortOptions struct {
	// EvenIfMoved reopens a registry whose copy is complete and may have been
	// changed since: what was changed there is not here. It is right only if
	// nobody used the copy, and nobody will.
	EvenIfMoved bool
}

// Aborted is what an Abort did.
type Aborted struct {
	// Fence is the one that was taken down.
	Fence store.Fence
	// Cleared: the registry was a destination and is empty now.
	Cleared bool
}

// Abort ends a move at one of its two sides and opens it again. A source takes
// changes again. A destination is emptied first: what it holds is a part of a
// registry at most. The other side stays as it is and has to be aborted too,
// or a new Run goes on with the move: one that runs at the moment fails before
// it opens anything. name is what the fences call the registry.
//
// Errors: *Refused, with nothing done, if there is no fence, or if a registry was
// moved and opt does not say that it may be reopened; what the store says.
func Abort(ctx context.Context, s store.Portable, name string, opt AbortOptions) (Aborted, error) {
	f, err := s.CurrentFence(ctx)
	switch {
	case err != nil:
		return Aborted{}, err
	case f == nil:
		return Aborted{}, refusef("%s is not being moved: it is open, and nothing has to be aborted", name)
	case f.Role == store.FenceMoved && !opt.EvenIfMoved:
		return Aborted{}, refusef("%s was moved to %s at %s. That one is the registry now, and what was changed there since is not here: reopening this one could lose it, and two registries over the same files destroy each other's tables. If nobody used %s and nobody will, say that this one is to be reopened even so",
			name, f.Peer, stamp(f), f.Peer)
	}
	r := &run{}
	done := Aborted{Fence: *f}
	if f.Role == store.FenceDestination {
		if err := r.again(ctx, func() error { return s.Clear(ctx, f.Migration) }); err != nil {
			return Aborted{}, fmt.Errorf("clearing %s: %w", name, err)
		}
		done.Cleared = true
	}
	if err := r.set(ctx, s, f, nil); err != nil {
		return Aborted{}, fmt.Errorf("opening %s: %w", name, err)
	}
	return done, nil
}
