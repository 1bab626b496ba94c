package jobs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/jobs/jobstest"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// surroundings are the files of others: beside the table, inside its folder, in
// a folder whose name begins as its own does, and a table of its own.
func (y *yard) surroundings() {
	y.write("ns/t/foreign.parquet", "not named by the table")
	y.write("ns/t/data/foreign.parquet", "not named by the table")
	y.write("ns/t2/data/x.parquet", "another table's")
	y.write("ns/beside.parquet", "beside")
	other := y.table("ns/other")
	other.Append(jobstest.Snapshot{Manifests: 1, Files: 3})
	other.Finish(nil)
}

func wantDone(t testing.TB, j store.Job) Progress {
	t.Helper()
	if j.State != store.JobDone || j.LastError != "" || j.Lease != "" {
		t.Fatalf("the job is %s: %s (lease %q)", j.State, j.LastError, j.Lease)
	}
	p := ReadProgress(j.Progress)
	if p.Found != p.Deleted+p.Skipped {
		t.Errorf("found %d, deleted %d, skipped %d", p.Found, p.Deleted, p.Skipped)
	}
	return p
}

func TestPurgeDeletesWhatTheTableNamesAndNothingElse(t *testing.T) {
	y := newYard(t)
	y.surroundings()
	before := y.tree()
	table := y.table("ns/t")
	outside := []string{
		"file://" + y.dir + "/ns/t2/data/x.parquet", "file://" + y.dir + "/ns/beside.parquet",
		"file://" + y.dir + "/ns/t/../beside.parquet", "file://" + y.dir + "/ns/t", "file:///etc/hostname", "s3://elsewhere/x", "relative", "",
	}
	outside = outside[:len(outside)-1] // the library writes no empty name
	table.Append(jobstest.Snapshot{Manifests: 2, Files: 5, Deletes: 3, Also: outside})
	table.Append(jobstest.Snapshot{Manifests: 1, Files: 4})
	y.write("ns/t/data/region=a%2Fb%3F/1.parquet", "rows")
	table.Append(jobstest.Snapshot{Manifests: 1, Files: 1, Also: []string{"file:" + y.dir + "/ns/t/data/region=a%2Fb%3F/1.parquet"}})
	y.write("ns/t/metadata/stats.puffin", "statistics")
	y.write("ns/t/metadata/parts.parquet", "partition statistics")
	y.write("ns/t/metadata/00000-old.metadata.json", "{}")
	at := "file://" + y.dir + "/ns/t/metadata/"
	file := table.Finish(map[string]any{
		"statistics":           []any{map[string]any{"snapshot-id": 1, "statistics-path": at + "stats.puffin", "file-size-in-bytes": 10}},
		"partition-statistics": []any{map[string]any{"snapshot-id": 1, "statistics-path": at + "parts.parquet", "file-size-in-bytes": 10}},
		"metadata-log": []any{map[string]any{"timestamp-ms": 1, "metadata-file": at + "00000-old.metadata.json"},
			map[string]any{"timestamp-ms": 2, "metadata-file": "file://" + y.dir + "/ns/t2/data/x.parquet"},
			map[string]any{"timestamp-ms": 3, "metadata-file": at + "00001-current.metadata.json"}},
	})
	p := wantDone(t, y.attempt(context.Background(), record(t, y.store, KindPurge, file)))
	// data 2*5+3+4+1, the one with an encoded name, manifests 2+1+1+1, lists 3,
	// statistics 2, metadata 2.
	if want := int64(18 + 1 + 5 + 3 + 2 + 2); p.Deleted != want || p.Skipped != int64(len(outside)+1) || p.Bytes <= 0 {
		t.Errorf("deleted %d, want %d; skipped %d, want %d; %d bytes", p.Deleted, want, p.Skipped, len(outside)+1, p.Bytes)
	}
	if y.purge.Deleted() != p.Deleted {
		t.Errorf("counted %d", y.purge.Deleted())
	}
	y.wantTree(before)
}

