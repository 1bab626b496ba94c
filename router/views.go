package router

import (
	"context"
	"errors"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy"
)

func listViews(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	p, err := readPaging(x.values())
	if err != nil {
		return err
	}
	next := func(ctx context.Context, page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
		return ask[*pagination.Page[mounts.Identifier]](ctx, x, &mounts.ListViewsRequest{Namespace: ns, Page: page})
	}
	return list(ctx, x, p, "identifiers", next, appendIdentifier)
}

func (x *exchange) viewRequest() (*mounts.LoadViewRequest, error) {
	id, err := x.view()
	if err != nil {
		return nil, err
	}
	return &mounts.LoadViewRequest{View: id, ReferencedBy: readReferencedBy(x.r.URL.RawQuery)}, nil
}

func loadView(ctx context.Context, x *exchange) error {
	req, err := x.viewRequest()
	if err != nil {
		return err
	}
	v, err := ask[*mounts.View](ctx, x, req)
	if err != nil {
		return err
	}
	return x.viewed(v)
}

// viewExists has no backend method of its own: a load answers it. A view whose
// metadata file is gone is there.
func viewExists(ctx context.Context, x *exchange) error {
	req, err := x.viewRequest()
	if err != nil {
		return err
	}
	if _, err = x.send(policy.Probe(ctx), req); err != nil && !errors.Is(err, mounts.MetadataMissing) {
		return err
	}
	x.done()
	return nil
}

// viewed answers with a LoadViewResult.
func (x *exchange) viewed(v *mounts.View) error {
	return x.document(reply{secret: true}, v.Metadata, func(b []byte) ([]byte, int) {
		b = appendHead(b, v.MetadataLocation)
		tail := len(b)
		b = appendMap(append(b, `,"config":`...), v.Config)
		return append(appendExtra(b, v.Extra), '}'), tail
	})
}

func createView(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	var req mounts.CreateViewRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	if err := checkName("name", req.Name); err != nil {
		return err
	}
	if absent(req.Schema) {
		return badField("schema", "is missing")
	}
	if absent(req.ViewVersion) {
		return badField("view-version", "is missing")
	}
	req.Namespace = ns
	v, err := ask[*mounts.View](ctx, x, &req)
	if err != nil {
		return err
	}
	return x.viewed(v)
}

func registerView(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	var req mounts.RegisterViewRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	if err := checkName("name", req.Name); err != nil {
		return err
	}
	if req.MetadataLocation == "" {
		return badField("metadata-location", "is missing")
	}
	req.Namespace = ns
	v, err := ask[*mounts.View](ctx, x, &req)
	if err != nil {
		return err
	}
	return x.viewed(v)
}

func replaceView(ctx context.Context, x *exchange) error {
	id, err := x.view()
	if err != nil {
		return err
	}
	var c change
	if err := x.decodeAll(ctx, &c, &c.extra, "identifier"); err != nil {
		return err
	}
	if err := c.check(""); err != nil {
		return err
	}
	v, err := ask[*mounts.View](ctx, x, &mounts.ReplaceViewRequest{View: id, Requirements: c.Requirements, Updates: c.Updates, Extra: c.extra})
	if err != nil {
		return err
	}
	return x.viewed(v)
}

func renameView(ctx context.Context, x *exchange) error {
	var req mounts.RenameViewRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	if err := checkRename(req.Source, req.Destination); err != nil {
		return err
	}
	return do(ctx, x, &req)
}

func dropView(ctx context.Context, x *exchange) error {
	id, err := x.view()
	if err != nil {
		return err
	}
	return do(ctx, x, &mounts.DropViewRequest{View: id})
}
