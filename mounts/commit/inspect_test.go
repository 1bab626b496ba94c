package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestInspectReadsWhatARegistryNeeds(t *testing.T) {
	doc := must(t, grown(t, 3, 2), ``, `{"action":"set-properties","updates":{"a":"<\"b\">"}}`)
	sum, err := Inspect(doc)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %s v%d %d %d %v %v", sum.UUID, sum.Location, sum.FormatVersion, sum.LastUpdatedMS, *sum.CurrentSnapshotID, sum.Properties, len(sum.PreviousFiles))
	want := fmt.Sprintf(`%s s3://b/db/events v3 %d 102 map[a:<"b"> owner:ann] 3`, tableUUID, int64(now+1000))
	if got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if sum, err = Inspect(made(t, 2)); err != nil || sum.CurrentSnapshotID != nil {
		t.Fatalf("a new table has the snapshot %v (%v)", sum.CurrentSnapshotID, err)
	}
	if _, err := Inspect(json.RawMessage(vendor)); err != nil {
		t.Fatalf("unknown fields do no harm: %v", err)
	}
}

func TestInspectRefusesWhatIsNoTableMetadata(t *testing.T) {
	good := string(grown(t, 2, 2))
	replace := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in %s", old, good)
		}
		return strings.Replace(good, old, with, 1)
	}
	for name, test := range map[string]struct{ doc, part string }{
		"empty":             {``, "not valid JSON"},
		"html":              {`<html></html>`, "not valid JSON"},
		"cut short":         {good[:len(good)-1], "not valid JSON"},
		"name twice":        {replace(`"location"`, `"last-column-id":2,"location"`), "twice"},
		"too deep":          {replace(`"location"`, `"x":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`,"location"`), "deeper"},
		"a list":            {`[]`, "not Iceberg table metadata"},
		"another document":  {`{"a":1}`, "format version 0"},
		"a view":            {`{"view-uuid":"x","format-version":1,"location":"l"}`, "not Iceberg table metadata"},
		"newer version":     {replace(`"format-version":2`, `"format-version":4`), "format version 4"},
		"no uuid":           {replace(`"table-uuid"`, `"x"`), "table-uuid"},
		"bad uuid":          {replace(tableUUID, "abc"), "not a UUID"},
		"no location":       {replace(`"s3://b/db/events"`, `""`), "location"},
		"negative":          {replace(`"last-column-id":2`, `"last-column-id":-2`), "negative"},
		"no schema":         {replace(`"current-schema-id":0`, `"current-schema-id":4`), "current-schema-id"},
		"no spec":           {replace(`"default-spec-id":0`, `"default-spec-id":4`), "default-spec-id"},
		"no order":          {replace(`"default-sort-order-id":1`, `"default-sort-order-id":4`), "default-sort-order-id"},
		"no snapshot":       {replace(`"refs":{"main":{"type":"branch","snapshot-id":102}}`, `"refs":{"main":{"type":"branch","snapshot-id":109}}`), "refs"},
		"two mains":         {replace(`"refs":{"main":{"type":"branch","snapshot-id":102}}`, `"refs":{"main":{"type":"branch","snapshot-id":101}}`), "main is not the current"},
		"snapshot twice":    {replace(`{"snapshot-id":101,`, `{"snapshot-id":102,`), "twice"},
		"property a number": {replace(`"owner":"ann"`, `"owner":7`), "not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Inspect(json.RawMessage(test.doc))
			if err == nil {
				t.Fatal("no error")
			}
			e := mounts.AsError(err)
			if e.Kind != mounts.ValidationFailed || !strings.Contains(e.Message(), test.part) {
				t.Fatalf("got %v: %s, want %q", e.Kind, e.Message(), test.part)
			}
		})
	}
}

func TestRefsKeepsOnlyReferencedSnapshots(t *testing.T) {
	doc := must(t, grown(t, 2, 5), ``, setRef("old", "tag", 102))
	short, err := Refs(doc)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, short, get(t, doc, "snapshots", 1), "snapshots", 0)
	wants(t, short, get(t, doc, "snapshots", 4), "snapshots", 1)
	if parts, _ := elements([]byte(get(t, short, "snapshots"))); len(parts) != 2 {
		t.Fatalf("%d snapshots are left", len(parts))
	}
	before, _ := parseObject(doc)
	after, _ := parseObject(short)
	for _, key := range before.keys() {
		if key != "snapshots" && string(before.get(key)) != string(after.get(key)) {
			t.Errorf("%s changed", key)
		}
	}
	readable(t, short)

	if all, err := Refs(short); err != nil || string(all) != string(short) {
		t.Fatalf("nothing to leave out, but it changed: %v", err)
	}
	empty := made(t, 3)
	if all, err := Refs(empty); err != nil || string(all) != string(empty) {
		t.Fatalf("an empty table changed: %v", err)
	}
	if _, err := Refs(json.RawMessage(`{"refs":7}`)); mounts.AsError(err).Kind != mounts.Internal {
		t.Fatalf("got %v", err)
	}
}

func TestRefsWithoutRefsKeepsTheCurrentSnapshot(t *testing.T) {
	o, _ := parseObject(grown(t, 1, 3))
	o.remove("refs")
	short, err := Refs(o.encode())
	if err != nil {
		t.Fatal(err)
	}
	wants(t, short, get(t, o.encode(), "snapshots", 2), "snapshots", 0)
}
