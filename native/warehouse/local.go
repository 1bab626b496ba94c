package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	icebergio "github.com/apache/iceberg-go/io"
)

// local is a folder of the file system. It does not use the FileIO library: that
// neither flushes files to disk nor refuses to overwrite, and it decodes "%" in
// names. Every operation goes through an os.Root, so neither ".." nor a symbolic
// link leads out of the folder, whatever is changed in it meanwhile.
type local struct {
	root    Location
	inner   *os.Root
	folders folders
	// sync flushes a file or folder to disk; tests watch it.
	sync func(*os.File) error
	// writers is how many are flushing at this moment.
	writers atomic.Int32
}

func openLocal(root Location) (files, error) {
	if len(root.segments) == 0 {
		return nil, fmt.Errorf("warehouse: %s is the root of the file system; give the warehouse a folder of its own", root)
	}
	folder := filepath.FromSlash("/" + root.path())
	if err := makeDirs(folder); err != nil {
		return nil, fmt.Errorf("warehouse: cannot create the folder: %w", err)
	}
	inner, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("warehouse: cannot open the folder: %w", err)
	}
	return &local{root: root, inner: inner, sync: (*os.File).Sync}, nil
}

// name is a location's path from the root, which it lies inside.
func (f *local) name(l Location) string {
	if len(l.segments) == len(f.root.segments) {
		return "."
	}
	return strings.Join(l.segments[len(f.root.segments):], "/")
}

func (f *local) open(_ context.Context, l Location) (icebergio.File, error) {
	return f.regular(l)
}

// regular opens a regular file to be read.
func (f *local) regular(l Location) (*os.File, error) {
	// Without O_NONBLOCK the opening of a pipe waits for whoever writes into it.
	file, err := f.inner.OpenFile(f.name(l), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, f.failed(l, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrMissing // a pipe or device may never end, and a folder is no file
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f *local) read(_ context.Context, l Location, limit int64) ([]byte, error) {
	file, err := f.regular(l)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, ErrTooLarge
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(file, content); err != nil {
		return nil, fmt.Errorf("warehouse: reading %s: %w", l, err)
	}
	return content, nil
}

// remove leaves the folders: another writer may be about to use them.
func (f *local) remove(_ context.Context, l Location) error {
	if err := f.inner.Remove(f.name(l)); err != nil {
		return f.failed(l, err)
	}
	return nil
}

func (f *local) removeAll(ctx context.Context, ls []Location) (int, error) {
	return removeEach(ctx, ls, 1, f.removeWithChecksum)
}

// removeWithChecksum removes a file and, before it, so that a crash leaves none
// behind, the checksum file that Hadoop's local file system keeps beside each file
// that an engine writes: ".name.crc".
func (f *local) removeWithChecksum(ctx context.Context, l Location) error {
	name := f.name(l)
	checksum := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".crc")
	if err := f.inner.Remove(checksum); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return f.failed(l, err)
	}
	return f.remove(ctx, l)
}

func (f *local) close() error {
	f.folders.dropAll()
	return f.inner.Close()
}

// failed keeps ErrMissing for a name that is not there. A path through a file
// that is no folder is one too; a refused permission is not, and neither is any
// name once the warehouse's own folder is gone.
func (f *local) failed(l Location, err error) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return f.refused(l, err)
	}
	if gone := f.gone(); gone != nil {
		return gone
	}
	return fmt.Errorf("%w: %w", ErrMissing, err)
}

// refused names the location of what os.Root refuses, which has no error value
// of its own for that.
func (f *local) refused(l Location, err error) error {
	if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) && pathError.Err.Error() == "path escapes from parent" {
		return &BadLocation{l.String(), "leads out of the warehouse through a symbolic link"}
	}
	return err
}

// gone says that the folder that was opened is not the one at its name any more:
// removed, replaced, or hidden by what was mounted over it.
func (f *local) gone() error {
	opened, err := f.inner.Stat(".")
	if err != nil {
		return err
	}
	named, err := os.Stat(f.inner.Name())
	if err == nil && os.SameFile(opened, named) {
		return nil
	}
	return fmt.Errorf("warehouse: the folder %s was removed or replaced while the server had it open; put it back and restart the server", f.root)
}

// makeDirs creates the warehouse's own folder and those above it, and flushes
// each new name.
func makeDirs(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(dir)
	if above == dir {
		return fmt.Errorf("%s does not exist", dir)
	}
	if err := makeDirs(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // #nosec G301 -- engines that run as other users read the tables' files in it
		return err
	}
	d, err := os.Open(above) // #nosec G304 -- a folder above the warehouse that the operator configured; it is only flushed
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
