package rest

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// ListNamespaces implements mounts.Backend.
func (b *Backend) ListNamespaces(ctx context.Context, req *mounts.ListNamespacesRequest) (*pagination.Page[mounts.Namespace], error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	if c.at.childless(req.Parent) {
		return b.withoutChildren(ctx, c, req.Parent)
	}
	l := listing[mounts.Namespace]{call: c, member: "namespaces", row: childOf(req.Parent)}
	l.call.url = c.at.namespaces()
	if !req.Parent.IsRoot() {
		parent, err := c.at.parent(req.Parent, c)
		if err != nil {
			return nil, err
		}
		l.query = "&parent=" + parent
	}
	page, err := fetch(ctx, b, l, req.Page)
	if err != nil && !req.Parent.IsRoot() && c.at.childless(req.Parent) { // as was learnt just now
		return b.withoutChildren(ctx, c, req.Parent)
	}
	return page, err
}

// LoadNamespace implements mounts.Backend. The root has no properties and is
// not asked for.
func (b *Backend) LoadNamespace(ctx context.Context, req *mounts.LoadNamespaceRequest) (*mounts.NamespaceInfo, error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	if req.Namespace.IsRoot() {
		return &mounts.NamespaceInfo{Namespace: mounts.Namespace{}, Properties: map[string]string{}}, nil
	}
	if c.url, err = c.at.within(req.Namespace, c); err != nil {
		return nil, err
	}
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, refusal(c, a)
	}
	info, err := readNamespace(a.body, req.Namespace)
	if err != nil {
		return nil, broken(c, err)
	}
	return info, nil
}

// readNamespace reads a namespace with its properties. Its name is the one that
// was asked for, whatever the answer says.
func readNamespace(body []byte, n mounts.Namespace) (*mounts.NamespaceInfo, error) {
	info := &mounts.NamespaceInfo{Namespace: slices.Clone(n), Properties: map[string]string{}}
	found := false
	err := members(body, func(name string, value jsontext.Value) error {
		switch name {
		case "namespace":
			found = value.Kind() == '['
		case "properties":
			properties, err := stringMap(value)
			if err != nil {
				return fmt.Errorf("properties: %w", err)
			}
			if properties != nil {
				info.Properties = properties
			}
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("namespace: %w", errWrongType)
	}
	return info, err
}
