package compatibility

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/catalogtest"
	"github.com/apache/iceberg-go/catalog/rest"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/router"
	"github.com/icefield/icefield/router/federate"
)

// No subtest of iceberg-go's suite is left out.
func TestIcebergGoCatalogSuite(t *testing.T) {
	for name, warehouse := range map[string]string{"tree": "", "mount view": "root"} {
		t.Run(name, func(t *testing.T) {
			catalogtest.RunCatalogTests(t, catalogtest.Config{
				SupportsNamespaceProperties: true,
				NewCatalog:                  func(t *testing.T) catalog.Catalog { return client(t, serve(t), warehouse) },
			})
		})
	}
}

// serve starts a server in this process, with a fresh native catalog underneath and nothing else, and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	store, err := bolt.Open(filepath.Join(folder, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	backend, err := native.Open(t.Context(), native.Config{
		Store: store, Warehouse: filepath.Join(folder, "warehouse"), MetadataCache: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	mounted := wrap.Stack(backend, wrap.Options{Name: mounts.UnderName, ViewName: "root", Driver: "native"})
	t.Cleanup(func() {
		if err := mounted.Close(); err != nil {
			t.Error(err)
		}
	})
	mount := mounted.Mount()
	table, err := mounts.NewMap(mount)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := pagination.NewKeyring([]byte(strings.Repeat("s", 32)), nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router.New(router.Config{
		Tree: router.Catalog{Name: "icefield", Backend: federate.New(table, ring, federate.Options{Name: "icefield"})},
		Views: []router.Catalog{{
			Name: "root", Prefix: "root", Backend: wrap.Tokens(federate.Underneath(mount.View, table), ring, "root", mounts.UnderName),
		}},
		Mounts: table,
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// client is iceberg-go's REST client of a server.
func client(t *testing.T, url, warehouse string) catalog.Catalog {
	t.Helper()
	c, err := rest.NewCatalog(context.Background(), "icefield", url, rest.WithWarehouseLocation(warehouse))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}
