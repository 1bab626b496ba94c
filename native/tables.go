package native

import (
	"context"
	"errors"
	"fmt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/pagination"
)

// ListTables implements mounts.Backend, as ListNamespaces.
func (b *Backend) ListTables(ctx context.Context, req *mounts.ListTablesRequest) (*pagination.Page[mounts.Identifier], error) {
	page, err := b.listObjects(ctx, req.Namespace, store.Table, req.Page)
	if err != nil {
		return nil, fail(req, err)
	}
	return page, nil
}

// object reads the pointer of a table or view; one of the other kind is absent.
func (b *Backend) object(ctx context.Context, id mounts.Identifier, kind store.Kind) (store.Object, error) {
	var o store.Object
	err := b.store.View(ctx, func(tx store.Tx) (err error) {
		o, err = objectIn(tx, id, kind)
		return err
	})
	return o, err
}

func (b *Backend) table(ctx context.Context, id mounts.Identifier) (store.Object, error) {
	return b.object(ctx, id, store.Table)
}

func tableIn(tx store.Tx, id mounts.Identifier) (store.Object, error) {
	return objectIn(tx, id, store.Table)
}

// LoadTable implements mounts.Backend. A table whose tag the client has is
// answered from the pointer alone, one whose metadata is cached without storage.
func (b *Backend) LoadTable(ctx context.Context, req *mounts.LoadTableRequest) (*mounts.Table, error) {
	mode := req.Snapshots
	switch mode {
	case "":
		mode = mounts.SnapshotsAll
	case mounts.SnapshotsAll, mounts.SnapshotsRefs:
	default:
		return nil, fail(req, refuse(mounts.BadRequest, req.Table, fmt.Sprintf("snapshots=%q is unknown; ask for %q or %q",
			string(mode), mounts.SnapshotsAll, mounts.SnapshotsRefs)))
	}
	o, err := b.table(ctx, req.Table)
	if err != nil {
		return nil, fail(req, err)
	}
	if req.IfNoneMatch != "" {
		if tag := b.tags.tag(o, mode); matches(req.IfNoneMatch, tag) {
			return &mounts.Table{ETag: tag, NotModified: true}, nil
		}
	}
	loaded, err := b.answer(ctx, o, mode)
	if errors.Is(err, mounts.MetadataMissing) {
		loaded, err = b.answerAgain(ctx, req.Table, o, mode, err)
	}
	if err != nil {
		return nil, fail(req, err)
	}
	return loaded, nil
}

// answerAgain tells a table whose metadata is lost from one whose old metadata
// file a commit removed just now.
func (b *Backend) answerAgain(ctx context.Context, id mounts.Identifier, read store.Object, mode mounts.Snapshots, lost error) (*mounts.Table, error) {
	now, err := b.table(ctx, id)
	if err != nil {
		return nil, err
	}
	if now.Location == read.Location {
		return nil, lost
	}
	return b.answer(ctx, now, mode)
}

// answer is the table that a pointer leads to.
func (b *Backend) answer(ctx context.Context, o store.Object, mode mounts.Snapshots) (*mounts.Table, error) {
	doc, err := b.document(ctx, o, mode)
	if err != nil {
		return nil, err
	}
	return b.present(o, doc, mode), nil
}

func (b *Backend) present(o store.Object, doc []byte, mode mounts.Snapshots) *mounts.Table {
	return &mounts.Table{MetadataLocation: o.Location, Metadata: doc, Config: b.warehouse.ClientHints(), ETag: b.tags.tag(o, mode)}
}

// TableExists implements mounts.Backend; storage is not asked.
func (b *Backend) TableExists(ctx context.Context, req *mounts.TableExistsRequest) error {
	if _, err := b.table(ctx, req.Table); err != nil {
		return fail(req, err)
	}
	return nil
}

// ReportMetrics implements mounts.Backend. Reports are not kept; they are counted
// by what stands around the mount.
func (b *Backend) ReportMetrics(ctx context.Context, req *mounts.ReportMetricsRequest) error {
	if _, err := b.table(ctx, req.Table); err != nil {
		return fail(req, err)
	}
	return nil
}

// RenameTable implements mounts.Backend in one store transaction. A rename to
// its own name does nothing.
func (b *Backend) RenameTable(ctx context.Context, req *mounts.RenameTableRequest) error {
	if err := b.rename(ctx, store.Table, req.Source, req.Destination); err != nil {
		return fail(req, err)
	}
	return nil
}

func (b *Backend) rename(ctx context.Context, kind store.Kind, from, to mounts.Identifier) error {
	if err := checkObject(to, kind); err != nil {
		return err
	}
	who := by(ctx)
	return b.update(ctx, func(tx store.Tx) (outcome, error) {
		if _, err := objectIn(tx, from, kind); err != nil || from.Equal(to) {
			return nothing(), err
		}
		if err := exists(tx, to.Namespace); err != nil {
			return nothing(), err
		}
		taken, err := tx.Object(to)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nothing(), tx.Rename(from, to, who)
		case err != nil:
			return nothing(), err
		}
		e := refuse(mounts.AlreadyExists, from, tableAtRenamed)
		if e.To = to; taken.Kind == store.View {
			e.Msg = viewAtRenamed
		}
		return nothing(), e
	})
}

// DropTable implements mounts.Backend: it forgets the pointer, also of a table
// whose metadata is lost. Files stay, unless it asks for them to be deleted: that
// is done in the background, as a job that is recorded with the drop.
func (b *Backend) DropTable(ctx context.Context, req *mounts.DropTableRequest) error {
	drop := b.forget
	if req.Purge {
		drop = b.dropWithPurge
	}
	if err := drop(ctx, req.Table); err != nil {
		return fail(req, err)
	}
	return nil
}

// forget removes a pointer.
func (b *Backend) forget(ctx context.Context, id mounts.Identifier) error {
	who := by(ctx)
	return b.update(ctx, func(tx store.Tx) (outcome, error) {
		if _, err := tableIn(tx, id); err != nil {
			return nothing(), err
		}
		_, err := tx.Drop(id, who)
		return nothing(), err
	})
}

// UnregisterTable implements mounts.Backend. It answers with the metadata, and
// does nothing if that cannot be read: a table whose metadata is lost is
// dropped.
func (b *Backend) UnregisterTable(ctx context.Context, req *mounts.UnregisterTableRequest) (*mounts.Table, error) {
	for {
		read, err := b.table(ctx, req.Table)
		if err != nil {
			return nil, fail(req, err)
		}
		table, err := b.answer(ctx, read, mounts.SnapshotsAll)
		if err != nil {
			return nil, fail(req, err)
		}
		who := by(ctx)
		err = b.update(ctx, func(tx store.Tx) (outcome, error) {
			now, err := tableIn(tx, req.Table)
			switch {
			case err != nil:
				return nothing(), err
			case now.Location != read.Location:
				return nothing(), store.ErrMoved
			}
			_, err = tx.Drop(req.Table, who)
			return pointsTo(read), err
		})
		switch {
		case errors.Is(err, store.ErrMoved):
			continue
		case err != nil:
			return nil, fail(req, err)
		}
		return table, nil
	}
}
