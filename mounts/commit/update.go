package commit

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// update is one TableUpdate of the REST specification, read and ready.
type update struct {
	what   string // for messages: its place and action
	action string
	// version is that of an upgrade-format-version.
	version int64
	// removes are the ids of a removal that may be joined with the next.
	removes []int64
	missing string
	apply   func(*state) error
}

// updateFields are the members of all updates.
type updateFields struct {
	UUID          *string        `json:"uuid"`
	FormatVersion *int64         `json:"format-version"`
	Schema        jsontext.Value `json:"schema"`
	SchemaID      *int64         `json:"schema-id"`
	Spec          jsontext.Value `json:"spec"`
	SpecID        *int64         `json:"spec-id"`
	SortOrder     jsontext.Value `json:"sort-order"`
	SortOrderID   *int64         `json:"sort-order-id"`
	Snapshot      jsontext.Value `json:"snapshot"`
	SnapshotID    *int64         `json:"snapshot-id"`
	SnapshotIDs   *ids           `json:"snapshot-ids"`
	SchemaIDs     *ids           `json:"schema-ids"`
	SpecIDs       *ids           `json:"spec-ids"`
	RefName       *string        `json:"ref-name"`
	Location      *string        `json:"location"`
	Updates       *texts         `json:"updates"`
	Updated       *texts         `json:"updated"` // what old clients say for updates
	Removals      *names         `json:"removals"`
	Removed       *names         `json:"removed"` // what old clients say for removals
	Statistics    jsontext.Value `json:"statistics"`
	PartitionStat jsontext.Value `json:"partition-statistics"`
	ViewVersion   jsontext.Value `json:"view-version"`
	ViewVersionID *int64         `json:"view-version-id"`
	EncryptionKey jsontext.Value `json:"encryption-key"`
	KeyID         *string        `json:"key-id"`
}

// parseUpdate reads an update of a table without looking at any.
func parseUpdate(i int, raw jsontext.Value) (*update, error) {
	u, f, err := readUpdate(i, raw, known)
	if err != nil {
		return nil, err
	}
	u.bindDefinition(f)
	if err := u.bindHistory(f, raw); err != nil {
		return nil, err
	}
	if err := u.bindKeys(f); err != nil {
		return nil, err
	}
	if u.apply == nil {
		return nil, badRequest("%s: %q is missing or has the wrong type", u.what, u.missing)
	}
	return u, nil
}

// readUpdate decodes an update whose action is known.
func readUpdate(i int, raw jsontext.Value, known func(string) bool) (*update, *updateFields, error) {
	u := &update{what: "updates[" + strconv.Itoa(i) + "]"}
	action, err := memberOf(raw, "action")
	if err != nil {
		return nil, nil, notJSON(u.what, err)
	}
	if u.action, err = unquote(action); err != nil || u.action == "" {
		return nil, nil, badRequest("%s: \"action\" is missing", u.what)
	}
	u.what += " (" + clip(u.action) + ")"
	if !known(u.action) {
		return nil, nil, badRequest("%s: unknown update %q; nothing was changed", u.what, clip(u.action))
	}
	f := new(updateFields)
	return u, f, decode(raw, f, u.what)
}

func (f *updateFields) updates() *texts {
	if f.Updates == nil {
		return f.Updated
	}
	return f.Updates
}

func (f *updateFields) removals() *names {
	if f.Removals == nil {
		return f.Removed
	}
	return f.Removals
}

// need notes the name of a member that is missing.
func (u *update) need(there bool, name string) bool {
	if !there {
		u.missing = name
	}
	return there
}

func (u *update) object(v jsontext.Value, name string) bool { return u.need(v.Kind() == '{', name) }

