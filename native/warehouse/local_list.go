package warehouse

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// inOneGo is how many names of a folder are held at a time.
const inOneGo = 1024

// list goes through a folder and those below it. What is no folder is a file
// here: a symbolic link is listed as itself and never followed.
func (f *local) list(ctx context.Context, folder Location, each func(Entry) error) error {
	pending := []Location{folder}
	for len(pending) > 0 {
		dir := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		inner, err := f.listOne(ctx, dir, func(l Location, info fs.FileInfo) error {
			return each(Entry{Location: l, Size: info.Size(), Modified: info.ModTime()})
		})
		if err != nil {
			return err
		}
		pending = append(pending, inner...)
	}
	return nil
}

// listOne calls each for what is no folder in dir, and returns the folders. One
// that is not there, or that went meanwhile, is empty.
func (f *local) listOne(ctx context.Context, dir Location, each func(Location, fs.FileInfo) error) ([]Location, error) {
	opened, err := f.folder(dir)
	if errors.Is(err, ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	var folders []Location
	for {
		entries, end := opened.ReadDir(inOneGo)
		for _, entry := range entries {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			l := dir.Join(entry.Name())
			if entry.IsDir() {
				folders = append(folders, l)
				continue
			}
			if each == nil {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, f.refused(l, err)
			}
			if err := each(l, info); err != nil {
				return nil, err
			}
		}
		if errors.Is(end, io.EOF) || errors.Is(end, fs.ErrNotExist) {
			return folders, nil
		}
		if end != nil {
			return nil, end
		}
	}
}

// folder opens a folder.
func (f *local) folder(l Location) (*os.File, error) {
	opened, err := f.inner.OpenFile(f.name(l), os.O_RDONLY|directoryOnly, 0)
	if err != nil {
		return nil, f.failed(l, err)
	}
	return opened, nil
}

// removeEmptyFolders removes folders only, and only empty ones, so a file that a
// writer just put into one keeps it, and a writer who finds the folder gone
// makes it again.
func (f *local) removeEmptyFolders(ctx context.Context, folder Location) error {
	// Parents come before what is in them, so the list is walked backwards.
	all := []Location{folder}
	for i := 0; i < len(all); i++ {
		inner, err := f.listOne(ctx, all[i], nil)
		if err != nil {
			return err
		}
		all = append(all, inner...)
	}
	var failed error
	for i := len(all) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := f.name(all[i])
		if name == "." {
			continue
		}
		if err := f.removeFolder(path.Dir(name), name[strings.LastIndexByte(name, '/')+1:]); err != nil && failed == nil {
			failed = f.refused(all[i], err)
		}
	}
	return failed
}

func (f *local) removeFolder(parent, name string) error {
	opened, err := f.inner.Open(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer opened.Close()
	f.folders.drop(path.Join(parent, name), nil)
	return removeEmpty(opened, name)
}
