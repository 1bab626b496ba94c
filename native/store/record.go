package store

import (
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// Namespace is the record of one namespace.
type Namespace struct {
	Path mounts.Namespace
	ID   uuid.UUID
	// Owner is the tenant that a top-level namespace was created for, which owns
	// it and all in it where the mount has no owner; empty for none.
	Owner string
	// Properties is never nil in a record that was read.
	Properties       map[string]string
	Created, Updated time.Time
}

// Kind says what an object is. Tables and views share one name space.
type Kind uint8

// The kinds of objects.
const (
	Table Kind = iota + 1
	View
)

// String is the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Table:
		return "table"
	case View:
		return "view"
	}
	return "unknown"
}

// Object is the record of one table or view: a name and the location of its
// current metadata file.
type Object struct {
	Namespace mounts.Namespace
	Name      string
	Kind      Kind
	// ID is the registry's own identity of the object: it survives a rename and
	// is never used again. It is not the metadata's uuid, which two registered
	// copies of one table share.
	ID uuid.UUID
	// Location is the current metadata file and Previous the one before; each has
	// at most MaxLocation bytes.
	Location, Previous string
	// Generation counts the pointer's values, from 1.
	Generation       uint64
	Created, Updated time.Time
}

// MaxLocation bounds a pointer in bytes, so that a store can index it. Callers
// keep to it.
const MaxLocation = 2048

// Identifier is the object's name.
func (o Object) Identifier() mounts.Identifier {
	return mounts.Identifier{Namespace: o.Namespace, Name: o.Name}
}

// By says who makes a change, on whose request, and when. Times are kept in
// microseconds.
type By struct {
	Time      time.Time
	Principal string
	RequestID string
	// IdempotencyKey is the client's key of the request; empty for none.
	IdempotencyKey string
}

// Commit is one row of the commit log: one change of one pointer. From is empty
// for the first, To for a drop.
type Commit struct {
	Object     uuid.UUID
	Generation uint64
	From, To   string
	By
}
