package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func TestCapabilitiesAreNamespacesTablesAndViews(t *testing.T) {
	f := newFixture(t)
	for _, row := range capabilities.Operations() {
		want := row.Role == capabilities.Namespaces || row.Role == capabilities.Tables || row.Role == capabilities.Views
		if f.Capabilities().Has(row.Op) != want {
			t.Errorf("%s: %v", row.Name, !want)
		}
	}
	_, err := f.PlanScan(context.Background(), &mounts.PlanScanRequest{Table: ident("t", "a")})
	if !errors.Is(err, mounts.UnsupportedOperation) {
		t.Errorf("planning a scan: %v", err)
	}
	if err := f.Health(context.Background()); err != nil {
		t.Error(err)
	}
	_ = f.Close()
	if err := f.Health(context.Background()); !errors.Is(err, mounts.Unavailable) {
		t.Errorf("closed, it is %v", err)
	}
}

func TestCreateWritesTheFirstMetadataFileWhereNobodyWas(t *testing.T) {
	f := newFixture(t)
	f.namespace("a b")
	id := ident("t é", "a b")
	created := f.table(id)
	name := regexp.MustCompile(`^file://` + regexp.QuoteMeta(f.dir) + `/a_b-[0-9a-f]{12}/t-[0-9a-f]{12}-[0-9a-f-]{36}/metadata/00000-[0-9a-f-]{36}\.metadata\.json$`)
	if !name.MatchString(created.MetadataLocation) {
		t.Errorf("created at %s", created.MetadataLocation)
	}
	content, err := os.ReadFile(local(created.MetadataLocation))
	if err != nil || string(content) != string(created.Metadata) {
		t.Errorf("the file holds %s (%v), the answer %s", content, err, created.Metadata)
	}
	if created.ETag == "" || created.Config == nil {
		t.Errorf("answered %+v", created)
	}
	loaded := f.load(id)
	if string(loaded.Metadata) != string(created.Metadata) || loaded.MetadataLocation != created.MetadataLocation || loaded.ETag != created.ETag {
		t.Errorf("loaded %+v, created %+v", loaded, created)
	}
	if err := f.DropTable(context.Background(), &mounts.DropTableRequest{Table: id}); err != nil {
		t.Fatal(err)
	}
	if again := f.table(id); filepath.Dir(again.MetadataLocation) == filepath.Dir(created.MetadataLocation) {
		t.Errorf("a new table of an old name lies in the old one's folder %s", again.MetadataLocation)
	}
}

func TestCreateChecksTheNameBeforeTheLocation(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	f.table(ident("t", "a"))
	f.view(ident("v", "a"))
	for _, bad := range []string{"/elsewhere/t", f.dir, f.dir + "/a/../../x", "s3://bucket/t", f.dir + "/a//t"} {
		for _, tt := range []struct {
			id      mounts.Identifier
			kind    mounts.Kind
			about   string
			message string
		}{
			{ident("t", "a"), mounts.AlreadyExists, "a.t", "Table already exists: a.t"},
			{ident("v", "a"), mounts.AlreadyExists, "a.v", "View with same name already exists: a.v"},
			{ident("t", "b"), mounts.NoSuchNamespace, "b", "Namespace does not exist: b"},
			{ident("u", "a"), mounts.BadRequest, "a.u", "the location "},
		} {
			for _, staged := range []bool{false, true} {
				req := createRequest(tt.id)
				req.Location, req.StageCreate = bad, staged
				_, err := f.CreateTable(ctx, req)
				wantError(t, err, tt.kind, tt.about, tt.message)
			}
		}
	}
	if got := len(f.files()); got != 2 { // the table's and the view's
		t.Errorf("refused creations left files: %q", f.files())
	}
	req := createRequest(ident("u", "a"))
	req.Location = "file:" + f.dir + "/chosen/u/"
	created, err := f.CreateTable(ctx, req)
	if err != nil || !strings.HasPrefix(created.MetadataLocation, "file:"+f.dir+"/chosen/u/metadata/00000-") {
		t.Errorf("at a chosen location: %+v, %v", created, err)
	}
}

