package jobs

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// work is a Work made of a function.
type work func(ctx context.Context, t *Task) error

func (w work) Do(ctx context.Context, t *Task) error { return w(ctx, t) }

// inBubble runs a test on a clock of its own, which moves on when nothing else
// is left to do.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func start(t testing.TB, s store.Store, w work) *Runner {
	t.Helper()
	r := New(Config{Store: s, Works: map[string]Work{"test": w}})
	r.Start()
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// until waits for a job to get into a state, looking once a second.
func until(t testing.TB, s store.Store, id uuid.UUID, state store.JobState, limit time.Duration) store.Job {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(time.Second) {
		j := look(t, s, id)
		if j.State == state {
			return j
		}
		if time.Now().After(end) {
			t.Fatalf("after %v the job is %s, not %s: %+v", limit, j.State, state, j)
		}
	}
}

func TestAJobThatARunnerIsToldOfIsDoneAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := openStore(t)
		done := make(chan struct{})
		r := start(t, s, func(context.Context, *Task) error { close(done); return nil })
		synctest.Wait()
		began := time.Now()
		id := record(t, s, "test", "x")
		r.Wake()
		<-done
		if took := time.Since(began); took != 0 {
			t.Errorf("it was begun after %v", took)
		}
		j := until(t, s, id, store.JobDone, time.Minute)
		if j.Attempts != 1 || j.Lease != "" || !j.LeasedUntil.IsZero() {
			t.Errorf("%+v", j)
		}
	})
}

func TestAJobOfAnotherReplicaIsFoundBeforeLong(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := openStore(t)
		start(t, s, func(context.Context, *Task) error { return nil })
		synctest.Wait()
		until(t, s, record(t, s, "test", "x"), store.JobDone, 2*poll)
	})
}

// TestTwoReplicasNeverWorkOnOneJob has jobs that take much longer than a lease.
func TestTwoReplicasNeverWorkOnOneJob(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &shared{Store: openStore(t)}
		var mu sync.Mutex
		at, times := map[uuid.UUID]int{}, map[uuid.UUID]int{}
		by := map[string]int{}
		do := func(_ context.Context, task *Task) error {
			id := task.Job().ID
			mu.Lock()
			at[id]++
			times[id]++
			by[task.Job().Lease]++
			if at[id] > 1 {
				t.Errorf("two work on %s", id)
			}
			mu.Unlock()
			time.Sleep(5 * Lease)
			mu.Lock()
			at[id]--
			mu.Unlock()
			return nil
		}
		first, second := start(t, s, do), start(t, s, do)
		var ids []uuid.UUID
		for range 12 {
			ids = append(ids, record(t, s, "test", "x"))
		}
		for _, id := range ids {
			until(t, s, id, store.JobDone, 2*time.Hour)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			if times[id] != 1 {
				t.Errorf("%s was begun %d times", id, times[id])
			}
		}
		if by[first.Name()] == 0 || by[second.Name()] == 0 {
			t.Errorf("one replica did it all: %v", by)
		}
	})
}

// killed leaves a job as a process does that was killed at work.
func killed(t testing.TB, s store.Store) uuid.UUID {
	t.Helper()
	id := record(t, s, "test", "x")
	change(t, s, id, func(j *store.Job) {
		j.State, j.Lease, j.LeasedUntil, j.Attempts, j.Progress = store.JobRunning, "host/1/dead", time.Now().Add(Lease), 1, []byte("half")
	})
	return id
}

func TestAJobOfAKilledReplicaIsTakenOverWhenItsLeaseEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &shared{Store: openStore(t)}
		id := killed(t, s)
		began := time.Now()
		var progress atomic.Value
		start(t, s, func(_ context.Context, task *Task) error {
			progress.Store(string(task.Job().Progress))
			return nil
		})
		j := until(t, s, id, store.JobDone, Lease+2*poll)
		if waited := time.Since(began); waited < Lease {
			t.Errorf("it was taken after %v, while its lease held", waited)
		}
		if j.Attempts != 2 || progress.Load() != "half" {
			t.Errorf("attempt %d began at %v", j.Attempts, progress.Load())
		}
	})
}

