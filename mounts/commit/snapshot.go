package commit

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/apache/iceberg-go/table"
)

const minute, day = 60_000, 24 * 3_600_000 // milliseconds

// snapshots is the history: the base's array as it is, and what this commit
// adds. It is taken apart only when something is removed, or when an id may be
// in it.
type snapshots struct {
	raw    []byte
	added  map[int64]int64 // timestamp by id
	more   [][]byte
	byID   map[int64]int // position in parts, once taken apart
	parts  [][]byte
	remove bool
}

func (h *snapshots) split() error {
	if h.byID != nil {
		return nil
	}
	parts, err := elements(h.raw)
	if err != nil {
		return err
	}
	byID := make(map[int64]int, len(parts))
	for i, raw := range parts {
		id, err := idOf(raw, "snapshot-id")
		if err != nil {
			return err
		}
		byID[id] = i
	}
	h.parts, h.byID = parts, byID
	return nil
}

// has reports whether a snapshot exists. An id whose digits do not occur in the
// array is not in it: that settles the common case without looking closer.
func (h *snapshots) has(id int64) (bool, error) {
	if _, ok := h.added[id]; ok {
		return true, nil
	}
	if h.byID == nil && !bytes.Contains(h.raw, formatInt(id)) {
		return false, nil
	}
	if err := h.split(); err != nil {
		return false, err
	}
	i, ok := h.byID[id]
	return ok && h.parts[i] != nil, nil
}

// drop takes snapshots out and returns those that were there.
func (h *snapshots) drop(ids []int64) (map[int64]bool, error) {
	if err := h.split(); err != nil {
		return nil, err
	}
	gone := map[int64]bool{}
	for _, id := range ids {
		if i, ok := h.byID[id]; ok && h.parts[i] != nil {
			h.parts[i], h.remove, gone[id] = nil, true, true
		}
		if _, ok := h.added[id]; ok {
			delete(h.added, id)
			gone[id] = true
		}
	}
	kept := h.more[:0]
	for _, raw := range h.more {
		if id, err := idOf(raw, "snapshot-id"); err != nil || !gone[id] {
			kept = append(kept, raw)
		}
	}
	h.more = kept
	return gone, nil
}

func (h *snapshots) encode() []byte {
	if !h.remove {
		return appendElements(h.raw, h.more...)
	}
	kept := make([][]byte, 0, len(h.parts)+len(h.more))
	for _, raw := range h.parts {
		if raw != nil {
			kept = append(kept, raw)
		}
	}
	return encodeArray(append(kept, h.more...))
}

// idOf reads a whole number out of an object.
func idOf(raw []byte, key string) (int64, error) {
	value, err := memberOf(raw, key)
	if err != nil {
		return 0, err
	}
	return parseInt(value)
}

// snapshotFields is what the engine reads of a snapshot.
type snapshotFields struct {
	ID           *int64  `json:"snapshot-id"`
	Parent       *int64  `json:"parent-snapshot-id"`
	Sequence     *int64  `json:"sequence-number"`
	Timestamp    *int64  `json:"timestamp-ms"`
	ManifestList *string `json:"manifest-list"`
	Summary      *texts  `json:"summary"` // Java cannot read a table with a null in it
	SchemaID     *int64  `json:"schema-id"`
	FirstRow     *int64  `json:"first-row-id"`
	AddedRows    *int64  `json:"added-rows"`
	Key          *string `json:"key-id"`
}

