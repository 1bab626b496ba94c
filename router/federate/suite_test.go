package federate

import (
	"bytes"
	"context"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/wrap"
)

// stacked is a tree over two mounts and a catalog underneath, each behind the
// whole stack that a server puts around a mount.
func stacked(t testing.TB, prod mounts.Backend) mounts.Backend {
	t.Helper()
	var rows []mounts.Mount
	for name, backend := range map[string]mounts.Backend{
		"prod": prod, "partner": memory.New(memory.Options{}), mounts.UnderName: memory.New(memory.Options{}),
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

// client writes views as a client of the tree does: with a default namespace
// below the mount, where the suite's samples say only what is inside it.
func client(tree mounts.Backend) mounts.Backend {
	return mounts.Around(tree, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		if create, is := req.(*mounts.CreateViewRequest); is {
			inTree := *create
			inTree.ViewVersion = bytes.ReplaceAll(create.ViewVersion, []byte(`"default-namespace":[`), []byte(`"default-namespace":["prod",`))
			req = &inTree
		}
		return next(ctx, req)
	})
}

func TestTheTreeIsACatalogInsideAMount(t *testing.T) {
	mounttest.Run(t, mounttest.Config{
		Open:  func(t testing.TB) mounts.Backend { return client(stacked(t, memory.New(memory.Options{}))) },
		Under: mounts.Namespace{"prod"},
	})
}

func TestTheTreeIsACatalogUnderneathTheMounts(t *testing.T) {
	mounttest.Run(t, mounttest.Config{
		Open: func(t testing.TB) mounts.Backend {
			tree := stacked(t, memory.New(memory.Options{}))
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
		Build: func(t testing.TB, inner mounts.Backend) mounts.Backend { return client(stacked(t, inner)) },
		Names: func(inner mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{"prod"}, inner...) },
	}.Run(t)
}
