package native

import (
	"context"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/jobs"
	"github.com/icefield/icefield/native/store"
)

var (
	_ mounts.Working = (*Backend)(nil)
	_ mounts.Working = keyed{}
)

// openJobs makes the registry's runner. A registry that is read only looks at
// jobs and does none.
func (b *Backend) openJobs(cfg Config) {
	b.purge = &jobs.Purge{Storage: b.warehouse, Read: b.read}
	runner := jobs.Config{Store: b.store, Logger: b.log}
	if cfg.jobStore != nil {
		runner.Store = cfg.jobStore
	}
	if !cfg.ReadOnly {
		runner.Works = map[string]jobs.Work{jobs.KindPurge: b.purge}
	}
	b.jobs = jobs.New(runner)
	b.jobs.Start()
}

// maxJobs bounds one page of jobs.
const maxJobs = 1000

// Jobs implements mounts.Working.
func (b *Backend) Jobs(ctx context.Context, before string, limit int) ([]mounts.Job, error) {
	var after uuid.UUID
	if before != "" {
		var err error
		if after, err = uuid.Parse(before); err != nil || after == uuid.Nil {
			return nil, refuse(mounts.BadRequest, mounts.Identifier{}, "that is no job's id; take one from the listing")
		}
	}
	var page []store.Job
	err := b.store.View(ctx, func(tx store.Tx) (err error) {
		page, err = tx.Jobs(after, min(max(limit, 1), maxJobs))
		return err
	})
	if err != nil {
		return nil, fault(err)
	}
	list := make([]mounts.Job, len(page))
	for i, j := range page {
		list[i] = seen(j)
	}
	return list, nil
}

// seen is a job as operators see it.
func seen(j store.Job) mounts.Job {
	job := mounts.Job{
		ID: j.ID.String(), Kind: j.Kind, Object: j.Ident, ObjectKind: j.ObjectKind.String(), State: j.State.String(),
		Attempts: j.Attempts, LastError: j.LastError, Created: j.Created, Updated: j.Updated,
		Principal: j.By.Principal, RequestID: j.By.RequestID, Runner: j.Lease,
	}
	if j.State == store.JobWaiting {
		job.NextAttempt = j.NotBefore
	}
	if j.Kind == jobs.KindPurge {
		p := jobs.ReadProgress(j.Progress)
		job.Phase, job.Note = p.Phase, p.Note
		job.Found, job.Deleted, job.Skipped, job.Bytes = p.Found, p.Deleted, p.Skipped, p.Bytes
	}
	return job
}

// JobCounts implements mounts.Working.
func (b *Backend) JobCounts() mounts.JobCounts {
	t := b.jobs.Tally()
	return mounts.JobCounts{Waiting: t.Waiting, Running: t.Running, Failed: t.Failed, FilesDeleted: b.purge.Deleted()}
}

// Jobs implements mounts.Working.
func (k keyed) Jobs(ctx context.Context, before string, limit int) ([]mounts.Job, error) {
	return k.registry.Jobs(ctx, before, limit)
}

// JobCounts implements mounts.Working.
func (k keyed) JobCounts() mounts.JobCounts { return k.registry.JobCounts() }
