package store

import (
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// JobState is how far a job got.
type JobState uint8

// The states. A job that failed for good stays where operators see it.
const (
	JobWaiting JobState = iota + 1
	JobRunning
	JobDone
	JobFailed
)

// String is the state in lower case.
func (s JobState) String() string {
	switch s {
	case JobWaiting:
		return "waiting"
	case JobRunning:
		return "running"
	case JobDone:
		return "done"
	case JobFailed:
		return "failed"
	}
	return "unknown"
}

// Finished reports whether nothing is left to do.
func (s JobState) Finished() bool { return s == JobDone || s == JobFailed }

// Job is work that the registry has still to do, or did: it is recorded in the
// transaction that makes it necessary and survives crashes.
type Job struct {
	// ID is a UUIDv7, so that IDs sort by the time of creation.
	ID uuid.UUID
	// Kind says what is to be done, as "purge".
	Kind string
	// Object, Name and Kind of the object say what it is about; the object itself
	// may be gone.
	Object     uuid.UUID
	Ident      mounts.Identifier
	ObjectKind Kind
	// Location is where the work begins: for a purge the last pointer.
	Location string
	State    JobState
	// Progress is the job's own record of how far it got, in the encoding of its
	// kind (JSON), at most MaxProgress bytes.
	Progress []byte
	// Attempts counts how often the work was begun.
	Attempts int
	// LastError says why the last attempt ended early; may be shown to operators.
	LastError string
	// Lease names who works on it until LeasedUntil; empty for nobody.
	Lease       string
	LeasedUntil time.Time
	// NotBefore puts the next attempt off.
	NotBefore time.Time
	Created   time.Time
	Updated   time.Time
	// By is who asked for it.
	By By
}

// Due reports whether somebody may begin the job at a time: it is not finished,
// NotBefore has come, and no lease holds it. A lease ends at LeasedUntil, that
// instant included.
func (j Job) Due(now time.Time) bool {
	return !j.State.Finished() && !j.NotBefore.After(now) && (j.Lease == "" || !j.LeasedUntil.After(now))
}

// MaxProgress bounds a job's progress in bytes.
const MaxProgress = 64 << 10
