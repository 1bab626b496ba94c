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

func TestCommitsWriteTheNextVersionBesideTheOld(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	locations := []string{f.table(id).MetadataLocation}
	for i := range 3 {
		committed := f.commit(setProperties(id, map[string]string{"k": fmt.Sprint(i)}))
		if got := f.load(id); got.MetadataLocation != committed.MetadataLocation || got.ETag != committed.ETag || properties(t, got.Metadata)["k"] != fmt.Sprint(i) {
			t.Errorf("committed %s, loaded %s", committed.MetadataLocation, got.MetadataLocation)
		}
		locations = append(locations, committed.MetadataLocation)
	}
	for i, location := range locations {
		if !regexp.MustCompile(fmt.Sprintf(`/metadata/%05d-[0-9a-f-]{36}\.metadata\.json$`, i)).MatchString(location) {
			t.Errorf("version %d is called %s", i, location)
		}
		if _, err := os.Stat(local(location)); err != nil {
			t.Errorf("version %d is gone: %v", i, err)
		}
	}
	same := f.commit(setProperties(id, map[string]string{"k": "2"}))
	if same.MetadataLocation != locations[3] || len(f.files()) != 4 {
		t.Errorf("a commit of nothing led to %s and the files %q", same.MetadataLocation, f.files())
	}
}

func TestVersionsGoOnFromWhateverTheLastFileIsCalled(t *testing.T) {
	for name, want := range map[string]int{
		"": 0, "file:///x/metadata/00000-a.metadata.json": 1, "file:///x/00041-a.metadata.json": 42, "s3://b/99999-a.gz.metadata.json": 100000,
		"/x/v7.metadata.json": 8, "/x/v7.gz.metadata.json": 8, "/x/7.json": 8, "/x/table.metadata.json": 0, "/x/12345678901-a": 0, "/00007-a/x.json": 0,
	} {
		if got := nextVersion(name); got != want {
			t.Errorf("after %q comes %d, want %d", name, got, want)
		}
	}
}

// raced makes the n first swaps lose: each time, just before it, another writer
// commits.
func (f *fixture) raced(n int, rival func(i int)) *int {
	tries := 0
	f.inner.update = func(ctx context.Context, next func() error) error {
		tries++
		if i := tries; i <= n {
			own := f.inner.update
			f.inner.update = nil
			rival(i)
			f.inner.update = own
		}
		return next()
	}
	return &tries
}

// steal changes a table through the store, past the backend's own order.
func (f *fixture) steal(id mounts.Identifier, key string) {
	f.t.Helper()
	f.overtake(tableChange(setProperties(id, map[string]string{key: "rival"})))
}

// overtake makes a change past the gate.
func (f *fixture) overtake(c change) {
	f.t.Helper()
	attempts, err := f.readAll(context.Background(), []change{c})
	if err == nil {
		err = f.work(context.Background(), attempts[0])
	}
	if err == nil {
		_, err = f.writeAll(context.Background(), attempts)
	}
	if err == nil {
		err = f.swap(context.Background(), nil, func(tx store.Tx, who store.By) (outcome, error) {
			return nothing(), f.swapAll(tx, attempts, who)
		})
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func TestALostSwapIsAppliedAgainOnTheNewState(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	tries := f.raced(3, func(i int) { f.steal(id, fmt.Sprint("rival", i)) })
	committed := f.commit(setProperties(id, map[string]string{"mine": "yes"}, `{"type":"assert-current-schema-id","current-schema-id":0}`))
	got := properties(t, committed.Metadata)
	if *tries != 4 || got["mine"] != "yes" || got["rival1"] != "rival" || got["rival3"] != "rival" {
		t.Errorf("after %d swaps the properties are %v", *tries, got)
	}
	if !strings.Contains(committed.MetadataLocation, "/00004-") || len(f.files()) != 5 {
		t.Errorf("the losers' files stay: %q", f.files())
	}
}

func TestARequirementThatALostSwapBrokeIsNotTriedAgain(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	schema := `{"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":3,"name":"more","required":false,"type":"long"}]}}`
	tries := f.raced(1, func(int) {
		f.inner.update = nil
		if _, err := f.transact(ident("t", "a"), schema); err != nil {
			t.Fatal(err)
		}
	})
	_, err := f.CommitTable(context.Background(), setProperties(id, map[string]string{"mine": "yes"},
		`{"type":"assert-last-assigned-field-id","last-assigned-field-id":2}`))
	wantError(t, err, mounts.CommitConflict, "a.t", "Requirement failed: last assigned field id changed")
	if *tries != 1 || len(f.files()) != 2 || errors.Is(err, mounts.ErrOutcomeUnknown) {
		t.Errorf("%d swaps, files %q, %v", *tries, f.files(), err)
	}
}

// transact commits one raw update past the gate, which the caller holds.
func (f *fixture) transact(id mounts.Identifier, update string) (*attempt, error) {
	done, err := f.try(context.Background(), []change{tableChange(&mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(update)}})}, theOne)
	if err != nil {
		return nil, err
	}
	return done[0], nil
}

