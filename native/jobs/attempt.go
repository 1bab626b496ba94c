package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/icefield/icefield/native/store"
)

// When a failed attempt is made again, and when none is any more.
const (
	// firstPause follows the first attempt; each later one is twice as long.
	firstPause = time.Second
	// LongestPause is the longest there is.
	LongestPause = time.Hour
	// GiveUp is how long a job is tried for, and leastAttempts how often at
	// least: a registry that was switched off for a month tries again.
	GiveUp        = 7 * 24 * time.Hour
	leastAttempts = 16
	// maxSaid bounds LastError in bytes.
	maxSaid = 2 << 10
)

// Failure is the error of an attempt, with a sentence that operators may read.
type Failure struct {
	// Say says what happened and what is being done, without internal text.
	Say string
	// Err is the cause, for the log.
	Err error
}

// Error implements error, for the log.
func (f *Failure) Error() string {
	if f.Err == nil {
		return f.Say
	}
	return f.Say + ": " + f.Err.Error()
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// attempt does a job that was taken, and says how it ended.
func (r *Runner) attempt(parent context.Context, job store.Job) {
	log := r.log.With("job", job.ID, "kind", job.Kind, "object", job.Ident.String(), "attempt", job.Attempts)
	log.InfoContext(parent, "a job begins")
	r.running.Add(1)
	defer r.running.Add(-1)
	began := time.Now()

	ctx, cancel := context.WithCancelCause(parent)
	task := &Task{runner: r, job: job}
	var keeper sync.WaitGroup
	keeper.Go(func() { task.keep(ctx, cancel) })
	err := r.do(ctx, task)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrLost) {
		err = cause
	}
	cancel(nil)
	keeper.Wait()

	took := time.Since(began).Round(time.Millisecond)
	var settle func(*store.Job)
	switch {
	case err == nil:
		settle = func(j *store.Job) { j.State, j.LastError = store.JobDone, "" }
		log.InfoContext(parent, "a job is done", "took", took, "progress", string(task.job.Progress))
	case errors.Is(err, ErrLost):
		log.WarnContext(parent, "a job was lost to another runner, or its lease could not be renewed; it is taken up again", "took", took)
		return
	case parent.Err() != nil:
		settle = func(j *store.Job) { j.State = store.JobWaiting }
		log.InfoContext(parent, "a job stops because the server does; it goes on after the restart", "took", took)
	default:
		settle = r.failed(task.job, err)
		log.WarnContext(parent, "an attempt at a job failed", "took", took, "error", err)
	}
	ended, done := context.WithTimeout(context.WithoutCancel(parent), settling)
	defer done()
	var after store.Job
	err = task.write(ended, func(j *store.Job) {
		settle(j)
		j.Lease, j.LeasedUntil = "", time.Time{}
		after = *j
	})
	switch {
	case err != nil:
		// Its lease ends, and then somebody does it again.
		log.WarnContext(parent, "how a job ended could not be recorded; it is taken up again", "error", err)
	case after.State == store.JobFailed:
		log.ErrorContext(parent, "a job failed for good; what is left has to be done by hand", "error", after.LastError)
	}
}

// do calls the work, and turns a panic into an error: what it reads was written
// by others.
func (r *Runner) do(ctx context.Context, t *Task) (err error) {
	work := r.works[t.job.Kind]
	if work == nil {
		return &Failure{Say: fmt.Sprintf("this release cannot do jobs of the kind %q; use the one that made it, or a newer one", t.job.Kind)}
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("jobs: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work.Do(ctx, t)
}

// failed says what becomes of a job whose attempt failed.
func (r *Runner) failed(job store.Job, err error) func(*store.Job) {
	said := "it failed inside; the server's log has the cause under the job's id"
	if f := (*Failure)(nil); errors.As(err, &f) {
		said = f.Say
	}
	if len(said) > maxSaid {
		said = said[:maxSaid] + "…"
	}
	now := time.Now()
	return func(j *store.Job) {
		j.LastError = said
		if now.Sub(job.Created) > GiveUp && job.Attempts >= leastAttempts {
			j.State = store.JobFailed
			return
		}
		j.State, j.NotBefore = store.JobWaiting, now.Add(pauseAfter(job.Attempts))
	}
}

// pauseAfter is how long to wait after that many attempts: a little less than
// the doubled pause, so that jobs that failed together are not tried together.
func pauseAfter(attempts int) time.Duration {
	pause := LongestPause
	if doublings := max(attempts-1, 0); doublings < 12 {
		pause = min(firstPause<<doublings, LongestPause)
	}
	return pause - rand.N(pause/8+1) // #nosec G404 -- spreads retries over time; nothing depends on its being unguessable
}
