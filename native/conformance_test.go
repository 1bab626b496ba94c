package native_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store/bolt"
)

func TestConformance(t *testing.T) {
	for name, cache := range map[string]int64{"cached": 64 << 20, "uncached": 0} {
		t.Run(name, func(t *testing.T) {
			mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
				dir := t.TempDir()
				s, err := bolt.Open(filepath.Join(dir, "catalog.db"))
				if err != nil {
					t.Fatal(err)
				}
				b, err := native.Open(context.Background(), native.Config{Store: s, Warehouse: filepath.Join(dir, "warehouse"), MetadataCache: cache})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = b.Close() })
				return b
			}})
		})
	}
}
