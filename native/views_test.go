package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// redefine is a replace by a view that reads sql, as engines send it.
func redefine(id mounts.Identifier, sql string, requirements ...string) *mounts.ReplaceViewRequest {
	req := &mounts.ReplaceViewRequest{View: id, Updates: []json.RawMessage{
		json.RawMessage(`{"action":"add-schema","schema":` + testSchema + `}`),
		json.RawMessage(fmt.Sprintf(`{"action":"add-view-version","view-version":{"version-id":1,"schema-id":-1,"timestamp-ms":1700000000001,
			"summary":{},"default-namespace":["a"],"representations":[{"type":"sql","sql":%q,"dialect":"spark"}]}}`, sql)),
		json.RawMessage(`{"action":"set-current-view-version","view-version-id":-1}`),
	}}
	for _, r := range requirements {
		req.Requirements = append(req.Requirements, json.RawMessage(r))
	}
	return req
}

func setViewProperties(id mounts.Identifier, properties map[string]string) *mounts.ReplaceViewRequest {
	return &mounts.ReplaceViewRequest{View: id, Updates: setProperties(id, properties).Updates}
}

func (f *fixture) replace(req *mounts.ReplaceViewRequest) *mounts.View {
	f.t.Helper()
	view, err := f.ReplaceView(context.Background(), req)
	if err != nil {
		f.t.Fatal(err)
	}
	return view
}

// queries is what the versions of a view read, in their order.
func queries(t testing.TB, metadata json.RawMessage) (all []string) {
	t.Helper()
	var doc struct {
		Versions []struct{ Representations []struct{ SQL string } }
	}
	if err := json.Unmarshal(metadata, &doc); err != nil {
		t.Fatal(err)
	}
	for _, version := range doc.Versions {
		all = append(all, version.Representations[0].SQL)
	}
	return all
}

func TestAViewsFirstFileLiesWhereNobodyWasAndIsCompressed(t *testing.T) {
	f := newFixture(t)
	f.namespace("a b")
	id := ident("v é", "a b")
	created := f.view(id)
	name := regexp.MustCompile(`^file://` + regexp.QuoteMeta(f.dir) + `/a_b-[0-9a-f]{12}/v-[0-9a-f]{12}-[0-9a-f-]{36}/metadata/00000-[0-9a-f-]{36}\.gz\.metadata\.json$`)
	if !name.MatchString(created.MetadataLocation) {
		t.Errorf("created at %s", created.MetadataLocation)
	}
	content, err := os.ReadFile(local(created.MetadataLocation))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := gunzip(content); err != nil || string(plain) != string(created.Metadata) {
		t.Errorf("the file holds %s (%v), the answer %s", plain, err, created.Metadata)
	}
	if loaded := f.loadView(id); string(loaded.Metadata) != string(created.Metadata) || loaded.MetadataLocation != created.MetadataLocation || loaded.Config == nil {
		t.Errorf("loaded %+v, created %+v", loaded, created)
	}
}

func TestAViewsPropertiesSayHowItsFilesAreKept(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("v", "a")
	created := f.view(id)
	folder := f.Warehouse() + "/md/v"
	plain := f.replace(setViewProperties(id, map[string]string{"write.metadata.path": folder + "/", "write.metadata.compression-codec": "none"}))
	content, err := os.ReadFile(local(plain.MetadataLocation))
	if err != nil || string(content) != string(plain.Metadata) || !strings.HasPrefix(plain.MetadataLocation, folder+"/00001-") {
		t.Errorf("%s holds %.40q, %v", plain.MetadataLocation, content, err)
	}
	for _, key := range []string{"write.metadata.path", "write.data.path"} {
		_, err = f.ReplaceView(context.Background(), setViewProperties(id, map[string]string{key: "file:///elsewhere"}))
		wantError(t, err, mounts.BadRequest, "a.v", key)
		req := createViewRequest(ident("w", "a"))
		req.Properties = map[string]string{key: "file:///elsewhere"}
		_, err = f.CreateView(context.Background(), req)
		wantError(t, err, mounts.BadRequest, "a.w", key)
	}
	third := f.replace(&mounts.ReplaceViewRequest{View: id, Updates: []json.RawMessage{
		json.RawMessage(`{"action":"remove-properties","removals":["write.metadata.path","write.metadata.compression-codec"]}`)}})
	if filepath.Dir(third.MetadataLocation) != filepath.Dir(created.MetadataLocation) || !strings.HasSuffix(third.MetadataLocation, ".gz.metadata.json") {
		t.Errorf("written to %s, created at %s", third.MetadataLocation, created.MetadataLocation)
	}
	// A view's file of any age can be registered.
	for i, old := range []string{created.MetadataLocation, plain.MetadataLocation} {
		if err := f.DropView(context.Background(), &mounts.DropViewRequest{View: id}); err != nil {
			t.Fatal(err)
		}
		id.Name = fmt.Sprint("old", i)
		if _, err := f.RegisterView(context.Background(), &mounts.RegisterViewRequest{Namespace: id.Namespace, Name: fmt.Sprint("old", i), MetadataLocation: old}); err != nil {
			t.Errorf("%s: %v", old, err)
		}
	}
}

