package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/icefield/icefield/mounts"
)

func createRequest(schema, spec, order string, properties map[string]string) *mounts.CreateTableRequest {
	req := &mounts.CreateTableRequest{Namespace: ident.Namespace, Name: ident.Name, Schema: json.RawMessage(schema), Properties: properties}
	if spec != "" {
		req.PartitionSpec = json.RawMessage(spec)
	}
	if order != "" {
		req.WriteOrder = json.RawMessage(order)
	}
	return req
}

// nested uses ids that clients make up, among them Spark's 0.
const nested = `{ "type": "struct", "schema-id": 7, "identifier-field-ids": [30], "x-schema": 9007199254740993, "fields": [
  {"id": 0, "name": "s", "required": true, "x-field": 9007199254740995, "type": {"type": "struct", "fields": [
     {"id": 10, "name": "a", "required": false, "type": "int", "doc": "a <b>"}, {"id": 30, "name": "b", "required": true, "type": "string"}]}},
  {"id": 5, "name": "m", "required": false, "type": {"type": "map", "key-id": 40, "key": {"type": "struct", "fields": [{"id": 43, "name": "k", "required": true, "type": "int"}]},
     "value-id": 41, "value-required": false, "value": {"type": "list", "element-id": 50, "element-required": false, "element": "decimal(9, 2)"}}},
  {"id": 2, "name": "ts", "required": false, "type": "timestamp"}]}`

func TestCreateAssignsIdsLevelByLevel(t *testing.T) {
	req := createRequest(nested,
		`{"fields":[{"source-id":2,"field-id":77,"name":"d","transform":"day","x-f":1},{"source-id":10,"name":"a8","transform":"bucket[8]"}]}`,
		`{"order-id":9,"fields":[{"source-id":30,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}`,
		map[string]string{"owner": "ann", "format-version": "3", "uuid": "x"})
	doc, err := Create(req, "s3://b/db/events//", fixed())
	if err != nil {
		t.Fatal(err)
	}
	meta := readable(t, doc)
	sc := meta.CurrentSchema()
	for path, want := range map[string]int{
		"s": 1, "m": 2, "ts": 3, // the top level first
		"s.a": 4, "s.b": 5, // then each child, all its fields at once
		"m.key": 6, "m.value": 7, "m.key.k": 8, "m.value.element": 9,
	} {
		f, ok := sc.FindFieldByName(path)
		if !ok || f.ID != want {
			t.Errorf("%s has the id %d, want %d", path, f.ID, want)
		}
	}
	wants(t, doc, "9", "last-column-id")
	wants(t, doc, "[5]", "schemas", 0, "identifier-field-ids")
	wants(t, doc, "0", "schemas", 0, "schema-id")
	wants(t, doc, "9007199254740993", "schemas", 0, "x-schema")
	wants(t, doc, "9007199254740995", "schemas", 0, "fields", 0, "x-field")
	wants(t, doc, `"a <b>"`, "schemas", 0, "fields", 0, "type", "fields", 0, "doc")
	wants(t, doc, `[{"source-id":3,"name":"d","transform":"day","x-f":1,"field-id":1000},{"source-id":4,"name":"a8","transform":"bucket[8]","field-id":1001}]`, "partition-specs", 0, "fields")
	wants(t, doc, "0", "partition-specs", 0, "spec-id")
	wants(t, doc, "1001", "last-partition-id")
	wants(t, doc, "5", "sort-orders", 0, "fields", 0, "source-id")
	wants(t, doc, "1", "default-sort-order-id")
	wants(t, doc, "3", "format-version")
	wants(t, doc, `{"owner":"ann"}`, "properties")
	wants(t, doc, `"s3://b/db/events"`, "location")
	wants(t, doc, `"`+tableUUID+`"`, "table-uuid")
	wants(t, doc, "null", "current-snapshot-id")
	if !sc.Equals(meta.Schemas()[0]) {
		t.Error("the current schema is not the only one")
	}
}

