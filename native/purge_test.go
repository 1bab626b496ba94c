package native

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/jobs"
	"github.com/icefield/icefield/native/jobs/jobstest"
	"github.com/icefield/icefield/native/store"
)

func (f *fixture) drop(id mounts.Identifier) error {
	return f.DropTable(context.Background(), &mounts.DropTableRequest{Table: id, Purge: true})
}

// jobs lists all jobs.
func (f *fixture) jobs() []mounts.Job {
	f.t.Helper()
	list, err := f.Jobs(context.Background(), "", 1000)
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

// purged waits until every job is done.
func (f *fixture) purged() []mounts.Job {
	f.t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		list := f.jobs()
		if !slices.ContainsFunc(list, func(j mounts.Job) bool { return j.State != "done" }) {
			return list
		}
		select {
		case <-tick.C:
		case <-limit.C:
			f.t.Fatalf("not done: %+v", list)
		}
	}
}

// idle makes a fixture that does no jobs.
func idle(c *Config) { c.ReadOnly = true }

// filled creates a table with files, by a create and a commit as an engine makes
// them.
func (f *fixture) filled(id mounts.Identifier, location string, snapshots ...jobstest.Snapshot) (*mounts.Table, *jobstest.Layout) {
	f.t.Helper()
	req := createRequest(id)
	req.Location = location
	created, err := f.CreateTable(context.Background(), req)
	if err != nil {
		f.t.Fatal(err)
	}
	var doc struct{ Location string }
	if err := json.Unmarshal(created.Metadata, &doc); err != nil {
		f.t.Fatal(err)
	}
	l := jobstest.New(f.t, doc.Location)
	for _, s := range snapshots {
		l.Append(s)
	}
	commit := &mounts.CommitTableRequest{Table: id}
	for _, u := range l.Updates {
		text, err := json.Marshal(u)
		if err != nil {
			f.t.Fatal(err)
		}
		commit.Updates = append(commit.Updates, text)
	}
	return f.commit(commit), l
}

func TestDropWithPurgeTakesTheTablesFilesAndNoOthers(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	keeps := ident("keeps", "a")
	f.filled(keeps, "", jobstest.Snapshot{Manifests: 1, Files: 3})
	before := jobstest.Tree(t, f.dir)
	id := ident("t", "a")
	_, layout := f.filled(id, "", jobstest.Snapshot{Manifests: 2, Files: 4, Deletes: 2}, jobstest.Snapshot{Manifests: 1, Files: 1})
	foreign := layout.Location + "/data/foreign.parquet"
	if err := os.WriteFile(local(foreign), []byte("of nobody"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := mounts.WithCaller(context.Background(), mounts.Caller{Principal: "ann", RequestID: "r-1"})
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: id, Purge: true}); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.drop(id), mounts.NoSuchTable, "a.t", "Table does not exist: a.t")
	list := f.purged()
	if len(list) != 1 {
		t.Fatalf("%d jobs", len(list))
	}
	j := list[0]
	// Data 8+2+1, manifests 2+1+1, lists 2, metadata 2.
	if j.Kind != "purge" || j.Object.String() != "a.t" || j.ObjectKind != "table" || j.Deleted != 19 || j.Found != 19 || j.Skipped != 0 || j.Phase != "metadata" ||
		j.Principal != "ann" || j.RequestID != "r-1" || j.Attempts != 1 || j.Runner != "" || j.Created.IsZero() || j.Updated.Before(j.Created) {
		t.Errorf("%+v", j)
	}
	if _, err := os.Stat(local(foreign)); err != nil {
		t.Error("a file that the table does not name is gone")
	}
	after := jobstest.Tree(t, f.dir)
	maps.DeleteFunc(after, func(name, _ string) bool { return strings.HasPrefix(f.dir+"/"+name, local(layout.Location)+"/") })
	if !maps.Equal(before, after) {
		t.Errorf("before\n%v\nafter\n%v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	f.load(keeps)
}

// TestDropAndItsJobAreOneTransaction: neither is there without the other, however
// the transaction ends.
func TestDropAndItsJobAreOneTransaction(t *testing.T) {
	f := newFixture(t, idle)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	f.inner.update = func(context.Context, func() error) error { return errors.New("no room") }
	wantError(t, f.drop(id), mounts.Internal, "a.t", "")
	f.inner.update = nil
	f.load(id)
	if n := len(f.jobs()); n != 0 {
		t.Fatalf("%d jobs of a drop that failed", n)
	}
	updates := 0
	f.inner.update = func(_ context.Context, next func() error) error {
		updates++
		if err := next(); err != nil {
			return err
		}
		return store.ErrOutcomeUnknown
	}
	if e := wantError(t, f.drop(id), mounts.Internal, "a.t", ""); !e.OutcomeUnknown {
		t.Error("the outcome is unknown, and it does not say so")
	}
	f.inner.update = nil
	if n := len(f.jobs()); n != 1 || updates != 1 {
		t.Errorf("%d jobs after %d transactions", n, updates)
	}
	_, err := f.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: id})
	wantError(t, err, mounts.NoSuchTable, "a.t", "")
}