func TestACommitThatNeverWinsIsAConflictAndLeavesNothing(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	f.inner.update = func(context.Context, func() error) error { return fmt.Errorf("raced: %w", store.ErrMoved) }
	_, err := f.CommitTable(context.Background(), setProperties(id, map[string]string{"k": "v"}))
	wantError(t, err, mounts.CommitConflict, "a.t", "a.t is being changed by too many writers at once; nothing was committed")
	if len(f.files()) != 1 {
		t.Errorf("files stay: %q", f.files())
	}
}

func TestATableDroppedMeanwhileIsAbsentAndOneCreatedMeanwhileExists(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	f.table(ident("t", "a"))
	f.raced(1, func(int) {
		if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("t", "a")}); err != nil {
			t.Fatal(err)
		}
	})
	_, err := f.CommitTable(ctx, setProperties(ident("t", "a"), map[string]string{"k": "v"}))
	wantError(t, err, mounts.NoSuchTable, "a.t", "Table does not exist: a.t")
	f.raced(1, func(int) { f.table(ident("u", "a")) })
	_, err = f.CreateTable(ctx, createRequest(ident("u", "a")))
	wantError(t, err, mounts.AlreadyExists, "a.u", "Table already exists: a.u")
	f.raced(1, func(int) {
		if err := f.DropNamespace(ctx, &mounts.DropNamespaceRequest{Namespace: f.namespace("gone")}); err != nil {
			t.Fatal(err)
		}
	})
	f.inner.update = nil
	f.namespace("b")
	f.raced(1, func(int) {
		if err := f.DropNamespace(ctx, &mounts.DropNamespaceRequest{Namespace: mounts.Namespace{"b"}}); err != nil {
			t.Fatal(err)
		}
	})
	_, err = f.CreateTable(ctx, createRequest(ident("u", "b")))
	wantError(t, err, mounts.NoSuchNamespace, "b", "Namespace does not exist: b")
	if len(f.files()) != 2 {
		t.Errorf("losers' files stay: %q", f.files())
	}
}

func TestAnUncertainSwapIsReportedAsSuchAndKeepsTheFile(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	for _, tt := range []struct {
		cause error
		kind  mounts.Kind
	}{{errors.New("disk on fire"), mounts.Internal}, {context.DeadlineExceeded, mounts.Timeout}} {
		for what, call := range map[string]func() error{
			"commit": func() error {
				_, err := f.CommitTable(ctx, setProperties(id, map[string]string{"k": tt.cause.Error()}))
				return err
			},
			"transaction": func() error {
				return f.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{*setProperties(id, map[string]string{"k": tt.cause.Error()})}})
			},
			"create": func() error { _, err := f.CreateTable(ctx, createRequest(ident("t2", "a"))); return err },
		} {
			before := len(f.files())
			f.inner.update = func(context.Context, func() error) error {
				return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, tt.cause)
			}
			err := call()
			f.inner.update = nil
			var e *mounts.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || !e.OutcomeUnknown || strings.Contains(e.Message(), "fire") {
				t.Errorf("%s: %v", what, err)
			}
			if len(f.files()) != before+1 {
				t.Errorf("%s: the file that a pointer may hold is gone", what)
			}
		}
	}
}

func TestACertainFailureOfTheStoreLeavesNoFile(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	f.inner.update = func(context.Context, func() error) error { return errors.New("no room") }
	_, err := f.CommitTable(context.Background(), setProperties(id, map[string]string{"k": "v"}))
	e := wantError(t, err, mounts.Internal, "a.t", "")
	if e.OutcomeUnknown || len(f.files()) != 1 || strings.Contains(e.Message(), "room") {
		t.Errorf("%v, files %q", err, f.files())
	}
}

func TestAClientThatLeavesCancelsNoSwap(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	ctx, leave := context.WithCancel(context.Background())
	f.inner.update = func(inner context.Context, next func() error) error {
		leave()
		if err := inner.Err(); err != nil {
			t.Errorf("the swap was cancelled: %v", err)
		}
		if _, bounded := inner.Deadline(); !bounded {
			t.Error("the swap may take for ever")
		}
		return next()
	}
	if _, err := f.CommitTable(ctx, setProperties(id, map[string]string{"k": "v"})); err != nil {
		t.Errorf("the commit of a client that left: %v", err)
	}
	f.inner.update = nil
	if properties(t, f.load(id).Metadata)["k"] != "v" {
		t.Error("the commit is lost")
	}
	_, err := f.CommitTable(ctx, setProperties(id, map[string]string{"k": "w"}))
	if e := wantError(t, err, mounts.Timeout, "a.t", ""); e.OutcomeUnknown || len(f.files()) != 2 {
		t.Errorf("a client that had left before: %v, files %q", err, f.files())
	}
}