// addSnapshot adds a snapshot to the history; refs are set separately.
func (s *state) addSnapshot(raw []byte) error {
	var f snapshotFields
	if err := decode(raw, &f, "add-snapshot: the snapshot"); err != nil {
		return err
	}
	if f.ID == nil || f.Timestamp == nil {
		return badRequest("add-snapshot: the snapshot needs \"snapshot-id\" and \"timestamp-ms\"")
	}
	if *f.ID == -1 {
		return invalid("the snapshot id -1 stands for no snapshot, so a snapshot cannot have it")
	}
	raw, err := withoutAbsences(raw)
	if err != nil {
		return notJSON("add-snapshot: the snapshot", err)
	}
	if err := json.Unmarshal(raw, new(table.Snapshot)); err != nil {
		return badRequest("add-snapshot: the snapshot is not valid: %s", library(err))
	}
	if manifests, _ := memberOf(raw, "manifests"); f.ManifestList == nil && (s.version > 1 || isNull(manifests)) {
		return badRequest("add-snapshot: the snapshot needs \"manifest-list\"")
	}
	for _, of := range []section{schemas, specs} {
		if l, err := s.list(of); err != nil {
			return err
		} else if len(l.entries) == 0 {
			return invalid("a snapshot needs a table with a %s; add one first", of.label)
		}
	}
	if err := s.checkSequence(&f); err != nil {
		return err
	}
	if err := s.checkPlace(&f); err != nil {
		return err
	}
	if err := s.advanceRows(&f); err != nil {
		return err
	}
	if s.version > 1 {
		// A first snapshot may come with a low number; the table's never falls.
		last, err := s.int("last-sequence-number", 0)
		if err != nil {
			return err
		}
		s.doc.setInt("last-sequence-number", max(last, *f.Sequence))
	}
	s.history.added[*f.ID] = *f.Timestamp
	s.history.more = append(s.history.more, raw)
	s.touch(*f.Timestamp)
	s.changed = true
	return nil
}

// withoutAbsences leaves out the members of a snapshot that are null: they mean
// the same, and Java cannot read a table that has some of them.
func withoutAbsences(raw []byte) ([]byte, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	found := false
	for _, key := range [...]string{"parent-snapshot-id", "manifest-list", "manifests", "summary", "schema-id",
		"first-row-id", "added-rows", "key-id"} {
		found = !o.has(key) && o.remove(key) || found
	}
	if !found {
		return raw, nil
	}
	return o.encode(), nil
}

// parent is the parent's id, or nil. Some writers say -1 for none.
func (f *snapshotFields) parent() *int64 {
	if f.Parent != nil && *f.Parent == -1 {
		return nil
	}
	return f.Parent
}

// checkSequence: a number that is not above the table's is the mark of a
// snapshot built on older metadata, so the client shall build it again.
func (s *state) checkSequence(f *snapshotFields) error {
	if s.version == 1 {
		if f.Sequence != nil && *f.Sequence < 0 {
			return invalid("the snapshot has the sequence number %d", *f.Sequence)
		}
		return nil
	}
	if f.Sequence == nil || *f.Sequence < 0 {
		return badRequest("add-snapshot: a snapshot of a v%d table needs a \"sequence-number\" of 0 or more", s.version)
	}
	last, err := s.int("last-sequence-number", 0)
	if err != nil {
		return err
	}
	if f.parent() != nil && *f.Sequence <= last {
		return conflict("Validation failed, please retry: the snapshot's sequence number %d is not above the table's last one, %d; another commit came first",
			*f.Sequence, last)
	}
	if *f.Sequence == math.MaxInt64 {
		return invalid("the sequence number %d would be the last one ever", *f.Sequence)
	}
	return nil
}

