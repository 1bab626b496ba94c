package memory

import (
	"context"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/pagination"
)

const viewRole = capabilities.Views

// ListViews implements mounts.Backend. The root holds no views.
func (b *Backend) ListViews(ctx context.Context, req *mounts.ListViewsRequest) (*pagination.Page[mounts.Identifier], error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	return b.list(req, req.Page, func(s *space) *sorted[*object] { return &s.views })
}

// LoadView implements mounts.Backend.
func (b *Backend) LoadView(ctx context.Context, req *mounts.LoadViewRequest) (*mounts.View, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	state := b.view(req.View)
	if state == nil {
		return nil, fail(req, mounts.NoSuchView, req.View, nil)
	}
	return answerView(state), nil
}

// CreateView implements mounts.Backend.
func (b *Backend) CreateView(ctx context.Context, req *mounts.CreateViewRequest) (*mounts.View, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	if problem := checkObject(req.Namespace, req.Name); problem != "" {
		return nil, refuse(req, mounts.BadRequest, req.Object(), problem)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := b.free(req, req.Object())
	if err != nil {
		return nil, err
	}
	location, err := b.place(req, req.Location)
	if err != nil {
		return nil, err
	}
	metadata, err := commit.CreateView(req, location, b.commitOptions())
	if err != nil {
		return nil, about(req, req.Object(), err)
	}
	created := &object{metadata: metadata, location: b.file(location, 0)}
	s.views.put(req.Name, created)
	return answerView(created), nil
}

// RegisterView implements mounts.Backend for the documents in Options.Files.
func (b *Backend) RegisterView(ctx context.Context, req *mounts.RegisterViewRequest) (*mounts.View, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	if problem := checkObject(req.Namespace, req.Name); problem != "" {
		return nil, refuse(req, mounts.BadRequest, req.Object(), problem)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := b.free(req, req.Object())
	if err != nil {
		return nil, err
	}
	registered, err := b.registered(req, req.MetadataLocation, commit.InspectView)
	if err != nil {
		return nil, err
	}
	s.views.put(req.Name, registered)
	return answerView(registered), nil
}

// ReplaceView implements mounts.Backend.
func (b *Backend) ReplaceView(ctx context.Context, req *mounts.ReplaceViewRequest) (*mounts.View, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	current := b.view(req.View)
	var base *commit.Base
	if current != nil {
		base = &commit.Base{Metadata: current.metadata, Location: current.location}
	}
	result, err := commit.View(base, req, b.commitOptions())
	if err != nil {
		return nil, about(req, req.View, err)
	}
	if !result.Changed {
		return answerView(current), nil
	}
	if err := b.confine(req, req.View, result.TableLocation); err != nil && moved(current, result, commit.InspectView) {
		return nil, err
	}
	next := &object{metadata: result.Metadata, version: current.version + 1}
	next.location = b.file(result.TableLocation, next.version)
	b.find(req.View.Namespace).views.put(req.View.Name, next)
	return answerView(next), nil
}

// RenameView implements mounts.Backend.
func (b *Backend) RenameView(ctx context.Context, req *mounts.RenameViewRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	return b.rename(req, req.Source, req.Destination, mounts.NoSuchView, func(s *space) *sorted[*object] { return &s.views })
}

// DropView implements mounts.Backend.
func (b *Backend) DropView(ctx context.Context, req *mounts.DropViewRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	gone := b.view(req.View)
	if gone == nil {
		return fail(req, mounts.NoSuchView, req.View, nil)
	}
	b.find(req.View.Namespace).views.remove(req.View.Name)
	if b.files != nil {
		b.files[gone.location] = gone.metadata
	}
	return nil
}

func answerView(o *object) *mounts.View {
	return &mounts.View{MetadataLocation: o.location, Metadata: o.metadata, Config: map[string]string{}}
}
