package commit

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// Base is the state that a commit builds on.
type Base struct {
	// Metadata is the current metadata document. It is never changed.
	Metadata json.RawMessage
	// Location is where the file that holds it lies; it goes into the new
	// document's metadata-log.
	Location string
}

// Options are the engine's sources of time and chance. Zero values: the clock
// and random UUIDs.
type Options struct {
	Now     time.Time
	NewUUID func() uuid.UUID
}

// Result is what a commit leads to.
type Result struct {
	// Metadata is the new document; the base's own bytes if nothing changed.
	Metadata json.RawMessage
	// Changed is false for a commit that changes nothing: then nothing needs to
	// be written and the pointer stays.
	Changed bool
	// TableLocation is the new document's location, without a trailing slash.
	TableLocation string
}

// Table checks the requirements against base and applies the updates in order.
// A nil base is a table that does not exist.
func Table(base *Base, req *mounts.CommitTableRequest, opt Options) (*Result, error) {
	return nil, errors.ErrUnsupported
}

// Create builds the first metadata document of a createTable request.
func Create(req *mounts.CreateTableRequest, location string, opt Options) (json.RawMessage, error) {
	return nil, errors.ErrUnsupported
}

// Summary is what a registry needs to know of a metadata document.
type Summary struct {
	UUID          string
	Location      string
	FormatVersion int
	LastUpdatedMS int64
	// CurrentSnapshotID is nil for a table without a current snapshot.
	CurrentSnapshotID *int64
	// Properties is never nil.
	Properties map[string]string
	// PreviousFiles are the locations in the metadata-log, oldest first.
	PreviousFiles []string
}

// Inspect reads a Summary without decoding the large sections.
func Inspect(metadata json.RawMessage) (*Summary, error) {
	return nil, errors.ErrUnsupported
}

// Refs returns the document with only the snapshots that refs point to.
func Refs(metadata json.RawMessage) (json.RawMessage, error) {
	return nil, errors.ErrUnsupported
}
