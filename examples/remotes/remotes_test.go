//go:build peers

package remotes

import (
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
)

func servers() []*server {
	return []*server{icebergJava(), nessie(), secondIcefield(), seaweedByOAuth2(), seaweedBySigV4()}
}

// TestCatalogsThroughIcefield runs both suites over every server.
func TestCatalogsThroughIcefield(t *testing.T) {
	python := peers.NewPython(t)
	servers := servers()
	report := newReport(servers)
	defer func() { t.Logf("through Icefield, in the tree and in the mount's own view:\n%s", report) }()
	machines := make(chan struct{}, 2) // that many Java machines at once
	t.Run("servers", func(t *testing.T) {
		for _, s := range servers {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				if s.heavy {
					machines <- struct{}{}
					t.Cleanup(func() { <-machines })
				}
				r := s.start(t)
				seed(t, s, r)
				l := serve(t, r)
				for _, k := range l.kits(s, shelf) {
					report.run(t, k, reads())
				}
				for _, k := range l.kits(s, desk) {
					report.run(t, k, writes())
				}
				report.run(t, l.kits(s, desk)[1], pyIceberg(t.Context(), python))
			})
		}
	})
}
