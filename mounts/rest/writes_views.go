package rest

import (
	"context"
	"net/http"

	"github.com/icefield/icefield/mounts"
)

// CreateView implements mounts.Backend.
func (b *Backend) CreateView(ctx context.Context, req *mounts.CreateViewRequest) (*mounts.View, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if err := c.place(c.object); err != nil {
		return nil, err
	}
	if err := b.confined(c, append(pathsIn(req.Properties), supplied{"location", req.Location})...); err != nil {
		return nil, err
	}
	if c.url, err = c.at.within(req.Namespace, c, "views"); err != nil {
		return nil, err
	}
	properties := req.Properties
	if properties == nil {
		// The spec's schema requires it, and clients leave it out when it is empty
		// (Java), so not every remote reads a request without.
		properties = map[string]string{}
	}
	c.body = newBody(len(req.Schema)+len(req.ViewVersion)).text("name", req.Name).some("location", req.Location).
		raw("schema", req.Schema).raw("view-version", req.ViewVersion).texts("properties", properties).rest(req.Extra).end()
	return b.viewed(ctx, c)
}

// viewed sends a change that is answered with a view.
func (b *Backend) viewed(ctx context.Context, c call) (*mounts.View, error) {
	a, err := b.write(ctx, c)
	if err != nil {
		return nil, err
	}
	return readView(c, a)
}

// readView makes an answer a view.
func readView(c call, a *answer) (*mounts.View, error) {
	loaded, err := readLoaded(a.body)
	if err != nil {
		return nil, broken(c, err)
	}
	return &mounts.View{MetadataLocation: loaded.location, Metadata: loaded.metadata, Config: loaded.config, Extra: loaded.extra}, nil
}

// RegisterView implements mounts.Backend.
func (b *Backend) RegisterView(ctx context.Context, req *mounts.RegisterViewRequest) (*mounts.View, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if err := c.place(c.object); err != nil {
		return nil, err
	}
	if err := b.confined(c, supplied{"metadata-location", req.MetadataLocation}); err != nil {
		return nil, err
	}
	if c.url, err = c.at.within(req.Namespace, c, "register-view"); err != nil {
		return nil, err
	}
	c.body = newBody(0).text("name", req.Name).text("metadata-location", req.MetadataLocation).rest(req.Extra).end()
	return b.viewed(ctx, c)
}

// ReplaceView implements mounts.Backend.
func (b *Backend) ReplaceView(ctx context.Context, req *mounts.ReplaceViewRequest) (*mounts.View, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if nowhere(req.View) {
		return nil, c.fail(mounts.NoSuchView, "")
	}
	if err := b.confinedUpdates(c, req.Updates); err != nil {
		return nil, err
	}
	if c.url, err = c.at.object(req.View, "views", c); err != nil {
		return nil, err
	}
	c.body = commitBody(req.View, req.Requirements, req.Updates, req.Extra)
	return b.viewed(ctx, c)
}

// RenameView implements mounts.Backend.
func (b *Backend) RenameView(ctx context.Context, req *mounts.RenameViewRequest) error {
	c, err := b.change(req)
	if err != nil {
		return err
	}
	body := newBody(0).identifier("source", req.Source).identifier("destination", req.Destination).rest(req.Extra).end()
	return b.rename(ctx, c, req.Source, req.Destination, "views", mounts.NoSuchView, body)
}

// DropView implements mounts.Backend.
func (b *Backend) DropView(ctx context.Context, req *mounts.DropViewRequest) error {
	c, err := b.change(req)
	if err != nil {
		return err
	}
	if nowhere(req.View) {
		return c.fail(mounts.NoSuchView, "")
	}
	if c.url, err = c.at.object(req.View, "views", c); err != nil {
		return err
	}
	c.method = http.MethodDelete
	return b.finish(ctx, c)
}
