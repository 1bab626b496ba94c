package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// CreateNamespace implements mounts.Backend.
func (b *Backend) CreateNamespace(ctx context.Context, req *mounts.CreateNamespaceRequest) (*mounts.NamespaceInfo, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if req.Namespace.IsRoot() {
		return nil, c.fail(mounts.BadRequest, "a namespace needs at least one level")
	}
	if err := c.at.check(req.Namespace, c); err != nil {
		return nil, err
	}
	if err := b.confined(c, supplied{"location", req.Properties["location"]}); err != nil {
		return nil, err
	}
	c.url = c.at.namespaces()
	c.body = newBody(0).list("namespace", req.Namespace).texts("properties", req.Properties).rest(req.Extra).end()
	a, err := b.write(ctx, c)
	if err != nil {
		return nil, err
	}
	info, err := readNamespace(a.body, req.Namespace)
	if err != nil {
		return nil, broken(c, err)
	}
	return info, nil
}

// UpdateNamespaceProperties implements mounts.Backend.
func (b *Backend) UpdateNamespaceProperties(ctx context.Context, req *mounts.UpdateNamespacePropertiesRequest) (*mounts.UpdatedProperties, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if req.Namespace.IsRoot() {
		return nil, c.fail(mounts.NoSuchNamespace, "")
	}
	for _, key := range req.Removals {
		// Not every remote refuses this, as the spec asks (422).
		if _, both := req.Updates[key]; both {
			return nil, c.fail(mounts.Unprocessable, fmt.Sprintf("the property %.200q is both set and removed; ask for one of them", key))
		}
	}
	if err := b.confined(c, supplied{"location", req.Updates["location"]}); err != nil {
		return nil, err
	}
	if c.url, err = c.at.within(req.Namespace, c, "properties"); err != nil {
		return nil, err
	}
	c.body = newBody(0).list("removals", req.Removals).texts("updates", req.Updates).rest(req.Extra).end()
	a, err := b.write(ctx, c)
	if err != nil {
		return nil, err
	}
	updated, err := readUpdated(a.body, c.quirks().MissingLists)
	if err != nil {
		return nil, broken(c, err)
	}
	return updated, nil
}

// maxProperties bounds what an answer may say was changed; a request cannot ask
// for more in the router's largest body.
const maxProperties = 1 << 16

// readUpdated reads what an update of properties did. Only "missing" may be
// missing.
func readUpdated(body []byte, lenient bool) (*mounts.UpdatedProperties, error) {
	u := &mounts.UpdatedProperties{Updated: []string{}, Removed: []string{}, Missing: []string{}}
	seen := 0
	err := members(body, func(name string, value jsontext.Value) error {
		var into *[]string
		switch name {
		case "updated":
			into = &u.Updated
		case "removed":
			into = &u.Removed
		case "missing":
			into = &u.Missing
		default:
			return nil
		}
		if into != &u.Missing {
			seen++
		}
		if value.Kind() == 'n' {
			return nil
		}
		list, err := stringList(value, maxProperties)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*into = append(*into, list...)
		return nil
	})
	if err == nil && seen < 2 && !lenient {
		err = errors.New("the list \"updated\" or \"removed\" is missing")
	}
	return u, err
}

// DropNamespace implements mounts.Backend.
func (b *Backend) DropNamespace(ctx context.Context, req *mounts.DropNamespaceRequest) error {
	c, err := b.change(req)
	if err != nil {
		return err
	}
	if req.Namespace.IsRoot() {
		return c.fail(mounts.NoSuchNamespace, "")
	}
	c.method = http.MethodDelete
	if c.url, err = c.at.within(req.Namespace, c); err != nil {
		return err
	}
	return b.finish(ctx, c)
}
