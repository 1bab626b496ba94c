package wrap

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

func TestOverTheLimitACallIsRefusedAtOnceAndNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusals := 0
		s := deaf(time.Minute)
		l := &limiter{max: 3, owner: newCalls(), refused: func() { refusals++ }}
		b := wrapped(s, l.intercept)
		for range 3 {
			go ask(b, load)
		}
		synctest.Wait()
		start := time.Now()
		e := is(t, ask(b, commit), mounts.Unavailable)
		if e.OutcomeUnknown || e.RetryAfter != time.Second || time.Since(start) != 0 {
			t.Errorf("refused with %+v after %v", e, time.Since(start))
		}
		if s.calls.Load() != 3 || refusals != 1 || l.load() != 3 {
			t.Errorf("%d calls, %d refusals, %d in flight", s.calls.Load(), refusals, l.load())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if l.load() != 0 {
			t.Errorf("%d still in flight", l.load())
		}
		if err := ask(b, load); err != nil {
			t.Errorf("still refused: %v", err)
		}
	})
}

func TestCallsThatNobodyWaitsForStillCountAgainstTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner := newCalls()
		l := &limiter{max: 2, owner: owner, refused: func() {}}
		s := deaf(time.Minute)
		b := wrapped(wrapped(s, timeout(second, owner, false)), l.intercept)
		for range 2 {
			is(t, ask(b, load), mounts.Timeout)
		}
		is(t, ask(b, load), mounts.Unavailable)
		if s.calls.Load() != 2 {
			t.Errorf("a hung backend was called %d times", s.calls.Load())
		}
		owner.close(time.Hour)
		if l.load() != 0 {
			t.Errorf("%d still in flight", l.load())
		}
	})
}

func TestTheLimitIsGivenBackAfterAPanicAbove(t *testing.T) {
	l := &limiter{max: 1, owner: newCalls(), refused: func() {}}
	b := wrapped(scripted(func(context.Context, mounts.Request) (mounts.Response, error) { panic("x") }), l.intercept)
	func() {
		defer func() { _ = recover() }()
		_ = ask(b, load)
	}()
	if l.load() != 0 {
		t.Errorf("%d in flight", l.load())
	}
}
