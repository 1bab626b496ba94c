package mounts

import (
	"context"
	"time"
)

// Job is work that a mount does in the background, as operators see it.
type Job struct {
	// ID sorts, as text, by the time of creation.
	ID string
	// Kind says what is done, as "purge".
	Kind string
	// Object, in names relative to the mount, and ObjectKind ("table", "view")
	// say what it is about; the object itself may be gone.
	Object     Identifier
	ObjectKind string
	// State is "waiting", "running", "done" or "failed".
	State string
	// Phase is the step that it is at, in words of its kind; empty before the
	// first.
	Phase string
	// Found are the files that it met so far, Deleted and Skipped what became of
	// them, Bytes the size of those deleted.
	Found, Deleted, Skipped, Bytes int64
	// Attempts counts how often it was begun.
	Attempts int
	// LastError is why the last attempt ended early; Note what there is to know of
	// one that is done. Both may be shown.
	LastError, Note string
	// NextAttempt is when a waiting one is taken up; zero for at once.
	Created, Updated, NextAttempt time.Time
	// Principal and RequestID are of the call that made it necessary.
	Principal, RequestID string
	// Runner names the process that works on it; empty for none.
	Runner string
}

// JobCounts is how many jobs a mount has, as last counted.
type JobCounts struct {
	// Failed are those that failed for good and can still be looked at.
	Waiting, Running, Failed int
	// FilesDeleted counts what jobs deleted since this process opened the mount.
	FilesDeleted int64
}

// Working is a backend that does work in the background.
type Working interface {
	// Jobs lists jobs, the newest first, from before the given ID on (empty: from
	// the newest), at most limit of them. BadRequest for what is no ID.
	Jobs(ctx context.Context, before string, limit int) ([]Job, error)
	// JobCounts does no I/O.
	JobCounts() JobCounts
}