func TestPurgeIsRefusedWholeWhereFilesMayBeAnothers(t *testing.T) {
	const why = "another table or view of this catalog has its metadata inside the same location; nothing was dropped. Drop it without purge"
	ctx := context.Background()
	cases := map[string]func(f *fixture, at string){
		"a table inside": func(f *fixture, at string) {
			f.point(ident("other", "a"), at+"/inner/metadata/00000-x.metadata.json")
		},
		"a table inside, spelled otherwise": func(f *fixture, at string) {
			f.point(ident("other", "a"), "file:"+local(at)+"/inner/metadata/00000-x.metadata.json")
		},
		"the same file twice": func(f *fixture, _ string) {
			f.point(ident("other", "a"), f.load(ident("t", "a")).MetadataLocation)
		},
	}
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.namespace("a")
			id := ident("t", "a")
			_, layout := f.filled(id, "", jobstest.Snapshot{Manifests: 1, Files: 2})
			make(f, layout.Location)
			before := jobstest.Tree(t, f.dir)
			wantError(t, f.drop(id), mounts.InvalidArgument, "a.t", why)
			f.load(id)
			if n := len(f.jobs()); n != 0 {
				t.Errorf("%d jobs", n)
			}
			if !maps.Equal(before, jobstest.Tree(t, f.dir)) {
				t.Error("files changed")
			}
			if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("other", "a")}); err != nil {
				t.Fatal(err)
			}
			if err := f.drop(id); err != nil {
				t.Errorf("after the other one is gone: %v", err)
			}
			f.purged()
		})
	}
}

