package mounts

import (
	"context"
	"time"
)

// LogQuery asks for part of one object's commit log.
type LogQuery struct {
	// Object names a table (Kind "table") or view ("view") that exists, relative to
	// the mount; or ID, as a Log has it, one that exists or was dropped.
	Object Identifier
	Kind   string
	ID     string
	// After is the generation behind which the rows begin; 0 for the first. At
	// most Limit of them are given.
	After uint64
	Limit int
}

// Log is rows of one object's commit log, oldest first.
type Log struct {
	// ID is the registry's identity of the object: it survives a rename, and the
	// log under it a drop.
	ID   string
	Rows []LogRow
}

// LogRow is one change of the place of an object's metadata.
type LogRow struct {
	// Generation counts an object's changes, from 1.
	Generation uint64
	// From is the metadata file before, empty for the first; To the one after,
	// empty for a drop.
	From, To string
	Time     time.Time
	// Principal, RequestID and IdempotencyKey are of the call that made the
	// change; the key is empty where it had none.
	Principal, RequestID, IdempotencyKey string
}

// Logging is a backend that keeps a log of its commits.
type Logging interface {
	// Commits reads an object's log. NoSuchTable or NoSuchView for a name that is
	// not there; BadRequest for what is no ID. An ID that never was has no rows.
	Commits(ctx context.Context, q LogQuery) (*Log, error)
}
