package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// Options of a Run. The zero value works, but for From and To.
type Options struct {
	// From and To name the two stores, without secrets and the same in every run:
	// the fences carry them, operators read them, and a later run recognizes them.
	From, To string
	// Batch is how many records are read and written at once; 0 for 5000.
	Batch int
	// Progress, if set, is called between batches, by one goroutine at a time.
	Progress func(Progress)
	// Now is the clock of the fences; nil for the time of day.
	Now func() time.Time

	// wait is before the second attempt at a store that is away; 0 for firstWait.
	wait time.Duration
}

// Stage is a part of a Run.
type Stage uint8

// The stages, in order.
const (
	Copying Stage = iota + 1
	Verifying
)

// String is the stage in lower case.
func (s Stage) String() string {
	switch s {
	case Copying:
		return "copying"
	case Verifying:
		return "verifying"
	}
	return "unknown"
}

// Progress is how far a stage got, in records.
type Progress struct {
	Stage       Stage
	Done, Total int64
}

// Result is what a Run that succeeded did.
type Result struct {
	Migration uuid.UUID
	// Counts is what both registries held at the end of the copy.
	Counts store.Counts
	// Digest is the SHA-256 of all records in the order of an export, the same on
	// both sides.
	Digest [32]byte
	// Resumed: an earlier run had begun it. Already: an earlier run had ended it,
	// and this one changed nothing.
	Resumed, Already bool
}

// Refused is a Run or an Abort that did nothing, for a reason that an operator
// can do something about.
type Refused struct{ Reason string }

// Error implements error.
func (e *Refused) Error() string { return e.Reason }

func refusef(format string, args ...any) error {
	return &Refused{Reason: fmt.Sprintf(format, args...)}
}

// run is one Run.
type run struct {
	Options
	from, to store.Portable
	id       uuid.UUID
}

