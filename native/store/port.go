package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// FenceRole says which side of a migration a registry is on.
type FenceRole uint8

// The roles.
const (
	// FenceSource: being copied into another store. View works, Update is refused.
	FenceSource FenceRole = iota + 1
	// FenceDestination: holds part of another registry. View and Update are
	// refused: what is missing here may well exist.
	FenceDestination
	// FenceMoved: was copied, whole, and the copy is the registry now. View and
	// Update are refused: what is read here may be long out of date.
	FenceMoved
)

// Fence closes a registry while it is copied into another store. It is kept in
// the store itself, holds for every process, and survives restarts.
type Fence struct {
	Role FenceRole
	// Migration names the copy, the same on both sides.
	Migration uuid.UUID
	// Peer is the other store, without secrets, for operators to read; at most 1024
	// bytes.
	Peer string
	// Since is kept in microseconds.
	Since time.Time
}

// Same reports whether two fences have the same role in the same migration; nil,
// which is none, is the same as nil.
func (f *Fence) Same(other *Fence) bool {
	if f == nil || other == nil {
		return f == other
	}
	return f.Role == other.Role && f.Migration == other.Migration
}

// Refuses is the error of an Update (write) or a View of a registry with this
// fence; nil if it lets it through.
func (f *Fence) Refuses(write bool) error {
	if f == nil || f.Role == FenceSource && !write {
		return nil
	}
	return &FencedError{Fence: *f}
}

// FencedError is the ErrFenced of a registry, with the reason.
type FencedError struct{ Fence Fence }

// Error implements error.
func (e *FencedError) Error() string {
	since := e.Fence.Since.UTC().Format(time.RFC3339)
	switch e.Fence.Role {
	case FenceDestination:
		return fmt.Sprintf("the registry holds part of a copy of %s, begun %s; finish it with icefield migrate", e.Fence.Peer, since)
	case FenceMoved:
		return fmt.Sprintf("the registry was moved to %s at %s; use that one as catalog_url", e.Fence.Peer, since)
	}
	return fmt.Sprintf("the registry is being moved to %s since %s and takes no changes meanwhile; finish it with icefield migrate, then use that one as catalog_url", e.Fence.Peer, since)
}

// Is matches ErrFenced.
func (e *FencedError) Is(target error) bool { return target == ErrFenced }

// ErrFenceMoved is a fence that is no longer the expected one.
var ErrFenceMoved = errors.New("the registry has another fence")

// ErrNotDestination refuses to fill or clear a registry that is not fenced as the
// destination of that migration; nothing was done.
var ErrNotDestination = errors.New("the registry is not the destination of that migration")

// Entry is one record of an export; exactly one field is set.
type Entry struct {
	Namespace *Namespace
	Object    *Object
	// Commit is a row of the log, also of objects that are gone.
	Commit  *Commit
	Receipt *Receipt
	Job     *Job
}

// Portable is a Store that can be copied into another one. All methods are safe
// for concurrent use and work on fenced registries.
type Portable interface {
	Store
	// CurrentFence returns the fence, nil for none.
	CurrentFence(ctx context.Context) (*Fence, error)
	// SetFence replaces the fence from by to; nil is no fence. ErrFenceMoved, with
	// nothing done, if the registry has another one than from, as Fence.Same tells.
	// It waits for running Updates: when it returned, in no process an Update
	// commits that the new fence refuses, and every Update that succeeded is seen by
	// Export. When it failed with ErrOutcomeUnknown, CurrentFence tells.
	SetFence(ctx context.Context, from, to *Fence) error
	// Export lists the records after the given position (nil: from the start), at
	// most limit of them and fewer where they are large, with the position to go on
	// from, in the store's own encoding; nil after the last. The order is the same
	// in every store: namespaces (by the number of levels, then by the levels,
	// bytewise: parents first), objects of both kinds (by namespace in that order,
	// then by name), commits (by object ID and generation), receipts (by key), jobs
	// (by ID). It is consistent across calls only while the registry is fenced.
	Export(ctx context.Context, after []byte, limit int) (entries []Entry, next []byte, err error)
	// Import writes records of one export as they are, over those of the same
	// identity (path; namespace and name; object and generation; key; ID), in one
	// transaction; again as often as wanted. ErrNotDestination, with nothing done,
	// unless the registry is the fenced destination of that migration;
	// ErrNoNamespace for an object, or a namespace, whose namespace is not there.
	Import(ctx context.Context, migration uuid.UUID, entries []Entry) error
	// Clear removes every record but the fence from the destination of that
	// migration. ErrNotDestination.
	Clear(ctx context.Context, migration uuid.UUID) error
	// Counts says how many records of each kind there are, as Export lists them.
	Counts(ctx context.Context) (Counts, error)
}

// Counts is how much a registry holds.
type Counts struct{ Namespaces, Objects, Commits, Receipts, Jobs int64 }

// Total is the number of all records.
func (c Counts) Total() int64 { return c.Namespaces + c.Objects + c.Commits + c.Receipts + c.Jobs }
