//go:build peers

package replicas

import (
	"fmt"
	"sync"
	"testing"

	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// BenchmarkCommitsThroughReplicas measures commits of 32 clients to tables of their own, through one replica and through
// two. Replicas, database and clients share the machine.
func BenchmarkCommitsThroughReplicas(b *testing.B) {
	const clients = 32
	cluster := pgtest.Start(b)
	both := start(b, cluster.NewDatabase(b))
	setup := wire.New(both[0].url, "prod")
	setup.MustCreateNamespace(b, "bench")
	for c := range clients {
		setup.MustCreateTable(b, fmt.Sprintf("t%d", c), "bench")
	}
	for _, replicas := range []int{1, 2} {
		b.Run(fmt.Sprintf("replicas=%d", replicas), func(b *testing.B) {
			var all sync.WaitGroup
			for c := range clients {
				all.Go(func() {
					catalog := wire.New(both[c%replicas].url, "prod")
					for i := c; i < b.N; i += clients {
						a, err := catalog.Call("POST", catalog.Table(fmt.Sprintf("t%d", c), "bench"), set(fmt.Sprint(i)))
						if err != nil || a.Status != 200 {
							b.Error(a, err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}
