package rest

import (
	"context"
	"net/http"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// ListViews implements mounts.Backend. The root holds no views.
func (b *Backend) ListViews(ctx context.Context, req *mounts.ListViewsRequest) (*pagination.Page[mounts.Identifier], error) {
	return b.list(ctx, req, req.Namespace, "views", req.Page)
}

// LoadView implements mounts.Backend.
func (b *Backend) LoadView(ctx context.Context, req *mounts.LoadViewRequest) (*mounts.View, error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	if nowhere(req.View) {
		return nil, c.fail(mounts.NoSuchView, "")
	}
	if c.url, err = c.at.object(req.View, "views", c); err != nil {
		return nil, err
	}
	c.url = queried(c.url, "referenced-by="+referencedBy(c.at, req.ReferencedBy))
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, refusal(c, a)
	}
	return readView(c, a)
}
