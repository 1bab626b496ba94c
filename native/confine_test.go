package native

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native/store"
)

// snapshot is an add-snapshot of a new table whose manifest list is at location.
func snapshot(location string) string {
	return fmt.Sprintf(`{"action":"add-snapshot","snapshot":{"snapshot-id":7,"sequence-number":1,"timestamp-ms":%d,"schema-id":0,
		"summary":{"operation":"append"},"manifest-list":%q}}`, time.Now().UnixMilli(), location)
}

func TestEveryLocationOfARequestIsConfinedAndNothingIsWrittenBefore(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	f.view(ident("v", "a"))
	before := len(f.files())
	commit := func(updates ...string) func() error {
		req := mounts.CommitTableRequest{Table: id}
		for _, u := range updates {
			req.Updates = append(req.Updates, json.RawMessage(u))
		}
		return func() error {
			_, err := f.CommitTable(ctx, &req)
			if e := f.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{*setProperties(ident("w", "a"), nil), req}}); e == nil {
				return fmt.Errorf("a transaction takes it")
			}
			return err
		}
	}
	property := func(key string) func() error {
		return commit(fmt.Sprintf(`{"action":"set-properties","updates":{%q:"s3://elsewhere/x"}}`, key))
	}
	f.table(ident("w", "a"))
	before = len(f.files())
	for where, ask := range map[string]func() error{
		"set-location: location":                                commit(`{"action":"set-location","location":"s3://elsewhere/t"}`),
		"add-snapshot: manifest-list":                           commit(snapshot("s3://elsewhere/t/metadata/snap-7.avro")),
		"set-properties: write.data.path":                       property("write.data.path"),
		"set-properties: write.metadata.path":                   property("write.metadata.path"),
		"set-properties: write.object-storage.path":             property("write.object-storage.path"),
		"set-properties: write.folder-storage.path":             property("write.folder-storage.path"),
		"set-statistics: statistics-path":                       commit(snapshot(f.Warehouse()+"/a/t/metadata/snap.avro"), `{"action":"set-statistics","snapshot-id":7,"statistics":{"snapshot-id":7,"statistics-path":"file:///elsewhere.stats","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`),
		"set-partition-statistics: statistics-path":             commit(snapshot(f.Warehouse()+"/a/t/metadata/snap.avro"), `{"action":"set-partition-statistics","partition-statistics":{"snapshot-id":7,"statistics-path":"file:///elsewhere.stats","file-size-in-bytes":1}}`),
		"add-snapshot: manifest-list: the location \"../snap\"": commit(snapshot("../snap")),
		"write.data.path": func() error {
			req := createRequest(ident("n", "a"))
			req.Properties = map[string]string{"write.data.path": "s3://elsewhere/x"}
			_, err := f.CreateTable(ctx, req)
			return err
		},
		"write.metadata.path": func() error {
			req := createRequest(ident("n", "a"))
			req.StageCreate, req.Properties = true, map[string]string{"write.metadata.path": "file:///elsewhere"}
			_, err := f.CreateTable(ctx, req)
			return err
		},
		"the location \"file:///elsewhere/v\"": func() error {
			_, err := f.ReplaceView(ctx, &mounts.ReplaceViewRequest{View: ident("v", "a"), Updates: []json.RawMessage{json.RawMessage(`{"action":"set-location","location":"file:///elsewhere/v"}`)}})
			return err
		},
	} {
		err := ask()
		e := mounts.AsError(err)
		if err == nil || e.Kind != mounts.BadRequest || !strings.Contains(e.Message(), where) {
			t.Errorf("%s: %v", where, err)
		}
	}
	if got := len(f.files()); got != before {
		t.Errorf("%d files, %d before", got, before)
	}
	// What engines send by themselves passes.
	location := mountLocation(t, f.load(id).Metadata)
	f.commit(&mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(snapshot(location + "/metadata/snap-7-1-c%2Fd.avro"))}})
	f.commit(setProperties(id, map[string]string{"write.data.path": f.Warehouse() + "/data/t", "write.other.path": "s3://elsewhere"}))
}

func mountLocation(t testing.TB, metadata []byte) string {
	t.Helper()
	var table struct{ Location string }
	if err := json.Unmarshal(metadata, &table); err != nil {
		t.Fatal(err)
	}
	return table.Location
}

// The absence of a table and a failed requirement are said first: the location
// of a table that is not there is nobody's business.
func TestAnAbsenceIsSaidBeforeALocation(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	f.namespace("a")
	move := json.RawMessage(`{"action":"set-location","location":"s3://elsewhere/t"}`)
	_, err := f.CommitTable(context.Background(), &mounts.CommitTableRequest{Table: ident("t", "a"), Updates: []json.RawMessage{move}})
	wantError(t, err, mounts.NoSuchTable, "a.t", "")
	f.table(ident("t", "a"))
	_, err = f.CommitTable(context.Background(), &mounts.CommitTableRequest{Table: ident("t", "a"), Updates: []json.RawMessage{move},
		Requirements: []json.RawMessage{json.RawMessage(`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":5}`)}})
	wantError(t, err, mounts.CommitConflict, "a.t", "")
}

