package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// Tally is how many jobs there are, as last counted.
type Tally struct {
	// Waiting and Running are the unfinished ones, Failed those that failed for
	// good and are not pruned yet; all of every replica.
	Waiting, Running, Failed int
}

// Tally returns the last count; it does no I/O. Jobs are counted about once a
// minute.
func (r *Runner) Tally() Tally {
	if t := r.tally.Load(); t != nil {
		return *t
	}
	return Tally{}
}

// Running is how many jobs this runner works on right now.
func (r *Runner) Running() int { return int(r.running.Load()) }

// pageSize is how many jobs are read at a time, and pruneSize how many are
// forgotten in one transaction.
const (
	pageSize  = 500
	pruneSize = 1000
)

// tend counts jobs and forgets old ones.
func (r *Runner) tend(ctx context.Context) {
	ticker := time.NewTicker(count)
	defer ticker.Stop()
	var pruned time.Time
	for {
		r.count(ctx)
		if now := time.Now(); len(r.works) > 0 && now.Sub(pruned) >= prune {
			pruned = now
			r.prune(ctx, now)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *Runner) count(ctx context.Context) {
	var t Tally
	err := r.each(ctx, func(j store.Job) error {
		switch j.State {
		case store.JobWaiting:
			t.Waiting++
		case store.JobRunning:
			t.Running++
		case store.JobFailed:
			t.Failed++
		}
		return nil
	})
	if err == nil {
		r.tally.Store(&t)
	}
}

// each goes through all jobs, from the newest on, a page at a time.
func (r *Runner) each(ctx context.Context, visit func(store.Job) error) error {
	for before := uuid.Nil; ; {
		var page []store.Job
		err := r.store.View(ctx, func(tx store.Tx) (err error) {
			page, err = tx.Jobs(before, pageSize)
			return err
		})
		if err != nil {
			return err
		}
		for _, j := range page {
			if err := visit(j); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		before = page[len(page)-1].ID
	}
}

// prune forgets the jobs that finished long ago.
func (r *Runner) prune(ctx context.Context, now time.Time) {
	for {
		pruned := 0
		err := r.store.Update(ctx, func(tx store.Tx) (err error) {
			pruned, err = tx.PruneJobs(now.Add(-Retention), pruneSize)
			return err
		})
		if err != nil || pruned < pruneSize {
			if err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "old jobs could not be forgotten; trying again in an hour", "error", err)
			}
			return
		}
	}
}