func TestPurgeTakesItsEmptyFoldersAndNeverTheWarehouse(t *testing.T) {
	y := newYard(t)
	table := y.table("ns/t")
	table.Append(jobstest.Snapshot{Manifests: 1, Files: 3})
	wantDone(t, y.attempt(context.Background(), record(t, y.store, KindPurge, table.Finish(nil))))
	y.wantTree(map[string]string{"ns/": ""})
	if _, err := os.Stat(y.dir); err != nil {
		t.Error(err)
	}
}

// stopAfter cancels a context at the n-th removal: the purge ends there as it
// ends with its process.
func (y *yard) stopAfter(n int) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	y.storage.remove = func(context.Context, []warehouse.Location) error {
		if n--; n < 0 {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	return ctx, func() { y.storage.remove = nil; cancel() }
}

// TestPurgeIsResumedFromAnyPoint ends the purge before each of its removals in
// turn, once, and resumes it: it always ends, with the same counts.
func TestPurgeIsResumedFromAnyPoint(t *testing.T) {
	removals := 0
	for stop := 0; ; stop++ {
		y := newYard(t)
		y.surroundings()
		before := y.tree()
		table := y.table("ns/t")
		table.Append(jobstest.Snapshot{Manifests: 2, Files: 700, Deletes: 3})
		table.Append(jobstest.Snapshot{Manifests: 1, Files: 700})
		id := record(t, y.store, KindPurge, table.Finish(nil))
		ctx, clear := y.stopAfter(stop)
		first := y.attempt(ctx, id)
		clear()
		if first.State == store.JobDone {
			removals = stop
			break
		}
		if first.State != store.JobWaiting || first.Lease != "" || first.LastError != "" {
			t.Fatalf("stop %d: %+v", stop, first)
		}
		seen := ReadProgress(first.Progress)
		job := y.attempt(context.Background(), id)
		p := wantDone(t, job)
		if want := int64(2100 + 3 + 4 + 2 + 1); p.Found != want || p.Deleted != want || job.Attempts != 2 {
			t.Errorf("stop %d: found %d and deleted %d in %d attempts, want %d in 2", stop, p.Found, p.Deleted, job.Attempts, want)
		}
		// Settled, and then begun once more, as after a kill before that was recorded.
		again := y.again(id)
		if again.Found != p.Found || again.Deleted != p.Deleted {
			t.Errorf("stop %d: begun once more it says %+v", stop, again)
		}
		if seen.Found > p.Found || seen.Deleted > p.Deleted {
			t.Errorf("stop %d: it said more before: %+v", stop, seen)
		}
		y.wantTree(before)
		if t.Failed() {
			return
		}
	}
	if removals < 6 {
		t.Errorf("only %d removals", removals)
	}
}

// again begins a job that is done once more, as when its end was not recorded.
func (y *yard) again(id uuid.UUID) Progress {
	y.Helper()
	change(y, y.store, id, func(j *store.Job) { j.State = store.JobWaiting })
	return wantDone(y, y.attempt(context.Background(), id))
}

// TestPurgeResumesAfterItsMetadataWent: the process ended between the removal of
// the last file and saying so.
func TestPurgeResumesAfterItsMetadataWent(t *testing.T) {
	y := newYard(t)
	table := y.table("ns/t")
	table.Append(jobstest.Snapshot{Manifests: 1, Files: 3})
	file := table.Finish(nil)
	id := record(t, y.store, KindPurge, file)
	ctx, cancel := context.WithCancel(context.Background())
	y.storage.remove = func(ctx context.Context, files []warehouse.Location) error {
		if len(files) == 1 && files[0].String() == file {
			if err := os.Remove(jobstest.Path(file)); err != nil {
				t.Error(err)
			}
			cancel()
			return ctx.Err()
		}
		return nil
	}
	if j := y.attempt(ctx, id); j.State != store.JobWaiting {
		t.Fatalf("%+v", j)
	}
	y.storage.remove = nil
	p := wantDone(t, y.attempt(context.Background(), id))
	// Data 3, manifest, list, metadata.
	if p.Note != "" || p.Found != 6 {
		t.Errorf("%+v", p)
	}
	y.wantTree(map[string]string{"ns/": ""})
}

func TestPurgeOfALostTableEndsAtOnceAndSaysSo(t *testing.T) {
	y := newYard(t)
	y.surroundings()
	table := y.table("ns/t")
	table.Append(jobstest.Snapshot{Manifests: 1, Files: 3})
	file := table.Finish(nil)
	if err := os.Remove(jobstest.Path(file)); err != nil {
		t.Fatal(err)
	}
	before := y.tree()
	p := wantDone(t, y.attempt(context.Background(), record(t, y.store, KindPurge, file)))
	if !strings.Contains(p.Note, "lost before the drop") || p.Found != 0 {
		t.Errorf("%+v", p)
	}
	y.wantTree(before)
}

func TestPurgeFailsWhileAManifestIsMissingAndLeavesTheMetadata(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"missing": os.Remove,
		"damaged": func(file string) error { return os.WriteFile(file, []byte("no avro"), 0o644) },
		"cut off": func(file string) error { return os.Truncate(file, 700) },
		"empty":   func(file string) error { return os.Truncate(file, 0) },
	} {
		for _, which := range []string{"manifest", "list"} {
			t.Run(name+" "+which, func(t *testing.T) {
				y := newYard(t)
				table := y.table("ns/t")
				table.Append(jobstest.Snapshot{Manifests: 2, Files: 5})
				file := table.Finish(nil)
				spoiled := table.Manifests[1]
				if which == "list" {
					spoiled = table.Lists[0]
				}
				whole, err := os.ReadFile(jobstest.Path(spoiled))
				if err != nil {
					t.Fatal(err)
				}
				if err := spoil(jobstest.Path(spoiled)); err != nil {
					t.Fatal(err)
				}
				id := record(t, y.store, KindPurge, file)
				j := y.attempt(context.Background(), id)
				if j.State != store.JobWaiting || !strings.Contains(j.LastError, spoiled) || !strings.Contains(j.LastError, "all metadata of the table") || j.NotBefore.IsZero() {
					t.Fatalf("%s: %q, again at %v", j.State, j.LastError, j.NotBefore)
				}
				for _, kept := range append(append([]string{file}, table.Manifests...), table.Lists...) {
					if _, err := os.Stat(jobstest.Path(kept)); err != nil && kept != spoiled {
						t.Errorf("metadata is gone: %v", err)
					}
				}
				left := 0
				for _, data := range table.Data {
					if _, err := os.Stat(jobstest.Path(data)); err == nil {
						left++
					}
				}
				if want := map[string]int{"manifest": 5, "list": 10}[which]; left != want {
					t.Errorf("%d data files are left, want %d", left, want)
				}
				// Put right, it ends.
				if err := os.WriteFile(jobstest.Path(spoiled), whole, 0o644); err != nil {
					t.Fatal(err)
				}
				wantDone(t, y.attempt(context.Background(), id))
				y.wantTree(map[string]string{"ns/": ""})
			})
		}
	}
}

