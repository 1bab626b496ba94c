package commit

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// split makes a list of raw values of whatever a client sent.
func split(text string) []json.RawMessage {
	values, err := elements([]byte("[" + text + "]"))
	if err != nil {
		return []json.RawMessage{json.RawMessage(text)}
	}
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// FuzzTable feeds hostile documents and requests. Nothing panics, every error
// has a kind, the base is never written to, and a base that is sound leads to a
// result that is sound.
func FuzzTable(f *testing.F) {
	f.Add(vendor, `{"type":"assert-table-uuid","uuid":"`+tableUUID+`"}`, setRef("main", "branch", 9007199254740879))
	for version := 1; version <= 3; version++ {
		doc := string(grown(f, version, 2))
		f.Add(doc, `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":102}`, snap(version, 103, 102, 3, now+5000, rows(20, 1))+","+setRef("main", "branch", 103))
		f.Add(doc, `{"type":"assert-current-schema-id","current-schema-id":0}`, addSchema(threeColumns)+","+lastSchema)
		f.Add(doc, ``, addSpec(`{"source-id":1,"name":"b","transform":"bucket[4]"}`)+","+lastSpec)
		f.Add(doc, ``, addOrder(1, `{"source-ids":[1,2],"transform":"zorder","direction":"asc","null-order":"nulls-first"}`)+","+lastOrder)
		f.Add(doc, ``, `{"action":"remove-snapshots","snapshot-ids":[102]},{"action":"upgrade-format-version","format-version":3}`)
		f.Add("", `{"type":"assert-create"}`, fmt.Sprintf(javaCreate, version))
	}
	f.Add(string(grown(f, 3, 2)), ``, addKey(`"key-id":"k","encrypted-key-metadata":"AQ=="`)+","+removeKey("k")+`,{"action":"enable-row-lineage"}`)
	f.Add(`{"format-version":1,"schema":{"fields":[]},"partition-spec":[{}]}`, ``, `{"action":"upgrade-format-version","format-version":2}`)
	f.Fuzz(func(t *testing.T, doc, requirements, updates string) {
		req := &mounts.CommitTableRequest{Table: ident, Requirements: split(requirements), Updates: split(updates)}
		var base *Base
		if doc != "" {
			base = &Base{Metadata: json.RawMessage(doc), Location: "s3://b/m/1.json"}
		}
		res, err := Table(base, req, fixed())
		if base != nil && string(base.Metadata) != doc {
			t.Fatal("the base was written to")
		}
		if err != nil {
			if e := mounts.AsError(err); e.Kind == mounts.Internal && e.Msg == "" {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		if base != nil {
			if _, err := Inspect(json.RawMessage(doc)); err != nil {
				return // unsound before; only no panic is promised
			}
			if _, err := Refs(base.Metadata); err != nil {
				t.Fatalf("Refs: %v", err)
			}
		}
		if !jsontext.Value(res.Metadata).IsValid() {
			t.Fatalf("the result is not JSON: %s", res.Metadata)
		}
		if _, err := Inspect(res.Metadata); err != nil {
			t.Fatalf("the result is not sound: %v\n%s", err, res.Metadata)
		}
		if base == nil || libraryReads(doc) {
			if !libraryReads(string(res.Metadata)) {
				t.Fatalf("iceberg-go cannot read the result: %s", res.Metadata)
			}
		}
	})
}

func libraryReads(doc string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := table.ParseMetadataBytes([]byte(doc))
	return err == nil
}

// FuzzCreate feeds hostile create requests: no panic, and a sound result.
func FuzzCreate(f *testing.F) {
	f.Add(nested, `{"fields":[{"source-id":2,"name":"d","transform":"day"}]}`, `{"order-id":9,"fields":[{"source-id":30,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}`, "3")
	f.Add(twoColumns, ``, ``, "1")
	f.Fuzz(func(t *testing.T, schema, spec, order, version string) {
		doc, err := Create(createRequest(schema, spec, order, map[string]string{"format-version": version}), "s3://b/t", fixed())
		if err != nil {
			if e := mounts.AsError(err); e.Kind != mounts.BadRequest && e.Kind != mounts.ValidationFailed {
				t.Fatalf("got %v", err)
			}
			return
		}
		if _, err := Inspect(doc); err != nil || !libraryReads(string(doc)) {
			t.Fatalf("the result is not sound: %v\n%s", err, doc)
		}
	})
}

// FuzzView is FuzzTable for views.
func FuzzView(f *testing.F) {
	doc := string(aView(f, map[string]string{"version.history.num-entries": "1"}))
	f.Add(doc, `{"type":"assert-view-uuid","uuid":"`+tableUUID+`"}`,
		addSchema(sparkColumns)+","+addVersion(versionOf(2, -1, now, query("spark", "b"), query("trino", "b")))+","+setVersion(-1))
	f.Add(doc, ``, `{"action":"set-properties","updates":{"replace.drop-dialect.allowed":"true"}},`+addVersion(versionOf(9, 0, now, query("spark", "c")))+","+setVersion(9))
	f.Add(doc, ``, `{"action":"set-location","location":"s3://b/x/"},{"action":"remove-properties","removals":["version.history.num-entries"]}`)
	f.Add(string(made(f, 2)), ``, setVersion(1))
	f.Fuzz(func(t *testing.T, doc, requirements, updates string) {
		req := &mounts.ReplaceViewRequest{View: viewIdent, Requirements: split(requirements), Updates: split(updates)}
		base := &Base{Metadata: json.RawMessage(doc), Location: "s3://b/v/1.json"}
		res, err := View(base, req, fixed())
		if string(base.Metadata) != doc {
			t.Fatal("the base was written to")
		}
		if err != nil {
			if e := mounts.AsError(err); e.Kind == mounts.Internal && e.Msg == "" {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		if _, err := InspectView(json.RawMessage(doc)); err != nil {
			return // unsound before; only no panic is promised
		}
		if !jsontext.Value(res.Metadata).IsValid() {
			t.Fatalf("the result is not JSON: %s", res.Metadata)
		}
		if _, err := InspectView(res.Metadata); err != nil {
			t.Fatalf("the result is not sound: %v\n%s", err, res.Metadata)
		}
		if libraryReadsView(doc) && !libraryReadsView(string(res.Metadata)) {
			t.Fatalf("iceberg-go cannot read the result: %s", res.Metadata)
		}
	})
}

func libraryReadsView(doc string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := view.ParseMetadataBytes([]byte(doc))
	return err == nil
}

// FuzzCreateView feeds hostile create requests: no panic, and a sound result.
func FuzzCreateView(f *testing.F) {
	f.Add(sparkColumns, versionOf(7, 3, now, query("spark", "select 1"), query("trino", "select 1")), "10", "s3://b/v")
	f.Add(nested, versionOf(1, 0, now, `{"type":"sql","sql":"\u0000","dialect":"İ"}`), "", "s3://b/v/")
	f.Fuzz(func(t *testing.T, schema, version, size, location string) {
		doc, err := CreateView(viewRequest(schema, version, map[string]string{"version.history.num-entries": size}), location, fixed())
		if err != nil {
			switch e := mounts.AsError(err); e.Kind {
			case mounts.BadRequest, mounts.ValidationFailed, mounts.InvalidArgument:
			default:
				t.Fatalf("got %v", err)
			}
			return
		}
		if _, err := InspectView(doc); err != nil || !libraryReadsView(string(doc)) {
			t.Fatalf("the result is not sound: %v\n%s", err, doc)
		}
	})
}

// FuzzLocations feeds hostile updates: whatever Table or View would store as a
// location is among those that Locations finds.
func FuzzLocations(f *testing.F) {
	f.Add(`{"action":"set-location","location":"s3:\/\/b/1"},{"action":"set-properties","updated":{"write.data.path":"x"},"updates":{"write.data.path":"y"}}`)
	f.Add(setRef("main", "branch", 101) + "," + addVersion(versionOf(1, 0, now, query("a", "b"))))
	base := grown(f, 1, 1)
	f.Fuzz(func(t *testing.T, updates string) {
		list := split(updates)
		named, err := Locations(list)
		res, refused := Table(&Base{Metadata: base}, &mounts.CommitTableRequest{Table: ident, Updates: list}, fixed())
		if err != nil {
			if mounts.AsError(err).Kind != mounts.BadRequest || refused == nil {
				t.Fatalf("%v, and the commit: %v", err, refused)
			}
			return
		}
		if refused != nil {
			return
		}
		stored := []string{res.TableLocation}
		o, _ := parseObject(res.Metadata)
		properties, _ := parseObject(o.get("properties"))
		for _, key := range locationProperties {
			if properties.has(key) {
				text, _ := unquote(properties.get(key))
				stored = append(stored, text)
			}
		}
		for _, text := range stored {
			if text != "s3://b/db/events" && !slices.ContainsFunc(named, func(n Named) bool { return trimSlash(n.Location) == text || n.Location == text }) {
				t.Fatalf("%q is stored and not among %v", text, named)
			}
		}
	})
}