// Run moves the registry in from into to, which holds nothing yet. It may be
// called again after any failure, by another process too, with the same names.
// Errors: *Refused, with nothing done; *Mismatch, if what was written is not what
// is read; what the stores say, an ended context included. After any of them
// but a *Refused the fences are up where they were.
func Run(ctx context.Context, from, to store.Portable, opt Options) (Result, error) {
	if opt.Batch <= 0 {
		opt.Batch = 5000
	}
	if opt.Progress == nil {
		opt.Progress = func(Progress) {}
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.From == "" || opt.To == "" {
		return Result{}, refusef("both stores need a name")
	}
	if opt.From == opt.To {
		return Result{}, refusef("both are the same registry, %s", opt.From)
	}
	r := &run{Options: opt, from: from, to: to}
	step, err := r.look(ctx)
	if err != nil {
		return Result{}, err
	}
	if step == moved {
		return r.past(ctx)
	}
	if err := r.fenceBoth(ctx, step); err != nil {
		return Result{}, err
	}
	result := Result{Migration: r.id, Resumed: step != fresh}
	if step != copied {
		if err := r.copy(ctx); err != nil {
			return Result{}, fmt.Errorf("copying %s to %s: %w", r.From, r.To, err)
		}
	}
	if result.Counts, result.Digest, err = r.verify(ctx); err != nil {
		return Result{}, fmt.Errorf("verifying the copy of %s in %s: %w", r.From, r.To, err)
	}
	return result, r.switchOver(ctx, step)
}

// past tells of a move that had ended, from the source: the destination may have
// changed since.
func (r *run) past(ctx context.Context) (Result, error) {
	result := Result{Migration: r.id, Already: true}
	sum := newDigest()
	err := r.each(ctx, r.from, Verifying, func(e store.Entry) error {
		sum.add(e)
		return nil
	})
	result.Counts, result.Digest = sum.counts, sum.total()
	return result, err
}

// fence is the fence of one side.
func (r *run) fence(role store.FenceRole) *store.Fence {
	peer := r.To
	if role == store.FenceDestination {
		peer = r.From
	}
	return &store.Fence{Role: role, Migration: r.id, Peer: peer, Since: r.Now()}
}

// fenceBoth closes both registries as far as they are not yet.
func (r *run) fenceBoth(ctx context.Context, s step) error {
	switch s {
	case fresh:
		r.id = uuid.New()
		if err := r.claimDestination(ctx); err != nil {
			return err
		}
		return r.set(ctx, r.from, nil, r.fence(store.FenceSource))
	case reopened:
		// The source was open since the destination got its records, so they may be
		// out of date. This is another move, so that a run of the old one that still
		// goes on somewhere writes nothing more. The records go before the source is
		// closed: were it the other way round, a run that is interrupted in between
		// would be taken for one that only has to go on.
		old := r.fence(store.FenceDestination)
		r.id = uuid.New()
		if err := r.set(ctx, r.to, old, r.fence(store.FenceDestination)); err != nil {
			return err
		}
		if err := r.again(ctx, func() error { return r.to.Clear(ctx, r.id) }); err != nil {
			return err
		}
		err := r.set(ctx, r.from, nil, r.fence(store.FenceSource))
		if errors.Is(err, store.ErrFenceMoved) {
			err = errors.Join(err, r.giveBack(ctx))
		}
		return err
	case unclaimed:
		return r.claimDestination(ctx)
	}
	return nil
}

// giveBack leaves the destination to another run of this very move, which closed
// the source first: the two fences are of one move again, and any later run goes on
// with it.
func (r *run) giveBack(ctx context.Context) error {
	winner, err := r.from.CurrentFence(ctx)
	if err != nil || winner == nil || winner.Role != store.FenceSource || winner.Peer != r.To {
		return err
	}
	theirs := r.fence(store.FenceDestination)
	theirs.Migration = winner.Migration
	return r.set(ctx, r.to, r.fence(store.FenceDestination), theirs)
}

// claimDestination fences the destination and then looks whether it is empty and
// another registry than the source: before the fence that could change.
func (r *run) claimDestination(ctx context.Context) error {
	mine := r.fence(store.FenceDestination)
	if err := r.empty(ctx); err != nil {
		return err
	}
	if err := r.set(ctx, r.to, nil, mine); err != nil {
		return err
	}
	err := r.empty(ctx)
	if err == nil {
		var there *store.Fence
		there, err = r.from.CurrentFence(ctx)
		if err == nil && there.Same(mine) {
			err = refusef("%s and %s are the same registry", r.From, r.To)
		}
	}
	var refused *Refused
	if errors.As(err, &refused) {
		return errors.Join(err, r.set(ctx, r.to, mine, nil))
	}
	return err
}

func (r *run) empty(ctx context.Context) error {
	counts, err := r.to.Counts(ctx)
	if err != nil {
		return err
	}
	if counts.Total() > 0 {
		return refusef("%s holds a registry already (%s); give the copy a store of its own", r.To, describe(counts))
	}
	return nil
}

// describe writes counts for operators.
func describe(c store.Counts) string {
	return fmt.Sprintf("%d namespaces, %d tables and views, %d commits, %d receipts, %d jobs", c.Namespaces, c.Objects, c.Commits, c.Receipts, c.Jobs)
}

// switchOver makes the copy the registry: first the source is closed for good,
// then the destination is opened.
func (r *run) switchOver(ctx context.Context, s step) error {
	if s != copied {
		err := r.set(ctx, r.from, r.fence(store.FenceSource), r.fence(store.FenceMoved))
		if errors.Is(err, store.ErrFenceMoved) {
			return fmt.Errorf("the move was aborted at %s while it was under way; the copy in %s stays closed. Run it again, or abort it there too: %w", r.From, r.To, err)
		}
		if err != nil {
			return fmt.Errorf("marking %s as moved: %w", r.From, err)
		}
	}
	if err := r.set(ctx, r.to, r.fence(store.FenceDestination), nil); err != nil {
		return fmt.Errorf("opening %s: %w", r.To, err)
	}
	// Whoever opened it may have aborted the move, and emptied it.
	return r.stillThere(ctx, r.fence(store.FenceMoved))
}