func TestALostSwapOfAViewIsAppliedAgainOnTheNewState(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("v", "a")
	created := f.view(id)
	tries := f.raced(3, func(i int) { f.overtake(viewChange(redefine(id, fmt.Sprint("SELECT ", i)))) })
	replaced := f.replace(redefine(id, "SELECT mine"))
	if want := []string{"SELECT id FROM t", "SELECT 1", "SELECT 2", "SELECT 3", "SELECT mine"}; *tries != 4 || !slices.Equal(queries(t, replaced.Metadata), want) {
		t.Errorf("after %d swaps the versions read %q", *tries, queries(t, replaced.Metadata))
	}
	if !strings.Contains(replaced.MetadataLocation, "/00004-") || len(f.files()) != 5 {
		t.Errorf("the losers' files stay: %q", f.files())
	}
	// A requirement that the rival broke is not tried again.
	var doc struct {
		UUID string `json:"view-uuid"`
	}
	if err := json.Unmarshal(created.Metadata, &doc); err != nil {
		t.Fatal(err)
	}
	tries = f.raced(1, func(int) {
		if err := f.DropView(context.Background(), &mounts.DropViewRequest{View: id}); err != nil {
			t.Fatal(err)
		}
		f.view(id)
	})
	_, err := f.ReplaceView(context.Background(), redefine(id, "SELECT late", `{"type":"assert-view-uuid","uuid":"`+doc.UUID+`"}`))
	if e := wantError(t, err, mounts.CommitConflict, "a.v", "Requirement failed"); e.OutcomeUnknown || *tries != 1 || len(f.files()) != 6 {
		t.Errorf("%d swaps, files %q", *tries, f.files())
	}
}

func TestAReplaceThatNeverWinsIsAConflictAndLeavesNothing(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("v", "a")
	f.view(id)
	f.inner.update = func(context.Context, func() error) error { return fmt.Errorf("raced: %w", store.ErrMoved) }
	_, err := f.ReplaceView(context.Background(), redefine(id, "SELECT 1"))
	wantError(t, err, mounts.CommitConflict, "a.v", "a.v is being changed by too many writers at once; nothing was committed")
	if len(f.files()) != 1 {
		t.Errorf("files stay: %q", f.files())
	}
}

func TestAViewDroppedMeanwhileIsAbsentAndANameTakenMeanwhileIsTaken(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	f.view(ident("v", "a"))
	f.raced(1, func(int) {
		if err := f.DropView(ctx, &mounts.DropViewRequest{View: ident("v", "a")}); err != nil {
			t.Fatal(err)
		}
		f.table(ident("v", "a"))
	})
	_, err := f.ReplaceView(ctx, redefine(ident("v", "a"), "SELECT 1"))
	wantError(t, err, mounts.NoSuchView, "a.v", "View does not exist: a.v")
	f.raced(1, func(int) { f.table(ident("w", "a")) })
	_, err = f.CreateView(ctx, createViewRequest(ident("w", "a")))
	wantError(t, err, mounts.AlreadyExists, "a.w", "Table with same name already exists: a.w")
	f.raced(1, func(int) { f.view(ident("x", "a")) })
	_, err = f.CreateView(ctx, createViewRequest(ident("x", "a")))
	wantError(t, err, mounts.AlreadyExists, "a.x", "View already exists: a.x")
	f.raced(1, func(int) { f.view(ident("y", "a")) })
	_, err = f.CreateTable(ctx, createRequest(ident("y", "a")))
	wantError(t, err, mounts.AlreadyExists, "a.y", "View with same name already exists: a.y")
	// The dropped view's first file stays; of the refused there is none.
	if len(f.files()) != 5 {
		t.Errorf("losers' files stay: %q", f.files())
	}
}

