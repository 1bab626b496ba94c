package native_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store/bolt"
)

func openRegistry(t testing.TB, dir string, cache int64) *native.Backend {
	t.Helper()
	b, err := registry(dir, cache)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func registry(dir string, cache int64) (*native.Backend, error) {
	s, err := bolt.Open(filepath.Join(dir, "catalog.db"))
	if err != nil {
		return nil, err
	}
	return native.Open(context.Background(), native.Config{Store: s, Warehouse: filepath.Join(dir, "warehouse"), MetadataCache: cache, KeyLifetime: native.DefaultKeyLifetime})
}

const (
	crashTables = 3
	// crashEnv makes the test binary a process that commits to the registry in
	// that folder until it is killed.
	crashEnv = "ICEFIELD_TEST_CRASH"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		if err := commitForEver(dir); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func crashTable(i int) mounts.Identifier {
	return mounts.Identifier{Namespace: mounts.Namespace{"crash"}, Name: fmt.Sprint("t", i)}
}

// commitForEver appends to each table from its own goroutine, and prints each
// append after it was acknowledged.
func commitForEver(dir string) error {
	b, err := registry(dir, 0)
	if err != nil {
		return err
	}
	ctx := context.Background()
	errs := make(chan error)
	for i := range crashTables {
		go func() {
			for {
				table, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: crashTable(i)})
				if err != nil {
					errs <- err
					return
				}
				id := rand.Int64N(1<<62) + 1
				if _, err := b.CommitTable(ctx, mounttest.Append(crashTable(i), table.Metadata, id)); err != nil {
					errs <- err
					return
				}
				fmt.Printf("done %d %d\n", i, id)
			}
		}()
	}
	return <-errs
}

// TestAcknowledgedCommitsSurviveAKill kills a committing process again and again
// and looks for every append that it said was done.
func TestAcknowledgedCommitsSurviveAKill(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	dir := t.TempDir()
	ctx := context.Background()
	b, err := registry(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"crash"}}); err != nil {
		t.Fatal(err)
	}
	for i := range crashTables {
		id := crashTable(i)
		if _, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: mounttest.Schema()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	acknowledged := make([]map[int64]bool, crashTables)
	for i := range acknowledged {
		acknowledged[i] = map[int64]bool{}
	}
	total := 0
	for round := range rounds {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashEnv+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		// Some acknowledgements, and then the kill at a moment of chance.
		lines := bufio.NewReader(out)
		wanted := 1 + rand.IntN(60)
		for line := 0; ; line++ {
			if line == wanted {
				time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = child.Process.Kill() })
			}
			text, err := lines.ReadString('\n')
			if err == io.EOF {
				break
			}
			var i int
			var id int64
			if _, scan := fmt.Sscanf(text, "done %d %d\n", &i, &id); scan != nil || err != nil {
				t.Fatalf("round %d: the process said %q (%v)", round, text, err)
			}
			acknowledged[i][id] = true
			total++
		}
		if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: the process ended with %v", round, err)
		}
		checkSurvivors(t, dir, acknowledged)
	}
	if total < rounds {
		t.Errorf("only %d commits in %d rounds", total, rounds)
	}
	t.Logf("%d acknowledged commits, %d kills", total, rounds)
}

// checkSurvivors reopens the registry: each acknowledged append is there once,
// the table has nothing but appends on top of each other, and it works.
func checkSurvivors(t *testing.T, dir string, acknowledged []map[int64]bool) {
	t.Helper()
	b, err := registry(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i, want := range acknowledged {
		table, err := b.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: crashTable(i)})
		if err != nil {
			t.Fatal(err)
		}
		seen := snapshots(t, table.Metadata)
		for id := range want {
			if seen[id] != 1 {
				t.Errorf("%s: the acknowledged append %d is there %d times", crashTable(i), id, seen[id])
			}
		}
		// One commit at a time was under way, and may have been done unsaid.
		for id := range seen {
			want[id] = true
		}
	}
}

