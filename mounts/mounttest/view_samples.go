package mounttest

import (
	"encoding/json"

	"github.com/icefield/icefield/mounts"
)

// query is one way to read a view.
type query struct{ dialect, sql string }

// spark is the query that engines of one dialect read.
func spark(sql string) query { return query{"spark", sql} }

// version is a view version as an engine that stands in a namespace proposes it.
func version(n mounts.Namespace, schemaID int, queries ...query) json.RawMessage {
	representations := make([]map[string]string, len(queries))
	for i, q := range queries {
		representations[i] = map[string]string{"type": "sql", "sql": q.sql, "dialect": q.dialect}
	}
	return encode(map[string]any{"version-id": 1, "schema-id": schemaID, "timestamp-ms": 1700000000000,
		"summary": map[string]string{"engine-name": "suite"}, "default-namespace": n, "representations": representations})
}

// redefinition is the updates of a CREATE OR REPLACE VIEW: schema, version, and
// that version made current.
func redefinition(n mounts.Namespace, schema json.RawMessage, queries ...query) []json.RawMessage {
	return []json.RawMessage{
		encode(map[string]any{"action": "add-schema", "schema": schema}),
		encode(map[string]any{"action": "add-view-version", "view-version": version(n, -1, queries...)}),
		raw(`{"action":"set-current-view-version","view-version-id":-1}`),
	}
}

// otherSchema is a schema that differs from Schema: one column, int.
func otherSchema() json.RawMessage {
	return raw(`{"type":"struct","schema-id":7,"fields":[{"id":1,"name":"n","required":true,"type":"int"}]}`)
}

// sameView is the requirement that a view is still the one that was seen.
func sameView(metadata json.RawMessage) json.RawMessage {
	var seen struct {
		UUID string `json:"view-uuid"`
	}
	if err := json.Unmarshal(metadata, &seen); err != nil {
		panic("mounttest: metadata that is no view's: " + err.Error())
	}
	return encode(map[string]any{"type": "assert-view-uuid", "uuid": seen.UUID})
}
