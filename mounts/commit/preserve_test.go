package commit

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// vendor is a v3 document as a newer or a vendor's writer leaves it: at every
// level there are fields that nobody here knows, each with a number that a
// float would change, and text that an HTML encoder would escape.
const vendor = `{
  "format-version": 3, "x-top": {"n": 9007199254740993, "t": "a<b>&c"},
  "table-uuid": "` + tableUUID + `", "location": "s3://b/db/events",
  "last-sequence-number": 2, "last-updated-ms": 1700000000000, "last-column-id": 4,
  "current-schema-id": 0,
  "schemas": [{"type": "struct", "schema-id": 0, "x-schema": 9007199254740995, "fields": [
      {"id": 1, "name": "id", "required": true, "type": "long", "x-field": 9007199254740997, "doc": "<i>"},
      {"id": 2, "name": "ts", "required": false, "type": "timestamptz"},
      {"id": 3, "name": "s", "required": false, "type": {"type": "struct", "x-type": 9007199254740999, "fields": [
         {"id": 4, "name": "inner", "required": false, "type": "string", "x-nested": 9007199254741001}]}}]}],
  "default-spec-id": 0,
  "partition-specs": [{"spec-id": 0, "x-spec": 9007199254741003, "fields": [
      {"source-id": 2, "field-id": 1000, "name": "day", "transform": "day", "x-spec-field": 9007199254741005}]}],
  "last-partition-id": 1000, "default-sort-order-id": 0,
  "sort-orders": [{"order-id": 0, "fields": [], "x-order": 9007199254741007}],
  "properties": {"k": "v", "html": "<&>"},
  "current-snapshot-id": 9007199254740881, "next-row-id": 20,
  "refs": {"main": {"snapshot-id": 9007199254740881, "type": "branch", "max-ref-age-ms": 5, "x-ref": 9007199254741009},
           "old": {"snapshot-id": 9007199254740879, "type": "tag", "x-tag": 9007199254741011}},
  "snapshots": [
     {"snapshot-id": 9007199254740879, "sequence-number": 1, "timestamp-ms": 1699999999000, "manifest-list": "s3://b/1", "summary": {"operation": "append", "x": "<1>"},
      "first-row-id": 0, "added-rows": 10, "schema-id": 0, "key-id": "k1", "x-snap": 9007199254741013},
     {"snapshot-id": 9007199254740881, "parent-snapshot-id": 9007199254740879, "sequence-number": 2, "timestamp-ms": 1700000000000, "manifest-list": "s3://b/2",
      "summary": {"operation": "append"}, "first-row-id": 10, "added-rows": 10, "schema-id": 0, "x-snap2": 9007199254741015}],
  "statistics": [{"snapshot-id": 9007199254740881, "statistics-path": "s3://b/s", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1, "blob-metadata": [], "x-stat": 9007199254741017}],
  "snapshot-log": [{"timestamp-ms": 1699999999000, "snapshot-id": 9007199254740879, "x-log": 9007199254741019}, {"timestamp-ms": 1700000000000, "snapshot-id": 9007199254740881}],
  "metadata-log": [{"timestamp-ms": 1699999999000, "metadata-file": "s3://b/0.json", "x-mlog": 9007199254741021}],
  "x-last": [9007199254741023, 1.50, 1e400]
}`

var marker = regexp.MustCompile(`"(x-[a-z0-9-]+|key-id)"\s*:\s*[^,}]+`)

func markers(doc string) map[string]bool {
	found := map[string]bool{}
	for _, m := range marker.FindAllString(doc, -1) {
		found[strings.Join(strings.Fields(m), "")] = true
	}
	return found
}

