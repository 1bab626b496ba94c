package wrap

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

func TestProbesComeAtOnceAndAtTheirIntervalUntilClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int64
		s := answering()
		s.isHealthy(func(context.Context) error { probes.Add(1); time.Sleep(time.Millisecond); return nil })
		m := Stack(s, Options{Name: "prod", Probe: ProbeOptions{Interval: 10 * second}})
		if st := m.Status(); st.State != mounts.Up || !st.CheckedAt.IsZero() {
			t.Errorf("before the first probe: %+v", st)
		}
		m.Start()
		m.Start()
		time.Sleep(second)
		synctest.Wait()
		if st := m.Status(); probes.Load() != 1 || st.State != mounts.Up || st.Latency != time.Millisecond || st.CheckedAt.IsZero() || st.LastError != "" {
			t.Errorf("after %d probes: %+v", probes.Load(), st)
		}
		s.isHealthy(func(context.Context) error { probes.Add(1); return errors.New("x") })
		time.Sleep(100 * second)
		if st := m.Status(); st.State != mounts.Down || st.Latency != time.Millisecond {
			t.Errorf("the latency of the last good probe is not kept: %+v", st)
		}
		if n := probes.Load(); n < 5 || n > 7 { // after 0, 10, 20, 40, 70, 100 seconds
			t.Errorf("%d probes in 101s", n)
		}
		n := probes.Load()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m.Start()
		time.Sleep(time.Minute)
		if probes.Load() != n {
			t.Error("probed after Close")
		}
	})
}

func TestAMountThatIsDownIsProbedEverLessUntilACallIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int64
		s := answering()
		s.isHealthy(func(context.Context) error {
			probes.Add(1)
			return &mounts.Error{Kind: mounts.Unavailable}
		})
		m := Stack(s, Options{Name: "prod", Probe: ProbeOptions{Interval: second, Longest: 8 * second}})
		m.Start()
		defer m.Close()
		time.Sleep(100 * second)
		if n := probes.Load(); n < 13 || n > 18 {
			t.Errorf("%d probes in 100s, of which most should be 8s apart", n)
		}
		// A call that is answered is a reason to look, but calls do not make probes.
		n := probes.Load()
		for range 1000 {
			if err := ask(m.Mount().View, load); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got := probes.Load() - n; got < 7 || got > 13 {
			t.Errorf("%d probes while calls were answered for 10s", got)
		}
	})
}

// A registry that was moved away answers, and serves nothing: its breaker is
// closed, and it is down whether or not somebody asks it.
func TestAMountThatAnswersItIsUnavailableIsAsItsProbeSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering()
		moved := &mounts.Error{Kind: mounts.Unavailable, Answered: true, Msg: "moved away"}
		s.fails(moved)
		s.isHealthy(func(context.Context) error { return moved })
		m := Stack(s, Options{Name: "prod", Breaker: BreakerOptions{Failures: 2}})
		m.Start()
		defer m.Close()
		synctest.Wait()
		for range 5 {
			is(t, ask(m.Mount().View, load), mounts.Unavailable)
		}
		if st := m.Status(); st.State != mounts.Down || st.Breaker != "closed" || st.LastError != "moved away" {
			t.Errorf("got %+v", st)
		}
		s.isHealthy(nil) // it can be read, and takes no changes
		time.Sleep(6 * second)
		is(t, ask(m.Mount().View, load), mounts.Unavailable)
		if st := m.Status(); st.State != mounts.Up {
			t.Errorf("got %+v", st)
		}
	})
}

func TestAFailedProbeIsSeenUntilAProbeOrACallSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering()
		s.isHealthy(func(context.Context) error { return errors.New("dial tcp 10.0.0.1: refused") })
		m := Stack(s, Options{Name: "prod"})
		m.Start()
		defer m.Close()
		synctest.Wait()
		st := m.Status()
		if st.State != mounts.Down || st.LastError == "" || strings.Contains(st.LastError, "10.0.0.1") {
			t.Errorf("got %+v", st)
		}
		if st.Latency != 0 {
			t.Errorf("no probe succeeded, and one took %v", st.Latency)
		}
		if err := ask(m.Mount().View, load); err != nil {
			t.Fatal(err)
		}
		if st := m.Status(); st.State != mounts.Up {
			t.Errorf("after a good call: %+v", st)
		}
		time.Sleep(6 * second)
		if st := m.Status(); st.State != mounts.Down {
			t.Errorf("after another bad probe: %+v", st)
		}
		s.isHealthy(nil)
		time.Sleep(12 * second)
		if st := m.Status(); st.State != mounts.Up || st.LastError != "" {
			t.Errorf("after a good probe: %+v", st)
		}
	})
}

func TestAHungProbeIsBoundedAndNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int64
		release := make(chan struct{})
		s := answering()
		s.isHealthy(func(context.Context) error { probes.Add(1); <-release; return nil })
		m := Stack(s, Options{Name: "prod", Probe: ProbeOptions{Interval: 5 * second, Timeout: 2 * second}})
		m.Start()
		time.Sleep(3 * second)
		if st := m.Status(); st.State != mounts.Down || st.LastError != "no answer in time" {
			t.Errorf("got %+v", st)
		}
		time.Sleep(time.Minute)
		if probes.Load() != 1 {
			t.Errorf("%d probes hang in a backend that does not answer", probes.Load())
		}
		s.isHealthy(func(context.Context) error { probes.Add(1); return &mounts.Error{Kind: mounts.BadGateway} })
		nextProbe(m) // nobody waits for the hung one now
		close(release)
		nextProbe(m)
		if st := m.Status(); st.State != mounts.Down || probes.Load() != 2 {
			t.Errorf("the answer of a probe that came too late counts: %d probes, %+v", probes.Load(), st)
		}
		s.isHealthy(nil)
		time.Sleep(34 * second)
		if st := m.Status(); st.State != mounts.Up {
			t.Errorf("got %+v", st)
		}
		m.Close()
	})
}

// nextProbe returns when the next probe has ended, in a bubble's time.
func nextProbe(m *Mounted) {
	for before := m.Status().CheckedAt; m.Status().CheckedAt.Equal(before); {
		time.Sleep(time.Millisecond)
	}
}

func TestAPanickingHealthCheckIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering()
		s.isHealthy(func(context.Context) error { panic("x") })
		m := Stack(s, Options{Name: "prod"})
		m.Start()
		defer m.Close()
		synctest.Wait()
		if m.Status().State != mounts.Down {
			t.Errorf("got %+v", m.Status())
		}
		if e := mounts.AsError(m.Mount().Tree.Health(t.Context())); e.Kind != mounts.Internal || e.Mount != "prod" {
			t.Errorf("got %+v", e)
		}
	})
}

func TestAGoodProbeClosesTheBreakerBeforeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(&mounts.Error{Kind: mounts.BadGateway})
		s.isHealthy(func(context.Context) error { return &mounts.Error{Kind: mounts.Unavailable} })
		m := Stack(s, Options{Name: "prod", Breaker: BreakerOptions{Failures: 2, OpenFor: time.Minute}, Probe: ProbeOptions{Interval: 2 * second}})
		m.Start()
		defer m.Close()
		view := m.Mount().View
		for range 2 {
			is(t, ask(view, load), mounts.BadGateway)
		}
		e := is(t, ask(view, load), mounts.Unavailable)
		if m.Status().Breaker != "open" || m.Status().State != mounts.Down || !strings.Contains(e.Message(), `mount "prod"`) {
			t.Errorf("%+v, %s", m.Status(), e.Message())
		}
		s.does(right)
		s.isHealthy(nil)
		time.Sleep(3 * second)
		if err := ask(view, load); err != nil || m.Status().Breaker != "closed" {
			t.Errorf("3s after recovery: %v, %+v", err, m.Status())
		}
	})
}

func TestALazyMountIsOpeningUntilItWasReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		l := NewLazy(func(context.Context) (mounts.Backend, error) {
			if !up.Load() {
				return nil, &mounts.Error{Kind: mounts.BadGateway}
			}
			return answering(), nil
		}, LazyOptions{})
		m := Stack(l, Options{Name: "partner", Breaker: BreakerOptions{Failures: 1, OpenFor: time.Hour}})
		m.Start()
		defer m.Close()
		synctest.Wait()
		for range 5 {
			is(t, ask(m.Mount().View, load), mounts.Unavailable)
		}
		if st := m.Status(); st.State != mounts.Opening || st.LastError == "" || st.Breaker != "closed" {
			t.Errorf("got %+v", st)
		}
		up.Store(true)
		time.Sleep(20 * second)
		if st := m.Status(); st.State != mounts.Up {
			t.Errorf("got %+v", st)
		}
		if err := ask(m.Mount().View, load); err != nil {
			t.Error(err)
		}
	})
}

func TestAClosedMountIsNotProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Stack(answering(), Options{Name: "prod"})
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m.Start() // a goroutine that nobody ends would fail the bubble
	})
}
