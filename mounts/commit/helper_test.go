package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

const (
	tableUUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
	now       = 1_700_000_000_000
)

var ident = mounts.Identifier{Namespace: mounts.Namespace{"db"}, Name: "events"}

func fixed() Options {
	return Options{Now: time.UnixMilli(now), NewUUID: func() uuid.UUID { return uuid.MustParse(tableUUID) }}
}

func raws(list string) []json.RawMessage {
	var out []json.RawMessage
	if err := json.Unmarshal([]byte("["+list+"]"), &out); err != nil {
		panic(fmt.Sprintf("%v in %s", err, list))
	}
	return out
}

func commitTo(base json.RawMessage, requirements, updates string) (*Result, error) {
	req := &mounts.CommitTableRequest{Table: ident, Requirements: raws(requirements), Updates: raws(updates)}
	if base == nil {
		return Table(nil, req, fixed())
	}
	return Table(&Base{Metadata: base, Location: "s3://b/t/metadata/1.json"}, req, fixed())
}

// must applies updates that have to succeed, and checks that iceberg-go can
// read the result.
func must(t testing.TB, base json.RawMessage, requirements, updates string) json.RawMessage {
	t.Helper()
	res, err := commitTo(base, requirements, updates)
	if err != nil {
		t.Fatalf("%s: %v", updates, err)
	}
	readable(t, res.Metadata)
	return res.Metadata
}

func readable(t testing.TB, doc json.RawMessage) table.Metadata {
	t.Helper()
	meta, err := table.ParseMetadataBytes(doc)
	if err != nil {
		t.Fatalf("iceberg-go cannot read the result: %v\n%s", err, doc)
	}
	if _, err := Inspect(doc); err != nil {
		t.Fatalf("Inspect refuses the result: %v\n%s", err, doc)
	}
	return meta
}

// refused asserts kind, object and a part of the message.
func refused(t testing.TB, err error, kind mounts.Kind, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v: %s", kind, part)
	}
	e := mounts.AsError(err)
	if e.Kind != kind || !strings.Contains(e.Message(), part) {
		t.Fatalf("got %v: %q (%v), want %v with %q", e.Kind, e.Message(), e.Err, kind, part)
	}
	if e.Ident.IsZero() {
		t.Fatalf("the error does not say what it is about: %v", err)
	}
}

// get reads a value by a path of names and indexes.
func get(t testing.TB, doc json.RawMessage, path ...any) string {
	t.Helper()
	raw := []byte(doc)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			var err error
			if raw, err = memberOf(raw, step); err != nil {
				t.Fatal(err)
			}
		case int:
			all, err := elements(raw)
			if err != nil || step >= len(all) {
				t.Fatalf("%v: no element %d in %s", path, step, raw)
			}
			raw = all[step]
		}
	}
	return string(raw)
}

func wants(t testing.TB, doc json.RawMessage, want string, path ...any) {
	t.Helper()
	if is := get(t, doc, path...); is != want {
		t.Fatalf("%v is %s, want %s\n%s", path, is, want, doc)
	}
}

const (
	twoColumns = `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"ts","required":false,"type":"timestamptz"}]}`
	// javaCreate is what Java and PyIceberg send to create a table.
	javaCreate = `{"action":"assign-uuid","uuid":"` + tableUUID + `"},
		{"action":"upgrade-format-version","format-version":%d},
		{"action":"add-schema","schema":` + twoColumns + `,"last-column-id":2},
		{"action":"set-current-schema","schema-id":-1},
		{"action":"add-spec","spec":{"spec-id":0,"fields":[{"source-id":2,"field-id":1000,"name":"ts_day","transform":"day"}]}},
		{"action":"set-default-spec","spec-id":-1},
		{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}},
		{"action":"set-default-sort-order","sort-order-id":-1},
		{"action":"set-location","location":"s3://b/db/events/"},
		{"action":"set-properties","updates":{"owner":"ann","format-version":"2"}}`
)

// made is a table as a staged create leaves it.
func made(t testing.TB, version int) json.RawMessage {
	t.Helper()
	return must(t, nil, `{"type":"assert-create"}`, fmt.Sprintf(javaCreate, version))
}

// snap is an add-snapshot update. A parent of 0 is none.
func snap(version int, id, parent, seq, ts int64, extra string) string {
	s := fmt.Sprintf(`{"snapshot-id":%d,"timestamp-ms":%d,"manifest-list":"s3://b/m/%d.avro","summary":{"operation":"append"},"schema-id":0`, id, ts, id)
	if version > 1 {
		s += fmt.Sprintf(`,"sequence-number":%d`, seq)
	}
	if parent != 0 {
		s += fmt.Sprintf(`,"parent-snapshot-id":%d`, parent)
	}
	return `{"action":"add-snapshot","snapshot":` + s + extra + `}}`
}

func rows(first, added int64) string {
	return fmt.Sprintf(`,"first-row-id":%d,"added-rows":%d`, first, added)
}

func setRef(name, kind string, id int64) string {
	return fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":%q,"type":%q,"snapshot-id":%d}`, name, kind, id)
}

// grown is a table with n snapshots 101, 102, … on main, a second apart.
func grown(t testing.TB, version, n int) json.RawMessage {
	t.Helper()
	doc := made(t, version)
	for i := range int64(n) {
		var extra string
		if version > 2 {
			extra = rows(i*10, 10)
		}
		parent := int64(0)
		if i > 0 {
			parent = 100 + i
		}
		doc = must(t, doc, ``, snap(version, 101+i, parent, i+1, now+i*1000, extra)+","+setRef("main", "branch", 101+i))
	}
	return doc
}
