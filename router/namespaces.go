package router

import (
	"context"
	"errors"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router/middleware"
)

func listNamespaces(ctx context.Context, x *exchange) error {
	q := x.values()
	p, err := readPaging(q)
	if err != nil {
		return err
	}
	text := q.Get("parent")
	if middleware.PyIceberg(x.r.Header) {
		if decoded, twice := decodeParent(text); twice {
			err := listChildren(ctx, x, p, decoded)
			if !errors.Is(err, mounts.NoSuchNamespace) {
				return err
			}
		}
	}
	return listChildren(ctx, x, p, text)
}

func listChildren(ctx context.Context, x *exchange, p paging, text string) error {
	parent, err := readParent(text)
	if err != nil {
		return err
	}
	next := func(ctx context.Context, page pagination.Request) (*pagination.Page[mounts.Namespace], error) {
		return ask[*pagination.Page[mounts.Namespace]](ctx, x, &mounts.ListNamespacesRequest{Parent: parent, Page: page})
	}
	return list(ctx, x, p, "namespaces", next, func(b []byte, ns mounts.Namespace) []byte { return appendStrings(b, ns) })
}

func loadNamespace(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	info, err := ask[*mounts.NamespaceInfo](ctx, x, &mounts.LoadNamespaceRequest{Namespace: ns})
	if err != nil {
		return err
	}
	x.answer(reply{}, func(b []byte) []byte { return appendNamespaceInfo(b, info) })
	return nil
}

// namespaceExists has no backend method of its own: a load answers it.
func namespaceExists(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	return do(policy.Probe(ctx), x, &mounts.LoadNamespaceRequest{Namespace: ns})
}

func createNamespace(ctx context.Context, x *exchange) error {
	var req mounts.CreateNamespaceRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	if err := checkNamespace("namespace", req.Namespace); err != nil {
		return err
	}
	if req.Properties == nil {
		req.Properties = map[string]string{}
	}
	info, err := ask[*mounts.NamespaceInfo](ctx, x, &req)
	if err != nil {
		return err
	}
	x.answer(reply{}, func(b []byte) []byte { return appendNamespaceInfo(b, info) })
	return nil
}

func updateNamespaceProperties(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	var req mounts.UpdateNamespacePropertiesRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	req.Namespace = ns
	updated, err := ask[*mounts.UpdatedProperties](ctx, x, &req)
	if err != nil {
		return err
	}
	x.answer(reply{}, func(b []byte) []byte { return appendUpdatedProperties(b, updated) })
	return nil
}

func dropNamespace(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	return do(ctx, x, &mounts.DropNamespaceRequest{Namespace: ns})
}
