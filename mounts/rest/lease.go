package rest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/icefield/icefield/mounts"
)

// issued is a secret and for how long it is good.
type issued[T any] struct {
	value            T
	renewAt, expires time.Time
}

// lease hands out one secret that expires. It is fetched when it is first asked
// for and again before it ends, by one call at a time; nobody waits for a
// renewal as long as the secret that is held is good. After a failure, and
// after a renewal that a refusal caused, there is a pause, so that neither a
// broken token endpoint nor a remote that refuses every token is hammered.
type lease[T any] struct {
	owner   *lifetime
	timeout time.Duration
	now     func() time.Time
	// fetch gets another secret. held is the one to be renewed; nil if there is
	// none or if the remote refused it. Its errors are *mounts.Error.
	fetch func(ctx context.Context, held *issued[T]) (issued[T], error)

	mu      sync.Mutex
	current *issued[T]
	flight  *flight[T]
	// failed is the pause after failures and why there is one; refused the one
	// after renewals that a refusal caused.
	failed, refused pause
	failure         *mounts.Error
}

// flight is one fetch and all who wait for it.
type flight[T any] struct {
	done chan struct{}
	got  issued[T]
	err  error
}

const (
	// The pauses after failures and after refusals grow between these bounds.
	failurePause, longestFailurePause = time.Second, 30 * time.Second
	refusalPause, longestRefusalPause = time.Second, time.Minute
)

func newLease[T any](owner *lifetime, timeout time.Duration, now func() time.Time,
	fetch func(context.Context, *issued[T]) (issued[T], error)) *lease[T] {
	return &lease[T]{owner: owner, timeout: timeout, now: now, fetch: fetch,
		failed:  pause{first: failurePause, longest: longestFailurePause},
		refused: pause{first: refusalPause, longest: longestRefusalPause}}
}

// get returns a secret that is good.
func (l *lease[T]) get(ctx context.Context) (T, error) {
	l.mu.Lock()
	now, held := l.now(), l.current
	if held != nil && now.Before(held.renewAt) {
		l.mu.Unlock()
		return held.value, nil
	}
	good := held != nil && now.Before(held.expires)
	f := l.flight
	if f == nil {
		err := l.paused(now)
		if err == nil {
			f, err = l.fly(ctx, held)
		}
		if err != nil {
			l.mu.Unlock()
			if good {
				return held.value, nil
			}
			var none T
			return none, err
		}
	}
	l.mu.Unlock()
	if good {
		return held.value, nil
	}
	return l.wait(ctx, f)
}

// renew reports whether there is another secret than the one that the remote
// refused, which same recognizes.
func (l *lease[T]) renew(ctx context.Context, same func(T) bool) (bool, error) {
	l.mu.Lock()
	if l.current != nil && !same(l.current.value) {
		l.mu.Unlock()
		return true, nil
	}
	f := l.flight
	if f == nil {
		now := l.now()
		if l.refused.left(now) > 0 {
			l.mu.Unlock()
			return false, nil
		}
		err := l.paused(now)
		if err == nil {
			l.refused.begin(now, 0)
			f, err = l.fly(ctx, nil)
		}
		if err != nil {
			l.mu.Unlock()
			return false, err
		}
	}
	l.mu.Unlock()
	got, err := l.wait(ctx, f)
	return err == nil && !same(got), err
}

// peek returns the secret that is held, good or not.
func (l *lease[T]) peek() (T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil {
		var none T
		return none, false
	}
	return l.current.value, true
}

// paused is the error of the last failure while its pause lasts. l.mu is held.
func (l *lease[T]) paused(now time.Time) error {
	left := l.failed.left(now)
	if left <= 0 || l.failure == nil {
		return nil
	}
	again := *l.failure
	if again.RetryAfter > 0 {
		again.RetryAfter = left
	}
	return &again
}

// fly starts a fetch. l.mu is held.
func (l *lease[T]) fly(ctx context.Context, held *issued[T]) (*flight[T], error) {
	f := &flight[T]{done: make(chan struct{})}
	started := l.owner.start(ctx, l.timeout, func(ctx context.Context) {
		f.got, f.err = l.fetch(ctx, held)
		l.land(f)
	})
	if !started {
		return nil, &mounts.Error{Kind: mounts.Unavailable, Err: errClosed}
	}
	l.flight = f
	return f, nil
}

var errClosed = errors.New("the backend is closed")

func (l *lease[T]) land(f *flight[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flight = nil
	if f.err == nil {
		l.current = &f.got
		l.failed.reset()
		l.failure = nil
	} else {
		l.failure = mounts.AsError(f.err)
		l.failed.begin(l.now(), l.failure.RetryAfter)
	}
	close(f.done)
}

func (l *lease[T]) wait(ctx context.Context, f *flight[T]) (T, error) {
	select {
	case <-f.done:
		return f.got.value, f.err
	case <-ctx.Done():
		var none T
		return none, callerGone(ctx)
	}
}

// pause is a time in which something is not tried again. It doubles each time
// that it begins again soon after it ended.
type pause struct {
	first, longest time.Duration
	last           time.Duration
	until          time.Time
}

func (p *pause) left(now time.Time) time.Duration { return p.until.Sub(now) }

func (p *pause) begin(now time.Time, atLeast time.Duration) {
	if p.last == 0 || now.Sub(p.until) > p.last {
		p.last = p.first
	} else {
		p.last = min(2*p.last, p.longest)
	}
	p.until = now.Add(max(p.last, atLeast))
}

func (p *pause) reset() { p.last, p.until = 0, time.Time{} }

// lasting says when a secret that lives so long from start is renewed: ahead of
// its end by a minute, or a fifth of its time if that is less, and by up to as
// much again, so that servers that were started together do not renew together.
func lasting[T any](value T, start time.Time, lifetime time.Duration) issued[T] {
	ahead := min(renewAhead, lifetime/5)
	ahead += time.Duration(rand.Int64N(int64(ahead) + 1)) // #nosec G404 -- spreads renewals over time; to guess it gains nothing
	return issued[T]{value: value, expires: start.Add(lifetime), renewAt: start.Add(lifetime - ahead)}
}