func TestUnknownFieldsSurviveEveryKindOfUpdate(t *testing.T) {
	next := snap(3, 9007199254740883, 9007199254740881, 3, now, rows(20, 1))
	for name, test := range map[string]struct{ updates, lost string }{
		"append":              {updates: next + "," + setRef("main", "branch", 9007199254740883)},
		"staged snapshot":     {updates: next},
		"tag":                 {updates: setRef("t", "tag", 9007199254740881)},
		"moved tag":           {updates: setRef("old", "tag", 9007199254740881)},
		"rollback":            {updates: setRef("main", "branch", 9007199254740879)},
		"removed tag":         {updates: `{"action":"remove-snapshot-ref","ref-name":"old"}`, lost: "x-tag"},
		"expiry":              {updates: `{"action":"remove-snapshots","snapshot-ids":[9007199254740879]}`, lost: "x-tag x-snap key-id x-log"},
		"schema evolution":    {updates: `{"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"ts","required":false,"type":"timestamptz"},{"id":5,"name":"n","required":false,"type":"int"}]}},{"action":"set-current-schema","schema-id":-1}`},
		"partition evolution": {updates: `{"action":"add-spec","spec":{"fields":[{"source-id":1,"name":"b","transform":"bucket[4]"}]}},{"action":"set-default-spec","spec-id":-1}`},
		"sort evolution":      {updates: `{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}},{"action":"set-default-sort-order","sort-order-id":-1}`},
		"properties":          {updates: `{"action":"set-properties","updates":{"k":"w","new":"<&>"}},{"action":"remove-properties","removals":["html"]}`},
		"location":            {updates: `{"action":"set-location","location":"s3://b/else"}`},
		"statistics":          {updates: `{"action":"set-statistics","statistics":{"snapshot-id":9007199254740879,"statistics-path":"s3://b/t","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`},
		"statistics removed":  {updates: `{"action":"remove-statistics","snapshot-id":9007199254740881}`, lost: "x-stat"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := commitTo(json.RawMessage(vendor), ``, test.updates)
			if err != nil {
				t.Fatal(err)
			}
			if !res.Changed {
				t.Fatal("nothing changed")
			}
			after := markers(string(res.Metadata))
			for m := range markers(vendor) {
				key, _, _ := strings.Cut(strings.TrimPrefix(m, `"`), `"`)
				lost := strings.Contains(" "+test.lost+" ", " "+key+" ")
				if after[m] == lost {
					t.Errorf("%s: is there: %v, should be lost: %v\n%s", m, after[m], lost, res.Metadata)
				}
			}
			if strings.Contains(string(res.Metadata), `\u003c`) {
				t.Error("text was escaped for HTML")
			}
			for _, section := range []string{"x-top", "x-last"} {
				wants(t, res.Metadata, get(t, json.RawMessage(vendor), section), section)
			}
			if _, err := Inspect(res.Metadata); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestUntouchedSectionsKeepTheirBytesAndOrder(t *testing.T) {
	res, err := commitTo(json.RawMessage(vendor), ``, `{"action":"set-properties","updates":{"k":"w"}}`)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := parseObject([]byte(vendor))
	after, _ := parseObject(res.Metadata)
	for _, key := range before.keys() {
		if key == "properties" || key == "metadata-log" {
			continue
		}
		if string(before.get(key)) != string(after.get(key)) {
			t.Errorf("%s became %s", key, after.get(key))
		}
	}
	if keys := after.keys(); strings.Join(keys[:len(before.keys())], " ") != strings.Join(before.keys(), " ") {
		t.Errorf("the order changed: %v", keys)
	}
}

func TestAMovedRefLosesKnownRetentionAndKeepsWhatIsUnknown(t *testing.T) {
	res, err := commitTo(json.RawMessage(vendor), ``, setRef("main", "branch", 9007199254740879))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, res.Metadata, "", "refs", "main", "max-ref-age-ms")
	wants(t, res.Metadata, "9007199254741009", "refs", "main", "x-ref")
}

func TestUnknownFieldsOfWhatIsAddedAreStored(t *testing.T) {
	doc := made(t, 3)
	res, err := commitTo(doc, ``, strings.ReplaceAll(
		`{"action":"add-schema","schema":{"type":"struct","x-a":N,"fields":[{"id":1,"name":"id","required":true,"type":"long","x-b":N},{"id":2,"name":"ts","required":false,"type":"timestamptz"}]}},
		 {"action":"add-spec","spec":{"x-c":N,"fields":[{"source-id":1,"name":"b","transform":"bucket[4]","x-d":N}]}},
		 {"action":"add-sort-order","sort-order":{"order-id":9,"x-e":N,"fields":[{"source-id":2,"transform":"identity","direction":"asc","null-order":"nulls-first","x-f":N}]}},
		 {"action":"add-snapshot","snapshot":{"snapshot-id":N,"timestamp-ms":1700000000000,"manifest-list":"m","summary":{"operation":"append"},"sequence-number":1,"first-row-id":0,"added-rows":0,"key-id":"k", "x-g" : N}},
		 {"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":N,"x-h":N}`, "N", "9007199254740993"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("x-a x-b x-c x-d x-e x-f x-g x-h") {
		if want := fmt.Sprintf(`"%s":9007199254740993`, key); !strings.Contains(string(res.Metadata), want) {
			t.Errorf("%s is lost\n%s", key, res.Metadata)
		}
	}
	if !strings.Contains(string(res.Metadata), `"key-id":"k"`) {
		t.Error("the snapshot's key-id is lost")
	}
}