func TestAStagedCreateReservesNothingAndIsFinishedByACommit(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	req := createRequest(id)
	req.StageCreate = true
	staged, err := f.CreateTable(ctx, req)
	if err != nil || staged.MetadataLocation != "" || staged.ETag != "" {
		t.Fatalf("%+v, %v", staged, err)
	}
	if _, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id}); !errors.Is(err, mounts.NoSuchTable) {
		t.Errorf("a staged table loads: %v", err)
	}
	if len(f.files()) != 0 {
		t.Errorf("staging wrote %q", f.files())
	}
	var doc struct {
		UUID     string `json:"table-uuid"`
		Location string `json:"location"`
	}
	if err := json.Unmarshal(staged.Metadata, &doc); err != nil || !strings.HasPrefix(doc.Location, f.Warehouse()+"/a/t-") || doc.UUID == "" {
		t.Fatalf("staged %s (%v)", staged.Metadata, err)
	}
	finish := func(id mounts.Identifier, location string) *mounts.CommitTableRequest {
		return &mounts.CommitTableRequest{Table: id, Requirements: []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)},
			Updates: []json.RawMessage{
				json.RawMessage(fmt.Sprintf(`{"action":"assign-uuid","uuid":%q}`, doc.UUID)),
				json.RawMessage(`{"action":"upgrade-format-version","format-version":2}`),
				json.RawMessage(`{"action":"add-schema","schema":` + testSchema + `}`), json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`),
				json.RawMessage(`{"action":"add-spec","spec":{"spec-id":0,"fields":[]}}`), json.RawMessage(`{"action":"set-default-spec","spec-id":-1}`),
				json.RawMessage(`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`), json.RawMessage(`{"action":"set-default-sort-order","sort-order-id":-1}`),
				json.RawMessage(fmt.Sprintf(`{"action":"set-location","location":%q}`, location)),
			}}
	}
	_, err = f.CommitTable(ctx, finish(id, "/elsewhere/t"))
	wantError(t, err, mounts.BadRequest, "a.t", "lies outside the warehouse")
	_, err = f.CommitTable(ctx, finish(ident("t", "b"), doc.Location))
	wantError(t, err, mounts.NoSuchNamespace, "b", "Namespace does not exist: b")
	f.view(ident("v", "a"))
	_, err = f.CommitTable(ctx, finish(ident("v", "a"), doc.Location))
	wantError(t, err, mounts.AlreadyExists, "a.v", "View with same name already exists: a.v")
	_, err = f.CommitTable(ctx, finish(ident("", "a"), doc.Location))
	wantError(t, err, mounts.BadRequest, "a", "a table name must not be empty")
	if len(f.files()) != 1 { // the view's
		t.Errorf("refused commits left %q", f.files())
	}
	created := f.commit(finish(id, doc.Location))
	if !strings.HasPrefix(created.MetadataLocation, doc.Location+"/metadata/00000-") || f.load(id).MetadataLocation != created.MetadataLocation {
		t.Errorf("finished as %+v", created)
	}
	_, err = f.CommitTable(ctx, finish(id, doc.Location))
	wantError(t, err, mounts.AlreadyExists, "a.t", "table already exists")
	if len(f.files()) != 2 {
		t.Errorf("the second creator left files: %q", f.files())
	}
}

func TestConditionalLoadsAreAnsweredFromThePointerAlone(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MetadataCache = 0 })
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	created := f.table(id)
	refs, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, Snapshots: mounts.SnapshotsRefs})
	if err != nil || refs.ETag == created.ETag || refs.MetadataLocation != created.MetadataLocation {
		t.Fatalf("refs: %+v, %v", refs, err)
	}
	if err := os.Remove(local(created.MetadataLocation)); err != nil {
		t.Fatal(err)
	}
	for _, held := range []string{created.ETag, "W/" + created.ETag, `"x", ` + created.ETag, "*", ` "a,b" ,W/"c",` + created.ETag + `, "d"`} {
		got, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, IfNoneMatch: held})
		if err != nil || !got.NotModified || got.ETag != created.ETag || got.Metadata != nil {
			t.Errorf("holding %s: %+v, %v", held, got, err)
		}
	}
	for _, held := range []string{"", refs.ETag, `"x"`, strings.Trim(created.ETag, `"`), created.ETag[:len(created.ETag)-1], "x, " + created.ETag, "*x", ","} {
		_, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, IfNoneMatch: held})
		wantError(t, err, mounts.MetadataMissing, "a.t", "Failed to open input stream for file: "+created.MetadataLocation)
	}
	got, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, IfNoneMatch: refs.ETag, Snapshots: mounts.SnapshotsRefs})
	if err != nil || !got.NotModified {
		t.Errorf("refs: %+v, %v", got, err)
	}
	_, err = f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, Snapshots: "some"})
	wantError(t, err, mounts.BadRequest, "a.t", `snapshots="some" is unknown`)
}

