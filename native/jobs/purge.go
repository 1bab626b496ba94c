package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	icebergio "github.com/apache/iceberg-go/io"

	"github.com/icefield/icefield/native/warehouse"
)

// Storage is what a purge uses of a *warehouse.Warehouse.
type Storage interface {
	Confine(text string) (warehouse.Location, error)
	ConfineFile(text string) (warehouse.Location, error)
	IO(ctx context.Context) icebergio.IO
	RemoveAll(ctx context.Context, files []warehouse.Location) (gone int, err error)
	RemoveEmptyFolders(ctx context.Context, folder warehouse.Location) error
}

// Purge deletes the files of a dropped table. It is safe for concurrent use.
//
// Of the files that the table's metadata leads to it deletes those that lie
// inside the table's own location, by path segments, and inside the warehouse.
// Any other is left and counted, whoever it belongs to. A file that no metadata
// names is not touched, be it in the table's own folder.
//
// A table whose property gc.enabled is false shares its data files: those are
// left, and only its metadata goes, as Iceberg's Java library does it.
//
// While a manifest cannot be read nobody knows what it names. The purge then
// deletes what the others name, and fails with all metadata in place.
type Purge struct {
	Storage Storage
	// Read reads a metadata file, compressed or not; warehouse.ErrMissing if it
	// is certainly not there.
	Read func(ctx context.Context, l warehouse.Location) ([]byte, error)

	deleted atomic.Int64
}

var _ Work = (*Purge)(nil)

// Deleted is how many files were deleted since the process started.
func (p *Purge) Deleted() int64 { return p.deleted.Load() }

// batchSize is how many files are deleted between two looks at the lease.
const batchSize = 1000

// Do implements Work.
func (p *Purge) Do(ctx context.Context, t *Task) error {
	w := &walk{Purge: p, task: t, saved: ReadProgress(t.Job().Progress)}
	w.now = w.saved
	if err := w.open(ctx); err != nil || w.finished {
		return err
	}
	do := map[string]func(context.Context) error{
		PhaseData: w.data, PhaseManifests: w.manifests, PhaseLists: w.lists, PhaseStatistics: w.statistics, PhaseMetadata: w.metadata,
	}
	for _, phase := range phases[max(slices.Index(phases, w.saved.Phase), 0):] {
		if err := w.enter(ctx, phase); err != nil {
			return err
		}
		if err := do[phase](ctx); err != nil {
			return err
		}
	}
	return w.end(ctx)
}

// walk is one attempt at a purge.
type walk struct {
	*Purge
	task *Task
	// file is the table's current metadata file, and place the table's location.
	file, place warehouse.Location
	table       *tableFiles
	// saved is how far an earlier attempt got, and now how far this one is.
	saved, now Progress
	finished   bool

	batch []warehouse.Location
	bytes int64
	// blind are the manifests and lists that cannot be read; outside those that
	// are not read since they lie outside the warehouse.
	blind, outside unread
}

// unread counts files and keeps the first.
type unread struct {
	count int
	first string
}

func (u *unread) add(what string) {
	if u.count++; u.count == 1 {
		u.first = what
	}
}

// open reads the metadata that everything else is found through.
func (w *walk) open(ctx context.Context) error {
	job := w.task.Job()
	file, err := w.Storage.Confine(job.Location)
	if err != nil {
		return w.give(ctx, "the metadata file lies outside the warehouse; nothing was deleted")
	}
	w.file = file
	doc, err := w.Read(ctx, file)
	switch {
	case errors.Is(err, warehouse.ErrMissing) && w.saved.Last:
		// It goes last, so an earlier attempt got as far as this.
		if w.place, err = w.Storage.Confine(w.saved.Location); err != nil {
			return err // it was written from a Location
		}
		return w.end(ctx)
	case errors.Is(err, warehouse.ErrMissing) && w.saved.Phase == "":
		return w.give(ctx, "the table's metadata file was lost before the drop, so its files could not be found; nothing was deleted")
	case errors.Is(err, warehouse.ErrMissing):
		return &Failure{Say: fmt.Sprintf("the metadata file %s went away in the middle of the purge; without it the files that are left cannot be found", file), Err: err}
	case err != nil:
		return unreachable(ctx, "the metadata file "+file.String()+" cannot be read", err)
	}
	if w.table, err = readTable(doc); err != nil {
		return &Failure{Say: fmt.Sprintf("the metadata file %s is damaged, so the table's files cannot be found", file), Err: err}
	}
	// Whoever could write the table's data may have written the file anew since: what
	// counts is where the table lay when it was dropped, which was looked at then.
	if w.saved.Location == "" {
		return w.give(ctx, "where the table lay could not be told when it was dropped; nothing was deleted")
	}
	if w.place, err = w.Storage.Confine(w.saved.Location); err != nil {
		return err // it was written from a Location
	}
	if said, err := w.Storage.Confine(w.table.Location); err != nil || !said.Within(w.place) || !w.place.Within(said) {
		return w.give(ctx, "the metadata file was written anew since the drop, and names another location; nothing more was deleted")
	}
	return nil
}

// give ends a purge that can do nothing, and says why.
func (w *walk) give(ctx context.Context, note string) error {
	w.now.Note, w.finished = note, true
	return w.task.Save(ctx, w.now.Record())
}

// enter begins a phase, or does the one again that an earlier attempt was in.
func (w *walk) enter(ctx context.Context, phase string) error {
	if w.now.Phase == phase {
		w.now.Counts = w.now.Before
		return nil
	}
	w.now.Phase, w.now.Before = phase, w.now.Counts
	return w.task.Save(ctx, w.now.Record())
}

// end removes the folders that the purge left empty.
func (w *walk) end(ctx context.Context) error {
	if err := w.Storage.RemoveEmptyFolders(ctx, w.place); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		w.note("some empty folders could not be removed")
	}
	w.finished = true
	return w.task.Save(ctx, w.now.Record())
}

// note adds to what there is to know.
func (w *walk) note(text string) {
	switch {
	case w.now.Note == "":
		w.now.Note = text
	case !strings.Contains(w.now.Note, text):
		w.now.Note += "; " + text
	}
}

// unreachable is the error of storage that did not do what it was asked.
func unreachable(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Failure{Say: what + "; the server's log has the cause", Err: err}
}
