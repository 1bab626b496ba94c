package native

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
	"github.com/icefield/icefield/pagination"
)

// Namespace properties that mean something here.
const (
	// propertyLocation is where engines put the namespace's tables.
	propertyLocation = "location"
	// propertyProtected refuses a drop while it is "true".
	propertyProtected = "icefield.protected"
)

// ListNamespaces implements mounts.Backend, in bytewise order of the names. A
// page token is the last name of the page before.
func (b *Backend) ListNamespaces(ctx context.Context, req *mounts.ListNamespacesRequest) (*pagination.Page[mounts.Namespace], error) {
	names, next, err := b.list(ctx, req.Parent, req.Page, func(tx store.Tx, after string, limit int) ([]string, error) {
		return tx.Children(req.Parent, after, limit)
	})
	if err != nil {
		return nil, fail(req, err)
	}
	page := &pagination.Page[mounts.Namespace]{Items: make([]mounts.Namespace, len(names)), Next: next}
	for i, name := range names {
		page.Items[i] = req.Parent.Child(name)
	}
	return page, nil
}

// The rows of a page: what a backend that is not asked chooses, and the most it
// gives.
const (
	defaultPage = 1000
	maxPage     = 5000
)

// list reads one page of names inside a namespace that must exist.
func (b *Backend) list(ctx context.Context, inside mounts.Namespace, page pagination.Request,
	read func(tx store.Tx, after string, limit int) ([]string, error)) (names []string, next string, err error) {
	size := min(page.Size, maxPage)
	if size <= 0 {
		size = defaultPage
	}
	err = b.store.View(ctx, func(tx store.Tx) error {
		if err := exists(tx, inside); err != nil {
			return err
		}
		var err error
		names, err = read(tx, page.Token, size+1)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if len(names) > size {
		names = names[:size]
		next = names[size-1]
	}
	return names, next, nil
}

// exists is nil or the error of an absent namespace. The root always exists.
func exists(tx store.Tx, path mounts.Namespace) error {
	if path.IsRoot() {
		return nil
	}
	_, err := tx.Namespace(path)
	if errors.Is(err, store.ErrNotFound) {
		return noNamespace(path)
	}
	return err
}

// LoadNamespace implements mounts.Backend. The root has no properties.
func (b *Backend) LoadNamespace(ctx context.Context, req *mounts.LoadNamespaceRequest) (*mounts.NamespaceInfo, error) {
	info := &mounts.NamespaceInfo{Namespace: slices.Clone(req.Namespace), Properties: map[string]string{}}
	if req.Namespace.IsRoot() {
		info.Namespace = mounts.Namespace{}
		return info, nil
	}
	err := b.store.View(ctx, func(tx store.Tx) error {
		n, err := tx.Namespace(req.Namespace)
		if errors.Is(err, store.ErrNotFound) {
			return noNamespace(req.Namespace)
		}
		info.Properties = n.Properties
		return err
	})
	if err != nil {
		return nil, fail(req, err)
	}
	return info, nil
}

// CreateNamespace implements mounts.Backend. A namespace that names no location
// gets one below its parent's, since some engines ask for it when they create
// tables. A top-level namespace belongs to the tenant of whoever creates it.
func (b *Backend) CreateNamespace(ctx context.Context, req *mounts.CreateNamespaceRequest) (*mounts.NamespaceInfo, error) {
	if err := checkNamespace(req.Namespace); err != nil {
		return nil, fail(req, err)
	}
	who := by(ctx)
	n := store.Namespace{Path: slices.Clone(req.Namespace), ID: uuid.New(), Created: who.Time, Updated: who.Time}
	if len(n.Path) == 1 {
		n.Owner = mounts.CallerFrom(ctx).Tenant
	}
	var created map[string]string
	err := b.update(ctx, func(tx store.Tx) (outcome, error) {
		n := n
		parent := n.Path.Parent()
		base, err := b.namespaceLocation(tx, parent)
		if err != nil {
			return nothing(), err
		}
		if _, err := tx.Namespace(n.Path); !errors.Is(err, store.ErrNotFound) {
			return nothing(), errors.Join(err, store.ErrExists)
		}
		folder := base.Join(warehouse.Segment(n.Path[len(parent)]))
		if b.shared && parent.IsRoot() {
			folder = b.home(n)
		}
		if err := b.checkNamespaceLocation(tx, n, req.Properties); err != nil {
			return nothing(), err
		}
		n.Properties = map[string]string{propertyLocation: folder.String()}
		maps.Copy(n.Properties, req.Properties)
		created = n.Properties
		return outcome{Namespace: &mounts.NamespaceInfo{Namespace: n.Path, Properties: n.Properties}}, tx.CreateNamespace(n)
	})
	switch {
	case errors.Is(err, store.ErrExists):
		err = refuse(mounts.AlreadyExists, req.Object(), "")
	case errors.Is(err, store.ErrNoNamespace):
		err = noNamespace(slices.Clone(req.Namespace.Parent()))
	}
	if err != nil {
		return nil, fail(req, err)
	}
	return &mounts.NamespaceInfo{Namespace: n.Path, Properties: maps.Clone(created)}, nil
}

// checkNamespaceLocation confines a location among the properties of a namespace
// that exists or is about to. Unlike a table's it may be the warehouse itself,
// or, in a shared registry, the folder of its top-level namespace.
func (b *Backend) checkNamespaceLocation(tx store.Tx, n store.Namespace, properties map[string]string) error {
	text, ok := properties[propertyLocation]
	if !ok {
		return nil
	}
	l, err := warehouse.Parse(text)
	if err != nil || !l.Within(b.warehouse.Root()) {
		_, err := b.warehouse.Confine(text)
		return err
	}
	if !b.shared {
		return nil
	}
	home := b.home(n)
	if len(n.Path) > 1 {
		if home, err = b.homeOf(tx, n.Path); err != nil {
			return err
		}
	}
	if !l.Within(home) {
		return outsideHome(text, home)
	}
	return nil
}

// namespaceLocation is where new tables and namespaces inside path go: its own
// location if it has a usable one, else what its name gives.
func (b *Backend) namespaceLocation(tx store.Tx, path mounts.Namespace) (warehouse.Location, error) {
	if path.IsRoot() {
		return b.warehouse.Root(), nil
	}
	n, err := tx.Namespace(path)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return warehouse.Location{}, noNamespace(slices.Clone(path))
	case err != nil:
		return warehouse.Location{}, err
	}
	top, rest := b.warehouse.Root(), path
	if b.shared {
		if top, err = b.homeOf(tx, path); err != nil {
			return warehouse.Location{}, err
		}
		rest = path[1:]
	}
	// The warehouse may have moved since the property was set, or the registry
	// become one that is shared.
	if l, err := warehouse.Parse(n.Properties[propertyLocation]); err == nil && l.Within(top) {
		return l, nil
	}
	for _, level := range rest {
		top = top.Join(warehouse.Segment(level))
	}
	return top, nil
}

// UpdateNamespaceProperties implements mounts.Backend. The lists it answers are
// sorted.
func (b *Backend) UpdateNamespaceProperties(ctx context.Context, req *mounts.UpdateNamespacePropertiesRequest) (*mounts.UpdatedProperties, error) {
	removals := slices.Clone(req.Removals)
	slices.Sort(removals)
	removals = slices.Compact(removals)
	for _, key := range removals {
		if _, both := req.Updates[key]; both {
			return nil, fail(req, refuse(mounts.Unprocessable, req.Object(),
				fmt.Sprintf("the property %q is both set and removed; ask for one of them", key)))
		}
	}
	now := by(ctx).Time
	var result *mounts.UpdatedProperties
	err := b.update(ctx, func(tx store.Tx) (outcome, error) {
		n, err := tx.Namespace(req.Namespace)
		if err != nil {
			return nothing(), err
		}
		if err := b.checkNamespaceLocation(tx, n, req.Updates); err != nil {
			return nothing(), err
		}
		done := &mounts.UpdatedProperties{Updated: slices.Sorted(maps.Keys(req.Updates)), Removed: []string{}, Missing: []string{}}
		if done.Updated == nil {
			done.Updated = []string{}
		}
		for _, key := range removals {
			if _, ok := n.Properties[key]; ok {
				delete(n.Properties, key)
				done.Removed = append(done.Removed, key)
			} else {
				done.Missing = append(done.Missing, key)
			}
		}
		maps.Copy(n.Properties, req.Updates)
		n.Updated = now
		result = done
		if len(done.Updated)+len(done.Removed) == 0 {
			return outcome{Updated: done}, nil
		}
		return outcome{Updated: done}, tx.PutNamespace(n)
	})
	if errors.Is(err, store.ErrNotFound) {
		err = noNamespace(req.Namespace)
	}
	if err != nil {
		return nil, fail(req, err)
	}
	return result, nil
}

// DropNamespace implements mounts.Backend.
func (b *Backend) DropNamespace(ctx context.Context, req *mounts.DropNamespaceRequest) error {
	err := b.update(ctx, func(tx store.Tx) (outcome, error) {
		n, err := tx.Namespace(req.Namespace)
		if err != nil {
			return nothing(), err
		}
		if n.Properties[propertyProtected] == "true" {
			return nothing(), refuse(mounts.NamespaceNotEmpty, req.Object(), "Namespace {object} is protected; set its property "+
				propertyProtected+" to false, or remove it, and drop it then")
		}
		return nothing(), tx.DropNamespace(req.Namespace)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		err = noNamespace(req.Namespace)
	case errors.Is(err, store.ErrNotEmpty):
		err = refuse(mounts.NamespaceNotEmpty, req.Object(), "")
	}
	return fail(req, err)
}