func TestATagChangesWithWhatEnginesAreTold(t *testing.T) {
	one := newTagger(map[string]string{"s3.endpoint": "http://a"})
	two := newTagger(map[string]string{"s3.endpoint": "http://b"})
	table := store.Object{Location: "l"}
	if one.tag(table, mounts.SnapshotsAll) == two.tag(table, mounts.SnapshotsAll) {
		t.Error("a client would keep the old endpoint for ever")
	}
}

func TestWarmLoadsDoNotTouchStorage(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	created := f.table(id)
	committed := f.commit(setProperties(id, map[string]string{"k": "v"}))
	for _, location := range []string{created.MetadataLocation, committed.MetadataLocation} {
		if err := os.Remove(local(location)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got := f.load(id); string(got.Metadata) != string(committed.Metadata) {
			t.Errorf("loaded %s", got.Metadata)
		}
	}
}

func TestMissingTablesAreAbsentInEveryWay(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	f.view(ident("v", "a"))
	for _, id := range []mounts.Identifier{ident("t", "a"), ident("v", "a"), ident("t", "b"), ident("t"), ident("")} {
		for op, call := range map[string]func() error{
			"load":       func() error { _, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id}); return err },
			"exists":     func() error { return f.TableExists(ctx, &mounts.TableExistsRequest{Table: id}) },
			"drop":       func() error { return f.DropTable(ctx, &mounts.DropTableRequest{Table: id}) },
			"purge":      func() error { return f.DropTable(ctx, &mounts.DropTableRequest{Table: id, Purge: true}) },
			"unregister": func() error { _, err := f.UnregisterTable(ctx, &mounts.UnregisterTableRequest{Table: id}); return err },
			"metrics":    func() error { return f.ReportMetrics(ctx, &mounts.ReportMetricsRequest{Table: id}) },
			"commit":     func() error { _, err := f.CommitTable(ctx, setProperties(id, map[string]string{"k": "v"})); return err },
			"rename": func() error {
				return f.RenameTable(ctx, &mounts.RenameTableRequest{Source: id, Destination: ident("n", "a")})
			},
		} {
			t.Log(op)
			wantError(t, call(), mounts.NoSuchTable, id.String(), "Table does not exist: "+id.String())
		}
	}
	_, err := f.ListTables(ctx, &mounts.ListTablesRequest{Namespace: mounts.Namespace{"b"}})
	wantError(t, err, mounts.NoSuchNamespace, "b", "Namespace does not exist: b")
	page, err := f.ListTables(ctx, &mounts.ListTablesRequest{})
	if err != nil || page.Items == nil || len(page.Items) != 0 {
		t.Errorf("the root's tables: %+v, %v", page, err)
	}
}

func TestDropForgetsTheTableAndLeavesItsFiles(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MetadataCache = 0 })
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	created := f.table(id)
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(local(created.MetadataLocation)); err != nil {
		t.Errorf("a drop took the file: %v", err)
	}
	lost := f.table(id)
	if err := os.RemoveAll(filepath.Dir(local(lost.MetadataLocation))); err != nil {
		t.Fatal(err)
	}
	_, err := f.UnregisterTable(ctx, &mounts.UnregisterTableRequest{Table: id})
	wantError(t, err, mounts.MetadataMissing, "a.t", "Failed to open input stream for file: ")
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: id}); err != nil {
		t.Errorf("a table whose metadata is lost cannot be dropped: %v", err)
	}
}

func TestRenameMovesTheTableOrNothing(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	f.namespace("b")
	created := f.table(ident("t", "a"))
	f.table(ident("u", "b"))
	f.view(ident("v", "b"))
	rename := func(to mounts.Identifier) error {
		return f.RenameTable(ctx, &mounts.RenameTableRequest{Source: ident("t", "a"), Destination: to})
	}
	wantError(t, rename(ident("t", "c")), mounts.NoSuchNamespace, "c", "Namespace does not exist: c")
	wantError(t, rename(ident("u", "b")), mounts.AlreadyExists, "a.t", "Cannot rename a.t to b.u. Table already exists")
	wantError(t, rename(ident("v", "b")), mounts.AlreadyExists, "a.t", "Cannot rename a.t to b.v. View already exists")
	if err := rename(ident("t", "a")); err != nil || f.load(ident("t", "a")).MetadataLocation != created.MetadataLocation {
		t.Errorf("a rename to its own name: %v", err)
	}
	if err := rename(ident("n", "b")); err != nil {
		t.Fatal(err)
	}
	if got := f.load(ident("n", "b")); got.MetadataLocation != created.MetadataLocation {
		t.Errorf("renamed to %+v", got)
	}
	if err := f.TableExists(ctx, &mounts.TableExistsRequest{Table: ident("t", "a")}); !errors.Is(err, mounts.NoSuchTable) {
		t.Errorf("the old name: %v", err)
	}
	// What takes the old name, and goes again, has nothing to do with it.
	f.table(ident("t", "a"))
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("t", "a")}); err != nil {
		t.Fatal(err)
	}
	f.commit(setProperties(ident("n", "b"), map[string]string{"k": "v"}))
}