// snapshots counts a table's snapshots by id and checks their order.
func snapshots(t testing.TB, metadata json.RawMessage) map[int64]int {
	t.Helper()
	var doc struct {
		Snapshots []struct {
			ID       int64 `json:"snapshot-id"`
			Parent   int64 `json:"parent-snapshot-id"`
			Sequence int64 `json:"sequence-number"`
		}
	}
	if err := json.Unmarshal(metadata, &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]int{}
	for i, s := range doc.Snapshots {
		seen[s.ID]++
		if s.Sequence != int64(i+1) || i > 0 && s.Parent != doc.Snapshots[i-1].ID {
			t.Errorf("snapshot %d breaks the chain: %+v", i, s)
		}
	}
	return seen
}

// TestConcurrentAppendsAreAllThereOnce has writers append as engines do: load,
// commit on what was seen, and after a conflict load again.
func TestConcurrentAppendsAreAllThereOnce(t *testing.T) {
	const writers, each = 8, 12
	for name, tables := range map[string]int{"one table": 1, "four tables": 4} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			b := openRegistry(t, t.TempDir(), 1<<20)
			if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"crash"}}); err != nil {
				t.Fatal(err)
			}
			for i := range tables {
				if _, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: mounts.Namespace{"crash"}, Name: crashTable(i).Name, Schema: mounttest.Schema()}); err != nil {
					t.Fatal(err)
				}
			}
			acknowledged := make([][]int64, writers)
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					target := crashTable(w % tables)
					for i := range each {
						id := int64(w*1000 + i + 1)
						for {
							seen, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: target})
							if err != nil {
								t.Error(err)
								return
							}
							_, err = b.CommitTable(ctx, mounttest.Append(target, seen.Metadata, id))
							if err == nil {
								acknowledged[w] = append(acknowledged[w], id)
								break
							}
							if e := mounts.AsError(err); e.Kind != mounts.CommitConflict || e.OutcomeUnknown {
								t.Error(err)
								return
							}
						}
					}
				})
			}
			group.Wait()
			total := 0
			for i := range tables {
				table, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: crashTable(i)})
				if err != nil {
					t.Fatal(err)
				}
				seen := snapshots(t, table.Metadata)
				total += len(seen)
				for w := i; w < writers; w += tables {
					for _, id := range acknowledged[w] {
						if seen[id] != 1 {
							t.Errorf("append %d is there %d times", id, seen[id])
						}
					}
				}
			}
			if total != writers*each {
				t.Errorf("%d appends are there, %d were acknowledged", total, writers*each)
			}
		})
	}
}

// TestConcurrentIndependentCommitsAllSucceed: changes that no requirement sets
// apart are put on top of each other by the server, without a conflict.
func TestConcurrentIndependentCommitsAllSucceed(t *testing.T) {
	const writers, each = 16, 6
	ctx := context.Background()
	b := openRegistry(t, t.TempDir(), 1<<20)
	if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"crash"}}); err != nil {
		t.Fatal(err)
	}
	target := crashTable(0)
	if _, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: target.Namespace, Name: target.Name, Schema: mounttest.Schema()}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				update := fmt.Sprintf(`{"action":"set-properties","updates":{"w%d-%d":"x"}}`, w, i)
				if _, err := b.CommitTable(ctx, &mounts.CommitTableRequest{Table: target, Updates: []json.RawMessage{json.RawMessage(update)},
					Requirements: []json.RawMessage{json.RawMessage(`{"type":"assert-current-schema-id","current-schema-id":0}`)}}); err != nil {
					t.Errorf("w%d-%d: %v", w, i, err)
				}
			}
		})
	}
	group.Wait()
	table, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: target})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Properties map[string]string }
	if err := json.Unmarshal(table.Metadata, &doc); err != nil {
		t.Fatal(err)
	}
	for w := range writers {
		for i := range each {
			if doc.Properties[fmt.Sprintf("w%d-%d", w, i)] != "x" {
				t.Errorf("the commit w%d-%d is lost", w, i)
			}
		}
	}
}