// bindDefinition binds the updates of what a table is.
func (u *update) bindDefinition(f *updateFields) {
	switch u.action {
	case "assign-uuid":
		if u.need(f.UUID != nil, "uuid") {
			u.apply = func(s *state) error { return s.assignUUID("table-uuid", *f.UUID) }
		}
	case "upgrade-format-version":
		if u.need(f.FormatVersion != nil, "format-version") {
			u.version = *f.FormatVersion
			u.apply = func(s *state) error { return s.upgrade(u.version) }
		}
	case "add-schema":
		if u.object(f.Schema, "schema") {
			u.apply = func(s *state) error { return s.addSchema(f.Schema) }
		}
	case "set-current-schema":
		if u.need(f.SchemaID != nil, "schema-id") {
			u.apply = func(s *state) error { return s.setCurrentSchema(*f.SchemaID) }
		}
	case "remove-schemas":
		if u.need(f.SchemaIDs != nil, "schema-ids") {
			u.removes = *f.SchemaIDs
			u.apply = func(s *state) error { return s.removeSchemas(u.removes) }
		}
	case "add-spec":
		if u.object(f.Spec, "spec") {
			u.apply = func(s *state) error { return s.addSpec(f.Spec) }
		}
	case "set-default-spec":
		if u.need(f.SpecID != nil, "spec-id") {
			u.apply = func(s *state) error { return s.setDefaultSpec(*f.SpecID) }
		}
	case "remove-partition-specs":
		if u.need(f.SpecIDs != nil, "spec-ids") {
			u.removes = *f.SpecIDs
			u.apply = func(s *state) error { return s.removeSpecs(u.removes) }
		}
	case "add-sort-order":
		if u.object(f.SortOrder, "sort-order") {
			u.apply = func(s *state) error { return s.addSortOrder(f.SortOrder) }
		}
	case "set-default-sort-order":
		if u.need(f.SortOrderID != nil, "sort-order-id") {
			u.apply = func(s *state) error { return s.setDefaultSortOrder(*f.SortOrderID) }
		}
	case "set-location":
		if u.need(f.Location != nil, "location") {
			u.apply = func(s *state) error { return s.setLocation(*f.Location) }
		}
	case "set-properties":
		if updates := f.updates(); u.need(updates != nil, "updates") {
			u.apply = func(s *state) error { return s.setProperties(*updates, reserved) }
		}
	case "remove-properties":
		if removals := f.removals(); u.need(removals != nil, "removals") {
			u.apply = func(s *state) error { return s.removeProperties(*removals) }
		}
	}
}

// bindHistory binds the updates of snapshots, refs and statistics.
func (u *update) bindHistory(f *updateFields, raw []byte) error {
	switch u.action {
	case "add-snapshot":
		if u.object(f.Snapshot, "snapshot") {
			u.apply = func(s *state) error { return s.addSnapshot(f.Snapshot) }
		}
	case "remove-snapshots":
		if u.need(f.SnapshotIDs != nil, "snapshot-ids") {
			u.removes = *f.SnapshotIDs
			u.apply = func(s *state) error { return s.removeSnapshots(u.removes) }
		}
	case "set-snapshot-ref":
		if u.need(f.RefName != nil, "ref-name") && u.need(f.SnapshotID != nil, "snapshot-id") {
			ref, err := parseRef(raw)
			if err != nil {
				return notJSON(u.what, err)
			}
			if u.need(ref.has("type"), "type") {
				u.apply = func(s *state) error { return s.setRef(*f.RefName, ref) }
			}
		}
	case "remove-snapshot-ref":
		if u.need(f.RefName != nil, "ref-name") {
			u.apply = func(s *state) error { return s.removeRef(*f.RefName) }
		}
	case "set-statistics":
		if u.object(f.Statistics, "statistics") {
			if err := checkStatistics(u.what, f.Statistics, f.SnapshotID, true); err != nil {
				return err
			}
			u.apply = func(s *state) error { return s.setStatistics(statistics, f.Statistics) }
		}
	case "set-partition-statistics":
		if u.object(f.PartitionStat, "partition-statistics") {
			if err := checkStatistics(u.what, f.PartitionStat, nil, false); err != nil {
				return err
			}
			u.apply = func(s *state) error { return s.setStatistics(partitionStatistics, f.PartitionStat) }
		}
	case "remove-statistics", "remove-partition-statistics":
		if u.need(f.SnapshotID != nil, "snapshot-id") {
			section := strings.TrimPrefix(u.action, "remove-")
			u.apply = func(s *state) error { return s.dropStatistics(section, map[int64]bool{*f.SnapshotID: true}) }
		}
	}
	return nil
}

func known(action string) bool {
	switch action {
	case "assign-uuid", "upgrade-format-version", "add-schema", "set-current-schema", "remove-schemas",
		"add-spec", "set-default-spec", "remove-partition-specs", "add-sort-order", "set-default-sort-order",
		"add-snapshot", "remove-snapshots", "set-snapshot-ref", "remove-snapshot-ref", "set-location",
		"set-properties", "remove-properties", "set-statistics", "remove-statistics",
		"set-partition-statistics", "remove-partition-statistics", "add-encryption-key", "remove-encryption-key",
		"enable-row-lineage":
		return true
	}
	return false
}

// parseRef makes a ref of a set-snapshot-ref update: everything but what names
// the update itself, and without nulls.
func parseRef(raw []byte) (*object, error) {
	ref, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	ref.remove("action")
	ref.remove("ref-name")
	for _, key := range refFields {
		if !ref.has(key) {
			ref.remove(key)
		}
	}
	return ref, nil
}

