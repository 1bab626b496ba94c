package native

import (
	"context"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

var (
	_ mounts.Logging = (*Backend)(nil)
	_ mounts.Logging = keyed{}
)

// maxRows bounds one page of a commit log.
const maxRows = 1000

// Commits implements mounts.Logging.
func (b *Backend) Commits(ctx context.Context, q mounts.LogQuery) (*mounts.Log, error) {
	kind := store.Table
	if q.Kind == store.View.String() {
		kind = store.View
	}
	var id uuid.UUID
	if q.ID != "" {
		var err error
		if id, err = uuid.Parse(q.ID); err != nil {
			return nil, refuse(mounts.BadRequest, mounts.Identifier{}, "that is no object's id; take one from an answer for a table or view")
		}
	}
	var rows []store.Commit
	err := b.store.View(ctx, func(tx store.Tx) (err error) {
		if q.ID == "" {
			o, err := objectIn(tx, q.Object, kind)
			if err != nil {
				return err
			}
			id = o.ID
		}
		rows, err = tx.Commits(id, q.After, min(max(q.Limit, 1), maxRows))
		return err
	})
	if err != nil {
		return nil, fault(err)
	}
	log := &mounts.Log{ID: id.String(), Rows: make([]mounts.LogRow, len(rows))}
	for i, c := range rows {
		log.Rows[i] = mounts.LogRow{Generation: c.Generation, From: c.From, To: c.To, Time: c.Time,
			Principal: c.Principal, RequestID: c.RequestID, IdempotencyKey: c.IdempotencyKey}
	}
	return log, nil
}

// Commits implements mounts.Logging.
func (k keyed) Commits(ctx context.Context, q mounts.LogQuery) (*mounts.Log, error) {
	return k.registry.Commits(ctx, q)
}
