package wrap

import (
	"context"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Tokens seals the page tokens of a catalog that has one source only, as a
// mount seen as a catalog of its own, and opens them again. scope is that
// catalog's name; ring must have a key for source.
//
// A token that was not made for this very listing restarts it: a repeated row
// is visible to a client, a skipped one is not.
func Tokens(b mounts.Backend, ring *pagination.Keyring, scope, source string) mounts.Backend {
	t := &sealer{ring: ring, scope: scope, source: source}
	return mounts.Around(b, t.intercept)
}

type sealer struct {
	ring          *pagination.Keyring
	scope, source string
}

func (t *sealer) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	listing := pagination.Listing{Scope: t.scope, Kind: req.Op().String(), Parent: req.Object().Namespace}
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest:
		opened := *r
		opened.Page.Token = t.open(listing, r.Page.Token)
		req = &opened
	case *mounts.ListTablesRequest:
		opened := *r
		opened.Page.Token = t.open(listing, r.Page.Token)
		req = &opened
	case *mounts.ListViewsRequest:
		opened := *r
		opened.Page.Token = t.open(listing, r.Page.Token)
		req = &opened
	case *mounts.ListFunctionsRequest:
		opened := *r
		opened.Page.Token = t.open(listing, r.Page.Token)
		req = &opened
	default:
		return next(ctx, req)
	}
	resp, err := next(ctx, req)
	if err != nil {
		return nil, err
	}
	switch page := resp.(type) {
	case *pagination.Page[mounts.Namespace]:
		return sealed(t, req, listing, page)
	case *pagination.Page[mounts.Identifier]:
		return sealed(t, req, listing, page)
	}
	return resp, nil
}

func (t *sealer) open(listing pagination.Listing, token string) string {
	if pos, ok := t.ring.Open(listing, token); ok && pos.Source == t.source {
		return pos.Cursor
	}
	return ""
}

// sealed replaces the cursor of a page. A cursor that cannot be sealed is one
// that the source let grow over every bound.
func sealed[T any](t *sealer, req mounts.Request, listing pagination.Listing, page *pagination.Page[T]) (mounts.Response, error) {
	if page.Next == "" {
		return page, nil
	}
	token, err := t.ring.Seal(listing, pagination.Position{Source: t.source, Cursor: page.Next})
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.BadGateway, Op: req.Op(), Ident: req.Object(), Err: err,
			Msg: "the page token of its listing is too long to be passed on"}
	}
	return &pagination.Page[T]{Items: page.Items, Next: token}, nil
}