func TestPurgeTriesAgainWhileStorageIsDown(t *testing.T) {
	y := newYard(t)
	table := y.table("ns/t")
	table.Append(jobstest.Snapshot{Manifests: 2, Files: 5})
	id := record(t, y.store, KindPurge, table.Finish(nil))
	y.storage.remove = func(context.Context, []warehouse.Location) error {
		return errors.New("dial tcp 10.0.0.1: secret of the inside")
	}
	for range 3 {
		j := y.attempt(context.Background(), id)
		if j.State != store.JobWaiting || !strings.Contains(j.LastError, "cannot be deleted") || strings.Contains(j.LastError, "inside") {
			t.Fatalf("%s: %s", j.State, j.LastError)
		}
	}
	y.storage.remove = nil
	if j := y.attempt(context.Background(), id); j.Attempts != 4 {
		t.Errorf("%d attempts", j.Attempts)
	} else {
		wantDone(t, j)
	}
	y.wantTree(map[string]string{"ns/": ""})
}

func TestPurgeLeavesTheDataOfATableThatSharesIt(t *testing.T) {
	for value, keeps := range map[string]bool{"false": true, "FALSE": true, "no": true, "true": false, "True": false} {
		y := newYard(t)
		table := y.table("ns/t")
		table.Append(jobstest.Snapshot{Manifests: 1, Files: 3})
		id := record(t, y.store, KindPurge, table.Finish(map[string]any{"properties": map[string]string{"gc.enabled": value}}))
		p := wantDone(t, y.attempt(context.Background(), id))
		left := 0
		for name := range y.tree() {
			if strings.HasSuffix(name, ".parquet") {
				left++
			} else if !strings.HasSuffix(name, "/") {
				t.Errorf("gc.enabled=%s: %s is left", value, name)
			}
		}
		if (left == 3) != keeps || (left == 0) == keeps || strings.Contains(p.Note, "gc.enabled") != keeps {
			t.Errorf("gc.enabled=%s: %d data files are left, and it notes %q", value, left, p.Note)
		}
	}
}

