package wrap

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/icefield/icefield/mounts"
)

func newTestBreaker(s *script) (*breaker, mounts.Backend) {
	quiet := slog.New(slog.DiscardHandler)
	b := newBreaker(BreakerOptions{Failures: 3, OpenFor: 15 * second}, 5*second, quiet, func() {}, func() {})
	return b, wrapped(s, b.intercept)
}

// times sends n loads and returns how many reached the backend.
func times(s *script, b mounts.Backend, n int) int64 {
	before := s.calls.Load()
	for range n {
		_ = ask(b, load)
	}
	return s.calls.Load() - before
}

func TestTheBreakerOpensAfterFailuresInARowAndRefusesAtOnce(t *testing.T) {
	for _, kind := range []mounts.Kind{mounts.Unavailable, mounts.Timeout, mounts.BadGateway} {
		synctest.Test(t, func(t *testing.T) {
			s := failing(&mounts.Error{Kind: kind})
			_, b := newTestBreaker(s)
			if got := times(s, b, 10); got != 3 {
				t.Errorf("%v: %d calls were sent", kind, got)
			}
			time.Sleep(5 * second)
			start := time.Now()
			e := is(t, ask(b, commit), mounts.Unavailable)
			if e.OutcomeUnknown || e.RetryAfter != 10*second || time.Since(start) != 0 {
				t.Errorf("refused with %+v", e)
			}
		})
	}
}

func TestAnswersThatSayNoDoNotOpenTheBreaker(t *testing.T) {
	for _, kind := range mounts.Kinds() {
		if kind == mounts.Unavailable || kind == mounts.Timeout || kind == mounts.BadGateway {
			continue
		}
		s := failing(&mounts.Error{Kind: kind})
		br, b := newTestBreaker(s)
		if got := times(s, b, 20); got != 20 || br.state() != gobreaker.StateClosed {
			t.Errorf("%v: %d of 20 calls were sent, the breaker is %v", kind, got, br.state())
		}
	}
}

func TestARefusalThatTheRemoteItselfSaidDoesNotOpenTheBreaker(t *testing.T) {
	s := failing(&mounts.Error{Kind: mounts.BadGateway, Answered: true}) // as a remote's 401 is
	br, b := newTestBreaker(s)
	if got := times(s, b, 20); got != 20 || br.state() != gobreaker.StateClosed {
		t.Errorf("%d of 20 calls were sent, the breaker is %v", got, br.state())
	}
}

func TestAnAnswerInBetweenStartsTheCountAgain(t *testing.T) {
	s := failing(down)
	br, b := newTestBreaker(s)
	for range 5 {
		s.fails(down)
		times(s, b, 2)
		s.fails(&mounts.Error{Kind: mounts.NoSuchTable})
		times(s, b, 1)
	}
	if br.state() != gobreaker.StateClosed {
		t.Error("failures that were not in a row opened the breaker")
	}
}

func TestAClientsLeavingIsNobodysFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := heeding(func(err error) error { return &mounts.Error{Kind: mounts.Timeout, Err: err} })
		br, b := newTestBreaker(s)
		for range 10 {
			ctx, leave := context.WithCancel(context.Background())
			time.AfterFunc(8*second, leave) // time enough for the backend
			_, _ = mounts.Invoke(ctx, b, load)
		}
		if br.state() != gobreaker.StateClosed || s.calls.Load() != 10 {
			t.Errorf("%v after %d calls", br.state(), s.calls.Load())
		}
	})
}

func TestACallersShortDeadlineIsNoFailureALongOneIs(t *testing.T) {
	for allowed, want := range map[time.Duration]gobreaker.State{second: gobreaker.StateClosed, 8 * second: gobreaker.StateOpen} {
		synctest.Test(t, func(t *testing.T) {
			s := heeding(func(err error) error { return &mounts.Error{Kind: mounts.Timeout, Err: err} })
			br, b := newTestBreaker(s)
			for range 3 {
				ctx, cancel := context.WithTimeout(context.Background(), allowed)
				_, _ = mounts.Invoke(ctx, b, load)
				cancel()
			}
			if br.state() != want {
				t.Errorf("with %v to answer: %v", allowed, br.state())
			}
		})
	}
}

func TestOurOwnRefusalsDoNotCount(t *testing.T) {
	s := failing(&mounts.Error{Kind: mounts.Unavailable, Err: errNotSent})
	br, b := newTestBreaker(s)
	if times(s, b, 10); br.state() != gobreaker.StateClosed {
		t.Error("refusals below opened the breaker")
	}
}

func TestOneCallTriesAnOpenBreakerAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(down)
		br, b := newTestBreaker(s)
		times(s, b, 3)
		time.Sleep(15*second + 1)
		hold := make(chan struct{})
		s.does(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			<-hold
			return right(ctx, req)
		})
		trial := make(chan error, 1)
		go func() { trial <- ask(b, load) }()
		synctest.Wait()
		if got := times(s, b, 5); got != 0 || br.state() != gobreaker.StateHalfOpen {
			t.Errorf("%d calls beside the trial, %v", got, br.state())
		}
		close(hold)
		if err := <-trial; err != nil || br.state() != gobreaker.StateClosed {
			t.Errorf("after a good trial: %v, %v", err, br.state())
		}
		if got := times(s, b, 5); got != 5 {
			t.Errorf("%d of 5 calls after recovery", got)
		}
	})
}

func TestAFailedTrialKeepsTheBreakerOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(down)
		br, b := newTestBreaker(s)
		times(s, b, 3)
		time.Sleep(15*second + 1)
		if got := times(s, b, 5); got != 1 || br.state() != gobreaker.StateOpen {
			t.Errorf("%d calls, %v", got, br.state())
		}
	})
}

func TestAProbeClosesTheBreakerOnProbation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(down)
		br, b := newTestBreaker(s)
		times(s, b, 3)
		br.recovered()
		if br.state() != gobreaker.StateClosed {
			t.Fatalf("%v after a good probe", br.state())
		}
		if got := times(s, b, 5); got != 1 || br.state() != gobreaker.StateOpen {
			t.Errorf("the probe was wrong, and %d calls were sent, %v", got, br.state())
		}
		if br.recovered(); br.state() != gobreaker.StateOpen {
			t.Error("a probe that proved wrong is believed again")
		}
		time.Sleep(15*second + 1)
		s.does(right)
		if got := times(s, b, 1); got != 1 || br.state() != gobreaker.StateClosed {
			t.Fatalf("%d calls, %v", got, br.state())
		}
		s.fails(down)
		times(s, b, 3)
		br.recovered()
		s.does(right)
		times(s, b, 1)
		s.fails(down)
		if got := times(s, b, 5); got != 3 {
			t.Errorf("after a success in probation %d failures open it", got)
		}
	})
}

func TestTheRefusalIsRecognisedAsNotSent(t *testing.T) {
	s := failing(down)
	_, b := newTestBreaker(s)
	times(s, b, 3)
	if err := ask(b, load); !notSent(err) || errors.Is(err, mounts.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestTheLogSaysWhyABreakerOpened(t *testing.T) {
	var log bytes.Buffer
	s := failing(&mounts.Error{Kind: mounts.BadGateway, Msg: "the remote catalog failed (status 500)"})
	b := newBreaker(BreakerOptions{Failures: 2}, time.Second, slog.New(slog.NewTextHandler(&log, nil)), func() {}, func() {})
	times(s, mounts.Around(s, b.intercept), 3)
	if text := log.String(); strings.Count(text, "to=open") != 1 || !strings.Contains(text, "status 500") {
		t.Errorf("logged %q", text)
	}
}
