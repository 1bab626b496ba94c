package native

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
)

const testSchema = `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"note","required":false,"type":"string"}]}`

// fixture is a registry with its files within reach.
type fixture struct {
	*Backend
	t     testing.TB
	dir   string
	inner *interceptor
}

// interceptor stands before the store, so that a test can do something at the
// moment of an Update, or put another outcome in its place.
type interceptor struct {
	store.Store
	update func(ctx context.Context, next func() error) error
	view   func()
}

func (i *interceptor) Update(ctx context.Context, f func(store.Tx) error) error {
	next := func() error { return i.Store.Update(ctx, f) }
	if i.update == nil {
		return next()
	}
	return i.update(ctx, next)
}

func (i *interceptor) View(ctx context.Context, f func(store.Tx) error) error {
	if i.view != nil {
		i.view()
	}
	return i.Store.View(ctx, f)
}

func newFixture(t testing.TB, change ...func(*Config)) *fixture {
	t.Helper()
	dir := t.TempDir()
	s, err := bolt.Open(filepath.Join(dir, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: filepath.Join(dir, "wh"), inner: &interceptor{Store: s}}
	cfg := Config{Store: f.inner, Warehouse: f.dir, MetadataCache: 16 << 20, jobStore: s}
	for _, c := range change {
		c(&cfg)
	}
	if f.Backend, err = Open(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func (f *fixture) namespace(levels ...string) mounts.Namespace {
	f.t.Helper()
	if _, err := f.CreateNamespace(context.Background(), &mounts.CreateNamespaceRequest{Namespace: levels}); err != nil {
		f.t.Fatal(err)
	}
	return levels
}

func createRequest(id mounts.Identifier) *mounts.CreateTableRequest {
	return &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: json.RawMessage(testSchema)}
}

func (f *fixture) table(id mounts.Identifier) *mounts.Table {
	f.t.Helper()
	table, err := f.CreateTable(context.Background(), createRequest(id))
	if err != nil {
		f.t.Fatal(err)
	}
	return table
}

func (f *fixture) load(id mounts.Identifier) *mounts.Table {
	f.t.Helper()
	table, err := f.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: id})
	if err != nil {
		f.t.Fatal(err)
	}
	return table
}

// point makes a table of a metadata file past all checks, as an older registry
// may have.
func (f *fixture) point(id mounts.Identifier, file string) {
	f.t.Helper()
	err := f.inner.Store.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.Create(newObject(id, store.Table, file), store.By{})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// apart is a metadata document that is put at another location.
func apart(t testing.TB, metadata []byte, location string) string {
	t.Helper()
	var doc map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(metadata)))
	decoder.UseNumber()
	if err := decoder.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	doc["location"] = location
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func createViewRequest(id mounts.Identifier) *mounts.CreateViewRequest {
	return &mounts.CreateViewRequest{Namespace: id.Namespace, Name: id.Name, Schema: json.RawMessage(testSchema), ViewVersion: json.RawMessage(
		`{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,"summary":{"engine-name":"test"},"default-namespace":["a"],
		"representations":[{"type":"sql","sql":"SELECT id FROM t","dialect":"spark"}]}`)}
}

func (f *fixture) view(id mounts.Identifier) *mounts.View {
	f.t.Helper()
	view, err := f.CreateView(context.Background(), createViewRequest(id))
	if err != nil {
		f.t.Fatal(err)
	}
	return view
}

func (f *fixture) loadView(id mounts.Identifier) *mounts.View {
	f.t.Helper()
	view, err := f.LoadView(context.Background(), &mounts.LoadViewRequest{View: id})
	if err != nil {
		f.t.Fatal(err)
	}
	return view
}

func setProperties(id mounts.Identifier, properties map[string]string, requirements ...string) *mounts.CommitTableRequest {
	update, err := json.Marshal(map[string]any{"action": "set-properties", "updates": properties})
	if err != nil {
		panic(err)
	}
	req := &mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{update}}
	for _, r := range requirements {
		req.Requirements = append(req.Requirements, json.RawMessage(r))
	}
	return req
}

func (f *fixture) commit(req *mounts.CommitTableRequest) *mounts.Table {
	f.t.Helper()
	table, err := f.CommitTable(context.Background(), req)
	if err != nil {
		f.t.Fatal(err)
	}
	return table
}

func properties(t testing.TB, metadata json.RawMessage) map[string]string {
	t.Helper()
	var doc struct{ Properties map[string]string }
	if err := json.Unmarshal(metadata, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Properties
}

// files lists the metadata files in the warehouse.
func (f *fixture) files() []string {
	f.t.Helper()
	var found []string
	if err := filepath.WalkDir(f.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return found
}

// wantError checks kind, object and a part of the message, and that an outcome
// is not unknown unless the test says so itself.
func wantError(t testing.TB, err error, kind mounts.Kind, about, message string) *mounts.Error {
	t.Helper()
	var e *mounts.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want the kind %v", err, err, kind)
	}
	if e.Kind != kind || e.Ident.String() != about || !strings.Contains(e.Message(), message) || e.Op == 0 {
		t.Errorf("got %v about %q in %v: %s\nwant %v about %q: …%s…", e.Kind, e.Ident, e.Op, e.Message(), kind, about, message)
	}
	return e
}

func ident(name string, levels ...string) mounts.Identifier {
	return mounts.Identifier{Namespace: levels, Name: name}
}

func local(location string) string { return strings.TrimPrefix(location, "file://") }
