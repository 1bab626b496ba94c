package warehouse

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"
)

// vanished bounds how often a writer creates a folder that is removed, being
// empty, before the file is in it.
const vanished = 1000

// write returns when the file's content, its name, and the names of the folders
// above it up to the root would survive a power cut. The folders above are
// flushed only the first time, but also where others made them, who may not have
// done so.
func (f *local) write(ctx context.Context, l Location, content []byte) error {
	dir, name := path.Split(f.name(l))
	dir = path.Clean(dir)
	folder, file, err := f.create(ctx, dir, name)
	if err != nil {
		return f.refused(l, err)
	}
	defer f.folders.done(folder)
	_, err = file.Write(content)
	if err == nil {
		err = f.flush(dir, folder, file)
	}
	return errors.Join(err, file.Close())
}

// create makes a file that is not there, and the folders above it.
func (f *local) create(ctx context.Context, dir, name string) (in *folder, file *os.File, err error) {
	for range vanished {
		if in, err = f.use(dir); err == nil {
			if file, err = in.inner.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
				return in, file, nil
			}
			if errors.Is(err, fs.ErrNotExist) {
				f.folders.drop(dir, in)
			}
			f.folders.done(in)
		}
		if !errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
			return nil, nil, err
		}
		if err := f.makeDirs(dir); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// makeDirs creates a folder inside the root and those above it. It flushes
// nothing.
func (f *local) makeDirs(dir string) error {
	if dir == "." {
		return f.gone()
	}
	err := f.inner.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.makeDirs(path.Dir(dir)); err == nil {
			err = f.inner.Mkdir(dir, 0o755)
		}
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil // the second: it vanished again, and the writer comes back
	}
	return err
}

// flush flushes a new file, its folder, and the folders above that unless that
// was done before.
func (f *local) flush(dir string, in *folder, file *os.File) error {
	if f.folders.isSettled(in) {
		return f.flushAll(file, in.self)
	}
	all := []*os.File{file, in.self}
	defer func() {
		for _, above := range all[2:] {
			_ = above.Close() // opened to be read
		}
	}()
	for above := dir; above != "."; {
		above = path.Dir(above)
		opened, err := f.inner.Open(above)
		if err != nil {
			return err
		}
		all = append(all, opened)
	}
	err := f.flushAll(all...)
	if err == nil {
		f.folders.settle(in)
	}
	return err
}

// fewWriters is up to how many at a time gain from flushing what they have at
// once: a disk takes flushes that come together for one. Those of more writers
// come together by themselves.
const fewWriters = 4

func (f *local) flushAll(files ...*os.File) error {
	writers := f.writers.Add(1)
	defer f.writers.Add(-1)
	failed := make([]error, len(files))
	if writers > fewWriters {
		for i, file := range files {
			failed[i] = f.sync(file)
		}
		return errors.Join(failed...)
	}
	var group sync.WaitGroup
	for i, file := range files[1:] {
		group.Go(func() { failed[i+1] = f.sync(file) })
	}
	failed[0] = f.sync(files[0])
	group.Wait()
	return errors.Join(failed...)
}