func TestTransactionsChangeAllTablesOrNone(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	ids := []mounts.Identifier{ident("t", "a"), ident("u", "a"), ident("v", "a")}
	for _, id := range ids {
		f.table(id)
	}
	transaction := func(changes ...*mounts.CommitTableRequest) error {
		req := &mounts.CommitTransactionRequest{}
		for _, c := range changes {
			req.Changes = append(req.Changes, *c)
		}
		return f.CommitTransaction(ctx, req)
	}
	set := func(id mounts.Identifier, value string, requirements ...string) *mounts.CommitTableRequest {
		return setProperties(id, map[string]string{"k": value}, requirements...)
	}
	all := func(want string) {
		t.Helper()
		for _, id := range ids {
			if got := properties(t, f.load(id).Metadata)["k"]; got != want {
				t.Errorf("%s has %q, want %q", id, got, want)
			}
		}
	}
	stale := `{"type":"assert-current-schema-id","current-schema-id":7}`
	wantError(t, transaction(set(ids[0], "1"), set(ids[1], "1", stale), set(ids[2], "1")), mounts.CommitConflict, "a.u", "Requirement failed: current schema changed")
	wantError(t, transaction(set(ids[0], "1"), set(ident("no", "a"), "1")), mounts.NoSuchTable, "a.no", "Table does not exist: a.no")
	wantError(t, transaction(set(ids[0], "1"), set(ids[1], "1"), set(ids[0], "2")), mounts.BadRequest, "a.t", "the transaction changes a.t twice")
	wantError(t, transaction(set(ids[0], "1"), set(ident("t"), "1")), mounts.BadRequest, "t", "needs an identifier")
	wantError(t, transaction(set(ids[0], "1"), set(ident("", "a"), "1")), mounts.BadRequest, "a", "needs an identifier")
	all("")
	if len(f.files()) != 3 {
		t.Errorf("refused transactions left files: %q", f.files())
	}
	if err := transaction(set(ids[0], "2"), set(ids[1], "2"), set(ids[2], "2")); err != nil {
		t.Fatal(err)
	}
	all("2")
	if err := transaction(); err != nil {
		t.Errorf("a transaction of nothing: %v", err)
	}
	if err := transaction(slices.Repeat([]*mounts.CommitTableRequest{set(ids[0], "3")}, maxChanges+1)...); !errors.Is(err, mounts.BadRequest) {
		t.Errorf("a huge transaction: %v", err)
	}

	// One of its tables is changed by somebody else at the last moment, even one
	// that the transaction only looks at.
	for i, mine := range [][]*mounts.CommitTableRequest{
		{set(ids[0], "4"), set(ids[1], "4"), set(ids[2], "4")},
		{set(ids[0], "5"), set(ids[1], "5"), {Table: ids[2], Requirements: []json.RawMessage{json.RawMessage(`{"type":"assert-last-assigned-field-id","last-assigned-field-id":2}`)}}},
	} {
		before := len(f.files())
		tries := f.raced(1, func(int) {
			f.steal(ids[2], fmt.Sprint("rival", i))
		})
		if err := transaction(mine...); err != nil {
			t.Fatal(err)
		}
		f.inner.update = nil
		if *tries != 2 {
			t.Errorf("the transaction was swapped %d times", *tries)
		}
		if got := properties(t, f.load(ids[2]).Metadata)[fmt.Sprint("rival", i)]; got != "rival" {
			t.Errorf("the rival's commit is lost")
		}
		if want := before + 1 + 3 - i; len(f.files()) != want {
			t.Errorf("%d files, want %d", len(f.files()), want)
		}
	}
}

func TestATransactionWhoseFileCannotBeWrittenChangesNothing(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	good, bad := ident("t", "a"), ident("u", "a")
	f.table(good)
	folder := filepath.Dir(local(f.table(bad).MetadataLocation))
	// The cache has the metadata; the folder is now a file.
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := f.files()
	err := f.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{
		*setProperties(good, map[string]string{"k": "v"}), *setProperties(bad, map[string]string{"k": "v"})}})
	if e := wantError(t, err, mounts.Internal, "a.u", "the metadata file of a.u cannot be written; nothing was changed"); e.OutcomeUnknown || strings.Contains(e.Message(), f.dir) {
		t.Errorf("%v", err)
	}
	if properties(t, f.load(good).Metadata)["k"] != "" || !slices.Equal(f.files(), before) {
		t.Errorf("half of it stays: %q, before %q", f.files(), before)
	}
}

