package wrap

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

func newRetrier(b mounts.Backend) (*retrier, mounts.Backend) {
	r := &retrier{early: 5 * second, mean: retryPause, budget: newBudget(), again: func() {}}
	return r, wrapped(b, r.intercept)
}

var down = &mounts.Error{Kind: mounts.Unavailable}

func TestAReadThatWasNotProcessedIsTriedThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(down)
		_, b := newRetrier(s)
		start := time.Now()
		is(t, ask(b, load), mounts.Unavailable)
		if s.calls.Load() != 3 {
			t.Errorf("%d attempts", s.calls.Load())
		}
		if took := time.Since(start); took < 2*retryPause/2 || took > 3*retryPause {
			t.Errorf("took %v", took)
		}
	})
}

func TestAReadSucceedsOnItsSecondAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(down)
		r, b := newRetrier(s)
		r.again = func() { s.does(right) }
		if err := ask(b, load); err != nil || s.calls.Load() != 2 {
			t.Errorf("%v after %d attempts", err, s.calls.Load())
		}
	})
}

func TestWritesAndProcessedReadsAreSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, req := range everyRequest(mounts.Namespace{"a"}) {
			if !changes(req) {
				continue
			}
			s := failing(down)
			_, b := newRetrier(s)
			if is(t, ask(b, req), mounts.Unavailable); s.calls.Load() != 1 {
				t.Errorf("%s was sent %d times", req.Op(), s.calls.Load())
			}
		}
		for _, kind := range mounts.Kinds() {
			if kind == mounts.Unavailable || kind == mounts.Timeout {
				continue
			}
			s := failing(&mounts.Error{Kind: kind})
			_, b := newRetrier(s)
			if is(t, ask(b, load), kind); s.calls.Load() != 1 {
				t.Errorf("%v: sent %d times", kind, s.calls.Load())
			}
		}
		s := failing(&mounts.Error{Kind: mounts.Unavailable, Err: errNotSent})
		_, b := newRetrier(s)
		if is(t, ask(b, load), mounts.Unavailable); s.calls.Load() != 1 {
			t.Errorf("a refusal of our own was tried %d times", s.calls.Load())
		}
	})
}

func TestOnlyAnEarlyTimeoutIsTriedAgain(t *testing.T) {
	for after, attempts := range map[time.Duration]int64{second: 3, 6 * second: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
				time.Sleep(after)
				return nil, &mounts.Error{Kind: mounts.Timeout}
			})
			_, b := newRetrier(s)
			if is(t, ask(b, load), mounts.Timeout); s.calls.Load() != attempts {
				t.Errorf("timed out after %v: %d attempts", after, s.calls.Load())
			}
		})
	}
}

func TestRetryAfterIsHonouredUpToABound(t *testing.T) {
	for asks, want := range map[time.Duration]int64{second: 3, time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := failing(&mounts.Error{Kind: mounts.Unavailable, RetryAfter: asks})
			_, b := newRetrier(s)
			start := time.Now()
			is(t, ask(b, load), mounts.Unavailable)
			if s.calls.Load() != want || time.Since(start) != time.Duration(want-1)*asks {
				t.Errorf("asked for %v: %d attempts in %v", asks, s.calls.Load(), time.Since(start))
			}
		})
	}
}

func TestNoAttemptBeginsThatTheCallerCannotWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(&mounts.Error{Kind: mounts.Unavailable, RetryAfter: second})
		_, b := newRetrier(s)
		ctx, cancel := context.WithTimeout(context.Background(), second/2)
		defer cancel()
		start := time.Now()
		_, err := mounts.Invoke(ctx, b, load)
		if is(t, err, mounts.Unavailable); s.calls.Load() != 1 || time.Since(start) != 0 {
			t.Errorf("%d attempts in %v", s.calls.Load(), time.Since(start))
		}
	})
}

func TestACallerWhoLeavesDuringThePauseGetsTheErrorThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(&mounts.Error{Kind: mounts.Unavailable, RetryAfter: second})
		_, b := newRetrier(s)
		ctx, leave := context.WithCancel(context.Background())
		time.AfterFunc(second/4, leave)
		start := time.Now()
		_, err := mounts.Invoke(ctx, b, load)
		if is(t, err, mounts.Unavailable); s.calls.Load() != 1 || time.Since(start) != second/4 {
			t.Errorf("%d attempts in %v", s.calls.Load(), time.Since(start))
		}
	})
}

func TestAFailingMountIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(down)
		_, b := newRetrier(s)
		const calls = 1000
		for range calls {
			_ = ask(b, load)
		}
		retries := s.calls.Load() - calls
		if retries < calls/10 || retries > calls/5+10 {
			t.Errorf("%d retries of %d calls", retries, calls)
		}
	})
}