// TestPurgeWhoseMetadataSomebodyElseDeletesIsNotDone: nobody knows what is left.
func TestPurgeWhoseMetadataSomebodyElseDeletesIsNotDone(t *testing.T) {
	y := newYard(t)
	table := y.table("ns/t")
	table.Append(jobstest.Snapshot{Manifests: 1, Files: 3})
	y.write("ns/t/metadata/00000-old.metadata.json", "{}")
	file := table.Finish(map[string]any{"metadata-log": []any{map[string]any{"timestamp-ms": 1, "metadata-file": table.Location + "/metadata/00000-old.metadata.json"}}})
	for stop := 1; stop <= 3; stop++ { // before manifests, the list, and the old metadata file
		id := record(t, y.store, KindPurge, file)
		ctx, clear := y.stopAfter(stop)
		y.attempt(ctx, id)
		clear()
		content, err := os.ReadFile(jobstest.Path(file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(jobstest.Path(file)); err != nil {
			t.Fatal(err)
		}
		j := y.attempt(context.Background(), id)
		if j.State != store.JobWaiting || !strings.Contains(j.LastError, "went away in the middle") {
			t.Errorf("stop %d: %s: %s", stop, j.State, j.LastError)
		}
		change(t, y.store, id, func(j *store.Job) { j.State = store.JobFailed })
		if err := os.WriteFile(jobstest.Path(file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPurgeNotesEachThingOnce(t *testing.T) {
	w := &walk{}
	for _, text := range []string{"first", "second", "first", "second"} {
		w.note(text)
	}
	if w.now.Note != "first; second" {
		t.Errorf("%q", w.now.Note)
	}
}

func TestPurgeOfATableWithoutSnapshotsTakesItsMetadata(t *testing.T) {
	y := newYard(t)
	p := wantDone(t, y.attempt(context.Background(), record(t, y.store, KindPurge, y.table("ns/t").Finish(nil))))
	if p.Deleted != 1 {
		t.Errorf("%+v", p)
	}
	y.wantTree(map[string]string{"ns/": ""})
}

// TestPurgeDoesNotFollowMetadataOutOfTheTable: metadata and manifests that lie
// elsewhere are read, if they can be, and left.
func TestPurgeDoesNotFollowMetadataOutOfTheTable(t *testing.T) {
	y := newYard(t)
	inner := y.table("ns/t")
	shelf := y.table("shelf")
	y.write("ns/t/data/mine.parquet", "rows")
	shelf.Append(jobstest.Snapshot{Manifests: 1, Files: 2, Also: []string{inner.Location + "/data/mine.parquet"}})
	file := shelf.Finish(map[string]any{"location": inner.Location,
		"metadata-log": []any{map[string]any{"timestamp-ms": 1, "metadata-file": "file:///elsewhere/00000.metadata.json"}}})
	before := y.tree()
	id := record(t, y.store, KindPurge, file)
	change(t, y.store, id, func(j *store.Job) { j.Progress = Progress{Location: inner.Location}.Record() })
	p := wantDone(t, y.attempt(context.Background(), id))
	// Its two data files, manifest, list, metadata file and the one of the log.
	if p.Deleted != 1 || p.Skipped != 6 {
		t.Errorf("%+v", p)
	}
	delete(before, "ns/t/data/mine.parquet")
	for _, folder := range []string{"ns/t/", "ns/t/data/", "ns/t/metadata/"} {
		delete(before, folder)
	}
	y.wantTree(before)
}

// Whoever may write the table's data has keys that outlive the drop, and can write
// its metadata file anew before the purge reads it: with another table's location,
// and that one's files in its snapshots. What counts is where the table lay.
func TestPurgeDeletesNothingOfAnotherTableWhoseLocationTheMetadataTookOnSince(t *testing.T) {
	y := newYard(t)
	victim, mine := y.table("ns/victim"), y.table("ns/mine")
	victim.Append(jobstest.Snapshot{Manifests: 1, Files: 3})
	victim.Finish(nil)
	mine.Append(jobstest.Snapshot{Manifests: 1, Files: 2, Also: []string{victim.Location + "/data/theirs.parquet"}})
	y.write("ns/victim/data/theirs.parquet", "rows")
	file := mine.Finish(map[string]any{"location": victim.Location})
	before := y.tree()
	for _, known := range []string{mine.Location, ""} {
		id := record(t, y.store, KindPurge, file)
		change(t, y.store, id, func(j *store.Job) { j.Progress = Progress{Location: known}.Record() })
		if p := wantDone(t, y.attempt(context.Background(), id)); p.Deleted != 0 || !strings.Contains(p.Note, "nothing") {
			t.Errorf("lay at %q: %+v", known, p)
		}
		y.wantTree(before)
	}
}

func TestPurgeOfDamagedMetadataWaitsAndSaysWhy(t *testing.T) {
	y := newYard(t)
	y.write("ns/t/metadata/x.metadata.json", `{"location": 7}`)
	before := y.tree()
	j := y.attempt(context.Background(), record(t, y.store, KindPurge, "file://"+y.dir+"/ns/t/metadata/x.metadata.json"))
	if j.State != store.JobWaiting || !strings.Contains(j.LastError, "damaged") {
		t.Errorf("%s: %s", j.State, j.LastError)
	}
	y.wantTree(before)
}

// TestPurgeRemembersABoundedNumberOfNames: beyond it, it does things twice.
func TestPurgeRemembersABoundedNumberOfNames(t *testing.T) {
	s := newSeen(2)
	for _, step := range []struct {
		name  string
		first bool
	}{{"a", true}, {"a", false}, {"b", true}, {"c", true}, {"c", true}, {"b", false}} {
		if got := s.first(step.name); got != step.first {
			t.Errorf("%s: %v", step.name, got)
		}
	}
	if len(s.digests) != 2 {
		t.Errorf("%d are remembered", len(s.digests))
	}
	if add(math.MaxInt64-1, 2) != math.MaxInt64 {
		t.Error("sizes overflow")
	}
}

// TestPurgeSaysHowFarItIsAfterEveryBatch looks at the record from outside while
// the purge is at work.
func TestPurgeSaysHowFarItIsAfterEveryBatch(t *testing.T) {
	y := newYard(t)
	table := y.table("ns/t")
	table.Append(jobstest.Snapshot{Manifests: 3, Files: 1000})
	id := record(t, y.store, KindPurge, table.Finish(nil))
	var said []string
	y.storage.remove = func(context.Context, []warehouse.Location) error {
		j := look(t, y.store, id)
		p := ReadProgress(j.Progress)
		said = append(said, fmt.Sprintf("%s %s %d", j.State, p.Phase, p.Deleted))
		return nil
	}
	wantDone(t, y.attempt(context.Background(), id))
	want := []string{"running data 0", "running data 1000", "running data 2000",
		"running manifests 3000", "running manifest-lists 3003", "running metadata 3005"}
	if fmt.Sprint(said) != fmt.Sprint(want) {
		t.Errorf("said\n%v\nwant\n%v", said, want)
	}
}
