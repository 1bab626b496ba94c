package commit

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

var errDangling = errors.New("points to something that does not exist")

// Summary is what a registry needs to know of a metadata document.
type Summary struct {
	// UUID is empty for a v1 table that never got one.
	UUID string
	// Location is the table's, without a trailing slash.
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

// Inspect reads a Summary, and validates a document that comes from outside: it
// is JSON with no name twice in one object, has the sections that its format
// version requires, and what points to a schema, spec, sort order or snapshot
// finds it. It does not decode schemas and snapshots, so what is not known here
// does no harm. Errors are *mounts.Error of kind ValidationFailed that say what
// is wrong.
func Inspect(metadata json.RawMessage) (*Summary, error) {
	if jsonDepth(metadata) > maxDepth || !jsontext.Value(metadata).IsValid() {
		return nil, invalid("the file is not Iceberg table metadata: it is not valid JSON, has a name twice in one object, or is nested deeper than %d levels", maxDepth)
	}
	s, err := load(metadata, Options{})
	if err != nil {
		return nil, notMetadata(err)
	}
	if s.doc.has("view-uuid") {
		return nil, invalid("the file is not the metadata of a table: it is a view's")
	}
	sum := &Summary{FormatVersion: s.version, Properties: map[string]string{}}
	for _, step := range []func(*Summary) error{
		s.inspectTop, s.inspectPointers, s.inspectSnapshots, s.inspectProperties,
	} {
		if err := step(sum); err != nil {
			return nil, notMetadata(err)
		}
	}
	return sum, nil
}

// notMetadata turns what Table would call broken into a complaint about the
// document at hand.
func notMetadata(err error) error {
	e := mounts.AsError(err)
	if e.Kind == mounts.Internal && e.Err != nil {
		return invalid("the file is not Iceberg table metadata: %s", library(e.Err))
	}
	return &mounts.Error{Kind: mounts.ValidationFailed, Msg: e.Msg, Err: e.Err}
}

func (s *state) inspectTop(sum *Summary) error {
	required := []string{"location", "last-updated-ms", "last-column-id", "schemas", "partition-specs", "sort-orders"}
	if s.version > 1 {
		required = append(required, "table-uuid", "last-sequence-number", "current-schema-id", "default-spec-id",
			"last-partition-id", "default-sort-order-id")
	}
	if s.version > 2 {
		required = append(required, "next-row-id")
	}
	for _, key := range required {
		if !s.doc.has(key) {
			return broken(key, errors.New("is required and missing"))
		}
	}
	for _, key := range []string{"last-updated-ms", "last-column-id", "last-sequence-number", "next-row-id", "last-partition-id"} {
		if n, err := s.int(key, 0); err != nil {
			return err
		} else if n < 0 {
			return broken(key, errors.New("is negative"))
		}
	}
	var err error
	if sum.UUID, err = s.text("table-uuid"); err != nil {
		return err
	}
	if sum.UUID != "" {
		if _, err := uuid.Parse(sum.UUID); err != nil {
			return broken("table-uuid", errors.New("is not a UUID"))
		}
	}
	location, err := s.text("location")
	if err != nil {
		return err
	}
	if sum.Location = trimSlash(location); sum.Location == "" {
		return broken("location", errors.New("is empty"))
	}
	if sum.LastUpdatedMS, err = s.int("last-updated-ms", 0); err != nil {
		return err
	}
	sum.CurrentSnapshotID, err = s.currentSnapshot()
	return err
}

func (s *state) inspectPointers(*Summary) error {
	for _, p := range []struct {
		of  section
		key string
	}{{schemas, "current-schema-id"}, {specs, "default-spec-id"}} {
		if _, err := s.entryOf(p.of, p.key); err != nil {
			return err
		}
	}
	if id, err := s.int("default-sort-order-id", 0); err != nil || id == 0 {
		return err
	}
	_, err := s.entryOf(sortOrders, "default-sort-order-id")
	return err
}

func (s *state) inspectSnapshots(sum *Summary) error {
	if err := s.history.split(); err != nil {
		return broken("snapshots", err)
	}
	if len(s.history.byID) < len(s.history.parts) {
		return broken("snapshots", errors.New("has an id twice"))
	}
	refs, err := s.refs()
	if err != nil {
		return err
	}
	for _, name := range refs.keys() {
		head, err := idOf(refs.get(name), "snapshot-id")
		if err != nil {
			return broken("refs", err)
		}
		if _, ok := s.history.byID[head]; !ok {
			return broken("refs", errDangling)
		}
		if name == mainBranch && (sum.CurrentSnapshotID == nil || *sum.CurrentSnapshotID != head) {
			return broken("refs", errors.New("main is not the current snapshot"))
		}
	}
	for _, name := range []string{"snapshot-log", "statistics", "partition-statistics"} {
		if _, err := elements(s.doc.get(name)); err != nil {
			return broken(name, err)
		}
	}
	log, err := elements(s.doc.get("metadata-log"))
	if err != nil {
		return broken("metadata-log", err)
	}
	for _, raw := range log {
		file, err := memberOf(raw, "metadata-file")
		if err != nil {
			return broken("metadata-log", err)
		}
		location, err := unquote(file)
		if err != nil {
			return broken("metadata-log", err)
		}
		sum.PreviousFiles = append(sum.PreviousFiles, location)
	}
	return nil
}

func (s *state) inspectProperties(sum *Summary) error {
	o, err := s.properties()
	if err != nil {
		return err
	}
	for _, key := range o.keys() {
		value, err := unquote(o.get(key))
		if err != nil {
			return broken("properties", errors.New("has a value that is not a string"))
		}
		sum.Properties[key] = value
	}
	return nil
}

// Refs returns the document with only those snapshots that refs point to
// (`snapshots=refs` of loadTable); everything else stays as it is. If that is
// all of them it returns the document itself. Errors are *mounts.Error of kind
// Internal: the document cannot be read.
func Refs(metadata json.RawMessage) (json.RawMessage, error) {
	doc, err := parseObject(bytes.TrimSpace(metadata))
	if err != nil {
		return nil, broken("", err)
	}
	s := &state{doc: doc}
	refs, err := s.refs()
	if err != nil {
		return nil, err
	}
	heads := map[int64]bool{}
	for _, name := range refs.keys() {
		head, err := idOf(refs.get(name), "snapshot-id")
		if err != nil {
			return nil, broken("refs", err)
		}
		heads[head] = true
	}
	all, err := elements(doc.get("snapshots"))
	if err != nil {
		return nil, broken("snapshots", err)
	}
	kept := make([][]byte, 0, len(heads))
	for _, raw := range all {
		id, err := idOf(raw, "snapshot-id")
		if err != nil {
			return nil, broken("snapshots", err)
		}
		if heads[id] {
			kept = append(kept, raw)
		}
	}
	if len(kept) == len(all) {
		return metadata, nil
	}
	doc.set("snapshots", encodeArray(kept))
	return doc.encode(), nil
}
