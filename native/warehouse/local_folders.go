package warehouse

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// folders are those that were written to lately, kept open: finding one through
// an os.Root takes a call of the system for each level, twice for each file. A
// folder that is open cannot be taken for another one that got its name.
type folders struct {
	mu   sync.Mutex
	open map[string]*folder
}

// maxFolders bounds how many are kept; each takes two file descriptors.
const maxFolders = 512

// folder is an open folder inside the root.
type folder struct {
	inner *os.Root
	self  *os.File
	info  os.FileInfo
	// settled: its name and those above it were flushed. Guarded by folders.mu,
	// like the rest.
	settled bool
	// users are how many work with it, and dropped closes it after the last.
	users   int
	dropped bool
}

// use opens the folder of that name inside the root, or takes the one that is
// open if the name still leads to it. done must be called.
func (f *local) use(dir string) (*folder, error) {
	if kept := f.folders.take(dir); kept != nil {
		if f.leadsTo(dir, kept.info) {
			return kept, nil
		}
		f.folders.drop(dir, kept)
		f.folders.done(kept)
	}
	inner, err := f.inner.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	self, err := inner.Open(".")
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	info, err := self.Stat()
	if err != nil {
		return nil, errors.Join(err, self.Close(), inner.Close())
	}
	opened := &folder{inner: inner, self: self, info: info, users: 1}
	f.folders.keep(dir, opened)
	return opened, nil
}

// leadsTo reports whether a name still leads to a folder that was found under it,
// without links: a folder may have been moved out of the root and linked to.
func (f *local) leadsTo(dir string, folder os.FileInfo) bool {
	name := f.inner.Name()
	var info os.FileInfo
	for level := range strings.SplitSeq(dir, "/") {
		name += string(filepath.Separator) + level
		var err error
		if info, err = os.Lstat(name); err != nil || !info.IsDir() {
			return false
		}
	}
	return os.SameFile(info, folder)
}

func (fs *folders) take(dir string) *folder {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	kept := fs.open[dir]
	if kept != nil {
		kept.users++
	}
	return kept
}

func (fs *folders) keep(dir string, opened *folder) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.open == nil {
		fs.open = map[string]*folder{}
	}
	if other := fs.open[dir]; other != nil {
		fs.dropLocked(dir, other)
	}
	for name, other := range fs.open { // in no order, so none is evicted each time
		if len(fs.open) < maxFolders {
			break
		}
		fs.dropLocked(name, other)
	}
	fs.open[dir] = opened
}

// done gives back what use returned.
func (fs *folders) done(used *folder) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	used.users--
	used.closeUnused()
}

// drop forgets a folder, if it is still the one of that name; nil is any.
func (fs *folders) drop(dir string, which *folder) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if kept := fs.open[dir]; kept != nil && (which == nil || which == kept) {
		fs.dropLocked(dir, kept)
	}
}

func (fs *folders) dropAll() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for dir, kept := range fs.open {
		fs.dropLocked(dir, kept)
	}
}

func (fs *folders) dropLocked(dir string, kept *folder) {
	delete(fs.open, dir)
	kept.dropped = true
	kept.closeUnused()
}

func (fo *folder) closeUnused() {
	if fo.dropped && fo.users == 0 { // both were opened to be read, so nothing is lost
		_ = fo.self.Close()
		_ = fo.inner.Close()
	}
}

func (fs *folders) isSettled(fo *folder) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fo.settled
}

func (fs *folders) settle(fo *folder) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fo.settled = true
}