func TestATableWhoseHistoryLiesElsewhereIsNotRegistered(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	f.namespace("a")
	f.table(ident("t", "a"))
	loaded := f.load(ident("t", "a"))
	grown := f.commit(mounttest.Append(ident("t", "a"), loaded.Metadata, 7))
	register := func(change func(table map[string]any)) error {
		t.Helper()
		var table map[string]any
		if err := json.Unmarshal(grown.Metadata, &table); err != nil {
			t.Fatal(err)
		}
		table["location"] = f.Warehouse() + "/r"
		change(table)
		path := filepath.Join(f.dir, "r.metadata.json")
		if err := os.WriteFile(path, marshal(t, table), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := f.RegisterTable(context.Background(), &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"a"}, Name: "r", MetadataLocation: path})
		return err
	}
	first := func(table map[string]any) map[string]any { return table["snapshots"].([]any)[0].(map[string]any) }
	statistics := []any{map[string]any{"snapshot-id": 7, "statistics-path": "s3://elsewhere/s", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1, "blob-metadata": []any{}}}
	for message, change := range map[string]func(map[string]any){
		"snapshots[0].manifest-list: the location": func(table map[string]any) { first(table)["manifest-list"] = "s3://elsewhere/l.avro" },
		"snapshots[0].manifests: the location":     func(table map[string]any) { first(table)["manifests"] = []string{"s3://elsewhere/m.avro"} },
		"here: location: the location":             func(table map[string]any) { table["location"] = "s3://elsewhere/t" },
		"write.data.path: the location": func(table map[string]any) {
			table["properties"] = map[string]string{"write.data.path": "s3://elsewhere/x"}
		},
		"here: statistics[0].statistics-path: the location":   func(table map[string]any) { table["statistics"] = statistics },
		"partition-statistics[0].statistics-path: the locati": func(table map[string]any) { table["partition-statistics"] = statistics },
		"do not have the types":                               func(table map[string]any) { table["statistics"] = []any{map[string]any{"statistics-path": 7}} },
	} {
		err := register(change)
		e := mounts.AsError(err)
		if err == nil || e.Kind != mounts.BadRequest && e.Kind != mounts.ValidationFailed || !strings.Contains(e.Message(), message) {
			t.Errorf("%s: %v", message, err)
		}
	}
	// Where earlier metadata files were does not matter.
	if err := register(func(table map[string]any) {
		table["metadata-log"] = []any{map[string]any{"metadata-file": "s3://elsewhere/00000-a.metadata.json", "timestamp-ms": 1}}
	}); err != nil {
		t.Error(err)
	}
}

// A table's old metadata file may be another table's current one.
func TestAnOldMetadataFileThatAnotherPointerHoldsStays(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	f.namespace("a")
	id := ident("t", "a")
	first := f.table(id)
	spelled := strings.Replace(first.MetadataLocation, "file:///", "file:/", 1)
	f.point(ident("r", "a"), spelled)
	second := f.commit(setProperties(id, map[string]string{"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}))
	third := f.commit(setProperties(id, map[string]string{"k": "1"}))
	f.commit(setProperties(id, map[string]string{"k": "2"}))
	for location, stays := range map[string]bool{first.MetadataLocation: true, second.MetadataLocation: false, third.MetadataLocation: true} {
		if _, err := os.Stat(local(location)); (err == nil) != stays {
			t.Errorf("%s: %v", location, err)
		}
	}
	f.load(ident("r", "a"))
}

// Another replica may register a file under the name of one that this one knows.
func TestALocationThatAnotherReplicaRegisteredAnewIsReadAnew(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	other, err := Open(ctx, Config{Store: unclosed{f.inner.Store}, Warehouse: f.dir, MetadataCache: 1 << 20, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	path := filepath.Join(f.dir, "v1.metadata.json")
	f.table(ident("source", "a"))
	known := `"none"`
	for i, overwrite := range []bool{false, true, true} {
		origin := fmt.Sprint("origin", i)
		doc := f.commit(setProperties(ident("source", "a"), map[string]string{"origin": origin})).Metadata
		if err := os.WriteFile(path, []byte(apart(t, doc, f.Warehouse()+"/t")), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: id.Namespace, Name: id.Name, MetadataLocation: path, Overwrite: overwrite}); err != nil {
			t.Fatal(err)
		}
		ours := f.load(id)
		theirs, err := other.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, IfNoneMatch: known})
		if err == nil && theirs.NotModified {
			t.Fatalf("%s: a client is told that nothing changed", origin)
		}
		known = ours.ETag
		if err != nil || properties(t, theirs.Metadata)["origin"] != origin || properties(t, ours.Metadata)["origin"] != origin || ours.ETag != theirs.ETag {
			t.Errorf("%s: ours %v, theirs %v, %v", origin, properties(t, ours.Metadata), properties(t, theirs.Metadata), err)
		}
	}
}

var _ store.Store = unclosed{}
