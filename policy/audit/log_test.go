package audit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
)

var _ policy.Trail = (*Log)(nil)

func TestAChangeWaitsUntilItsEventIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true})
		returned := make(chan error, 1)
		go func() { returned <- record(log, "a") }()
		synctest.Wait()
		select {
		case err := <-returned:
			t.Fatalf("Record returned %v before the write", err)
		default:
		}
		close(m.gate)
		require.NoError(t, <-returned)
		lines, _ := m.lines(t)
		require.Equal(t, []string{"a"}, ids(lines))
		require.NoError(t, log.Close())
	})
}

func TestAReadDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true})
		open := openMemory(m, Options{})
		note(t, log, "read")
		require.NoError(t, record(open, "change without fail_closed"))
		close(m.gate)
		require.NoError(t, log.Close())
		require.NoError(t, open.Close())
		lines, _ := m.lines(t)
		require.Len(t, lines, 2)
	})
}

func TestAWriteThatDoesNotEndRefusesChangesAndLetsReadsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := NewMetrics(prometheus.NewRegistry())
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true, Metrics: metrics})
		began := time.Now()
		requireRefused(t, record(log, "slow"))
		require.Equal(t, waitLimit, time.Since(began))
		time.Sleep(time.Millisecond)

		again := time.Now()
		requireRefused(t, record(log, "at once"))
		note(t, log, "read")
		require.Zero(t, time.Since(again), "nobody waits for what is known to hang")
		require.Equal(t, Failing, log.Status().State)
		require.Equal(t, began, log.Status().Since)
		require.Zero(t, testutil.ToFloat64(metrics.healthy))

		close(m.gate)
		require.NoError(t, log.Close())
		require.Equal(t, OK, log.Status().State)
		require.Equal(t, 1.0, testutil.ToFloat64(metrics.healthy))
		lines, _ := m.lines(t)
		require.Equal(t, []string{"slow", "lost 0 refused 1", "read"}, ids(lines), "what was only too slow may still be there")
	})
}

func TestACallerWhoLeavesDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		err := log.Record(ctx, event("a"), true)
		requireRefused(t, err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		close(m.gate)
		require.NoError(t, log.Close())
	})
}

func TestAFullDiskRefusesChangesAndRecoversByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := NewMetrics(prometheus.NewRegistry())
		m := &memory{}
		log := openMemory(m, Options{FailClosed: true, Metrics: metrics})
		require.NoError(t, record(log, "before"))
		m.failWith(func([]byte) (int, error) { return 0, &errPath{syscall.ENOSPC} })
		began := time.Now()
		requireRefused(t, record(log, "a"))
		requireRefused(t, record(log, "b"))
		note(t, log, "read")
		gathered()
		status := log.Status()
		require.Equal(t, Status{State: Failing, Since: began, Reason: "no space left on device", Written: 1, Lost: 1, Refused: 2}, status)
		require.Zero(t, testutil.ToFloat64(metrics.healthy))
		require.Equal(t, 1.0, testutil.ToFloat64(metrics.lost))
		require.Equal(t, 2.0, testutil.ToFloat64(metrics.refused))

		m.failWith(nil)
		time.Sleep(retryEvery + time.Millisecond) // nobody asks for anything
		synctest.Wait()
		require.Equal(t, OK, log.Status().State)
		require.Equal(t, 1.0, testutil.ToFloat64(metrics.healthy))
		require.NoError(t, record(log, "after"))
		require.NoError(t, log.Close())
		lines, torn := m.lines(t)
		require.Zero(t, torn)
		require.Equal(t, []string{"before", "lost 1 refused 2", "after"}, ids(lines))
		require.Equal(t, 2.0, testutil.ToFloat64(metrics.written))
	})
}

type errPath struct{ cause error }

func (e *errPath) Error() string { return "write /secret/place: " + e.cause.Error() }
func (e *errPath) Unwrap() error { return e.cause }

func TestAShortWriteHidesNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true})
		note(t, log, "held") // keeps the writer busy until the others wait
		gathered()
		errs := make([]error, 3)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = log.Record(context.Background(), numberedEvent(i), true) })
			synctest.Wait()
		}
		m.failWith(func(p []byte) (int, error) {
			if n := strings.IndexByte(string(p), '\n'); n+1 < len(p) {
				return n + 1 + 20, syscall.ENOSPC // one line and the beginning of the next
			}
			return len(p), nil
		})
		m.gate <- struct{}{}
		m.gate <- struct{}{}
		all.Wait()
		require.NoError(t, errs[0], "it is wholly there")
		requireRefused(t, errs[1])
		requireRefused(t, errs[2])
		m.failWith(nil)
		close(m.gate)
		require.NoError(t, record(log, "next"))
		require.NoError(t, log.Close())
		lines, torn := m.lines(t)
		require.Equal(t, []string{"held", "0", "lost 0 refused 2", "next"}, ids(lines))
		require.Equal(t, 1, torn, "readers see that one line is not whole")
	})
}

func TestAFullQueueLosesCountsAndTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := NewMetrics(prometheus.NewRegistry())
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true, Queue: 3, Metrics: metrics})
		note(t, log, "taken")
		gathered() // the writer holds it
		for range 5 {
			note(t, log, "queued")
		}
		require.Equal(t, uint64(2), log.Status().Lost)
		require.Equal(t, 2.0, testutil.ToFloat64(metrics.lost))
		done := make(chan error)
		go func() { done <- record(log, "must") }()
		synctest.Wait()
		close(m.gate)
		require.NoError(t, <-done, "events that need not be written do not crowd out those that must")
		require.NoError(t, log.Close())
		lines, _ := m.lines(t)
		require.Equal(t, []string{"taken", "lost 2 refused 0", "queued", "queued", "queued", "must"}, ids(lines))
	})
}

func TestEvenWhatMustBeWrittenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true, Queue: 2})
		var all sync.WaitGroup
		errs := make(chan error, 20)
		for i := range 20 {
			all.Go(func() { errs <- log.Record(context.Background(), numberedEvent(i), true) })
		}
		synctest.Wait()
		require.GreaterOrEqual(t, len(errs), 20-4-4) // four in the write, four that wait
		for range len(errs) {
			requireRefused(t, <-errs)
		}
		close(m.gate)
		all.Wait()
		require.NoError(t, log.Close())
	})
}

func TestEventsAreWrittenInTheirOrder(t *testing.T) {
	m := &memory{}
	log := openMemory(m, Options{FailClosed: true})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 50 {
				e := numberedEvent(i)
				e.Outcome = policy.Permitted
				if err := log.Record(context.Background(), e, true); err != nil {
					t.Error(err)
				}
				e.Outcome = policy.Done
				_ = log.Record(context.Background(), e, false)
			}
		})
	}
	all.Wait()
	require.NoError(t, log.Close())
	lines, torn := m.lines(t)
	require.Zero(t, torn)
	require.Len(t, lines, 800)
	ahead := map[string]int{}
	for _, l := range lines {
		if l.Outcome == policy.Permitted {
			ahead[l.RequestID]++
		} else if ahead[l.RequestID]--; ahead[l.RequestID] < 0 {
			t.Fatalf("request %s is done before it is permitted", l.RequestID)
		}
	}
}

func TestWhatWaitsGoesIntoOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{FailClosed: true})
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				if err := log.Record(context.Background(), numberedEvent(i), true); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(m.gate)
		all.Wait()
		require.NoError(t, log.Close())
		require.LessOrEqual(t, m.writes, 2)
	})
}

// Reads come together for a moment; a change takes along at once what came before
// it, and so does a lot of them.
func TestReadsShareAWriteAndNothingWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		log := openMemory(m, Options{FailClosed: true})
		for range 5 {
			note(t, log, "read")
			time.Sleep(lingers / 10)
		}
		require.Zero(t, m.count())
		gathered()
		require.Equal(t, 1, m.count())

		began := time.Now()
		note(t, log, "before")
		require.NoError(t, record(log, "change"))
		require.Zero(t, time.Since(began))
		synctest.Wait()
		lines, _ := m.lines(t)
		require.Equal(t, []string{"read", "read", "read", "read", "read", "before", "change"}, ids(lines))

		gathered()
		before := m.count()
		for range 1 + enough/len(appendEvent(nil, time.Now(), new(event("read")))) {
			note(t, log, "read")
		}
		synctest.Wait()
		require.Equal(t, before+1, m.count(), "a lot of them is written at once")
		require.NoError(t, log.Close())
	})
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		log := openMemory(m, Options{Queue: 10})
		for range 5 {
			note(t, log, "read")
		}
		synctest.Wait()
		require.Equal(t, 1, m.count(), "what fills the queue is written at once")
		require.NoError(t, log.Close())
	})
}

func TestCloseWritesWhatWaitsAndRefusesTheRest(t *testing.T) {
	m := &memory{}
	log := openMemory(m, Options{FailClosed: true})
	for i := range 500 {
		require.NoError(t, log.Record(context.Background(), numberedEvent(i), false))
	}
	require.NoError(t, log.Close())
	require.NoError(t, log.Close())
	lines, _ := m.lines(t)
	require.Len(t, lines, 500)
	requireRefused(t, record(log, "late"))
	note(t, log, "late read")
	require.Equal(t, uint64(1), log.Status().Lost)
	require.Error(t, log.Reopen(context.Background()))
}

func TestCloseEndsAndSaysWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		log := openMemory(m, Options{})
		note(t, log, "in the write")
		gathered()
		note(t, log, "a")
		note(t, log, "b")
		began := time.Now()
		require.EqualError(t, log.Close(), "audit: events lost: 2, and those of a write that does not end")
		require.Equal(t, drainLimit, time.Since(began))
		close(m.gate)
		<-log.done
	})
	m := &memory{fail: func([]byte) (int, error) { return 0, syscall.EPIPE }}
	log := openMemory(m, Options{})
	note(t, log, "a")
	require.EqualError(t, log.Close(), "audit: events lost: 1")
}

func TestTheLogIsToldOfAFailureOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		m := &memory{fail: func([]byte) (int, error) { return 0, errors.New("broken /secret/place") }}
		log := openMemory(m, Options{FailClosed: true, Logger: textLogger(&out)})
		for range 90 { // a minute and a half
			requireRefused(t, record(log, "a"))
			time.Sleep(time.Second)
		}
		m.failWith(nil)
		require.NoError(t, record(log, "b"))
		require.NoError(t, log.Close())
		require.Equal(t, 2, strings.Count(out.String(), "cannot be written"), out.String())
		require.Equal(t, 1, strings.Count(out.String(), "can be written again"))
		require.NotContains(t, out.String(), "secret")
	})
}

func TestNoTrailTakesEverything(t *testing.T) {
	var none *Log
	require.NoError(t, none.Record(context.Background(), event("a"), true))
	require.NoError(t, none.Reopen(context.Background()))
	require.Equal(t, OK, none.Status().State)
	require.NoError(t, none.Close())
	log, err := Open(Options{})
	require.NoError(t, err)
	require.NoError(t, record(log, "a"))
	require.NoError(t, log.Reopen(context.Background()))
	require.NoError(t, log.Close())
	_, err = Open(Options{Sink: None, FailClosed: true})
	require.ErrorContains(t, err, "fail_closed needs a sink")
	_, err = Open(Options{Sink: "syslog"})
	require.ErrorContains(t, err, `there is no sink "syslog"`)
}
