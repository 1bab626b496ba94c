package commit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// maxFormatVersion is the newest table format that the engine writes.
const maxFormatVersion = 3

// state is a document while a commit works on it. It belongs to one call.
type state struct {
	doc     *object
	opt     Options
	version int
	create  bool

	lists     map[section]*list
	lastAdded map[section]*int64
	bound     map[int64]*schema // by id, once asked for
	attached  *object           // properties, once decoded
	filesOf   map[string]*keyed[int64]
	keysByID  *keyed[string]
	fieldIDs  map[string][]int64 // of partition fields, by what they say
	fieldsOf  int                // how many specs fieldIDs has seen
	history   snapshots
	branches  *object // refs, once decoded
	logged    []logEntry
	loggedAt  *int64 // time of the log's last entry, once asked for

	changed bool
	columns int64 // last-column-id of the base
	tagged  bool  // properties changed
	moved   bool  // refs changed
	removed bool  // snapshots were removed
	rebind  bool  // current schema, default spec or default order changed
	newest  int64 // time of the newest change that has a time of its own
}

// load takes a document apart.
func load(raw json.RawMessage, opt Options) (*state, error) {
	doc, err := parseObject(bytes.TrimSpace(raw))
	if err != nil {
		return nil, broken("", err)
	}
	s := &state{doc: doc, opt: opt, lists: map[section]*list{}, lastAdded: map[section]*int64{}}
	version, err := s.int("format-version", 0)
	if err != nil {
		return nil, err
	}
	if version < 1 || version > maxFormatVersion {
		return nil, invalid("{object} has format version %d; this server changes tables of version 1 to %d", version, maxFormatVersion)
	}
	s.version = int(version)
	if s.columns, err = s.int("last-column-id", 0); err != nil {
		return nil, err
	}
	if s.version == 1 {
		if err := s.modernize(); err != nil {
			return nil, err
		}
	}
	s.history = snapshots{raw: doc.get("snapshots"), added: map[int64]int64{}}
	if isNull(s.history.raw) {
		s.history.raw = []byte("[]")
	}
	if s.history.raw[0] != '[' {
		return nil, broken("snapshots", errNotJSON)
	}
	return s, nil
}

// empty is the document of a table that is being created: every section in the
// order in which the reference implementation writes them.
func empty(version int, opt Options) *state {
	doc := newObject()
	doc.setInt("format-version", int64(version))
	doc.set("table-uuid", quote(uuid.Nil.String()))
	doc.set("location", []byte(`""`))
	if version > 1 {
		doc.setInt("last-sequence-number", 0)
	}
	doc.setInt("last-updated-ms", 0)
	doc.setInt("last-column-id", 0)
	if version == 1 {
		doc.set("schema", []byte("null"))
	}
	doc.setInt("current-schema-id", -1)
	doc.set("schemas", []byte("[]"))
	if version == 1 {
		doc.set("partition-spec", []byte("[]"))
	}
	doc.setInt("default-spec-id", -1)
	doc.set("partition-specs", []byte("[]"))
	doc.setInt("last-partition-id", firstPartitionID-1)
	doc.setInt("default-sort-order-id", -1)
	doc.set("sort-orders", []byte("[]"))
	doc.set("properties", []byte("{}"))
	doc.set("current-snapshot-id", []byte("null"))
	if version >= 3 {
		doc.setInt("next-row-id", 0)
	}
	doc.set("refs", []byte("{}"))
	for _, name := range []string{"snapshots", "statistics", "partition-statistics", "snapshot-log", "metadata-log"} {
		doc.set(name, []byte("[]"))
	}
	return &state{doc: doc, opt: opt, version: version, create: true, changed: true,
		lists: map[section]*list{}, lastAdded: map[section]*int64{},
		history: snapshots{raw: []byte("[]"), added: map[int64]int64{}}}
}

// modernize fills in what the first generation of v1 documents did not have:
// lists of schemas, specs and sort orders beside the single ones.
func (s *state) modernize() error {
	if !s.doc.has("schemas") {
		one := s.doc.get("schema")
		o, err := parseObject(one)
		if err != nil {
			return broken("schema", err)
		}
		if !o.has(schemas.id) {
			o.setInt(schemas.id, 0)
			one = o.encode()
			s.doc.set("schema", one)
		}
		s.doc.set("current-schema-id", o.get(schemas.id))
		s.doc.set("schemas", encodeArray([][]byte{one}))
	}
	if !s.doc.has("partition-specs") {
		o := newObject()
		o.setInt(specs.id, 0)
		o.set("fields", []byte("[]"))
		if s.doc.has("partition-spec") {
			o.set("fields", s.doc.get("partition-spec"))
		}
		fields, err := specFields(o, "partition spec")
		if err != nil {
			return broken("partition-spec", err)
		}
		for i, f := range fields {
			if f.id == 0 {
				f.object.setInt("field-id", int64(firstPartitionID+i))
			}
		}
		o.set("fields", encodeFields(fields))
		s.doc.set("partition-specs", encodeArray([][]byte{o.encode()}))
		s.doc.setInt("default-spec-id", 0)
	}
	if !s.doc.has("last-partition-id") {
		last := int64(firstPartitionID - 1)
		list, err := s.list(specs)
		if err != nil {
			return err
		}
		for _, e := range list.entries {
			o, err := parseObject(e.raw)
			if err != nil {
				return broken(specs.name, err)
			}
			fields, err := specFields(o, "partition spec")
			if err != nil {
				return broken(specs.name, err)
			}
			for _, f := range fields {
				last = max(last, f.id)
			}
		}
		s.doc.setInt("last-partition-id", last)
	}
	if !s.doc.has("sort-orders") {
		s.doc.set("sort-orders", []byte(`[{"order-id":0,"fields":[]}]`))
		s.doc.setInt("default-sort-order-id", 0)
	}
	return nil
}

// int reads a top-level number; def if it is absent or null.
func (s *state) int(key string, def int64) (int64, error) {
	raw := s.doc.get(key)
	if isNull(raw) {
		return def, nil
	}
	n, err := parseInt(raw)
	if err != nil {
		return 0, broken(key, fmt.Errorf("%w: not a whole number", err))
	}
	return n, nil
}

// text reads a top-level string; empty if it is absent or null.
func (s *state) text(key string) (string, error) {
	raw := s.doc.get(key)
	if isNull(raw) {
		return "", nil
	}
	v, err := unquote(raw)
	if err != nil {
		return "", broken(key, err)
	}
	return v, nil
}

// touch records the time of a change.
func (s *state) touch(ms int64) { s.newest = max(s.newest, ms) }

// clock is the time of a change that has none of its own: now, but never before
// the table's last change, whatever clock that was made by.
func (s *state) clock() (int64, error) {
	base, err := s.int("last-updated-ms", 0)
	return max(s.opt.Now.UnixMilli(), base), err
}

// currentSnapshot is nil if there is none: absent, null and -1 all mean that.
func (s *state) currentSnapshot() (*int64, error) {
	id, err := s.int("current-snapshot-id", -1)
	if err != nil || id == -1 {
		return nil, err
	}
	return &id, nil
}

// setCurrentSnapshot writes the absence as the reference implementation does:
// -1 for v1 and v2, whose old readers expect a number, null for v3.
func (s *state) setCurrentSnapshot(id *int64) {
	switch {
	case id != nil:
		s.doc.setInt("current-snapshot-id", *id)
	case s.version < 3:
		s.doc.setInt("current-snapshot-id", -1)
	default:
		s.doc.set("current-snapshot-id", []byte("null"))
	}
}
