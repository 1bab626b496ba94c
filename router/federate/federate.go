package federate

import (
	"context"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Options are the settings of a tree.
type Options struct {
	// Name is the tree's own warehouse name; page tokens are bound to it.
	Name string
}

// New returns the Backend of the whole tree. The keyring must hold a key for
// each mount, by its Name. The tree is healthy as long as it exists; closing it
// closes no mount.
func New(table *mounts.Map, ring *pagination.Keyring, opt Options) mounts.Backend {
	t := &tree{table: table, ring: ring, scope: opt.Name}
	return mounts.Dispatch(t.handle, t)
}

type tree struct {
	table *mounts.Map
	ring  *pagination.Keyring
	scope string
}

// Capabilities is what every mount can do: a client reads one list about one
// catalog, so the list must hold wherever a name leads. It never falls below
// what makes a catalog (design: scopes and capabilities).
func (t *tree) Capabilities() capabilities.Set {
	set := capabilities.All()
	for _, m := range t.table.All() {
		set = set.Intersect(m.Tree.Capabilities().Emulated())
	}
	return set.Union(capabilities.Floor())
}

// KeyLifetime is the shortest of all mounts that can change something, and 0 if
// one of them honours no Idempotency-Key: a client reads one promise about one
// catalog.
func (t *tree) KeyLifetime() time.Duration {
	var shortest time.Duration
	for _, m := range t.table.All() {
		if m.Tree.Capabilities().Intersect(capabilities.Changes()) == 0 {
			continue
		}
		life := m.Tree.KeyLifetime()
		if life <= 0 {
			return 0
		}
		if shortest == 0 || life < shortest {
			shortest = life
		}
	}
	return shortest
}

func (t *tree) Health(context.Context) error { return nil }
func (t *tree) Close() error                 { return nil }

func (t *tree) handle(ctx context.Context, req mounts.Request) (mounts.Response, error) {
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest:
		if r.Parent.IsRoot() {
			return t.listRoot(ctx, r)
		}
	case *mounts.CommitTransactionRequest:
		return t.transaction(ctx, r)
	case *mounts.RenameTableRequest:
		return t.rename(ctx, r, r.Source, r.Destination)
	case *mounts.RenameViewRequest:
		return t.rename(ctx, r, r.Source, r.Destination)
	}
	object := req.Object().Namespace
	mount := t.table.Resolve(object)
	switch {
	case object.IsRoot():
		return nil, noNamespaceGiven(req)
	case mount == nil:
		return nil, t.unclaimed(req)
	}
	return t.forward(ctx, mount, req)
}

// forward calls the mount, with the page token opened and sealed where the call
// is a listing.
func (t *tree) forward(ctx context.Context, mount *mounts.Mount, req mounts.Request) (mounts.Response, error) {
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest:
		inner := *r
		return list(t, mount, r.Op(), r.Parent, &inner.Page, func() (*pagination.Page[mounts.Namespace], error) {
			return mount.Tree.ListNamespaces(ctx, &inner)
		})
	case *mounts.ListTablesRequest:
		inner := *r
		return list(t, mount, r.Op(), r.Namespace, &inner.Page, func() (*pagination.Page[mounts.Identifier], error) {
			return mount.Tree.ListTables(ctx, &inner)
		})
	case *mounts.ListViewsRequest:
		inner := *r
		return list(t, mount, r.Op(), r.Namespace, &inner.Page, func() (*pagination.Page[mounts.Identifier], error) {
			return mount.Tree.ListViews(ctx, &inner)
		})
	case *mounts.ListFunctionsRequest:
		inner := *r
		return list(t, mount, r.Op(), r.Namespace, &inner.Page, func() (*pagination.Page[mounts.Identifier], error) {
			return mount.Tree.ListFunctions(ctx, &inner)
		})
	}
	return mounts.Invoke(ctx, mount.Tree, t.ownReferences(mount, req))
}

// isMountRoot reports whether n is the namespace that a mount claims.
func (t *tree) isMountRoot(n mounts.Namespace) bool {
	return len(n) == 1 && t.table.Mounted(n[0]) != nil
}