// checkStatistics checks the required members of a statistics file. Old clients
// name the snapshot beside the file too; the two have to agree.
func checkStatistics(what string, raw []byte, beside *int64, full bool) error {
	var f struct {
		Snapshot *int64         `json:"snapshot-id"`
		Path     *string        `json:"statistics-path"`
		Size     *int64         `json:"file-size-in-bytes"`
		Footer   *int64         `json:"file-footer-size-in-bytes"`
		Blobs    jsontext.Value `json:"blob-metadata"`
	}
	if err := decode(raw, &f, what); err != nil {
		return err
	}
	for _, field := range []struct {
		there bool
		name  string
	}{
		{f.Snapshot != nil, "snapshot-id"}, {f.Path != nil, "statistics-path"}, {f.Size != nil, "file-size-in-bytes"},
		{!full || f.Footer != nil, "file-footer-size-in-bytes"}, {!full || f.Blobs.Kind() == '[', "blob-metadata"},
	} {
		if !field.there {
			return badRequest("%s: %q of the statistics file is missing or has the wrong type", what, field.name)
		}
	}
	if beside != nil && *beside != *f.Snapshot {
		return badRequest("%s: the update is about snapshot %d and its file about %d", what, *beside, *f.Snapshot)
	}
	if !full {
		return nil
	}
	return checkBlobs(what, f.Blobs)
}

// checkBlobs checks what the table specification requires of blob metadata:
// Java cannot read a table with less.
func checkBlobs(what string, raw []byte) error {
	blobs, err := elements(raw)
	if err != nil {
		return notJSON(what, err)
	}
	for i, blob := range blobs {
		where := what + ": blob-metadata[" + strconv.Itoa(i) + "]"
		var f struct {
			Type       *string `json:"type"`
			Snapshot   *int64  `json:"snapshot-id"`
			Sequence   *int64  `json:"sequence-number"`
			Fields     *short  `json:"fields"`
			Properties *texts  `json:"properties"`
		}
		if isNull(blob) {
			return badRequest("%s is null", where)
		}
		if err := decode(blob, &f, where); err != nil {
			return err
		}
		if f.Type == nil || f.Snapshot == nil || f.Sequence == nil || f.Fields == nil {
			return badRequest("%s needs \"type\", \"snapshot-id\", \"sequence-number\" and \"fields\"", where)
		}
		if properties, _ := memberOf(blob, "properties"); properties != nil && f.Properties == nil {
			return badRequest("%s: \"properties\" is null; leave it out", where)
		}
	}
	return nil
}

// assignUUID gives a table that is being created its identity, and a v1 table
// that never had one. An identity never changes.
func (s *state) assignUUID(key, text string) error {
	id, err := uuid.Parse(text)
	if err != nil || id == uuid.Nil {
		return badRequest("assign-uuid: %q is not a UUID", clip(text))
	}
	before, err := s.text(key)
	if err != nil {
		return err
	}
	switch {
	case strings.EqualFold(before, id.String()):
		return nil
	case before != "" && before != uuid.Nil.String():
		return invalid("{object} already has the UUID %s, and that never changes", before)
	}
	s.doc.set(key, quote(id.String()))
	s.changed = true
	return nil
}

// upgrade moves the table to a newer format version.
func (s *state) upgrade(to int64) error {
	switch {
	case to > maxFormatVersion || to < 1:
		return invalid("format version %d is not supported; the versions are 1 to %d", to, maxFormatVersion)
	case to < int64(s.version):
		return invalid("{object} has format version %d and cannot go back to %d", s.version, to)
	case to == int64(s.version):
		return nil
	}
	from := s.version
	s.version, s.changed = int(to), true
	s.doc.setInt("format-version", to)
	if from == 1 {
		s.doc.remove("schema")
		s.doc.remove("partition-spec")
		last, err := s.highestSequence()
		if err != nil {
			return err
		}
		s.doc.setInt("last-sequence-number", last)
		if id, err := s.text("table-uuid"); err != nil {
			return err
		} else if id == "" {
			s.doc.set("table-uuid", quote(s.opt.NewUUID().String()))
		}
	}
	if to >= 3 && !s.doc.has("next-row-id") {
		s.doc.setInt("next-row-id", 0)
	}
	return nil
}

// highestSequence looks at every snapshot of a v1 table: nearly always 0.
func (s *state) highestSequence() (int64, error) {
	parts, err := elements(s.history.encode())
	if err != nil {
		return 0, broken("snapshots", err)
	}
	var highest int64
	for _, raw := range parts {
		value, err := memberOf(raw, "sequence-number")
		if err != nil {
			return 0, broken("snapshots", err)
		}
		if isNull(value) {
			continue
		}
		n, err := parseInt(value)
		if err != nil {
			return 0, broken("snapshots", err)
		}
		highest = max(highest, n)
	}
	return highest, nil
}
