package federate

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/wrap"
)

// whole is a catalog that can do all that a catalog in memory can.
func whole() mounts.Backend { return memory.New(memory.Options{Files: map[string]json.RawMessage{}}) }

// stacked is a tree over two mounts and a catalog underneath, each behind the
// whole stack that a server puts around a mount.
func stacked(t testing.TB, prod mounts.Backend) mounts.Backend {
	t.Helper()
	var rows []mounts.Mount
	for name, backend := range map[string]mounts.Backend{
		"prod": prod, "partner": whole(), mounts.UnderName: whole(),
	} {
		view := name
		if name == mounts.UnderName {
			view = "root"
		}
		mounted := wrap.Stack(backend, wrap.Options{Name: name, ViewName: view})
		t.Cleanup(func() {
			if err := mounted.Close(); err != nil {
				t.Error(err)
			}
		})
		rows = append(rows, mounted.Mount())
	}
	table, err := mounts.NewMap(rows...)
	if err != nil {
		t.Fatal(err)
	}
	return New(table, ring(t, "prod", "partner", mounts.UnderName), Options{Name: "icefield"})
}

func TestTheTreeIsACatalogInsideAMount(t *testing.T) {
	mounttest.Run(t, mounttest.Config{
		Open:  func(t testing.TB) mounts.Backend { return stacked(t, whole()) },
		Under: mounts.Namespace{"prod"},
	})
}

func TestTheTreeIsACatalogUnderneathTheMounts(t *testing.T) {
	mounttest.Run(t, mounttest.Config{
		Open: func(t testing.TB) mounts.Backend {
			tree := stacked(t, whole())
			if _, err := tree.CreateNamespace(context.Background(), &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"below"}}); err != nil {
				t.Fatal(err)
			}
			return tree
		},
		Under: mounts.Namespace{"below"},
	})
}

func TestFaultsInsideAMountArriveAsTheyAre(t *testing.T) {
	mounttest.Matrix{
		Build: func(t testing.TB, inner mounts.Backend) mounts.Backend { return stacked(t, inner) },
		Names: func(inner mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{"prod"}, inner...) },
	}.Run(t)
}

func TestNoCommitIsLostOrDoubledOnItsWayIntoAMount(t *testing.T) {
	mounttest.LostCommits(t, func(testing.TB) mounts.Backend { return whole() }, mounttest.Matrix{
		Build: func(t testing.TB, inner mounts.Backend) mounts.Backend { return stacked(t, inner) },
		Names: func(inner mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{"prod"}, inner...) },
	})
}
