//go:build peers

package native

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native/store/postgres"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// TestConformanceOnPostgres asks one replica and the other in turn.
func TestConformanceOnPostgres(t *testing.T) {
	cluster := pgtest.Start(t)
	url := cluster.NewDatabase(t)
	onPostgres(t, url, 1)
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		// Much faster than a new database.
		cluster.ExecIn(t, url, `SET search_path = icefield, public; DELETE FROM objects; DELETE FROM namespaces WHERE parent IS NOT NULL; TRUNCATE commits, receipts, jobs, outcomes`)
		replicas := onPostgres(t, url, 2)
		var calls atomic.Int64
		return mounts.Dispatch(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			return mounts.Invoke(ctx, replicas[calls.Add(1)%2].served, req)
		}, replicas[0].served)
	}})
}

// onPostgres are replicas: backends of one warehouse, each with its own store on
// one database.
func onPostgres(t testing.TB, url string, n int) []*remembering {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "wh")
	all := make([]*remembering, n)
	for i := range all {
		s, err := postgres.Open(context.Background(), postgres.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{t: t, dir: dir, inner: &interceptor{Store: s}}
		if f.Backend, err = Open(context.Background(), Config{Store: f.inner, Warehouse: dir, KeyLifetime: DefaultKeyLifetime, ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		all[i] = &remembering{f, f.Idempotent()}
	}
	return all
}

// TestReplicasOnPostgresMakeAChangeOnceThatAllOfThemAreAskedFor sends each change
// to both replicas from several clients at once.
func TestReplicasOnPostgresMakeAChangeOnceThatAllOfThemAreAskedFor(t *testing.T) {
	replicas := onPostgres(t, pgtest.Start(t).NewDatabase(t), 2)
	const rounds, clients = 12, 8
	for round := range rounds {
		for _, req := range changesOf(replicas[0]) {
			key := uuid.NewString()
			answers := make([]string, clients)
			var group sync.WaitGroup
			start := make(chan struct{})
			for i := range clients {
				group.Go(func() {
					<-start
					resp, err := replicas[i%len(replicas)].send(key, req)
					for errors.Is(err, mounts.Unavailable) { // the other replica was at work
						resp, err = replicas[i%len(replicas)].send(key, req)
					}
					answers[i] = fmt.Sprintf("%s %v", marshal(t, resp), err)
				})
			}
			close(start)
			group.Wait()
			for i, answer := range answers {
				if answer != answers[0] || answer[len(answer)-5:] != "<nil>" {
					t.Fatalf("round %d, %s: client 0 got %.300s\nclient %d got %.300s", round, req.Op(), answers[0], i, answer)
				}
			}
		}
		// One file each of the creation, the commit, the transaction and the view.
		if files := replicas[0].files(); len(files) != 4*(round+1) {
			t.Fatalf("round %d: the losers' files stay: %q", round, files)
		}
	}
}

// A refusal is as good an outcome as a success: whichever is first holds on both
// replicas.
func TestReplicasOnPostgresAgreeOnARefusal(t *testing.T) {
	replicas := onPostgres(t, pgtest.Start(t).NewDatabase(t), 2)
	replicas[0].namespace("a")
	for round := range 30 {
		id := ident(fmt.Sprint("t", round), "a")
		commit := setProperties(id, map[string]string{"k": "v"})
		key := uuid.NewString()
		errs := make([]error, 2)
		var group sync.WaitGroup
		group.Go(func() { _, errs[0] = replicas[0].send(key, commit) })
		group.Go(func() {
			if _, err := replicas[1].CreateTable(context.Background(), createRequest(id)); err != nil {
				t.Error(err)
			}
			_, errs[1] = replicas[1].send(key, commit)
		})
		group.Wait()
		if (errs[0] == nil) != (errs[1] == nil) {
			t.Fatalf("round %d: one replica says %v, the other %v", round, errs[0], errs[1])
		}
		made := properties(t, replicas[0].load(id).Metadata)["k"] == "v"
		if made != (errs[0] == nil) {
			t.Fatalf("round %d: answered %v, and the commit was made: %v", round, errs[0], made)
		}
		if _, err := replicas[0].send(key, &mounts.DropTableRequest{Table: id}); !errors.Is(err, mounts.Unprocessable) {
			t.Fatalf("round %d: another request under the key: %v", round, err)
		}
	}
}
