package wrap

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/mounts"
)

const (
	extraAttempts = 2
	retryPause    = 100 * time.Millisecond
	// longestPause is the most that a remote's Retry-After may hold a caller
	// up: whoever asks for more gets no other attempt.
	longestPause = 2 * time.Second
)

// retrier tries reads again that the backend could not have processed: it was
// not reached, or gave up early, long before the time for one attempt was over.
// Writes are sent once.
type retrier struct {
	// early is the age up to which a timed-out attempt counts as one that gave
	// up early, as on a connection that could not be made.
	early time.Duration
	// mean is the mean pause before another attempt.
	mean   time.Duration
	budget *budget
	again  func()
}

func (r *retrier) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	if changes(req) {
		return next(ctx, req)
	}
	r.budget.deposit()
	for attempt := 0; ; attempt++ {
		start := time.Now()
		resp, err := next(ctx, req)
		if err == nil || attempt == extraAttempts {
			return resp, err
		}
		pause, ok := r.pause(err, time.Since(start))
		if !ok || !outlives(ctx, pause) || !r.budget.withdraw() {
			return resp, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return resp, err
		}
		r.again()
	}
}

// pause says whether to try again after err, and how long to wait before.
func (r *retrier) pause(err error, took time.Duration) (time.Duration, bool) {
	var e *mounts.Error
	if !errors.As(err, &e) || notSent(err) {
		return 0, false
	}
	switch {
	case e.Kind == mounts.Unavailable:
	case e.Kind == mounts.Timeout && took < r.early:
	default:
		return 0, false
	}
	wait := r.mean/2 + rand.N(r.mean) // #nosec G404 -- spreads retries over time; to guess it gains nothing
	return max(wait, e.RetryAfter), e.RetryAfter <= longestPause
}

// outlives reports whether ctx will still be alive after the pause.
func outlives(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > pause)
}

// budget keeps retries to a fifth of the calls, with a reserve of ten, so that
// a failing mount is not hammered.
type budget struct{ thousandths atomic.Int64 }

const (
	perCall   = 200
	perRetry  = 1000
	fullStock = 10 * perRetry
)

func newBudget() *budget {
	b := &budget{}
	b.thousandths.Store(fullStock)
	return b
}

func (b *budget) deposit() {
	for {
		have := b.thousandths.Load()
		if have >= fullStock || b.thousandths.CompareAndSwap(have, min(have+perCall, fullStock)) {
			return
		}
	}
}

func (b *budget) withdraw() bool {
	for {
		have := b.thousandths.Load()
		if have < perRetry {
			return false
		}
		if b.thousandths.CompareAndSwap(have, have-perRetry) {
			return true
		}
	}
}