// checkPlace checks what the snapshot refers to, and its time. A time in the
// far future is refused because no later commit could follow it.
func (s *state) checkPlace(f *snapshotFields) error {
	if there, err := s.history.has(*f.ID); err != nil {
		return broken("snapshots", err)
	} else if there {
		return invalid("{object} already has a snapshot with the id %d", *f.ID)
	}
	if p := f.parent(); p != nil {
		there, err := s.exists(*p)
		if err != nil {
			return err
		}
		if !there {
			return invalid("the snapshot's parent %d does not exist in {object}", *p)
		}
	}
	if f.SchemaID != nil {
		l, err := s.list(schemas)
		if err != nil {
			return err
		}
		if l.find(*f.SchemaID) == nil {
			return invalid("the snapshot names the schema %d, which {object} does not have", *f.SchemaID)
		}
	}
	base, err := s.int("last-updated-ms", 0)
	if err != nil {
		return err
	}
	if s.loggedAt == nil {
		at, err := lastTimestamp(s.doc.get("snapshot-log"))
		if err != nil {
			return broken("snapshot-log", err)
		}
		s.loggedAt = &at
	}
	if newest := max(base, *s.loggedAt, s.newest); *f.Timestamp < newest-minute {
		return invalid("the snapshot's timestamp %d is more than a minute before the table's last change at %d", *f.Timestamp, newest)
	}
	if now := s.opt.Now.UnixMilli(); *f.Timestamp > now+day {
		return invalid("the snapshot's timestamp %d is more than a day after this server's clock (%d); timestamps are milliseconds", *f.Timestamp, now)
	}
	return nil
}

// fewRefs is how many refs are looked at before the history is.
const fewRefs = 50

// exists is history.has, with a look at the refs first: the parent of an append
// is nearly always the head of a branch.
func (s *state) exists(id int64) (bool, error) {
	if s.history.byID == nil {
		refs, err := s.refs()
		if err != nil {
			return false, err
		}
		if names := refs.keys(); len(names) <= fewRefs {
			for _, name := range names {
				if head, err := idOf(refs.get(name), "snapshot-id"); err == nil && head == id {
					return true, nil
				}
			}
		}
	}
	there, err := s.history.has(id)
	if err != nil {
		return false, broken("snapshots", err)
	}
	return there, nil
}

// advanceRows assigns the snapshot's rows (table spec, "Row Lineage"). The next
// row id moves past the snapshot's own range, also if that begins late, so that
// no id is given twice.
func (s *state) advanceRows(f *snapshotFields) error {
	if s.version < 3 {
		if f.FirstRow != nil || f.AddedRows != nil {
			return invalid("\"first-row-id\" and \"added-rows\" belong to v3 tables; {object} has format version %d", s.version)
		}
		if f.Key != nil {
			return invalid("a snapshot with a \"key-id\" belongs to a v3 table; {object} has format version %d", s.version)
		}
		return nil
	}
	if f.FirstRow == nil || f.AddedRows == nil {
		return invalid("a snapshot of a v3 table needs \"first-row-id\" and \"added-rows\"")
	}
	next, err := s.int("next-row-id", 0)
	if err != nil {
		return err
	}
	switch {
	case *f.AddedRows < 0 || *f.FirstRow < 0:
		return invalid("the snapshot has a negative \"first-row-id\" or \"added-rows\"")
	case *f.FirstRow < next:
		return conflict("Validation failed, please retry: the snapshot's first-row-id %d is behind the table's next-row-id %d; another commit came first",
			*f.FirstRow, next)
	case *f.AddedRows > math.MaxInt64-*f.FirstRow:
		return invalid("the snapshot's rows do not fit into 64 bits: %d from %d", *f.AddedRows, *f.FirstRow)
	}
	s.doc.setInt("next-row-id", *f.FirstRow+*f.AddedRows)
	return nil
}

// removeSnapshots removes snapshots, and with them the refs and statistics that
// point to them. Unknown ids are ignored: another expiry came first.
func (s *state) removeSnapshots(ids []int64) error {
	gone, err := s.history.drop(ids)
	if err != nil {
		return broken("snapshots", err)
	}
	if len(gone) == 0 {
		return nil
	}
	s.changed, s.removed = true, true
	for _, name := range []string{statistics, partitionStatistics} {
		if err := s.dropStatistics(name, gone); err != nil {
			return err
		}
	}
	refs, err := s.refs()
	if err != nil {
		return err
	}
	for _, name := range refs.keys() {
		if head, err := idOf(refs.get(name), "snapshot-id"); err != nil {
			return broken("refs", err)
		} else if gone[head] {
			if err := s.removeRef(name); err != nil {
				return err
			}
		}
	}
	return nil
}
