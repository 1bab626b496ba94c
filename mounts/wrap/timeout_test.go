package wrap

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

const second = time.Second

// deaf answers after d, whatever its context says.
func deaf(d time.Duration) *script {
	return scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		time.Sleep(d)
		return right(ctx, req)
	})
}

// heeding ends with its context, saying what says makes of it.
func heeding(says func(error) error) *script {
	return scripted(func(ctx context.Context, _ mounts.Request) (mounts.Response, error) {
		<-ctx.Done()
		return nil, says(ctx.Err())
	})
}

func TestABackendThatIgnoresItsDeadlineDoesNotHoldItsCaller(t *testing.T) {
	for _, req := range []mounts.Request{load, drop, commit} {
		synctest.Test(t, func(t *testing.T) {
			owner := newCalls()
			b := wrapped(deaf(time.Minute), timeout(10*second, owner, false))
			start := time.Now()
			e := is(t, ask(b, req), mounts.Timeout)
			if took := time.Since(start); took != 10*second+grace {
				t.Errorf("answered after %v", took)
			}
			if e.OutcomeUnknown != changes(req) {
				t.Errorf("%s: outcome unknown %v", req.Op(), e.OutcomeUnknown)
			}
			if owner.stray.Load() != 1 {
				t.Errorf("%d stray calls", owner.stray.Load())
			}
			if left := owner.close(time.Hour); left != 0 || time.Since(start) != time.Minute {
				t.Errorf("closed with %d calls after %v", left, time.Since(start))
			}
			if owner.stray.Load() != 0 {
				t.Error("a call that ended is still counted as stray")
			}
		})
	}
}

func TestWhatTheBackendSaysAtItsDeadlineIsKept(t *testing.T) {
	for _, own := range []*mounts.Error{
		{Kind: mounts.Unavailable, Msg: "connection never made"},
		{Kind: mounts.Timeout},
		{Kind: mounts.BadGateway, OutcomeUnknown: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := wrapped(Contract(heeding(func(error) error { return own })), timeout(second, newCalls(), false))
			if err := ask(b, commit); err != error(own) {
				t.Errorf("got %v, want %v", err, own)
			}
		})
	}
}

func TestABareDeadlineErrorOfASentWriteIsAnUnknownOutcome(t *testing.T) {
	for _, req := range []mounts.Request{load, drop, commit} {
		synctest.Test(t, func(t *testing.T) {
			b := wrapped(Contract(heeding(func(err error) error { return fmt.Errorf("post: %w", err) })), timeout(second, newCalls(), false))
			if e := is(t, ask(b, req), mounts.Timeout); e.OutcomeUnknown != changes(req) {
				t.Errorf("%s: %+v", req.Op(), e)
			}
		})
	}
}

func TestAClientThatLeavesStopsAReadButNotAWrite(t *testing.T) {
	for _, req := range []mounts.Request{load, drop, commit} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			b := wrapped(scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
				select {
				case <-ctx.Done():
				case <-time.After(3 * second):
				}
				ended <- ctx.Err()
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				return right(ctx, req)
			}), timeout(10*second, newCalls(), false))
			ctx, leave := context.WithCancel(context.Background())
			time.AfterFunc(second, leave)
			start := time.Now()
			_, err := mounts.Invoke(ctx, b, req)
			if took := time.Since(start); took != second {
				t.Errorf("%s: waited %v", req.Op(), took)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the client's leaving is not recognised in %v", err)
			}
			if e := mounts.AsError(err); e.OutcomeUnknown != changes(req) {
				t.Errorf("%s: %+v", req.Op(), e)
			}
			if got := <-ended; (got == nil) != changes(req) {
				t.Errorf("%s: the backend saw %v", req.Op(), got)
			}
		})
	}
}

func TestTheCallersDeadlineEndsTheWaitForAWriteNotTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var committed bool
		owner := newCalls()
		b := wrapped(scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			time.Sleep(5 * second)
			committed = ctx.Err() == nil
			return right(ctx, req)
		}), timeout(10*second, owner, false))
		ctx, cancel := context.WithTimeout(context.Background(), second)
		defer cancel()
		_, err := mounts.Invoke(ctx, b, commit)
		if e := is(t, err, mounts.Timeout); !e.OutcomeUnknown {
			t.Errorf("a commit that goes on is reported as not done: %v", err)
		}
		owner.close(time.Hour)
		if !committed {
			t.Error("the commit was cut off")
		}
	})
}

func TestACallerWhoHasLeftSendsNothing(t *testing.T) {
	s := answering()
	b := wrapped(s, timeout(second, newCalls(), false))
	ctx, leave := context.WithCancel(context.Background())
	leave()
	_, err := mounts.Invoke(ctx, b, commit)
	if e := mounts.AsError(err); !errors.Is(err, context.Canceled) || e.OutcomeUnknown || s.calls.Load() != 0 {
		t.Errorf("got %v after %d calls", err, s.calls.Load())
	}
}

func TestNothingIsSentAfterClose(t *testing.T) {
	s, owner := answering(), newCalls()
	b := wrapped(s, timeout(second, owner, false))
	if err := ask(b, load); err != nil {
		t.Fatal(err)
	}
	owner.close(second)
	if e := is(t, ask(b, commit), mounts.Unavailable); e.OutcomeUnknown || s.calls.Load() != 1 {
		t.Errorf("got %v after %d calls", e, s.calls.Load())
	}
}

func TestCloseGivesUpOnACallThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner := newCalls()
		b := wrapped(deaf(time.Hour), timeout(second, owner, false))
		is(t, ask(b, load), mounts.Timeout)
		if left := owner.close(10 * second); left != 1 {
			t.Errorf("%d calls left", left)
		}
		if left := owner.close(2 * time.Hour); left != 0 {
			t.Errorf("%d calls left at last", left)
		}
	})
}
