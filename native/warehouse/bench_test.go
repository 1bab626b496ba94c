package warehouse

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// BenchmarkWrite writes metadata files durably, each writer in a folder of its
// own as writers of different tables do. b.TempDir may be a file system in memory,
// where a flush costs nothing: set TMPDIR.
func BenchmarkWrite(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("file/writers=%d", writers), func(b *testing.B) {
			w := opened(b, filepath.Join(b.TempDir(), "wh"), nil)
			content := make([]byte, 4<<10)
			var group sync.WaitGroup
			for i := range writers {
				group.Go(func() {
					folder := w.Root().Join("ns", fmt.Sprint("table", i), "metadata")
					for n := i; n < b.N; n += writers {
						if err := w.Write(context.Background(), folder.Join(fmt.Sprint(n)), content); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
		})
	}
}
