package router

import (
	"context"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

func listFunctions(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	p, err := readPaging(x.values())
	if err != nil {
		return err
	}
	next := func(ctx context.Context, page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
		return ask[*pagination.Page[mounts.Identifier]](ctx, x, &mounts.ListFunctionsRequest{Namespace: ns, Page: page})
	}
	return list(ctx, x, p, "identifiers", next, appendPath)
}

// appendPath writes an identifier as functions are listed: one array of the
// levels and the name (REST spec, CatalogObjectIdentifier).
func appendPath(b []byte, id mounts.Identifier) []byte {
	b = appendStrings(b, id.Namespace)
	if b = b[:len(b)-1]; len(id.Namespace) > 0 {
		b = append(b, ',')
	}
	return append(appendString(b, id.Name), ']')
}

func loadFunction(ctx context.Context, x *exchange) error {
	id, err := x.object("function", mounts.NoSuchFunction)
	if err != nil {
		return err
	}
	f, err := ask[*mounts.Document](ctx, x, &mounts.LoadFunctionRequest{Function: id})
	if err != nil {
		return err
	}
	return x.passOn(f)
}
