package native

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// CreateTable implements mounts.Backend. A location that the client leaves out
// is one that was never used before. A staged create stores nothing: its answer
// is what a commit with assert-create builds on.
func (b *Backend) CreateTable(ctx context.Context, req *mounts.CreateTableRequest) (*mounts.Table, error) {
	if err := checkTable(req.Object()); err != nil {
		return nil, fail(req, err)
	}
	table, err := b.create(ctx, req)
	if err != nil {
		return nil, fail(req, err)
	}
	return table, nil
}

func (b *Backend) create(ctx context.Context, req *mounts.CreateTableRequest) (*mounts.Table, error) {
	id := req.Object()
	var place warehouse.Location
	// Whether the name is free is said before anything is said of the location.
	err := b.store.View(ctx, func(tx store.Tx) (err error) {
		if err := free(tx, id); err != nil {
			return err
		}
		place, err = b.namespaceLocation(tx, id.Namespace)
		return err
	})
	if err != nil {
		return nil, err
	}
	if req.Location != "" {
		place, err = b.warehouse.Confine(req.Location)
	} else {
		place = place.Join(warehouse.Segment(id.Name) + "-" + uuid.NewString())
	}
	if err != nil {
		return nil, err
	}
	doc, err := commit.Create(req, place.String(), commit.Options{})
	if err != nil {
		return nil, err
	}
	if req.StageCreate {
		return &mounts.Table{Metadata: doc, Config: b.warehouse.ClientHints()}, nil
	}
	file, _, err := b.write(ctx, place, "", doc)
	if err != nil {
		return nil, err
	}
	o := newTable(id, file)
	err = b.swap(ctx, []string{file}, func(tx store.Tx, who store.By) error {
		if err := free(tx, id); err != nil {
			return err
		}
		_, err := tx.Create(o, who)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.cache.put(cacheKey{location: file}, doc)
	return b.present(o, doc, mounts.SnapshotsAll), nil
}

func newTable(id mounts.Identifier, location string) store.Object {
	return store.Object{Namespace: slices.Clone(id.Namespace), Name: id.Name, Kind: store.Table, ID: uuid.New(), Location: location}
}

// free is nil if a table of that name can be created, or why not.
func free(tx store.Tx, id mounts.Identifier) error {
	if err := exists(tx, id.Namespace); err != nil {
		return err
	}
	taken, err := tx.Object(id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case taken.Kind == store.View:
		return refuse(mounts.AlreadyExists, id, viewHasName)
	}
	return refuse(mounts.AlreadyExists, id, "")
}

// RegisterTable implements mounts.Backend. Both the metadata file and the
// location that it gives the table must lie inside the warehouse, since commits
// write there.
func (b *Backend) RegisterTable(ctx context.Context, req *mounts.RegisterTableRequest) (*mounts.Table, error) {
	if err := checkTable(req.Object()); err != nil {
		return nil, fail(req, err)
	}
	table, err := b.register(ctx, req)
	if err != nil {
		return nil, fail(req, err)
	}
	return table, nil
}

func (b *Backend) register(ctx context.Context, req *mounts.RegisterTableRequest) (*mounts.Table, error) {
	id := req.Object()
	usable := func(tx store.Tx) error {
		err := free(tx, id)
		if taken, lookup := tx.Object(id); req.Overwrite && lookup == nil && taken.Kind == store.Table {
			return nil
		}
		return err
	}
	if err := b.store.View(ctx, usable); err != nil {
		return nil, err
	}
	file, err := b.warehouse.Confine(req.MetadataLocation)
	if err != nil {
		return nil, err
	}
	doc, err := b.read(ctx, file)
	if err != nil {
		return nil, err
	}
	summary, err := commit.Inspect(doc)
	if err != nil {
		return nil, err
	}
	if _, err := b.warehouse.Confine(summary.Location); err != nil {
		return nil, err
	}
	location := file.String()
	var o store.Object
	err = b.swap(ctx, nil, func(tx store.Tx, who store.By) (err error) {
		if err := usable(tx); err != nil {
			return err
		}
		o, err = tx.Object(id)
		if errors.Is(err, store.ErrNotFound) {
			o, err = tx.Create(newTable(id, location), who)
			return err
		} else if err != nil || o.Location == location {
			return err
		}
		o, err = tx.Swap(id, o.Location, location, who)
		return err
	})
	if err != nil {
		return nil, err
	}
	// Unlike the names of files written here this one may have been used before,
	// by a table that is gone.
	b.cache.forget(location)
	b.cache.put(cacheKey{location: location}, doc)
	return b.present(o, doc, mounts.SnapshotsAll), nil
}