// TestPurgeDoesNotMindNeighbours: a table whose folder begins with the same
// letters lies beside, not inside.
func TestPurgeDoesNotMindNeighbours(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	f.filled(ident("t2", "a"), "file://"+f.dir+"/place2", jobstest.Snapshot{Manifests: 1, Files: 2})
	before := jobstest.Tree(t, f.dir)
	f.filled(ident("t", "a"), "file://"+f.dir+"/place", jobstest.Snapshot{Manifests: 1, Files: 2})
	if err := f.drop(ident("t", "a")); err != nil {
		t.Fatal(err)
	}
	f.purged()
	if after := jobstest.Tree(t, f.dir); !maps.Equal(before, after) {
		t.Errorf("before\n%v\nafter\n%v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

func TestPurgeOfAProtectedTableIsRefused(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	f.commit(setProperties(id, map[string]string{"icefield.protected": "true"}))
	wantError(t, f.drop(id), mounts.InvalidArgument, "a.t", "a.t is protected and is not purged; nothing was dropped. Set its property icefield.protected to false first")
	f.load(id)
	f.commit(setProperties(id, map[string]string{"icefield.protected": "false"}))
	if err := f.drop(id); err != nil {
		t.Error(err)
	}
	f.purged()
}

func TestPurgeOfATableWhoseMetadataIsLostDropsItAndSaysThatNothingWasFound(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MetadataCache = 0 })
	f.namespace("a")
	id := ident("t", "a")
	table, layout := f.filled(id, "", jobstest.Snapshot{Manifests: 1, Files: 2})
	if err := os.Remove(local(table.MetadataLocation)); err != nil {
		t.Fatal(err)
	}
	if err := f.drop(id); err != nil {
		t.Fatal(err)
	}
	list := f.purged()
	if len(list) != 1 || !strings.Contains(list[0].Note, "lost before the drop") || list[0].Found != 0 {
		t.Errorf("%+v", list)
	}
	for _, file := range layout.Data {
		if _, err := os.Stat(local(file)); err != nil {
			t.Error(err)
		}
	}
}

func TestPurgeOfADamagedTableIsRefused(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MetadataCache = 0 })
	f.namespace("a")
	id := ident("t", "a")
	table := f.table(id)
	if err := os.WriteFile(local(table.MetadataLocation), []byte(`{"location": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.drop(id), mounts.InvalidArgument, "a.t", "is damaged, so its files cannot be found; nothing was dropped. Drop it without purge")
	if err := f.DropTable(context.Background(), &mounts.DropTableRequest{Table: id}); err != nil {
		t.Error(err)
	}
}

// TestPurgeCountsOnTheNewestMetadata: a commit between reading and dropping is
// not left out.
func TestPurgeCountsOnTheNewestMetadata(t *testing.T) {
	f := newFixture(t, idle)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	var newest string
	f.inner.update = func(ctx context.Context, next func() error) error {
		f.inner.update = nil
		// Another replica's commit, which no gate of this one holds up.
		other := *f.Backend
		other.gate = newGate()
		table, err := other.CommitTable(ctx, &mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{
			json.RawMessage(`{"action":"set-location","location":"file://` + f.dir + `/moved"}`)}})
		if err != nil {
			t.Error(err)
			return next()
		}
		newest = table.MetadataLocation
		return next()
	}
	if err := f.drop(id); err != nil {
		t.Fatal(err)
	}
	var all []store.Job
	if err := f.inner.View(context.Background(), func(tx store.Tx) (err error) { all, err = tx.Jobs(uuid.Nil, 10); return err }); err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Location != newest || newest == "" || jobs.ReadProgress(all[0].Progress).Location != "file://"+f.dir+"/moved" {
		t.Errorf("the job begins at %+v, the newest metadata is %s", all, newest)
	}
}

func TestNothingIsRegisteredFromFilesThatAreBeingPurged(t *testing.T) {
	f := newFixture(t, idle)
	ctx := context.Background()
	f.namespace("a")
	id := ident("t", "a")
	first := f.table(id)
	second := f.commit(setProperties(id, map[string]string{"k": "v"}))
	if err := f.drop(id); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{first.MetadataLocation, second.MetadataLocation, "file:" + local(second.MetadataLocation)} {
		_, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: id.Namespace, Name: "again", MetadataLocation: file})
		wantError(t, err, mounts.BadRequest, "a.again", "is being deleted: its table was dropped with purge")
	}
	f.table(id) // the name is free
	kept := f.table(ident("kept", "a"))
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("kept", "a")}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: id.Namespace, Name: "again", MetadataLocation: kept.MetadataLocation}); err != nil {
		t.Errorf("another table's file: %v", err)
	}
}

func TestARepeatedDropMakesNoSecondJob(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	drop := &mounts.DropTableRequest{Table: id, Purge: true}
	f.must("key", drop)
	f.table(id) // a new one of that name
	f.must("key", drop)
	f.load(id)
	if n := len(f.jobs()); n != 1 {
		t.Errorf("%d jobs", n)
	}
	if w, ok := f.served.(mounts.Working); !ok {
		t.Error("the registry with keys shows no jobs")
	} else if list, err := w.Jobs(context.Background(), "", 10); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestARegistryThatIsReadOnlyShowsJobsAndDoesNone(t *testing.T) {
	f := newFixture(t, idle)
	f.namespace("a")
	f.table(ident("t", "a"))
	f.table(ident("u", "a"))
	before := jobstest.Tree(t, f.dir)
	for _, name := range []string{"t", "u"} {
		if err := f.drop(ident(name, "a")); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	page, err := f.Jobs(ctx, "", 1)
	if err != nil || len(page) != 1 || page[0].Object.Name != "u" || page[0].State != "waiting" || page[0].Attempts != 0 {
		t.Fatalf("%+v, %v", page, err)
	}
	next, err := f.Jobs(ctx, page[0].ID, 10)
	if err != nil || len(next) != 1 || next[0].Object.Name != "t" {
		t.Fatalf("%+v, %v", next, err)
	}
	if _, err := f.Jobs(ctx, "no id", 10); !errors.Is(err, mounts.BadRequest) {
		t.Errorf("a cursor that is none: %v", err)
	}
	if !maps.Equal(before, jobstest.Tree(t, f.dir)) {
		t.Error("files changed")
	}
}

// TestPurgeGoesOnAfterARestart closes the registry with jobs waiting.
func TestPurgeGoesOnAfterARestart(t *testing.T) {
	f := newFixture(t, idle)
	f.namespace("a")
	id := ident("t", "a")
	f.filled(id, "", jobstest.Snapshot{Manifests: 1, Files: 5})
	if err := f.drop(id); err != nil {
		t.Fatal(err)
	}
	b, err := Open(context.Background(), Config{Store: unclosed{f.inner.Store}, Warehouse: f.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if list := f.purged(); len(list) != 1 || list[0].Deleted == 0 {
		t.Errorf("%+v", list)
	}
	if b.JobCounts().FilesDeleted != f.jobs()[0].Deleted {
		t.Errorf("counted %+v", b.JobCounts())
	}
}
