package native

import (
	"context"
	"slices"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/pagination"
)

// ListViews implements mounts.Backend, as ListTables.
func (b *Backend) ListViews(ctx context.Context, req *mounts.ListViewsRequest) (*pagination.Page[mounts.Identifier], error) {
	page, err := b.listObjects(ctx, req.Namespace, store.View, req.Page)
	if err != nil {
		return nil, fail(req, err)
	}
	return page, nil
}

// LoadView implements mounts.Backend. MetadataMissing is a view that exists and
// whose file is gone: it can be dropped.
func (b *Backend) LoadView(ctx context.Context, req *mounts.LoadViewRequest) (*mounts.View, error) {
	o, err := b.object(ctx, req.View, store.View)
	if err != nil {
		return nil, fail(req, err)
	}
	doc, err := b.document(ctx, o, mounts.SnapshotsAll)
	if err != nil {
		return nil, fail(req, err)
	}
	return presentView(o, doc), nil
}

// presentView is the view that a pointer leads to. Engines read none of its
// files, so it comes without storage hints.
func presentView(o store.Object, doc []byte) *mounts.View {
	return &mounts.View{MetadataLocation: o.Location, Metadata: doc, Config: map[string]string{}}
}

// CreateView implements mounts.Backend. A location that the client leaves out is
// one that was never used before.
func (b *Backend) CreateView(ctx context.Context, req *mounts.CreateViewRequest) (*mounts.View, error) {
	view, err := b.createView(ctx, req)
	if err != nil {
		return nil, fail(req, err)
	}
	return view, nil
}

func (b *Backend) createView(ctx context.Context, req *mounts.CreateViewRequest) (*mounts.View, error) {
	id := req.Object()
	if err := checkObject(id, store.View); err != nil {
		return nil, err
	}
	place, err := b.choose(ctx, id, store.View, req.Location)
	if err != nil {
		return nil, err
	}
	g, err := b.settle(ctx, id, place, req.Location, req.Properties)
	if err != nil {
		return nil, err
	}
	doc, err := commit.CreateView(req, place.String(), commit.Options{})
	if err != nil {
		return nil, err
	}
	o, err := b.begin(ctx, g, store.View, doc)
	if err != nil {
		return nil, err
	}
	return presentView(o, doc), nil
}

// RegisterView implements mounts.Backend. Both the metadata file and the
// location that it gives the view must lie inside the warehouse, since commits
// write there.
func (b *Backend) RegisterView(ctx context.Context, req *mounts.RegisterViewRequest) (*mounts.View, error) {
	if err := checkObject(req.Object(), store.View); err != nil {
		return nil, fail(req, err)
	}
	o, doc, err := b.adopt(ctx, req.Object(), store.View, req.MetadataLocation, false)
	if err != nil {
		return nil, fail(req, err)
	}
	return presentView(o, doc), nil
}

// ReplaceView implements mounts.Backend with the protocol of CommitTable.
func (b *Backend) ReplaceView(ctx context.Context, req *mounts.ReplaceViewRequest) (*mounts.View, error) {
	done, err := b.commit(ctx, []change{viewChange(req)}, theOne)
	if err != nil {
		return nil, fail(req, err)
	}
	return presentView(done[0].object, done[0].metadata), nil
}

func viewChange(req *mounts.ReplaceViewRequest) change {
	return change{id: req.View, kind: store.View, updates: req.Updates, apply: func(base *commit.Base) (*commit.Result, error) {
		return commit.View(base, req, commit.Options{})
	}}
}

// RenameView implements mounts.Backend, as RenameTable.
func (b *Backend) RenameView(ctx context.Context, req *mounts.RenameViewRequest) error {
	if err := b.rename(ctx, store.View, req.Source, req.Destination); err != nil {
		return fail(req, err)
	}
	return nil
}

// DropView implements mounts.Backend: it forgets the pointer, also of a view
// whose metadata is lost. The metadata files stay, so the view can be registered
// again.
func (b *Backend) DropView(ctx context.Context, req *mounts.DropViewRequest) error {
	who := by(ctx)
	err := b.update(ctx, func(tx store.Tx) (outcome, error) {
		if _, err := objectIn(tx, req.View, store.View); err != nil {
			return outcome{}, err
		}
		_, err := tx.Drop(req.View, who)
		return nothing(), err
	})
	if err != nil {
		return fail(req, err)
	}
	return nil
}

// listObjects lists one page of the tables or views of a namespace. The root
// holds neither.
func (b *Backend) listObjects(ctx context.Context, inside mounts.Namespace, kind store.Kind, page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
	names, next, err := b.list(ctx, inside, page, func(tx store.Tx, after string, limit int) ([]string, error) {
		return tx.Names(inside, kind, after, limit)
	})
	if err != nil {
		return nil, err
	}
	items := make([]mounts.Identifier, len(names))
	for i, name := range names {
		items[i] = mounts.Identifier{Namespace: slices.Clone(inside), Name: name}
	}
	return &pagination.Page[mounts.Identifier]{Items: items, Next: next}, nil
}
