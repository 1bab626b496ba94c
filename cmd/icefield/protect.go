package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/warehouse"
)

// topNames keeps a namespace from being created underneath a mount of its name
// while that mount is being put into place: between the look whether there is
// such a namespace and the first request that the mount answers.
type topNames struct {
	mu    sync.Mutex
	taken map[string]bool
	// creating holds the creations under way, by name.
	creating map[string][]chan struct{}
}

func newTopNames() *topNames { return &topNames{creating: map[string][]chan struct{}{}} }

// take takes names, instead of those that were taken before.
func (t *topNames) take(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = map[string]bool{}
	for _, name := range names {
		t.taken[name] = true
	}
}

// settle waits for the creations of such namespaces that began before the names
// were taken.
func (t *topNames) settle(ctx context.Context, names []string) error {
	var underWay []chan struct{}
	t.mu.Lock()
	for _, name := range names {
		underWay = append(underWay, t.creating[name]...)
	}
	t.mu.Unlock()
	for _, done := range underWay {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// enter begins a creation; false if the name is taken.
func (t *topNames) enter(name string) (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken[name] {
		return nil, false
	}
	done := make(chan struct{})
	t.creating[name] = append(t.creating[name], done)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		rest := slices.DeleteFunc(t.creating[name], func(c chan struct{}) bool { return c == done })
		if t.creating[name] = rest; len(rest) == 0 {
			delete(t.creating, name)
		}
		close(done)
	}, true
}

// guard is the catalog underneath with the names that are taken refused.
func (t *topNames) guard(b mounts.Backend) mounts.Backend {
	return mounts.Around(b, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		create, ok := req.(*mounts.CreateNamespaceRequest)
		if !ok || len(create.Namespace) != 1 {
			return next(ctx, req)
		}
		leave, ok := t.enter(create.Namespace[0])
		if !ok {
			return nil, &mounts.Error{Kind: mounts.AlreadyExists, Op: req.Op(), Ident: req.Object(),
				Msg: "Namespace already exists: {object} (it is a mount, which would hide a namespace of that name)"}
		}
		defer leave()
		return next(ctx, req)
	})
}

// governed is where the native mounts keep their tables. No remote's credentials
// are relayed for a location in it.
type governed struct {
	roots atomic.Pointer[[]warehouse.Location]
}

// set replaces the warehouses by those of the given mounts.
func (g *governed) set(list []config.Mount) error {
	var roots []warehouse.Location
	for _, m := range list {
		if m.Native == nil {
			continue
		}
		root, err := warehouse.Parse(m.Native.Warehouse)
		if err != nil {
			return err
		}
		roots = append(roots, root)
	}
	g.roots.Store(&roots)
	return nil
}

// holds reports whether a location lies inside one of the warehouses, by whole
// path segments. A location that can be read in more than one way counts as
// inside as soon as it is in the same bucket.
func (g *governed) holds(location string) bool {
	roots := g.roots.Load()
	if roots == nil {
		return false
	}
	place, err := warehouse.Parse(location)
	if err != nil {
		if place, err = warehouse.Parse(bucketOf(location)); err != nil {
			return false // of a kind that no warehouse is
		}
		return slices.ContainsFunc(*roots, func(root warehouse.Location) bool { return root.Within(place) })
	}
	return slices.ContainsFunc(*roots, place.Within)
}

// bucketOf is the part of a location before its path.
func bucketOf(location string) string {
	scheme, rest, found := strings.Cut(location, "://")
	if scheme = strings.ToLower(scheme); !found || scheme == "file" {
		return "file:///"
	}
	bucket, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + bucket
}
