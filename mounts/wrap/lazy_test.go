package wrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func TestUntilItIsOpenALazyBackendRefusesAndThenItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering()
		var attempts atomic.Int64
		var up atomic.Bool
		l := NewLazy(func(context.Context) (mounts.Backend, error) {
			attempts.Add(1)
			if !up.Load() {
				return nil, &mounts.Error{Kind: mounts.NoSuchTable, Msg: "connection refused by 10.0.0.1"}
			}
			return s, nil
		}, LazyOptions{})
		defer l.Close()
		synctest.Wait()
		if attempts.Load() != 1 {
			t.Fatalf("%d attempts at once", attempts.Load())
		}
		for _, req := range everyRequest(mounts.Namespace{"a"}) {
			e := is(t, ask(l, req), mounts.Unavailable)
			if e.OutcomeUnknown || e.RetryAfter < time.Second || !notSent(e) || strings.Contains(e.Message(), "10.0.0.1") || errors.Is(e, mounts.NoSuchTable) {
				t.Errorf("%s: %+v", req.Op(), e)
			}
		}
		if l.Opened() || l.Health(t.Context()) == nil {
			t.Error("it passes for open")
		}
		want := capabilities.Floor().Union(capabilities.Of(capabilities.LoadTable))
		if got := l.Capabilities(); got != want {
			t.Errorf("until opened it can %v", got.Endpoints())
		}
		if got := l.KeyLifetime(); got != 0 {
			t.Errorf("until opened it honours keys for %v", got)
		}
		up.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := ask(l, commit); err != nil || !l.Opened() || l.Health(t.Context()) != nil {
			t.Errorf("not open after a second: %v", err)
		}
		if l.Capabilities() != capabilities.All() {
			t.Error("the capabilities are not the backend's")
		}
		if got := l.KeyLifetime(); got != scriptKeys {
			t.Errorf("once opened it honours keys for %v", got)
		}
		if err := l.Close(); err != nil || s.closed.Load() != 1 {
			t.Errorf("closed %d times, %v", s.closed.Load(), err)
		}
	})
}

func TestHealthWaitsForTheFirstAttemptToOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering()
		l := NewLazy(func(context.Context) (mounts.Backend, error) {
			time.Sleep(time.Second)
			return s, nil
		}, LazyOptions{})
		defer l.Close()
		m := Stack(l, Options{Name: "prod"})
		defer m.Close()
		m.Start()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if status := m.Status(); status.State != mounts.Up || status.LastError != "" {
			t.Errorf("a second after it opened: %+v", status)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		never := NewLazy(func(ctx context.Context) (mounts.Backend, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, LazyOptions{Attempt: time.Hour})
		defer never.Close()
		is(t, never.Health(impatient), mounts.Unavailable)
	})
}

func TestOpeningBacksOffUpToABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		l := NewLazy(func(context.Context) (mounts.Backend, error) {
			at = append(at, time.Now())
			return nil, errors.New("no")
		}, LazyOptions{First: time.Second, Longest: 8 * second})
		time.Sleep(10 * time.Minute)
		l.Close()
		for i, bound := range []time.Duration{1, 2, 4, 8, 8, 8, 8} {
			pause := at[i+1].Sub(at[i])
			if pause > bound*second || pause < bound*second*3/4-1 {
				t.Errorf("pause %d is %v, want at most %v", i, pause, bound*second)
			}
		}
	})
}

func TestAMountThatStaysClosedIsLoggedWhenTheReasonChangesAndNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		attempts := 0
		l := NewLazy(func(context.Context) (mounts.Backend, error) {
			if attempts++; attempts == 2 {
				return nil, errors.New("the certificate has ended")
			}
			return nil, errors.New("connection refused")
		}, LazyOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		time.Sleep(time.Hour)
		l.Close()
		if lines := strings.Count(log.String(), "cannot be opened"); attempts < 200 || lines < 7 || lines > 9 {
			t.Errorf("%d lines of %d attempts:\n%s", lines, attempts, log.String())
		}
		if strings.Count(log.String(), "certificate") != 1 {
			t.Errorf("another reason is not told once:\n%s", log.String())
		}
	})
}

func TestALoopIsKnownAsALoopUntilItIsFixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLazy(func(context.Context) (mounts.Backend, error) { return nil, &mounts.Error{Kind: mounts.Loop} }, LazyOptions{})
		defer l.Close()
		synctest.Wait()
		if e := mounts.AsError(ask(l, load)); e.Kind != mounts.Loop || !notSent(e) {
			t.Errorf("got %+v", e)
		}
	})
}

func TestCloseStopsOpeningAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inside atomic.Bool
		l := NewLazy(func(ctx context.Context) (mounts.Backend, error) {
			inside.Store(true)
			defer inside.Store(false)
			<-ctx.Done()
			time.Sleep(time.Second)
			return nil, ctx.Err()
		}, LazyOptions{})
		synctest.Wait()
		if err := l.Close(); err != nil || inside.Load() {
			t.Errorf("%v, still opening: %v", err, inside.Load())
		}
		is(t, ask(l, load), mounts.Unavailable)
	})
}

func TestABackendThatOpensWhileClosingIsClosedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering()
		l := NewLazy(func(ctx context.Context) (mounts.Backend, error) {
			<-ctx.Done()
			return s, nil
		}, LazyOptions{})
		synctest.Wait()
		if err := l.Close(); err != nil || s.closed.Load() != 1 {
			t.Errorf("closed %d times, %v", s.closed.Load(), err)
		}
	})
}

func TestOneAttemptIsBoundedAndAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		s := answering()
		l := NewLazy(func(ctx context.Context) (mounts.Backend, error) {
			switch attempts++; attempts {
			case 1:
				<-ctx.Done()
				return nil, ctx.Err()
			case 2:
				panic("x")
			case 3:
				return nil, nil
			}
			return s, nil
		}, LazyOptions{Attempt: 10 * second})
		defer l.Close()
		time.Sleep(10*second + 1 + 2 + 4*second + 4*second)
		synctest.Wait()
		if err := ask(l, load); err != nil || attempts != 4 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
	})
}

func TestALazyMountWhoseErrorIsNotForClientsPointsAtTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLazy(func(context.Context) (mounts.Backend, error) {
			return nil, errors.New("password of 10.0.0.1 refused")
		}, LazyOptions{})
		m := Stack(l, Options{Name: "prod"})
		m.Start()
		defer m.Close()
		synctest.Wait()
		const want = "it cannot be opened and is tried again; the server's log says why"
		if st := m.Status(); st.State != mounts.Opening || st.LastError != want {
			t.Errorf("got %+v", st)
		}
	})
}

func TestTheStatusOfALazyMountTellsWhyTheLastAttemptFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempt := 0
		l := NewLazy(func(context.Context) (mounts.Backend, error) {
			attempt++
			return nil, &mounts.Error{Kind: mounts.BadGateway, Msg: fmt.Sprintf("attempt %d", attempt), Err: errors.New("internal text")}
		}, LazyOptions{})
		m := Stack(l, Options{Name: "partner", Probe: ProbeOptions{Interval: -1}})
		defer m.Close()
		for _, want := range []string{"attempt 1", "attempt 2"} {
			synctest.Wait()
			if st := m.Status(); st.State != mounts.Opening || st.LastError != want {
				t.Errorf("got %+v, want %s", st, want)
			}
			time.Sleep(time.Second)
		}
	})
}
