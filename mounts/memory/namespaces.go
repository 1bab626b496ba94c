package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// ListNamespaces implements mounts.Backend.
func (b *Backend) ListNamespaces(ctx context.Context, req *mounts.ListNamespacesRequest) (*pagination.Page[mounts.Namespace], error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	s := b.find(req.Parent)
	if s == nil {
		return nil, fail(req, mounts.NoSuchNamespace, req.Object(), nil)
	}
	names, next := s.children.page(req.Page, b.options.MaxPage)
	page := &pagination.Page[mounts.Namespace]{Items: make([]mounts.Namespace, len(names)), Next: next}
	for i, name := range names {
		page.Items[i] = req.Parent.Child(name)
	}
	return page, nil
}

// LoadNamespace implements mounts.Backend. The root has no properties.
func (b *Backend) LoadNamespace(ctx context.Context, req *mounts.LoadNamespaceRequest) (*mounts.NamespaceInfo, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	s := b.find(req.Namespace)
	if s == nil {
		return nil, fail(req, mounts.NoSuchNamespace, req.Object(), nil)
	}
	return info(req.Namespace, s), nil
}

// CreateNamespace implements mounts.Backend.
func (b *Backend) CreateNamespace(ctx context.Context, req *mounts.CreateNamespaceRequest) (*mounts.NamespaceInfo, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	if problem := checkLevels(req.Namespace); problem != "" {
		return nil, refuse(req, mounts.BadRequest, req.Object(), problem)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	parent, name := req.Namespace.Parent(), req.Namespace[len(req.Namespace)-1]
	s := b.find(parent)
	if s == nil {
		return nil, fail(req, mounts.NoSuchNamespace, mounts.Identifier{Namespace: slices.Clone(parent)}, nil)
	}
	if s.children.has(name) {
		return nil, fail(req, mounts.AlreadyExists, req.Object(), nil)
	}
	created := newSpace(maps.Clone(req.Properties))
	s.children.put(name, created)
	return info(req.Namespace, created), nil
}

// UpdateNamespaceProperties implements mounts.Backend. The lists it answers are
// sorted.
func (b *Backend) UpdateNamespaceProperties(ctx context.Context, req *mounts.UpdateNamespacePropertiesRequest) (*mounts.UpdatedProperties, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	for _, key := range req.Removals {
		if _, both := req.Updates[key]; both {
			return nil, refuse(req, mounts.Unprocessable, req.Object(),
				fmt.Sprintf("the property %q is both set and removed; ask for one of them", key))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.find(req.Namespace)
	if s == nil || req.Namespace.IsRoot() {
		return nil, fail(req, mounts.NoSuchNamespace, req.Object(), nil)
	}
	result := &mounts.UpdatedProperties{Updated: []string{}, Removed: []string{}, Missing: []string{}}
	removals := slices.Clone(req.Removals)
	slices.Sort(removals)
	for _, key := range slices.Compact(removals) {
		if _, ok := s.properties[key]; ok {
			delete(s.properties, key)
			result.Removed = append(result.Removed, key)
		} else {
			result.Missing = append(result.Missing, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(req.Updates)) {
		s.properties[key] = req.Updates[key]
		result.Updated = append(result.Updated, key)
	}
	return result, nil
}

// DropNamespace implements mounts.Backend.
func (b *Backend) DropNamespace(ctx context.Context, req *mounts.DropNamespaceRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.find(req.Namespace)
	switch {
	case s == nil || req.Namespace.IsRoot():
		return fail(req, mounts.NoSuchNamespace, req.Object(), nil)
	case !s.empty():
		return fail(req, mounts.NamespaceNotEmpty, req.Object(), nil)
	}
	b.find(req.Namespace.Parent()).children.remove(req.Namespace[len(req.Namespace)-1])
	return nil
}

func info(n mounts.Namespace, s *space) *mounts.NamespaceInfo {
	return &mounts.NamespaceInfo{Namespace: append(mounts.Namespace{}, n...), Properties: maps.Clone(s.properties)}
}

// checkLevels says why a namespace cannot be created, or "".
func checkLevels(n mounts.Namespace) string {
	if n.IsRoot() {
		return "a namespace needs at least one level"
	}
	for _, level := range n {
		if problem := checkName(level); problem != "" {
			return "a namespace level " + problem
		}
	}
	return ""
}

// checkObject says why a table or view cannot be created, or "".
func checkObject(n mounts.Namespace, name string) string {
	if n.IsRoot() {
		return "a table or view needs a namespace"
	}
	if problem := checkName(name); problem != "" {
		return "a name " + problem
	}
	return ""
}

func checkName(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case strings.ContainsRune(name, 0x1f):
		return "must not hold the character U+001F, which separates levels"
	case !utf8.ValidString(name):
		return "must be valid UTF-8"
	}
	return ""
}
