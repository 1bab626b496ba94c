package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// The times of a runner.
const (
	// Lease is how long a job belongs to a runner that says nothing more.
	Lease = 45 * time.Second
	// poll is how long a runner waits, on average, before it looks for jobs that
	// others made or that were put off.
	poll = 10 * time.Second
	// count and prune are how often jobs are counted, and old ones forgotten.
	count = time.Minute
	prune = time.Hour
	// Retention is how long a finished job can be looked at.
	Retention = 7 * 24 * time.Hour
	// settling bounds the transaction that says how an attempt ended.
	settling = 10 * time.Second
)

// workers is how many jobs a runner does at once: more than one, so that a huge
// job does not hold up all small ones.
const workers = 2

// Work does the jobs of one kind.
type Work interface {
	// Do makes one attempt at a job. It begins where an earlier attempt may have
	// ended at any point, and may do again what was done before. It ends soon
	// after its context does. A nil error means that the job is done; any other
	// that it is tried again later. A *Failure says to operators why.
	Do(ctx context.Context, t *Task) error
}

// Config is what a runner is made of.
type Config struct {
	// Store holds the jobs.
	Store store.Store
	// Works are the kinds of jobs that can be done; without any the runner only
	// counts.
	Works map[string]Work
	// Logger hears of every beginning and end; nil for none.
	Logger *slog.Logger
}

// Runner does the jobs of one registry in one process. It is safe for concurrent
// use.
type Runner struct {
	store store.Store
	works map[string]Work
	name  string
	log   *slog.Logger

	wake  chan struct{}
	tally atomic.Pointer[Tally]
	// running is how many attempts are under way here.
	running atomic.Int64
	// trouble is set while the store cannot be asked, so that it is logged once.
	trouble atomic.Bool

	mu     sync.Mutex // of stop and closed
	stop   context.CancelFunc
	closed bool
	group  sync.WaitGroup
}

// New makes a runner that does nothing before Start.
func New(cfg Config) *Runner {
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Runner{store: cfg.Store, works: cfg.Works, log: log, wake: make(chan struct{}, workers),
		name: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), uuid.NewString()[:8])}
}

// Name is what the runner is called in the leases that it holds.
func (r *Runner) Name() string { return r.name }

// Start begins to work, until Close. Further calls do nothing.
func (r *Runner) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil || r.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.group.Go(func() { r.tend(ctx) })
	if len(r.works) == 0 {
		return
	}
	r.group.Go(func() {
		r.release(ctx)
		for range workers {
			r.group.Go(func() { r.work(ctx) })
		}
	})
}

// Wake has the runner look for a job now. It never waits.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // as many are on their way as there are workers
	}
}

// Close stops attempts that are under way, lets go of their leases so that
// another runner may go on at once, and waits for all of it. The store must
// still be open.
func (r *Runner) Close() error {
	r.mu.Lock()
	r.closed = true
	if r.stop != nil {
		r.stop()
	}
	r.mu.Unlock()
	r.group.Wait()
	return nil
}

// work is one worker: it does a job as long as there is one, and waits.
func (r *Runner) work(ctx context.Context) {
	for ctx.Err() == nil {
		job, err := r.take(ctx)
		if err == nil {
			r.Wake() // where there was one there may be another
			r.attempt(ctx, job)
			continue
		}
		r.note(ctx, err)
		// Not all replicas at the same moment.
		timer := time.NewTimer(poll/2 + rand.N(poll)) // #nosec G404 -- keeps replicas out of step; nothing depends on its being unguessable
		select {
		case <-r.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// take leases the oldest job that is due. store.ErrNotFound if there is none.
func (r *Runner) take(ctx context.Context) (store.Job, error) {
	now := time.Now()
	// A read first: mostly there is nothing to do, and writers wait for no read.
	err := r.store.View(ctx, func(tx store.Tx) error {
		_, err := tx.DueJob(now)
		return err
	})
	if err != nil {
		return store.Job{}, err
	}
	var job store.Job
	err = r.store.Update(ctx, func(tx store.Tx) error {
		due, err := tx.DueJob(now)
		if err != nil {
			return err
		}
		due.State, due.Lease, due.LeasedUntil = store.JobRunning, r.name, now.Add(Lease)
		due.Attempts++
		due.Updated = now
		job = due
		return tx.PutJob(due)
	})
	if err != nil {
		return store.Job{}, err // job may still be written to: the outcome may be unknown
	}
	return job, nil
}

// note logs that the store cannot be asked, once, and when it can again.
func (r *Runner) note(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil || errors.Is(err, store.ErrClosed):
	case errors.Is(err, store.ErrNotFound):
		if r.trouble.Swap(false) {
			r.log.InfoContext(ctx, "the registry can be asked for jobs again")
		}
	case !r.trouble.Swap(true):
		r.log.WarnContext(ctx, "the registry cannot be asked for jobs; trying on", "error", err)
	}
}

// release takes the leases away that an earlier process of a store for one
// process left when it was killed: it is gone, or this one had not got the store.
func (r *Runner) release(ctx context.Context) {
	if _, alone := r.store.(store.Exclusive); !alone {
		return
	}
	err := r.each(ctx, func(j store.Job) error {
		if j.State.Finished() || j.Lease == "" {
			return nil
		}
		return r.store.Update(ctx, func(tx store.Tx) error {
			now, err := tx.Job(j.ID)
			if err != nil || now.State.Finished() || now.Lease != j.Lease || r.owns(now.Lease) {
				return err
			}
			now.State, now.Lease, now.LeasedUntil = store.JobWaiting, "", time.Time{}
			return tx.PutJob(now)
		})
	})
	if err != nil {
		r.note(ctx, err) // the leases end by themselves
	}
}

func (r *Runner) owns(lease string) bool { return lease == r.name }
