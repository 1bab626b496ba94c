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

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native"
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

// BenchmarkCommit is to be seen beside the store's own grouped rate
// (BenchmarkUpdate of package bolt): what is more is the metadata file, which is
// flushed before the pointer moves.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			ctx := context.Background()
			backend := openRegistry(b, b.TempDir(), 256<<20)
			if _, err := backend.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: benchTable.Namespace}); err != nil {
				b.Fatal(err)
			}
			table := func(w int) mounts.Identifier {
				return mounts.Identifier{Namespace: benchTable.Namespace, Name: fmt.Sprint("t", w)}
			}
			for w := range writers {
				if _, err := backend.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: table(w).Namespace, Name: table(w).Name, Schema: mounttest.Schema()}); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					for i := w; i < b.N; i += writers {
						update := fmt.Sprintf(`{"action":"set-properties","updates":{"k":"%d"}}`, i)
						if _, err := backend.CommitTable(ctx, &mounts.CommitTableRequest{Table: table(w), Updates: []json.RawMessage{json.RawMessage(update)}}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}
