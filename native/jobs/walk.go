package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/icefield/icefield/native/warehouse"
)

// data deletes the data and delete files that the manifests name.
func (w *walk) data(ctx context.Context) error {
	if !w.table.collects() {
		w.note("the table's property gc.enabled is not true, so its data files were left")
		return nil
	}
	files, storage := newSeen(maxFiles), w.Storage.IO(ctx)
	err := w.eachManifest(ctx, func(manifest fileName) error {
		err := readManifest(ctx, storage, manifest.path, func(f fileName) error {
			if !files.first(f.path) {
				return nil
			}
			return w.name(ctx, f)
		})
		return w.passOver(ctx, "manifest", manifest.path, err)
	})
	if err != nil {
		return err
	}
	return w.complete(ctx)
}

// manifests deletes the manifests. One that is gone was deleted before.
func (w *walk) manifests(ctx context.Context) error {
	if err := w.eachManifest(ctx, func(manifest fileName) error { return w.name(ctx, manifest) }); err != nil {
		return err
	}
	return w.complete(ctx)
}

// lists deletes the manifest lists.
func (w *walk) lists(ctx context.Context) error {
	lists := newSeen(maxManifests)
	for _, s := range w.table.Snapshots {
		if s.ManifestList == "" || !lists.first(s.ManifestList) {
			continue
		}
		if err := w.name(ctx, fileName{path: s.ManifestList}); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// statistics deletes the files of table and partition statistics.
func (w *walk) statistics(ctx context.Context) error {
	files := newSeen(maxFiles)
	for _, group := range [][]statisticsFile{w.table.Statistics, w.table.PartitionStatistics} {
		for _, s := range group {
			if !files.first(s.Path) {
				continue
			}
			if err := w.name(ctx, fileName{s.Path, max(s.Size, 0)}); err != nil {
				return err
			}
		}
	}
	return w.flush(ctx)
}

// metadata deletes the metadata files: the current one alone and last, since
// everything else is found through it.
func (w *walk) metadata(ctx context.Context) error {
	files := newSeen(maxFiles)
	for _, entry := range w.table.MetadataLog {
		if !files.first(entry.File) {
			continue
		}
		if err := w.name(ctx, fileName{path: entry.File}); err != nil {
			return err
		}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	w.now.Found++
	if !w.inside(w.file) {
		w.now.Skipped++
		return nil
	}
	w.now.Deleted++
	w.now.Last = true
	if err := w.say(ctx); err != nil {
		return err
	}
	if _, err := w.Storage.RemoveAll(ctx, []warehouse.Location{w.file}); err != nil {
		return unreachable(ctx, "the metadata file "+w.file.String()+" cannot be deleted", err)
	}
	w.deleted.Add(1)
	return nil
}

// inside reports whether a file lies inside the table's own location.
func (w *walk) inside(l warehouse.Location) bool { return l.Within(w.place) && !same(l, w.place) }

// eachManifest calls visit once for each manifest of all snapshots.
func (w *walk) eachManifest(ctx context.Context, visit func(fileName) error) error {
	manifests, lists, storage := newSeen(maxManifests), newSeen(maxManifests), w.Storage.IO(ctx)
	once := func(m fileName) error {
		if !manifests.first(m.path) {
			return nil
		}
		return visit(m)
	}
	for _, s := range w.table.Snapshots {
		for _, path := range s.Manifests {
			if err := once(fileName{path: path}); err != nil {
				return err
			}
		}
		if s.ManifestList == "" || !lists.first(s.ManifestList) {
			continue
		}
		err := readList(ctx, storage, s.ManifestList, once)
		if err := w.passOver(ctx, "manifest list", s.ManifestList, err); err != nil {
			return err
		}
	}
	return nil
}

// passOver notes a file that cannot be read, so that the others are. An error of
// storage itself ends the attempt: it would be the same with the next file.
func (w *walk) passOver(ctx context.Context, what, path string, err error) error {
	var h *handed
	var d *damaged
	var bad *warehouse.BadLocation
	switch {
	case err == nil:
	case errors.As(err, &h):
		return h.err
	case errors.As(err, &d):
		w.blind.add(fmt.Sprintf("the %s %s is damaged", what, path))
		w.log(ctx, what, path, err)
	case errors.Is(err, fs.ErrNotExist):
		w.blind.add(fmt.Sprintf("the %s %s is missing", what, path))
	case errors.As(err, &bad):
		w.outside.add(path)
	default:
		return unreachable(ctx, fmt.Sprintf("the %s %s cannot be read", what, path), err)
	}
	return nil
}

// complete ends a phase that has to know of all manifests.
func (w *walk) complete(ctx context.Context) error {
	if err := w.flush(ctx); err != nil {
		return err
	}
	if w.outside.count > 0 {
		w.note(fmt.Sprintf("%d manifests and manifest lists were not read, as they lie outside the warehouse, and what they name was left", w.outside.count))
		w.outside = unread{}
	}
	if w.blind.count > 0 {
		return &Failure{Say: fmt.Sprintf("%s (%d such files), so what it names is not known and is left, and so is all metadata of the table",
			w.blind.first, w.blind.count)}
	}
	return nil
}

// name takes a file that the metadata names: it is deleted, or left and counted.
func (w *walk) name(ctx context.Context, f fileName) error {
	l, err := w.Storage.ConfineFile(f.path)
	if err != nil {
		w.now.Found++
		w.now.Skipped++
		return nil
	}
	if same(l, w.file) {
		return nil // whatever names it: it goes last
	}
	w.take(l, f.size)
	if len(w.batch) < batchSize {
		return nil
	}
	return w.flush(ctx)
}

// take puts a file into the batch, unless it lies outside the table's location.
func (w *walk) take(l warehouse.Location, size int64) {
	w.now.Found++
	if !w.inside(l) {
		w.now.Skipped++
		return
	}
	w.batch, w.bytes = append(w.batch, l), add(w.bytes, size)
}

// flush deletes the batch and says how far the purge is.
func (w *walk) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(w.batch) == 0 {
		return w.say(ctx)
	}
	gone, err := w.Storage.RemoveAll(ctx, w.batch)
	w.deleted.Add(int64(gone))
	w.now.Deleted += int64(gone)
	if err != nil {
		return unreachable(ctx, fmt.Sprintf("%d files of the table cannot be deleted", len(w.batch)-gone), err)
	}
	w.now.Bytes = add(w.now.Bytes, w.bytes)
	w.batch, w.bytes = w.batch[:0], 0
	return w.say(ctx)
}

// say records how far the purge is, unless an earlier attempt said more: the
// lease is renewed beside this.
func (w *walk) say(ctx context.Context) error {
	if w.now.Phase == w.saved.Phase && w.now.Found < w.saved.Found {
		return nil
	}
	return w.task.Save(ctx, w.now.Record())
}

func (w *walk) log(ctx context.Context, what, path string, err error) {
	w.task.runner.log.WarnContext(ctx, "a file of a dropped table cannot be read", "job", w.task.Job().ID, "what", what, "file", path, "error", err)
}

// same reports whether two locations mean one place, however they are spelled.
func same(a, b warehouse.Location) bool { return a.Within(b) && b.Within(a) }
