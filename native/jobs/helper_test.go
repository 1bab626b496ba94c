package jobs

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/jobs/jobstest"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/native/warehouse"
)

// shared hides that the store is held by one process, as a database is not.
type shared struct {
	store.Store
	// update, if set, stands before every Update.
	update func(ctx context.Context) error
}

func (s *shared) Update(ctx context.Context, f func(store.Tx) error) error {
	if s.update != nil {
		if err := s.update(ctx); err != nil {
			return err
		}
	}
	return s.Store.Update(ctx, f)
}

func openStore(t testing.TB) store.Store {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func record(t testing.TB, s store.Store, kind, location string) uuid.UUID {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	job := store.Job{ID: id, Kind: kind, Object: uuid.New(), Ident: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"},
		ObjectKind: store.Table, Location: location, State: store.JobWaiting, Created: now, Updated: now, By: store.By{Time: now, Principal: "tester"}}
	// As the drop notes it, where the table lies around its metadata.
	if place, _, ok := strings.Cut(location, "/metadata/"); ok {
		job.Progress = Progress{Location: place}.Record()
	}
	if err := s.Update(context.Background(), func(tx store.Tx) error { return tx.CreateJob(job) }); err != nil {
		t.Fatal(err)
	}
	return id
}

func look(t testing.TB, s store.Store, id uuid.UUID) store.Job {
	t.Helper()
	var j store.Job
	if err := s.View(context.Background(), func(tx store.Tx) (err error) {
		j, err = tx.Job(id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return j
}

func change(t testing.TB, s store.Store, id uuid.UUID, f func(*store.Job)) {
	t.Helper()
	if err := s.Update(context.Background(), func(tx store.Tx) error {
		j, err := tx.Job(id)
		if err != nil {
			return err
		}
		f(&j)
		return tx.PutJob(j)
	}); err != nil {
		t.Fatal(err)
	}
}

// yard is a warehouse on disk with a store of jobs, for purges.
type yard struct {
	testing.TB
	dir       string
	store     store.Store
	warehouse *warehouse.Warehouse
	runner    *Runner
	purge     *Purge
	// storage stands before the warehouse.
	storage *storage
}

// storage lets a test come between a purge and its files.
type storage struct {
	*warehouse.Warehouse
	remove func(ctx context.Context, files []warehouse.Location) error
}

func (s *storage) RemoveAll(ctx context.Context, files []warehouse.Location) (int, error) {
	if s.remove != nil {
		if err := s.remove(ctx, files); err != nil {
			return 0, err
		}
	}
	return s.Warehouse.RemoveAll(ctx, files)
}

func newYard(t testing.TB) *yard {
	t.Helper()
	dir := t.TempDir()
	w, err := warehouse.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	y := &yard{TB: t, dir: dir, store: openStore(t), warehouse: w, storage: &storage{Warehouse: w}}
	y.purge = &Purge{Storage: y.storage, Read: w.Read}
	y.runner = New(Config{Store: y.store, Works: map[string]Work{KindPurge: y.purge}})
	return y
}

func (y *yard) table(path string) *jobstest.Layout { return jobstest.New(y, "file://"+y.dir+"/"+path) }

// attempt makes one attempt at a job, as a worker does.
func (y *yard) attempt(ctx context.Context, id uuid.UUID) store.Job {
	y.Helper()
	change(y, y.store, id, func(j *store.Job) { j.NotBefore = time.Time{} })
	job, err := y.runner.take(ctx)
	if err != nil {
		y.Fatal(err)
	}
	if job.ID != id {
		y.Fatalf("took %s", job.ID)
	}
	y.runner.attempt(ctx, job)
	return look(y, y.store, id)
}

// tree is what lies in the warehouse.
func (y *yard) tree() map[string]string { return jobstest.Tree(y, y.dir) }

// wantTree compares what lies in the warehouse.
func (y *yard) wantTree(want map[string]string) {
	y.Helper()
	got := y.tree()
	if maps.Equal(got, want) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if content, ok := got[name]; !ok || content != want[name] {
			y.Errorf("gone or changed: %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			y.Errorf("still there: %s", name)
		}
	}
}

func (y *yard) write(path, content string) {
	y.Helper()
	name := filepath.Join(y.dir, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		y.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		y.Fatal(err)
	}
}