func TestAnUncertainChangeOfAViewIsReportedAsSuchAndKeepsTheFile(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	id := ident("v", "a")
	f.view(id)
	for what, call := range map[string]func() error{
		"replace": func() error { _, err := f.ReplaceView(ctx, redefine(id, "SELECT 1")); return err },
		"create":  func() error { _, err := f.CreateView(ctx, createViewRequest(ident("v2", "a"))); return err },
	} {
		before := len(f.files())
		f.inner.update = func(context.Context, func() error) error {
			return fmt.Errorf("%w: disk on fire", store.ErrOutcomeUnknown)
		}
		err := call()
		f.inner.update = nil
		var e *mounts.Error
		if !errors.As(err, &e) || e.Kind != mounts.Internal || !e.OutcomeUnknown || strings.Contains(e.Message(), "fire") {
			t.Errorf("%s: %v", what, err)
		}
		if len(f.files()) != before+1 {
			t.Errorf("%s: the file that a pointer may hold is gone", what)
		}
	}
	for what, call := range map[string]func() error{
		"rename": func() error {
			return f.RenameView(ctx, &mounts.RenameViewRequest{Source: id, Destination: ident("w", "a")})
		},
		"drop": func() error { return f.DropView(ctx, &mounts.DropViewRequest{View: id}) },
	} {
		f.inner.update = func(context.Context, func() error) error { return store.ErrOutcomeUnknown }
		if err := call(); !errors.Is(err, mounts.ErrOutcomeUnknown) {
			t.Errorf("%s: %v", what, err)
		}
		f.inner.update = func(context.Context, func() error) error { return errors.New("no room") }
		if err := call(); !errors.Is(err, mounts.Internal) || errors.Is(err, mounts.ErrOutcomeUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAClientThatLeavesCancelsNoReplace(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("v", "a")
	f.view(id)
	ctx, leave := context.WithCancel(context.Background())
	f.inner.update = func(inner context.Context, next func() error) error {
		leave()
		if err := inner.Err(); err != nil {
			t.Errorf("the swap was cancelled: %v", err)
		}
		return next()
	}
	if _, err := f.ReplaceView(ctx, redefine(id, "SELECT 1")); err != nil {
		t.Errorf("the replace of a client that left: %v", err)
	}
	f.inner.update = nil
	if got := queries(t, f.loadView(id).Metadata); len(got) != 2 {
		t.Errorf("the replace is lost: %q", got)
	}
	_, err := f.ReplaceView(ctx, redefine(id, "SELECT 2"))
	if e := wantError(t, err, mounts.Timeout, "a.v", ""); e.OutcomeUnknown || len(f.files()) != 2 {
		t.Errorf("a client that had left before: %v, files %q", err, f.files())
	}
}

func TestEveryChangeOfAViewIsInTheCommitLog(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	id, renamed := ident("v", "a"), ident("w", "a")
	first := f.view(id)
	second := f.replace(redefine(id, "SELECT 1"))
	o, err := f.object(ctx, id, store.View)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.RenameView(ctx, &mounts.RenameViewRequest{Source: id, Destination: renamed}); err != nil {
		t.Fatal(err)
	}
	third := f.replace(redefine(renamed, "SELECT 2"))
	caller := mounts.WithCaller(ctx, mounts.Caller{Principal: "ann", RequestID: "r-1"})
	if err := f.DropView(caller, &mounts.DropViewRequest{View: renamed}); err != nil {
		t.Fatal(err)
	}
	var log []store.Commit
	if err := f.store.View(ctx, func(tx store.Tx) (err error) {
		log, err = tx.Commits(o.ID, 0, 10)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"", first.MetadataLocation, second.MetadataLocation, third.MetadataLocation, ""}
	if len(log) != 4 {
		t.Fatalf("the log has %d rows: %+v", len(log), log)
	}
	for i, row := range log {
		if row.From != want[i] || row.To != want[i+1] {
			t.Errorf("row %d leads from %q to %q", i, row.From, row.To)
		}
	}
	if last := log[3]; last.Principal != "ann" || last.RequestID != "r-1" {
		t.Errorf("dropped by %+v", last.By)
	}
	// A registered view is another one.
	if _, err := f.RegisterView(ctx, &mounts.RegisterViewRequest{Namespace: id.Namespace, Name: "v", MetadataLocation: third.MetadataLocation}); err != nil {
		t.Fatal(err)
	}
	if again, err := f.object(ctx, id, store.View); err != nil || again.ID == o.ID || again.Generation != 1 {
		t.Errorf("registered as %+v, %v", again, err)
	}
}

func TestAViewWhoseFileIsLostIsNoAbsenceAndCanBeDropped(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MetadataCache = 0 })
	ctx := context.Background()
	f.namespace("a")
	id := ident("v", "a")
	created := f.view(id)
	if err := os.Remove(local(created.MetadataLocation)); err != nil {
		t.Fatal(err)
	}
	_, err := f.LoadView(ctx, &mounts.LoadViewRequest{View: id})
	wantError(t, err, mounts.MetadataMissing, "a.v", "Failed to open input stream for file: "+created.MetadataLocation)
	_, err = f.ReplaceView(ctx, redefine(id, "SELECT 1"))
	wantError(t, err, mounts.MetadataMissing, "a.v", "Failed to open input stream for file: "+created.MetadataLocation)
	_, err = f.CreateView(ctx, createViewRequest(id))
	wantError(t, err, mounts.AlreadyExists, "a.v", "View already exists: a.v")
	if err := f.RenameView(ctx, &mounts.RenameViewRequest{Source: id, Destination: ident("w", "a")}); err != nil {
		t.Error(err)
	}
	if err := f.DropView(ctx, &mounts.DropViewRequest{View: ident("w", "a")}); err != nil {
		t.Error(err)
	}
	_, err = f.LoadView(ctx, &mounts.LoadViewRequest{View: ident("w", "a")})
	wantError(t, err, mounts.NoSuchView, "a.w", "View does not exist: a.w")
}

func TestRegisterViewConfinesTheFileAndWhereItLeads(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	view, table := f.view(ident("v", "a")), f.table(ident("t", "a"))
	register := func(location string) error {
		_, err := f.RegisterView(ctx, &mounts.RegisterViewRequest{Namespace: mounts.Namespace{"a"}, Name: "r", MetadataLocation: location})
		return err
	}
	put := func(name, content string) string {
		path := filepath.Join(f.dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file://" + path
	}
	outside := filepath.Join(t.TempDir(), "00000-a.metadata.json")
	if err := os.WriteFile(outside, view.Metadata, 0o600); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Location string }
	if err := json.Unmarshal(view.Metadata, &doc); err != nil {
		t.Fatal(err)
	}
	elsewhere := strings.ReplaceAll(string(view.Metadata), doc.Location, "file:///elsewhere/v")
	for location, want := range map[string]struct {
		kind    mounts.Kind
		message string
	}{
		"file://" + outside:    {mounts.BadRequest, "warehouse"},
		"s3://bucket/x":        {mounts.BadRequest, "warehouse"},
		put("away", elsewhere): {mounts.BadRequest, "elsewhere"},
		table.MetadataLocation: {mounts.ValidationFailed, "not the metadata of a view"},
		put("text", "hello"):   {mounts.ValidationFailed, "not Iceberg view metadata"},
		put("empty", ""):       {mounts.ValidationFailed, "not Iceberg view metadata"},
		f.Warehouse() + "/no":  {mounts.MetadataMissing, "Failed to open input stream for file: "},
	} {
		wantError(t, register(location), want.kind, "a.r", want.message)
	}
	_, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"a"}, Name: "r", MetadataLocation: view.MetadataLocation})
	wantError(t, err, mounts.ValidationFailed, "a.r", "")
	for _, name := range []string{"", strings.Repeat("x", 1021), "a\x1fb"} {
		_, err := f.RegisterView(ctx, &mounts.RegisterViewRequest{Namespace: mounts.Namespace{"a"}, Name: name, MetadataLocation: view.MetadataLocation})
		if e := mounts.AsError(err); e == nil || e.Kind != mounts.BadRequest || !strings.Contains(e.Message(), "a view name") {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if err := f.DropView(ctx, &mounts.DropViewRequest{View: ident("v", "a")}); err != nil {
		t.Fatal(err)
	}
	if err := register(view.MetadataLocation); err != nil {
		t.Error(err)
	}
}

// TestViewsKeepTheirOldFiles: what is asked of tables by a property is no
// property of views.
func TestViewsKeepTheirOldFiles(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("v", "a")
	f.view(id)
	f.replace(setViewProperties(id, map[string]string{"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}))
	for i := range 4 {
		f.replace(redefine(id, fmt.Sprint("SELECT ", i)))
	}
	if err := f.DropView(context.Background(), &mounts.DropViewRequest{View: id}); err != nil {
		t.Fatal(err)
	}
	if len(f.files()) != 6 {
		t.Errorf("files %q", f.files())
	}
}