// Hadoop's catalog calls every table's first file v1.metadata.json, so a table
// that is dropped, deleted and written anew has it again.
func TestARegisteredFileIsReadAnewThoughOneOfThatNameWasKnown(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	path := filepath.Join(f.dir, "v1.metadata.json")
	put := func(origin string) *mounts.Table {
		t.Helper()
		doc := f.commit(setProperties(ident("source", "a"), map[string]string{"origin": origin})).Metadata
		if err := os.WriteFile(path, []byte(apart(t, doc, f.Warehouse()+"/t")), 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: id.Namespace, Name: id.Name, MetadataLocation: path})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	f.table(ident("source", "a"))
	before := put("old")
	for _, mode := range []mounts.Snapshots{mounts.SnapshotsAll, mounts.SnapshotsRefs} {
		if _, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, Snapshots: mode}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: id}); err != nil {
		t.Fatal(err)
	}
	after := put("new")
	for _, mode := range []mounts.Snapshots{mounts.SnapshotsAll, mounts.SnapshotsRefs} {
		loaded, err := f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id, Snapshots: mode, IfNoneMatch: before.ETag})
		if err != nil || loaded.NotModified || properties(t, loaded.Metadata)["origin"] != "new" {
			t.Errorf("snapshots=%s: %v, not modified: %v, %.300s", mode, err, loaded.NotModified, loaded.Metadata)
		}
	}
	if loaded := f.load(id); loaded.ETag != after.ETag {
		t.Error("register and load give different tags")
	}
	if got := f.commit(setProperties(id, map[string]string{"x": "y"})); properties(t, got.Metadata)["origin"] != "new" {
		t.Error("a commit was built on the old file")
	} else if loaded := f.load(id); loaded.ETag != got.ETag {
		t.Error("commit and load give different tags")
	}
}

func TestRegisterTakesOnlyValidMetadataInsideTheWarehouse(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	first, second := f.table(ident("t", "a")), f.table(ident("u", "a"))
	f.view(ident("v", "a"))
	register := func(name, location string, overwrite bool) (*mounts.Table, error) {
		return f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"a"}, Name: name, MetadataLocation: location, Overwrite: overwrite})
	}
	write := func(name, content string) string {
		path := filepath.Join(f.dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, err := register("t", "/elsewhere.json", false)
	wantError(t, err, mounts.AlreadyExists, "a.t", "Table already exists: a.t")
	_, err = register("v", first.MetadataLocation, true)
	wantError(t, err, mounts.AlreadyExists, "a.v", "View with same name already exists: a.v")
	_, err = register("r", "/elsewhere.json", false)
	wantError(t, err, mounts.BadRequest, "a.r", "lies outside the warehouse")
	_, err = register("r", f.dir+"/none.metadata.json", false)
	wantError(t, err, mounts.MetadataMissing, "a.r", "Failed to open input stream for file: file://"+f.dir+"/none.metadata.json")
	for _, bad := range []string{"", "{", "[]", "null", `{"format-version":2}`, "\x1f\x8b broken"} {
		if _, err := register("r", write("bad.metadata.json", bad), false); err == nil || errors.Is(err, mounts.MetadataMissing) {
			t.Errorf("%q was registered or is missing: %v", bad, err)
		}
	}
	moved := strings.ReplaceAll(string(first.Metadata), f.Warehouse(), "file:///elsewhere")
	_, err = register("r", write("moved.metadata.json", moved), false)
	wantError(t, err, mounts.BadRequest, "a.r", "lies outside the warehouse")
	_, err = f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"b"}, Name: "r", MetadataLocation: first.MetadataLocation})
	wantError(t, err, mounts.NoSuchNamespace, "b", "")

	for _, name := range []string{"t", "u"} {
		if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: ident(name, "a")}); err != nil {
			t.Fatal(err)
		}
	}
	registered, err := register("r", first.MetadataLocation, false)
	if err != nil || string(registered.Metadata) != string(first.Metadata) || registered.MetadataLocation != first.MetadataLocation || registered.ETag == "" {
		t.Fatalf("%+v, %v", registered, err)
	}
	compressed := write("z.gz.metadata.json", string(gzipped(first.Metadata)))
	for _, location := range []string{second.MetadataLocation, second.MetadataLocation, compressed} {
		if _, err := register("r", location, true); err != nil {
			t.Fatal(err)
		}
		if got := f.load(ident("r", "a")); !strings.HasSuffix(got.MetadataLocation, local(location)) {
			t.Errorf("overwritten with %s it loads %s", location, got.MetadataLocation)
		}
	}
	if got := f.load(ident("r", "a")); string(got.Metadata) != string(first.Metadata) {
		t.Errorf("compressed metadata comes as %.40q", got.Metadata)
	}
	// The next commit goes where the metadata says the table is.
	if got := f.commit(setProperties(ident("r", "a"), map[string]string{"k": "v"})); filepath.Dir(got.MetadataLocation) != filepath.Dir(first.MetadataLocation) {
		t.Errorf("committed to %s", got.MetadataLocation)
	}
	gone, err := f.UnregisterTable(ctx, &mounts.UnregisterTableRequest{Table: ident("r", "a")})
	if err != nil || properties(t, gone.Metadata)["k"] != "v" || gone.MetadataLocation == "" {
		t.Errorf("unregistered %+v, %v", gone, err)
	}
	if _, err := register("r", gone.MetadataLocation, false); err != nil {
		t.Errorf("an unregistered table cannot be registered again: %v", err)
	}
}

