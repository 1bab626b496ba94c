package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// local is the file system. It does not use the FileIO library: that neither
// flushes files to disk nor refuses to overwrite, and it decodes "%" in names.
type local struct{}

func openLocal(root Location) (files, error) {
	if len(root.segments) == 0 {
		return nil, fmt.Errorf("warehouse: %s is the root of the file system; give the warehouse a folder of its own", root)
	}
	f := local{}
	if err := makeDirs(f.name(root)); err != nil {
		return nil, fmt.Errorf("warehouse: cannot create the folder: %w", err)
	}
	return f, nil
}

func (local) name(l Location) string { return filepath.FromSlash("/" + l.path()) }

func (f local) read(_ context.Context, l Location, limit int64) ([]byte, error) {
	// Without O_NONBLOCK the opening of a pipe waits for whoever writes into it.
	file, err := os.OpenFile(f.name(l), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, missing(err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		// A pipe or device may never end, and a folder is no file.
		return nil, ErrMissing
	case info.Size() > limit:
		return nil, ErrTooLarge
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(file, content); err != nil {
		return nil, fmt.Errorf("warehouse: reading %s: %w", l, err)
	}
	return content, nil
}

func (f local) write(_ context.Context, l Location, content []byte) error {
	name := f.name(l)
	if err := makeDirs(filepath.Dir(name)); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// remove leaves the folders: another writer may be about to use them.
func (f local) remove(_ context.Context, l Location) error {
	return missing(os.Remove(f.name(l)))
}

func (local) close() error { return nil }

// missing keeps ErrMissing for a name that is not there. A path through a file
// that is no folder is one too; a refused permission is not.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return err
}

// makeDirs creates a folder and those above it, and flushes each new name.
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
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(above)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