func TestCommitsCannotLeadOutOfTheWarehouse(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	for _, bad := range []string{"/elsewhere", f.dir + "/../x", f.dir + "/a//b", f.dir, "s3://b/t"} {
		_, err := f.CommitTable(ctx, &mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"action":"set-location","location":%q}`, bad))}})
		wantError(t, err, mounts.BadRequest, "a.t", "the location ")
		_, err = f.CommitTable(ctx, setProperties(id, map[string]string{"write.metadata.path": bad}))
		wantError(t, err, mounts.BadRequest, "a.t", "set-properties: write.metadata.path: the location ")
	}
	if len(f.files()) != 1 {
		t.Errorf("files: %q", f.files())
	}
	moved := f.commit(&mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"action":"set-location","location":%q}`, f.Warehouse()+"/moved/t/"))}})
	if !strings.HasPrefix(moved.MetadataLocation, f.Warehouse()+"/moved/t/metadata/00001-") {
		t.Errorf("moved to %s", moved.MetadataLocation)
	}
	chosen := f.commit(setProperties(id, map[string]string{"write.metadata.path": f.Warehouse() + "/md/t", "write.metadata.compression-codec": "gzip"}))
	if !strings.HasPrefix(chosen.MetadataLocation, f.Warehouse()+"/md/t/00002-") || !strings.HasSuffix(chosen.MetadataLocation, ".gz.metadata.json") {
		t.Errorf("a chosen metadata folder led to %s", chosen.MetadataLocation)
	}
	content, err := os.ReadFile(local(chosen.MetadataLocation))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := gunzip(content); err != nil || string(plain) != string(chosen.Metadata) {
		t.Errorf("compressed: %q, %v", plain, err)
	}
}

func TestOldMetadataFilesAreRemovedOnlyWhereTheTableAsksAndFromItsOwnFolder(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	first := f.table(id)
	other := f.table(ident("other", "a"))
	exists := func(location string) bool {
		_, err := os.Stat(local(location))
		return err == nil
	}
	second := f.commit(setProperties(id, map[string]string{"write.metadata.previous-versions-max": "1"}))
	third := f.commit(setProperties(id, map[string]string{"k": "1"}))
	if !exists(first.MetadataLocation) || !exists(second.MetadataLocation) {
		t.Error("files were removed of a table that does not ask for it")
	}
	fourth := f.commit(setProperties(id, map[string]string{"write.metadata.delete-after-commit.enabled": "true"}))
	if exists(second.MetadataLocation) || !exists(third.MetadataLocation) || !exists(fourth.MetadataLocation) {
		t.Errorf("after a commit that cuts the log: second %v, third %v, fourth %v",
			exists(second.MetadataLocation), exists(third.MetadataLocation), exists(fourth.MetadataLocation))
	}
	// A registered document may claim any file as its own history.
	forged := strings.ReplaceAll(apart(t, fourth.Metadata, f.Warehouse()+"/forged"), third.MetadataLocation, other.MetadataLocation)
	path := filepath.Join(f.dir, "forged.metadata.json")
	if err := os.WriteFile(path, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.RegisterTable(context.Background(), &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"a"}, Name: "forged", MetadataLocation: path}); err != nil {
		t.Fatal(err)
	}
	f.commit(setProperties(ident("forged", "a"), map[string]string{"k": "2"}))
	if !exists(other.MetadataLocation) {
		t.Error("a forged log took another table's metadata")
	}
}

func TestOldMetadataFilesAreRemovedFromAChosenFolderInsideTheTable(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	for name, inside := range map[string]bool{"inside": true, "beside": false} {
		id := ident(name, "a")
		var doc struct{ Location string }
		if err := json.Unmarshal(f.table(id).Metadata, &doc); err != nil {
			t.Fatal(err)
		}
		folder := doc.Location + "/elsewhere/"
		if !inside {
			folder = doc.Location + "-elsewhere"
		}
		first := f.commit(setProperties(id, map[string]string{"write.metadata.path": folder,
			"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}))
		second := f.commit(setProperties(id, map[string]string{"k": "1"}))
		f.commit(setProperties(id, map[string]string{"k": "2"}))
		if _, err := os.Stat(local(first.MetadataLocation)); os.IsNotExist(err) != inside {
			t.Errorf("%s: the file that was cut off the log: %v", name, err)
		}
		if _, err := os.Stat(local(second.MetadataLocation)); err != nil {
			t.Errorf("%s: the previous file: %v", name, err)
		}
	}
}
