package router

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/rest"
)

// The conformance suite over HTTP: a remote backend asks this router, which asks
// a catalog in memory, which the suite's writer fills directly.
func TestRestOverRouterOverMemoryConforms(t *testing.T) {
	for name, prefix := range map[string]string{"tree": "", "view": "prod"} {
		t.Run(name, func(t *testing.T) {
			mounttest.Run(t, mounttest.Config{Seed: func(t testing.TB) (backend, writer mounts.Backend) {
				catalog := memory.New(memory.Options{})
				c := Config{Tree: Catalog{Name: "icefield", Backend: catalog}}
				if prefix != "" {
					c = Config{Tree: Catalog{Name: "icefield", Backend: failing(&mounts.Error{Kind: mounts.Internal})},
						Views: []Catalog{{Name: prefix, Prefix: prefix, Backend: catalog}}}
				}
				s := httptest.NewServer(New(c))
				t.Cleanup(s.Close)
				remote, err := rest.Open(context.Background(), rest.Config{URL: s.URL, Warehouse: prefix})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := remote.Close(); err != nil {
						t.Error(err)
					}
				})
				return remote, catalog
			}})
		})
	}
}