func TestCreateHasDefaults(t *testing.T) {
	doc, err := Create(createRequest(twoColumns, "", "", nil), "s3://b/t", fixed())
	if err != nil {
		t.Fatal(err)
	}
	readable(t, doc)
	wants(t, doc, "2", "format-version")
	wants(t, doc, `[{"spec-id":0,"fields":[]}]`, "partition-specs")
	wants(t, doc, `[{"order-id":0,"fields":[]}]`, "sort-orders")
	wants(t, doc, "0", "default-sort-order-id")
	wants(t, doc, "{}", "properties")
	doc, err = Create(createRequest(twoColumns, "null", "null", map[string]string{"format-version": "1"}), "s3://b/t", fixed())
	if err != nil {
		t.Fatal(err)
	}
	readable(t, doc)
	wants(t, doc, get(t, doc, "schemas", 0), "schema")
}

// TestCreateAgreesWithTheLibraryOnEveryPrimitiveType compares flat schemas: the library numbers
// nested ones in another order than the reference implementation.
func TestCreateAgreesWithTheLibraryOnEveryPrimitiveType(t *testing.T) {
	var fields []string
	for i, kind := range strings.Split("boolean int long float double date time timestamp timestamptz string uuid binary fixed[16] decimal(38,10) timestamp_ns timestamptz_ns unknown variant geometry geography", " ") {
		fields = append(fields, fmt.Sprintf(`{"id":%d,"name":"c%d","required":false,"type":%q}`, 500-i, i, kind))
	}
	raw := `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
	doc, err := Create(createRequest(raw, "", "", map[string]string{"format-version": "3"}), "s3://b/t", fixed())
	if err != nil {
		t.Fatal(err)
	}
	var typed iceberg.Schema
	if err := json.Unmarshal([]byte(raw), &typed); err != nil {
		t.Fatal(err)
	}
	fresh, err := iceberg.AssignFreshSchemaIDs(&typed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := readable(t, doc).CurrentSchema(); !got.Equals(fresh) {
		t.Fatalf("got %s\nwant %s", got, fresh)
	}
}

func TestCreateRefuses(t *testing.T) {
	field := `{"fields":[{"source-id":%d,"name":"x","transform":"%s"}]}`
	double := `{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"int"},{"id":1,"name":"b","required":false,"type":"int"}]}`
	for name, test := range map[string]struct {
		schema, spec, order string
		version             string
		kind                mounts.Kind
		part                string
	}{
		"no schema":               {schema: ``, kind: mounts.BadRequest, part: `"schema"`},
		"schema is a list":        {schema: `[]`, kind: mounts.BadRequest, part: `"schema"`},
		"variant":                 {schema: `{"type":"struct","fields":[{"id":1,"name":"v","required":false,"type":"variant"}]}`, kind: mounts.ValidationFailed, part: "variant is not supported until v3"},
		"version":                 {schema: twoColumns, version: "4", kind: mounts.BadRequest, part: "1 to 3"},
		"version is no number":    {schema: twoColumns, version: "two", kind: mounts.BadRequest, part: "1 to 3"},
		"spec on nothing":         {schema: twoColumns, spec: fmt.Sprintf(field, 9, "day"), kind: mounts.ValidationFailed, part: "column id 9"},
		"spec is ambiguous":       {schema: double, spec: fmt.Sprintf(field, 1, "identity"), kind: mounts.ValidationFailed, part: "more than once"},
		"spec with wrong type":    {schema: twoColumns, spec: fmt.Sprintf(field, 1, "day"), kind: mounts.ValidationFailed, part: "applies day"},
		"identifier is nothing":   {schema: `{"type":"struct","identifier-field-ids":[4],"fields":[]}`, kind: mounts.ValidationFailed, part: "column id 4"},
		"order without transform": {schema: twoColumns, order: `{"fields":[{"source-id":1,"direction":"asc","null-order":"nulls-first"}]}`, kind: mounts.ValidationFailed, part: "transform"},
	} {
		t.Run(name, func(t *testing.T) {
			var properties map[string]string
			if test.version != "" {
				properties = map[string]string{"format-version": test.version}
			}
			_, err := Create(createRequest(test.schema, test.spec, test.order, properties), "s3://b/t", fixed())
			refused(t, err, test.kind, test.part)
		})
	}
	_, err := Create(createRequest(twoColumns, "", "", nil), "", fixed())
	refused(t, err, mounts.ValidationFailed, "location")
}
