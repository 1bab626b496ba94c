package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/icefield/icefield/native/store"
)

// ErrLost is the error of an attempt whose job belongs to somebody else by now,
// or may soon. Whoever gets it stops.
var ErrLost = errors.New("the job belongs to another runner")

// Task is one attempt at a job.
type Task struct {
	runner *Runner

	mu  sync.Mutex
	job store.Job
	// progress was said but not written; nil for nothing.
	progress []byte
}

// Job is the job as it is recorded.
func (t *Task) Job() store.Job {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.job
}

// Save records how far the job got, and renews the lease. While the registry
// cannot be reached it is kept for the next time, as long as the lease holds.
// ErrLost: stop.
func (t *Task) Save(ctx context.Context, progress []byte) error {
	t.mu.Lock()
	t.progress = progress
	t.mu.Unlock()
	return t.renew(ctx)
}

// keep renews the lease until the attempt ends, and ends it while there is still
// time if that does not succeed.
func (t *Task) keep(ctx context.Context, end context.CancelCauseFunc) {
	ticker := time.NewTicker(Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := t.renew(ctx); err != nil && ctx.Err() == nil {
			end(ErrLost)
			return
		}
	}
}

// renew writes the record anew. It is nil also when that failed while the lease
// lasts until the next time.
func (t *Task) renew(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, Lease/6)
	defer cancel()
	err := t.write(limited, func(j *store.Job) { j.LeasedUntil = time.Now().Add(Lease) })
	switch {
	case err == nil, errors.Is(err, ErrLost):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case time.Until(t.Job().LeasedUntil) > Lease/2:
		return nil
	}
	return ErrLost
}

// write changes the record, if the job still belongs to this runner, together
// with the progress that was said.
func (t *Task) write(ctx context.Context, change func(*store.Job)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	// What the closure uses is its own: it may outlive a call whose outcome is
	// unknown.
	id, progress := t.job.ID, t.progress
	var written store.Job
	err := t.runner.store.Update(ctx, func(tx store.Tx) error {
		j, err := tx.Job(id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return ErrLost
		case err != nil:
			return err
		case !t.runner.owns(j.Lease) || j.State.Finished():
			return ErrLost
		}
		if progress != nil {
			j.Progress = progress
		}
		change(&j)
		j.Updated = time.Now()
		written = j
		return tx.PutJob(j)
	})
	if err == nil {
		t.job, t.progress = written, nil
	}
	return err
}
