package mounttest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/icefield/icefield/mounts"
)

// Schema is a small table schema: id long (required), at timestamptz, note
// string.
func Schema() json.RawMessage {
	return raw(`{"type":"struct","schema-id":0,"fields":[
		{"id":1,"name":"id","required":true,"type":"long"},
		{"id":2,"name":"at","required":false,"type":"timestamptz"},
		{"id":3,"name":"note","required":false,"type":"string","doc":"free text"}]}`)
}

// PrimitiveTypes returns the primitive types of format versions 1 and 2, or
// with v3 those that version 3 added (table spec, primitive types).
func PrimitiveTypes(v3 bool) []string {
	if v3 {
		return []string{"timestamp_ns", "timestamptz_ns", "variant", "unknown", "geometry", "geography"}
	}
	return []string{"boolean", "int", "long", "float", "double", "decimal(38, 10)", "date", "time", "timestamp",
		"timestamptz", "string", "uuid", "fixed[16]", "binary"}
}

// ViewVersion is the view version of a view that selects from orders, written
// in the namespace "fixture".
func ViewVersion() json.RawMessage { return viewVersion(mounts.Namespace{"fixture"}) }

func viewVersion(n mounts.Namespace) json.RawMessage {
	return version(n, 0, query{"spark", "SELECT id, at, note FROM orders"})
}

// current is what an append must know of a table's metadata.
type current struct {
	FormatVersion  int    `json:"format-version"`
	UUID           string `json:"table-uuid"`
	SchemaID       int    `json:"current-schema-id"`
	SnapshotID     *int64 `json:"current-snapshot-id"`
	SequenceNumber int64  `json:"last-sequence-number"`
	UpdatedMS      int64  `json:"last-updated-ms"`
	NextRowID      int64  `json:"next-row-id"`
	Location       string `json:"location"`
}

func read(metadata json.RawMessage) current {
	var c current
	if err := json.Unmarshal(metadata, &c); err != nil {
		panic(fmt.Sprintf("mounttest: metadata that is no table's: %v", err))
	}
	if c.SnapshotID != nil && *c.SnapshotID < 0 {
		c.SnapshotID = nil
	}
	return c
}

// AppendUpdate returns the updates of an append to main: a new snapshot on top
// of the current one of the metadata, with the next sequence number (and, in
// format version 3, row ids for one row), and main set to it. The snapshot's
// manifest list is named but does not exist. It panics on a document that is no
// table metadata.
func AppendUpdate(metadata json.RawMessage, snapshotID int64) []json.RawMessage {
	c := read(metadata)
	snapshot := map[string]any{
		"snapshot-id":   snapshotID,
		"timestamp-ms":  max(time.Now().UnixMilli(), c.UpdatedMS),
		"manifest-list": fmt.Sprintf("%s/metadata/snap-%d.avro", c.Location, snapshotID),
		"summary":       map[string]string{"operation": "append", "added-records": "1"},
		"schema-id":     c.SchemaID,
	}
	if c.SnapshotID != nil {
		snapshot["parent-snapshot-id"] = *c.SnapshotID
	}
	if c.FormatVersion >= 2 {
		snapshot["sequence-number"] = c.SequenceNumber + 1
	}
	if c.FormatVersion >= 3 {
		snapshot["first-row-id"], snapshot["added-rows"] = c.NextRowID, 1
	}
	return []json.RawMessage{
		encode(map[string]any{"action": "add-snapshot", "snapshot": snapshot}),
		encode(map[string]any{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": snapshotID}),
	}
}

// Append returns the commit of an append as engines send it: the table is the
// one seen, and main is where it was.
func Append(table mounts.Identifier, metadata json.RawMessage, snapshotID int64) *mounts.CommitTableRequest {
	c := read(metadata)
	return &mounts.CommitTableRequest{
		Table: table,
		Requirements: []json.RawMessage{
			encode(map[string]any{"type": "assert-table-uuid", "uuid": c.UUID}),
			encode(map[string]any{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": c.SnapshotID}),
		},
		Updates: AppendUpdate(metadata, snapshotID),
	}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func raws(texts ...string) []json.RawMessage {
	list := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		list[i] = raw(text)
	}
	return list
}

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mounttest: %v", err))
	}
	return data
}
