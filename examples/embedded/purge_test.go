package embedded

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/native/jobs/jobstest"
)

// purgeJob is what /admin/v1/jobs says of a job.
type purgeJob struct {
	ID, Mount, Kind, State, Phase, Note string
	Object                              struct{ Name string }
	Found, Deleted, Skipped, Attempts   int
	LastError                           string `json:"last_error"`
}

// onlyJob asks the server for its jobs, of which there must be one.
func onlyJob(t *testing.T, address string) purgeJob {
	t.Helper()
	response, err := http.Get(address + "/admin/v1/jobs")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var listing struct{ Jobs []purgeJob }
	if err := json.NewDecoder(response.Body).Decode(&listing); err != nil || len(listing.Jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(listing.Jobs), err)
	}
	return listing.Jobs[0]
}

// fill puts files of a table where the server chose its place, and commits them.
func fill(t *testing.T, catalog *wire.Catalog, name string, snapshots ...jobstest.Snapshot) *jobstest.Layout {
	t.Helper()
	return catalog.MustFillTable(t, snapshots, name, "purge")
}

// finished waits until the job is done.
func finished(t *testing.T, address string, job purgeJob) purgeJob {
	t.Helper()
	for job.State != "done" {
		if job.State == "failed" || job.LastError != "" {
			t.Fatalf("%+v", job)
		}
		job = progress(t, address, job.Deleted)
	}
	return job
}

// progress waits until the job has deleted more than some files, or is done.
func progress(t *testing.T, address string, deleted int) purgeJob {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		job := onlyJob(t, address)
		if job.Deleted > deleted || job.State == "done" || job.State == "failed" {
			return job
		}
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("no progress within a minute: %+v", job)
		}
	}
}

// TestPurgeOfALargeTableSurvivesBeingKilled drops a table of 10,000 data files with purge and kills the server with
// SIGKILL while it deletes them, again and again. The purge ends, and of all other files, beside the table, inside its
// folder, and named by its own manifests, none is touched.
func TestPurgeOfALargeTableSurvivesBeingKilled(t *testing.T) {
	const kills = 4
	server, address := start(t)
	catalog := wire.New(address, "")
	catalog.MustCreateNamespace(t, "purge")
	beside := fill(t, catalog, "beside", jobstest.Snapshot{Manifests: 2, Files: 20, Deletes: 2})
	warehouse := filepath.Dir(filepath.Dir(jobstest.Path(beside.Location)))
	before := jobstest.Tree(t, warehouse)

	snapshot := jobstest.Snapshot{Manifests: 4, Files: 500, Deletes: 5}
	named := snapshot
	named.Also = []string{beside.Data[0]} // a file of the other table, which this one must not take with it
	purged := fill(t, catalog, "purged", named, snapshot, snapshot, snapshot, snapshot)
	if len(purged.Data) < 10_000 {
		t.Fatalf("only %d files", len(purged.Data))
	}
	inside := filepath.Join(jobstest.Path(purged.Location), "data", "of-another-table.parquet")
	if err := os.WriteFile(inside, []byte("rows of another table"), 0o600); err != nil {
		t.Fatal(err)
	}
	answer, err := catalog.Call("DELETE", catalog.Table("purged", "purge")+"?purgeRequested=true", nil)
	if err != nil || answer.Status != http.StatusNoContent {
		t.Fatalf("%v, %v", answer, err)
	}

	job, unfinished := purgeJob{}, 0
	for range kills {
		next := progress(t, address, job.Deleted)
		if next.State == "failed" || next.Deleted < job.Deleted || next.LastError != "" {
			t.Fatalf("after %+v it is %+v", job, next)
		}
		job = next
		server.Kill()
		server.Restart(t)
		again := onlyJob(t, address)
		if again.Deleted < job.Deleted {
			t.Errorf("before the kill it had deleted %d files, after it %d", job.Deleted, again.Deleted)
		}
		if again.State != "done" {
			unfinished++
		}
	}
	if unfinished < 2 {
		t.Errorf("only %d of %d kills came in the middle of the purge", unfinished, kills)
	}
	job = finished(t, address, job)
	// Data and delete files, manifests, lists, and the metadata files of the create and the commit.
	want := len(purged.Data) + len(purged.Manifests) + len(purged.Lists) + 2
	if job.Deleted != want || job.Skipped != 1 || job.Found != want+1 || job.LastError != "" || job.Attempts < 2 || job.Kind != "purge" || job.Object.Name != "purged" {
		t.Errorf("%+v, want %d files deleted and 1 skipped", job, want)
	}
	t.Logf("%d kills in the middle, %d attempts, %d files", unfinished, job.Attempts, job.Deleted)

	after := jobstest.Tree(t, warehouse)
	if name, err := filepath.Rel(warehouse, inside); err != nil || after[name] != "rows of another table" {
		t.Errorf("the file of another table inside the folder: %q, %v", after[name], err)
	} else {
		delete(after, name)
		for folder := filepath.Dir(name); folder != filepath.Dir(filepath.Dir(filepath.Dir(name))); folder = filepath.Dir(folder) {
			delete(after, folder+"/")
		}
	}
	if !maps.Equal(before, after) {
		t.Errorf("other files changed; gone: %q, new: %q", missing(before, after), missing(after, before))
	}
	if _, err := catalog.LoadTable("beside", "purge"); err != nil {
		t.Error(err)
	}
	if err := server.Stop(30 * time.Second); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if log := server.Output(); !strings.Contains(log, "a job begins") || !strings.Contains(log, "a job is done") {
		t.Error("the log tells of no job")
	}
}

// missing lists what is in one tree only.
func missing(from, in map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(from)), func(name string) bool { _, there := in[name]; return there })
}

// TestPurgeGoesOnAfterAStop asks the server to end in the middle: it does so at once, and the purge goes on
// with the next one.
func TestPurgeGoesOnAfterAStop(t *testing.T) {
	server, address := start(t)
	catalog := wire.New(address, "")
	catalog.MustCreateNamespace(t, "purge")
	snapshot := jobstest.Snapshot{Manifests: 5, Files: 1000}
	purged := fill(t, catalog, "purged", snapshot)
	if answer, err := catalog.Call("DELETE", catalog.Table("purged", "purge")+"?purgeRequested=True", nil); err != nil || answer.Status != http.StatusNoContent {
		t.Fatalf("%v, %v", answer, err)
	}
	progress(t, address, 0)
	if err := server.Stop(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	server.Restart(t)
	job := finished(t, address, onlyJob(t, address))
	if job.LastError != "" || job.Found != job.Deleted {
		t.Errorf("%+v", job)
	}
	if _, err := os.Stat(jobstest.Path(purged.Location)); !os.IsNotExist(err) {
		t.Errorf("the table's folder is still there: %v", err)
	}
}