func TestAStoreOfOneProcessGoesOnAtOnceAfterAKill(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := openStore(t)
		id := killed(t, s)
		began := time.Now()
		start(t, s, func(context.Context, *Task) error { return nil })
		until(t, s, id, store.JobDone, time.Minute)
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("it went on after %v", waited)
		}
	})
}

// TestAnAttemptEndsBeforeItsLeaseDoes: whose lease cannot be renewed stops while
// nobody else may have begun.
func TestAnAttemptEndsBeforeItsLeaseDoes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &shared{Store: openStore(t)}
		var down atomic.Bool
		s.update = func(context.Context) error {
			if down.Load() {
				return store.ErrUnavailable
			}
			return nil
		}
		type end struct {
			held  time.Duration
			cause error
		}
		ended := make(chan end, 1)
		var attempts atomic.Int32
		r := start(t, s, func(ctx context.Context, task *Task) error {
			if attempts.Add(1) > 1 {
				return nil
			}
			down.Store(true)
			<-ctx.Done()
			ended <- end{time.Until(task.Job().LeasedUntil), context.Cause(ctx)}
			return ctx.Err()
		})
		id := record(t, s, "test", "x")
		r.Wake()
		e := <-ended
		if e.held <= 0 || !errors.Is(e.cause, ErrLost) {
			t.Errorf("it ended with %v and %v of the lease left", e.cause, e.held)
		}
		down.Store(false)
		if j := until(t, s, id, store.JobDone, 2*Lease); j.Attempts != 2 || j.LastError != "" {
			t.Errorf("%+v", j)
		}
	})
}

// TestAShortOutageOfTheRegistryEndsNoAttempt also keeps what was said meanwhile.
func TestAShortOutageOfTheRegistryEndsNoAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &shared{Store: openStore(t)}
		var down atomic.Bool
		s.update = func(context.Context) error {
			if down.Load() {
				return store.ErrUnavailable
			}
			return nil
		}
		r := start(t, s, func(ctx context.Context, task *Task) error {
			down.Store(true)
			if err := task.Save(ctx, []byte("said in the outage")); err != nil {
				t.Errorf("saved with %v", err)
			}
			time.Sleep(Lease / 3)
			down.Store(false)
			time.Sleep(2 * Lease)
			if got := string(task.Job().Progress); got != "said in the outage" {
				t.Errorf("recorded is %q", got)
			}
			return nil
		})
		id := record(t, s, "test", "x")
		r.Wake()
		if j := until(t, s, id, store.JobDone, 5*Lease); j.Attempts != 1 {
			t.Errorf("%+v", j)
		}
	})
}

func TestAJobThatSomebodyElseHoldsIsLeftToThem(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &shared{Store: openStore(t)}
		saved := make(chan error, 1)
		r := start(t, s, func(ctx context.Context, task *Task) error {
			change(t, s, task.Job().ID, func(j *store.Job) { j.Lease, j.LeasedUntil = "somebody else", time.Now().Add(time.Hour) })
			saved <- task.Save(ctx, []byte("mine"))
			return nil
		})
		id := record(t, s, "test", "x")
		r.Wake()
		if err := <-saved; !errors.Is(err, ErrLost) {
			t.Errorf("saved with %v", err)
		}
		time.Sleep(time.Minute)
		if j := look(t, s, id); j.State != store.JobRunning || j.Lease != "somebody else" || len(j.Progress) != 0 {
			t.Errorf("%+v", j)
		}
	})
}

