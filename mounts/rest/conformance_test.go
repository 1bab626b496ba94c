package rest_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/router"
)

// TestConformanceOverTheRouter runs the shared suite over rest -> router ->
// memory. What the suite needs to be there is written into the memory backend.
func TestConformanceOverTheRouter(t *testing.T) {
	mounttest.Run(t, mounttest.Config{
		Seed: func(t testing.TB) (mounts.Backend, mounts.Backend) {
			writer := memory.New(memory.Options{})
			srv := httptest.NewServer(router.New(router.Config{Tree: router.Catalog{Name: "icefield", Backend: writer}, InstanceID: "inner"}))
			t.Cleanup(srv.Close)
			b, err := rest.Open(context.Background(), rest.Config{URL: srv.URL, InstanceID: "outer"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			return b, writer
		},
	})
}

// TestConformanceOfAMountView is the same over one mount of the remote, which is
// a warehouse with a prefix.
func TestConformanceOfAMountView(t *testing.T) {
	mounttest.Run(t, mounttest.Config{
		Seed: func(t testing.TB) (mounts.Backend, mounts.Backend) {
			writer := memory.New(memory.Options{})
			srv := httptest.NewServer(router.New(router.Config{
				Tree:  router.Catalog{Name: "icefield", Backend: memory.New(memory.Options{})},
				Views: []router.Catalog{{Name: "prod", Prefix: "prod", Backend: writer}},
			}))
			t.Cleanup(srv.Close)
			b, err := rest.Open(context.Background(), rest.Config{URL: srv.URL, Warehouse: "prod"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			return b, writer
		},
	})
}
