package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
)

var benchTable = mounts.Identifier{Namespace: mounts.Namespace{"bench"}, Name: "t"}

// registered is a registry with a table whose metadata has that many bytes.
func registered(b *testing.B, bytes int) *native.Backend {
	b.Helper()
	ctx := context.Background()
	dir := b.TempDir()
	backend := openRegistry(b, dir, 256<<20)
	if _, err := backend.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: benchTable.Namespace}); err != nil {
		b.Fatal(err)
	}
	var doc struct{ Location string }
	metadata := mounttest.Metadata(bytes)
	if err := json.Unmarshal(metadata, &doc); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(dir, "warehouse", "00000-x.metadata.json")
	content := strings.ReplaceAll(string(metadata), doc.Location, backend.Warehouse()+"/bench/t")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		b.Fatal(err)
	}
	if _, err := backend.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: benchTable.Namespace, Name: benchTable.Name, MetadataLocation: file}); err != nil {
		b.Fatal(err)
	}
	return backend
}

func BenchmarkLoadTable(b *testing.B) {
	ctx := context.Background()
	for _, size := range []int{20 << 10, 1 << 20} {
		backend := registered(b, size)
		for _, mode := range []mounts.Snapshots{mounts.SnapshotsAll, mounts.SnapshotsRefs} {
			req := &mounts.LoadTableRequest{Table: benchTable, Snapshots: mode}
			loaded, err := backend.LoadTable(ctx, req)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("warm/%s/bytes=%d", mode, size), func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						if _, err := backend.LoadTable(ctx, req); err != nil {
							b.Error(err)
						}
					}
				})
			})
			conditional := &mounts.LoadTableRequest{Table: benchTable, Snapshots: mode, IfNoneMatch: loaded.ETag}
			b.Run(fmt.Sprintf("not-modified/%s/bytes=%d", mode, size), func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						if got, err := backend.LoadTable(ctx, conditional); err != nil || !got.NotModified {
							b.Error(got, err)
						}
					}
				})
			})
		}
	}
}

// BenchmarkCommit measures commits to tables of as many writers, and, with the
// same number of changes in the same run, the store alone: of-store is the ratio
// of the two rates. What a commit does beside is to read the metadata, apply the
// change, and flush a new file before the pointer moves.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			ctx := context.Background()
			backend := openRegistry(b, b.TempDir(), 256<<20)
			if _, err := backend.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: benchTable.Namespace}); err != nil {
				b.Fatal(err)
			}
			for w := range writers {
				if _, err := backend.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: benchTable.Namespace, Name: ownTable(w).Name, Schema: mounttest.Schema()}); err != nil {
					b.Fatal(err)
				}
			}
			bare := bareStore(b, writers)
			b.ResetTimer()
			atOnce(b, writers, func(w, i int) error {
				update := fmt.Sprintf(`{"action":"set-properties","updates":{"k":"%d"}}`, i)
				_, err := backend.CommitTable(ctx, &mounts.CommitTableRequest{Table: ownTable(w), Updates: []json.RawMessage{json.RawMessage(update)}})
				return err
			})
			b.StopTimer()
			took := b.Elapsed()
			begin := time.Now()
			atOnce(b, writers, bare)
			b.ReportMetric(float64(b.N)/took.Seconds(), "commits/s")
			b.ReportMetric(time.Since(begin).Seconds()/took.Seconds(), "of-store")
		})
	}
}

func ownTable(w int) mounts.Identifier {
	return mounts.Identifier{Namespace: benchTable.Namespace, Name: fmt.Sprint("t", w)}
}

// atOnce makes b.N changes, divided among the writers.
func atOnce(b *testing.B, writers int, change func(w, i int) error) {
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := w; i < b.N; i += writers {
				if err := change(w, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// bareStore moves pointers in a store and does nothing else.
func bareStore(b *testing.B, writers int) func(w, i int) error {
	ctx := context.Background()
	s, err := bolt.Open(filepath.Join(b.TempDir(), "bare.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Update(ctx, func(tx store.Tx) error {
		if err := tx.CreateNamespace(store.Namespace{Path: benchTable.Namespace}); err != nil {
			return err
		}
		for w := range writers {
			if _, err := tx.Create(store.Object{Namespace: benchTable.Namespace, Name: ownTable(w).Name, Kind: store.Table, ID: uuid.New(), Location: "l"}, store.By{}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	last := make([]string, writers)
	for w := range last {
		last[w] = "l"
	}
	return func(w, i int) error {
		next := fmt.Sprintf("file:///warehouse/some/where/t%d/metadata/%05d-00000000-0000-0000-0000-000000000000.metadata.json", w, i)
		err := s.Update(ctx, func(tx store.Tx) error {
			_, err := tx.Swap(ownTable(w), last[w], next, store.By{Principal: "p", RequestID: "r"})
			return err
		})
		last[w] = next
		return err
	}
}
