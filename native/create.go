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
	if err := checkObject(req.Object(), store.Table); err != nil {
		return nil, fail(req, err)
	}
	table, err := b.create(ctx, req)
	if err != nil {
		return nil, fail(req, err)
	}
	return table, nil
}

func (b *Backend) create(ctx context.Context, req *mounts.CreateTableRequest) (*mounts.Table, error) {
	place, err := b.choose(ctx, req.Object(), store.Table, req.Location)
	if err != nil {
		return nil, err
	}
	g, err := b.settle(ctx, req.Object(), place, req.Location, req.Properties)
	if err != nil {
		return nil, err
	}
	doc, err := commit.Create(req, place.String(), commit.Options{})
	if err != nil {
		return nil, err
	}
	if req.StageCreate {
		if err := b.keep(ctx, staged(doc)); err != nil {
			return nil, err
		}
		return &mounts.Table{Metadata: doc, Config: b.warehouse.ClientHints()}, nil
	}
	o, err := b.begin(ctx, g, store.Table, doc)
	if err != nil {
		return nil, err
	}
	return b.present(o, doc, mounts.SnapshotsAll), nil
}

// choose is where a new object shall lie: where the client says, if it says so,
// else a place that was never used before. Whether the name is free is said
// before anything is said of the location.
func (b *Backend) choose(ctx context.Context, id mounts.Identifier, kind store.Kind, wanted string) (warehouse.Location, error) {
	var place warehouse.Location
	err := b.store.View(ctx, func(tx store.Tx) (err error) {
		if err := free(tx, id, kind); err != nil {
			return err
		}
		place, err = b.namespaceLocation(tx, id.Namespace)
		return err
	})
	switch {
	case err != nil:
		return warehouse.Location{}, err
	case wanted != "":
		return b.warehouse.Confine(wanted)
	}
	return place.Join(warehouse.Segment(id.Name) + "-" + uuid.NewString()), nil
}

// settle looks at the ground of a new object whose location was chosen, as wanted
// or, if that is empty, by choose itself.
func (b *Backend) settle(ctx context.Context, id mounts.Identifier, place warehouse.Location, wanted string, properties map[string]string) (*ground, error) {
	named := commit.PropertyLocations(properties)
	if err := b.confine(named); err != nil {
		return nil, err
	}
	g := &ground{id: id, place: &place, fresh: wanted == "", named: named}
	if err := g.addFolders(named); err != nil {
		return nil, err
	}
	if wanted != "" {
		g.named = append(g.named, commit.Named{Location: wanted})
	}
	return g, b.survey(ctx, g)
}

// begin writes the first metadata file of an object and makes its pointer.
func (b *Backend) begin(ctx context.Context, g *ground, kind store.Kind, doc []byte) (store.Object, error) {
	id := g.id
	file, _, err := b.write(ctx, kind, *g.place, "", doc)
	if err != nil {
		return store.Object{}, err
	}
	o := newObject(id, kind, file)
	err = b.swap(ctx, []string{file}, func(tx store.Tx, who store.By) (outcome, error) {
		if err := free(tx, id, kind); err != nil {
			return nothing(), err
		}
		if err := b.claim(tx, g); err != nil {
			return nothing(), err
		}
		created, err := tx.Create(o, who)
		if err != nil {
			return nothing(), err
		}
		o = created
		return pointsTo(created), nil
	})
	if err != nil {
		return store.Object{}, err
	}
	b.cache.put(keyOf(o), doc)
	return o, nil
}

func newObject(id mounts.Identifier, kind store.Kind, location string) store.Object {
	return store.Object{Namespace: slices.Clone(id.Namespace), Name: id.Name, Kind: kind, ID: uuid.New(), Location: location}
}

// RegisterTable implements mounts.Backend. The metadata file and all that it
// points to must lie inside the warehouse: see confineDocument.
func (b *Backend) RegisterTable(ctx context.Context, req *mounts.RegisterTableRequest) (*mounts.Table, error) {
	if err := checkObject(req.Object(), store.Table); err != nil {
		return nil, fail(req, err)
	}
	table, err := b.register(ctx, req)
	if err != nil {
		return nil, fail(req, err)
	}
	return table, nil
}

func (b *Backend) register(ctx context.Context, req *mounts.RegisterTableRequest) (*mounts.Table, error) {
	o, doc, err := b.adopt(ctx, req.Object(), store.Table, req.MetadataLocation, req.Overwrite)
	if err != nil {
		return nil, err
	}
	return b.present(o, doc, mounts.SnapshotsAll), nil
}

// adopt makes an object of a metadata file that exists.
func (b *Backend) adopt(ctx context.Context, id mounts.Identifier, kind store.Kind, metadata string, overwrite bool) (o store.Object, doc []byte, err error) {
	g := &ground{id: id}
	usable := func(tx store.Tx) error {
		err := free(tx, id, kind)
		if taken, lookup := tx.Object(id); overwrite && lookup == nil && taken.Kind == kind {
			g.self = taken.ID
			return nil
		}
		g.self = uuid.Nil
		return err
	}
	err = b.store.View(ctx, func(tx store.Tx) error {
		if err := usable(tx); err != nil {
			return err
		}
		// Nothing is told of a file that is another tenant's, not even whether it is
		// there.
		return b.atHome(tx, id.Namespace, nil, []commit.Named{{Where: "metadata-location", Location: metadata}})
	})
	if err != nil {
		return o, nil, err
	}
	file, err := b.warehouse.Confine(metadata)
	if err != nil {
		return o, nil, err
	}
	if doc, err = b.read(ctx, file); errors.Is(err, errDamaged) {
		return o, nil, &mounts.Error{Kind: mounts.ValidationFailed, Err: err, Msg: "the file is not Iceberg metadata: it begins as gzip does, and cannot be decompressed"}
	} else if err != nil {
		return o, nil, err
	}
	summary, err := inspect(kind, doc)
	if err != nil {
		return o, nil, err
	}
	if g.named, err = b.confineDocument(kind, doc, summary); err == nil {
		err = g.addFolders(g.named)
	}
	if err != nil {
		return o, nil, err
	}
	place, err := b.warehouse.Confine(summary.Location)
	if err != nil {
		return o, nil, err
	}
	g.place, g.named, g.folders = &place, append(g.named, commit.Named{Where: "metadata-location", Location: metadata}), append(g.folders, file.Parent())
	if err := b.survey(ctx, g); err != nil {
		return o, nil, err
	}
	location := file.String()
	err = b.swap(ctx, nil, func(tx store.Tx, who store.By) (_ outcome, err error) {
		if err := usable(tx); err != nil {
			return nothing(), err
		}
		if err := notPurged(tx, file); err != nil {
			return nothing(), err
		}
		if err := b.claim(tx, g); err != nil {
			return nothing(), err
		}
		o, err = tx.Object(id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			o, err = tx.Create(newObject(id, kind, location), who)
		case err == nil:
			// Also where the pointer stays the same: the file may have been written
			// anew, and every replica has to read it again.
			o, err = tx.Swap(id, o.Location, location, who)
		}
		return pointsTo(o), err
	})
	if err != nil {
		return o, nil, err
	}
	b.cache.put(keyOf(o), doc)
	return o, doc, nil
}
