package wrap

import (
	"context"
	"fmt"
	"slices"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Prefix makes b the subtree of one top-level namespace: the name is stripped
// from every namespace on the way down and restored on the way up, in answers,
// in errors and in the default namespace of views. Views that a reference came
// through and that lie outside are dropped, since b cannot know them.
//
// The namespace of that name itself is the mount root: it exists for as long as
// the mount does, holds namespaces and no tables or views, and is never asked
// of b, except to list the namespaces in it. A request for a name outside is a
// fault of whoever routed it, and Internal.
func Prefix(b mounts.Backend, name string) mounts.Backend {
	return mounts.Around(b, (&prefix{name: name}).intercept)
}

type prefix struct{ name string }

func (p *prefix) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	if resp, err, done := p.root(req); done {
		return resp, err
	}
	inner, err := mounts.MapRequest(p.known(req), p.strip)
	if err != nil {
		return nil, p.misplaced(req, err)
	}
	if inner, err = p.stripViews(inner); err != nil {
		return nil, err
	}
	resp, err := next(ctx, inner)
	if err != nil {
		return nil, p.restoreError(err)
	}
	return p.restore(req, resp)
}

func (p *prefix) inside(n mounts.Namespace) bool { return len(n) > 0 && n[0] == p.name }

func (p *prefix) strip(n mounts.Namespace) (mounts.Namespace, error) {
	if !p.inside(n) {
		return nil, fmt.Errorf("%q is not below the mount %q", n, p.name)
	}
	return n[1:], nil
}

func (p *prefix) add(n mounts.Namespace) mounts.Namespace {
	out := make(mounts.Namespace, 0, len(n)+1)
	return append(append(out, p.name), n...)
}

// known returns req without the referencing views that lie outside.
func (p *prefix) known(req mounts.Request) mounts.Request {
	outside := func(id mounts.Identifier) bool { return !p.inside(id.Namespace) || len(id.Namespace) == 1 }
	cut := func(chain []mounts.Identifier) ([]mounts.Identifier, bool) {
		if !slices.ContainsFunc(chain, outside) {
			return chain, false
		}
		return slices.DeleteFunc(slices.Clone(chain), outside), true
	}
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		if chain, changed := cut(r.ReferencedBy); changed {
			out := *r
			out.ReferencedBy = chain
			return &out
		}
	case *mounts.LoadViewRequest:
		if chain, changed := cut(r.ReferencedBy); changed {
			out := *r
			out.ReferencedBy = chain
			return &out
		}
	case *mounts.LoadCredentialsRequest:
		if chain, changed := cut(r.ReferencedBy); changed {
			out := *r
			out.ReferencedBy = chain
			return &out
		}
	}
	return req
}

// misplaced is the error for a request that names something outside.
func (p *prefix) misplaced(req mounts.Request, err error) error {
	e := &mounts.Error{Kind: mounts.Internal, Op: req.Op(), Ident: req.Object(), Err: err}
	crosses := func(to mounts.Identifier) {
		e.Kind, e.To = mounts.UnsupportedOperation, to
		e.Msg = "a rename cannot leave the mount: {object} cannot become {to}; neither was touched"
	}
	switch r := req.(type) {
	case *mounts.RenameTableRequest:
		crosses(r.Destination)
	case *mounts.RenameViewRequest:
		crosses(r.Destination)
	case *mounts.CommitTransactionRequest:
		e.Kind, e.Ident = mounts.UnsupportedOperation, mounts.Identifier{}
		e.Msg = "a transaction cannot span several mounts; no table was touched"
	}
	return e
}

// restoreError returns err with the names that its receiver knows.
func (p *prefix) restoreError(err error) error {
	found := inside(err)
	if found == nil || found.Ident.IsZero() && found.To.IsZero() {
		return err
	}
	e := *found
	if !e.Ident.IsZero() {
		e.Ident.Namespace = p.add(e.Ident.Namespace)
	}
	if !e.To.IsZero() {
		e.To.Namespace = p.add(e.To.Namespace)
	}
	if error(found) != err {
		e.Err = err
	}
	return &e
}

// restore returns resp with the names that its receiver knows.
func (p *prefix) restore(req mounts.Request, resp mounts.Response) (mounts.Response, error) {
	switch r := resp.(type) {
	case *mounts.View:
		return p.restoreView(req, r)
	case *pagination.Page[mounts.Identifier]:
		// One namespace for all rows, which is the one that was asked for.
		shared := slices.Clip(slices.Clone(req.Object().Namespace))
		out := &pagination.Page[mounts.Identifier]{Items: make([]mounts.Identifier, len(r.Items)), Next: r.Next}
		for i, row := range r.Items {
			if !row.Namespace.Equal(shared[1:]) {
				shared = p.add(row.Namespace)
			}
			out.Items[i] = mounts.Identifier{Namespace: shared, Name: row.Name}
		}
		return out, nil
	}
	return mounts.MapResponse(resp, p.add), nil
}
