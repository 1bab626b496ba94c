package native

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/jobs"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// dropWithPurge forgets a table's pointer and records, in the same transaction,
// the job that deletes its files. It is refused whole, with InvalidArgument,
// where files could be those of another object too, and for a table whose
// property icefield.protected is true. (InvalidArgument and no 409, since to a
// Java client every 409 of a drop is an AlreadyExistsException.)
func (b *Backend) dropWithPurge(ctx context.Context, id mounts.Identifier) error {
	leave, err := b.gate.enter(ctx, []mounts.Identifier{id})
	if err != nil {
		return err
	}
	defer leave()
	for try := range maxTries {
		if err := pause(ctx, try); err != nil {
			return err
		}
		if err := b.tryPurge(ctx, id); !errors.Is(err, store.ErrMoved) {
			return err
		}
	}
	return &mounts.Error{Kind: mounts.Unavailable, Ident: id, RetryAfter: time.Second,
		Msg: "{object} is being changed by too many writers at once; nothing was dropped, try again"}
}

// tryPurge is one round; store.ErrMoved if the pointer moved since it was read.
func (b *Backend) tryPurge(ctx context.Context, id mounts.Identifier) error {
	read, err := b.table(ctx, id)
	if err != nil {
		return err
	}
	place, err := b.purged(ctx, read)
	if err != nil {
		return err
	}
	job, err := uuid.NewV7()
	if err != nil {
		return err
	}
	progress := jobs.Progress{}
	if place != nil {
		progress.Location = place.String()
	}
	who := by(ctx)
	err = b.update(ctx, func(tx store.Tx) (outcome, error) {
		now, err := tableIn(tx, id)
		switch {
		case err != nil:
			return nothing(), err
		case now.ID != read.ID || now.Location != read.Location:
			return nothing(), store.ErrMoved
		}
		if shared, err := sharesFiles(tx, now, place); err != nil {
			return nothing(), err
		} else if shared {
			return nothing(), refuse(mounts.InvalidArgument, id, "the files of {object} cannot be purged: another table or view of this catalog "+
				"has its metadata inside the same location; nothing was dropped. Drop it without purge")
		}
		if _, err := tx.Drop(id, who); err != nil {
			return nothing(), err
		}
		return nothing(), tx.CreateJob(store.Job{ID: job, Kind: jobs.KindPurge, Object: now.ID, Ident: id, ObjectKind: now.Kind,
			Location: now.Location, State: store.JobWaiting, Progress: progress.Record(), Created: who.Time, Updated: who.Time, By: who})
	})
	if err != nil {
		return err
	}
	b.jobs.Wake()
	return nil
}

// purged is the location of a table that shall be purged; nil if its metadata is
// lost, or names a place outside the warehouse, so that the purge will find
// nothing.
func (b *Backend) purged(ctx context.Context, o store.Object) (*warehouse.Location, error) {
	doc, err := b.document(ctx, o, mounts.SnapshotsAll)
	if errors.Is(err, mounts.MetadataMissing) {
		return nil, nil
	}
	if err != nil && !errors.Is(err, errDamaged) {
		return nil, err
	}
	var summary *commit.Summary
	if err == nil {
		summary, err = commit.Inspect(doc)
	}
	if err != nil {
		e := refuse(mounts.InvalidArgument, o.Identifier(), "the metadata file of {object} is damaged, so its files cannot be found; nothing was dropped. Drop it without purge")
		e.Err = err
		return nil, e
	}
	if strings.EqualFold(summary.Properties[propertyProtected], "true") {
		return nil, refuse(mounts.InvalidArgument, o.Identifier(), "{object} is protected and is not purged; nothing was dropped. Set its property "+
			propertyProtected+" to false first")
	}
	place, err := b.warehouse.Confine(summary.Location)
	if err != nil {
		return nil, nil
	}
	if !vouched(o.Location, place) {
		g := &ground{id: o.Identifier(), self: o.ID, place: &place, named: []commit.Named{{Where: "location", Location: place.String()}}}
		err := b.survey(ctx, g)
		if known := (*mounts.Error)(nil); errors.As(err, &known) && known.Kind == mounts.BadRequest {
			e := refuse(mounts.InvalidArgument, o.Identifier(), "the metadata file of {object} lies elsewhere than in the location that it names, and that is not its own; nothing was dropped. Drop it without purge")
			e.Err = err
			return nil, e
		}
		if err != nil {
			return nil, err
		}
	}
	return &place, nil
}

// sharesFiles reports whether another object's pointer lies inside a table's
// location, or is the table's own.
func sharesFiles(tx store.Tx, o store.Object, place *warehouse.Location) (bool, error) {
	if place == nil {
		return false, nil
	}
	for _, folder := range place.Spellings() {
		// The table itself, and one more.
		holders, err := tx.Holders(folder+"/", 2)
		if err != nil {
			return false, err
		}
		for _, h := range holders {
			if h.ID != o.ID {
				return true, nil
			}
		}
	}
	file, err := warehouse.Parse(o.Location)
	if err != nil {
		return false, err
	}
	for _, pointer := range file.Spellings() {
		// Equal ones come first.
		holders, err := tx.Holders(pointer, 2)
		if err != nil {
			return false, err
		}
		for _, h := range holders {
			if h.ID != o.ID && h.Location == pointer {
				return true, nil
			}
		}
	}
	return false, nil
}

// notPurged refuses a metadata file that is about to be deleted: an object made
// of it would lose its files one by one.
func notPurged(tx store.Tx, file warehouse.Location) error {
	const page = 500
	for before := uuid.Nil; ; {
		all, err := tx.Jobs(before, page)
		if err != nil {
			return err
		}
		for _, j := range all {
			before = j.ID
			if j.Kind != jobs.KindPurge || j.State.Finished() {
				continue
			}
			place, err := warehouse.Parse(jobs.ReadProgress(j.Progress).Location)
			if err != nil {
				continue // its metadata was lost
			}
			last, err := warehouse.Parse(j.Location)
			if file.Within(place) || err == nil && file.Within(last) {
				return refuse(mounts.BadRequest, mounts.Identifier{}, "{object} cannot be made of a metadata file that is being deleted: its table was dropped with purge")
			}
		}
		if len(all) < page {
			return nil
		}
	}
}
