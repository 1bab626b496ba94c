//go:build peers

package replicas

import (
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/native/jobs"
	"github.com/icefield/icefield/native/jobs/jobstest"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// job is what /admin/v1/jobs says of a job.
type job struct {
	ID, State, Phase, Runner          string
	Found, Deleted, Skipped, Attempts int
	LastError                         string `json:"last_error"`
}

// jobsOf lists the jobs that a replica shows, the newest first.
func jobsOf(t *testing.T, url string) []job {
	t.Helper()
	response, err := http.Get(url + "/admin/v1/jobs?mount=prod&limit=1000")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var listing struct {
		Jobs        []job
		Unavailable []any
	}
	if err := json.NewDecoder(response.Body).Decode(&listing); err != nil || len(listing.Unavailable) > 0 {
		t.Fatalf("%+v, %v", listing, err)
	}
	return listing.Jobs
}

// await looks at a replica's jobs until they are as wanted.
func await(t *testing.T, url string, limit time.Duration, wanted func([]job) bool) []job {
	t.Helper()
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		all := jobsOf(t, url)
		if wanted(all) {
			return all
		}
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("after %v the jobs are %+v", limit, all)
		}
	}
}

func allDone(all []job) bool {
	return !slices.ContainsFunc(all, func(j job) bool { return j.State != "done" })
}

// filled makes a table with files.
func filled(t *testing.T, catalog *wire.Catalog, name string, snapshots ...jobstest.Snapshot) *jobstest.Layout {
	t.Helper()
	return catalog.MustFillTable(t, snapshots, name, "purge")
}

func dropWithPurge(t *testing.T, catalog *wire.Catalog, name string) {
	t.Helper()
	answer, err := catalog.Call("DELETE", catalog.Table(name, "purge")+"?purgeRequested=true", nil)
	if err != nil || answer.Status != http.StatusNoContent {
		t.Fatalf("%v, %v", answer, err)
	}
}

// TestAPurgeIsTakenOverFromAReplicaThatWasKilled: not before the dead one's lease ends, and soon after.
func TestAPurgeIsTakenOverFromAReplicaThatWasKilled(t *testing.T) {
	both := start(t, pgtest.Start(t).NewDatabase(t))
	catalog := wire.New(both[0].url, "prod")
	catalog.MustCreateNamespace(t, "purge")
	beside := filled(t, catalog, "beside", jobstest.Snapshot{Manifests: 1, Files: 10})
	warehouse := filepath.Dir(filepath.Dir(jobstest.Path(beside.Location)))
	before := jobstest.Tree(t, warehouse)
	purged := filled(t, catalog, "purged", jobstest.Snapshot{Manifests: 20, Files: 500, Deletes: 5})
	dropWithPurge(t, catalog, "purged")
	// The replica that was told begins at once.
	begun := await(t, both[0].url, time.Minute, func(all []job) bool { return len(all) == 1 && all[0].Deleted > 0 })[0]
	both[0].Kill()
	killed := time.Now()
	left := jobsOf(t, both[1].url)[0]
	if left.State != "running" || left.Attempts != 1 || left.Runner == "" {
		t.Fatalf("the purge was over before the kill, which proves nothing: %+v, then %+v", begun, left)
	}
	taken := await(t, both[1].url, 2*jobs.Lease, func(all []job) bool { return all[0].Attempts == 2 })[0]
	if waited := time.Since(killed); waited < jobs.Lease-5*time.Second {
		t.Errorf("it was taken over after %v, while its lease held", waited)
	}
	if taken.Runner == left.Runner {
		t.Errorf("%s goes on after it was killed", taken.Runner)
	}
	done := await(t, both[1].url, time.Minute, allDone)[0]
	want := len(purged.Data) + len(purged.Manifests) + len(purged.Lists) + 2
	if done.Deleted != want || done.Found != want || done.Skipped != 0 || done.LastError != "" {
		t.Errorf("%+v, want %d files", done, want)
	}
	if after := jobstest.Tree(t, warehouse); !maps.Equal(before, after) {
		t.Errorf("before %d files and folders, after %d", len(before), len(after))
	}
}

// TestTwoReplicasShareManyPurges: each is done once, whichever replica does it.
func TestTwoReplicasShareManyPurges(t *testing.T) {
	const tables = 30
	both := start(t, pgtest.Start(t).NewDatabase(t))
	catalogs := [2]*wire.Catalog{wire.New(both[0].url, "prod"), wire.New(both[1].url, "prod")}
	catalogs[0].MustCreateNamespace(t, "purge")
	beside := filled(t, catalogs[0], "beside", jobstest.Snapshot{Manifests: 1, Files: 10})
	warehouse := filepath.Dir(filepath.Dir(jobstest.Path(beside.Location)))
	before := jobstest.Tree(t, warehouse)
	for i := range tables {
		filled(t, catalogs[i%2], "purged", jobstest.Snapshot{Manifests: 2, Files: 300})
		dropWithPurge(t, catalogs[(i+1)%2], "purged")
	}
	all := await(t, both[0].url, time.Minute, allDone)
	if len(all) != tables {
		t.Fatalf("%d jobs", len(all))
	}
	for _, j := range all {
		if j.Attempts != 1 || j.LastError != "" || j.Found != j.Deleted || j.Deleted != 605 {
			t.Errorf("%+v", j)
		}
	}
	if after := jobstest.Tree(t, warehouse); !maps.Equal(before, after) {
		t.Errorf("before %d files and folders, after %d", len(before), len(after))
	}
}