func TestEveryPointerChangeIsLoggedWithItsCaller(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	ctx := mounts.WithCaller(context.Background(), mounts.Caller{Principal: "ann", RequestID: "r-1"})
	created := f.table(id)
	o, err := f.Backend.table(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := f.CommitTable(ctx, setProperties(id, map[string]string{"k": "v"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.RenameTable(ctx, &mounts.RenameTableRequest{Source: id, Destination: ident("u", "a")}); err != nil {
		t.Fatal(err)
	}
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("u", "a")}); err != nil {
		t.Fatal(err)
	}
	var log []store.Commit
	if err := f.store.View(ctx, func(tx store.Tx) (err error) {
		log, err = tx.Commits(o.ID, 0, 10)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := [][2]string{{"", created.MetadataLocation}, {created.MetadataLocation, committed.MetadataLocation}, {committed.MetadataLocation, ""}}
	if len(log) != len(want) {
		t.Fatalf("the log is %+v", log)
	}
	for i, row := range log {
		if row.From != want[i][0] || row.To != want[i][1] || row.Time.IsZero() || i > 0 && (row.Principal != "ann" || row.RequestID != "r-1") {
			t.Errorf("row %d is %+v", i, row)
		}
	}
}

func TestALoadThatMeetsARemovedOldFileReadsThePointerAgain(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MetadataCache = 0 })
	f.namespace("a")
	id := ident("t", "a")
	old, next := f.table(id), f.table(ident("u", "a"))
	if err := os.Remove(local(old.MetadataLocation)); err != nil {
		t.Fatal(err)
	}
	// Between the reading of the pointer and of its file, others commit.
	reads := 0
	f.inner.view = func() {
		if reads++; reads == 2 {
			if err := f.inner.Store.Update(context.Background(), func(tx store.Tx) error {
				_, err := tx.Swap(id, old.MetadataLocation, next.MetadataLocation, store.By{})
				return err
			}); err != nil {
				t.Error(err)
			}
		}
	}
	if got := f.load(id); got.MetadataLocation != next.MetadataLocation || reads != 2 {
		t.Errorf("loaded %s after %d reads of the pointer", got.MetadataLocation, reads)
	}
	reads = 0
	if err := f.inner.Store.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.Swap(id, next.MetadataLocation, old.MetadataLocation, store.By{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	f.inner.view = func() {
		if reads++; reads == 2 {
			if err := f.inner.Store.Update(context.Background(), func(tx store.Tx) error {
				_, err := tx.Swap(id, old.MetadataLocation, next.MetadataLocation, store.By{})
				return err
			}); err != nil {
				t.Error(err)
			}
		}
	}
	// And a commit too: it starts over instead of reporting a lost file.
	got := f.commit(setProperties(id, map[string]string{"k": "v"}))
	if properties(t, got.Metadata)["k"] != "v" {
		t.Errorf("committed %s", got.Metadata)
	}
}
