package wrap

import (
	"context"
	"fmt"
	"time"

	"github.com/icefield/icefield/mounts"
)

// grace is how long a backend whose deadline has passed may take to say what it
// knows, above all that nothing was sent, before this package speaks for it.
const grace = 100 * time.Millisecond

// timeout bounds one attempt. The caller gets an answer within limit and grace
// even from a backend that ignores its context: the call then goes on in a
// goroutine that calls owns.
//
// A read ends with its caller. A write that was handed over does not: its
// caller may stop waiting, but only limit ends it, since a commit that is cut
// off half-way leaves an outcome that nobody knows.
//
// heeds: reads are made in the caller's own goroutine, since the backend is known
// to return when their context ends.
func timeout(limit time.Duration, owner *calls, heeds bool) mounts.Interceptor {
	return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, &mounts.Error{Kind: mounts.Timeout, Err: fmt.Errorf("%w: %w", errNotSent, err)}
		}
		write, parent := changes(req), ctx
		if write {
			parent = context.WithoutCancel(ctx)
		}
		work, cancel := context.WithTimeout(parent, limit)
		if heeds && !write {
			defer cancel()
			if !owner.begin() {
				return nil, closing()
			}
			defer owner.end()
			return next(work, req)
		}
		running := spawn(owner, cancel, func() (mounts.Response, error) { return next(work, req) })
		if running == nil {
			return nil, closing()
		}
		cause := running.wait(ctx, work, write)
		if cause == nil || !running.leave(owner) {
			return running.value, running.err
		}
		return nil, &mounts.Error{Kind: mounts.Timeout, OutcomeUnknown: write, Err: cause}
	}
}

// wait returns nil when the result is there, else why nobody waits any more.
// detached tells that work, the context of the call, does not end with its
// caller's.
func (p *call[T]) wait(caller, work context.Context, detached bool) error {
	var gone <-chan struct{}
	if detached {
		gone = caller.Done()
	}
	select {
	case <-p.done:
		return nil
	case <-gone:
	case <-work.Done():
	}
	if abandoned(caller) {
		return caller.Err()
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	if err := caller.Err(); err != nil {
		return err
	}
	return work.Err()
}