func TestAFailingJobIsTriedForAWeekThenStaysFailedAndIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := openStore(t)
		var times []time.Time
		r := start(t, s, func(context.Context, *Task) error {
			times = append(times, time.Now())
			return &Failure{Say: "the manifest is missing", Err: errors.New("inside")}
		})
		id := record(t, s, "test", "x")
		r.Wake()
		time.Sleep(30 * time.Minute)
		if j := look(t, s, id); j.State != store.JobWaiting || j.LastError != "the manifest is missing" || j.Attempts < 10 || !j.NotBefore.After(time.Now()) {
			t.Errorf("after half an hour: %+v", j)
		}
		if tally := r.Tally(); tally != (Tally{Waiting: 1}) {
			t.Errorf("counted %+v", tally)
		}
		j := until(t, s, id, store.JobFailed, GiveUp+2*LongestPause)
		if tried := times[len(times)-1].Sub(times[0]); tried < GiveUp || j.Attempts != len(times) || len(times) < 7*24 || len(times) > 8*24 {
			t.Errorf("tried %d times in %v", len(times), tried)
		}
		for i := 2; i < len(times); i++ {
			if pause := times[i].Sub(times[i-1]); pause > LongestPause+2*poll || i > 15 && pause < LongestPause*7/8 {
				t.Errorf("pause %d is %v", i, pause)
			}
		}
		time.Sleep(2 * time.Minute)
		if tally := r.Tally(); tally != (Tally{Failed: 1}) {
			t.Errorf("counted %+v", tally)
		}
		time.Sleep(Retention + 2*prune)
		err := s.View(context.Background(), func(tx store.Tx) error { _, err := tx.Job(id); return err })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("it is still there: %v", err)
		}
	})
}

func TestWhatAJobFailsOfInsideIsNotShown(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for name, fail := range map[string]work{
			"error": func(context.Context, *Task) error { return errors.New("the secret of the inside") },
			"panic": func(context.Context, *Task) error { panic("the secret of the inside") },
		} {
			s := openStore(t)
			r := start(t, s, fail)
			id := record(t, s, "test", "x")
			r.Wake()
			synctest.Wait()
			if j := look(t, s, id); j.State != store.JobWaiting || j.LastError == "" || strings.Contains(j.LastError, "secret") {
				t.Errorf("%s: %+v", name, j)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAKindThatThisReleaseDoesNotKnowWaitsAndHoldsUpNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := openStore(t)
		strange := record(t, s, "strange", "x")
		known := record(t, s, "test", "x")
		start(t, s, func(context.Context, *Task) error { return nil })
		until(t, s, known, store.JobDone, time.Minute)
		if j := look(t, s, strange); j.State != store.JobWaiting || !strings.Contains(j.LastError, `"strange"`) {
			t.Errorf("%+v", j)
		}
	})
}

func TestAStoppedRunnerLetsAnotherGoOnAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &shared{Store: openStore(t)}
		begun := make(chan struct{})
		first := start(t, s, func(ctx context.Context, task *Task) error {
			if err := task.Save(ctx, []byte("half")); err != nil {
				t.Error(err)
			}
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
		id := record(t, s, "test", "x")
		first.Wake()
		<-begun
		if first.Running() != 1 {
			t.Errorf("%d run", first.Running())
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if j := look(t, s, id); j.State != store.JobWaiting || j.Lease != "" || string(j.Progress) != "half" || j.LastError != "" || j.NotBefore.After(time.Now()) {
			t.Fatalf("it left %+v", j)
		}
		first.Start() // closed: does nothing
		second := start(t, s, func(context.Context, *Task) error { return nil })
		second.Wake()
		synctest.Wait()
		if j := look(t, s, id); j.State != store.JobDone {
			t.Errorf("%+v", j)
		}
	})
}

func TestARunnerWithoutWorksOnlyCounts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := openStore(t)
		id := record(t, s, "test", "x")
		r := New(Config{Store: s})
		r.Start()
		defer r.Close()
		r.Wake()
		time.Sleep(time.Hour)
		if j := look(t, s, id); j.State != store.JobWaiting || j.Attempts != 0 {
			t.Errorf("%+v", j)
		}
		if tally := r.Tally(); tally != (Tally{Waiting: 1}) {
			t.Errorf("counted %+v", tally)
		}
	})
}
