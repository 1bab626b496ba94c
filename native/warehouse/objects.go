package warehouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	icebergio "github.com/apache/iceberg-go/io"
)

// objects is one bucket or container of an object store, by keys as they are:
// the FileIO library sets its clients up, but beneath it every key is rewritten
// that holds something it takes for unsafe, and a write overwrites.
type objects interface {
	// get answers with length bytes from an offset on, all for a negative
	// length; ErrMissing only if the object is certainly not there.
	get(ctx context.Context, key string, offset, length int64) (object, error)
	// put creates an object; fs.ErrExist if there is one, where the store says so.
	put(ctx context.Context, key string, content []byte) error
	// remove answers ErrMissing or nil for an object that is not there.
	remove(ctx context.Context, key string) error
	removeMany(ctx context.Context, keys []string) (gone int, err error)
	list(ctx context.Context, prefix string, each func(key string, size int64, modified time.Time) error) error
	// removeFolders removes what a store keeps for folders with nothing in them.
	removeFolders(ctx context.Context, folder string) error
	close() error
}

// object is what get answers: size is that of the whole object.
type object struct {
	body     io.ReadCloser
	size     int64
	modified time.Time
}

// store makes files of objects.
type store struct{ objects }

func (s store) read(ctx context.Context, l Location, limit int64) (content []byte, err error) {
	o, err := s.get(ctx, l.path(), 0, -1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.body.Close()) }()
	if o.size > limit {
		return nil, ErrTooLarge
	}
	content = make([]byte, o.size)
	if _, err := io.ReadFull(o.body, content); err != nil {
		return nil, fmt.Errorf("warehouse: reading %s: %w", l, err)
	}
	return content, nil
}

// write takes an object that already has the content for its own: the clients
// repeat a request whose answer was lost, and the repetition finds the first.
func (s store) write(ctx context.Context, l Location, content []byte) error {
	err := s.put(ctx, l.path(), content)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if there, readErr := s.read(ctx, l, int64(len(content))); readErr == nil && bytes.Equal(there, content) {
		return nil
	}
	return err
}

func (s store) remove(ctx context.Context, l Location) error { return s.objects.remove(ctx, l.path()) }

func (s store) removeAll(ctx context.Context, ls []Location) (int, error) {
	keys := make([]string, len(ls))
	for i, l := range ls {
		keys[i] = l.path()
	}
	return s.removeMany(ctx, keys)
}

func (s store) removeEmptyFolders(ctx context.Context, folder Location) error {
	return s.removeFolders(ctx, folder.path())
}

func (s store) list(ctx context.Context, folder Location, each func(Entry) error) error {
	prefix := ""
	if len(folder.segments) > 0 {
		prefix = folder.path() + "/"
	}
	return s.objects.list(ctx, prefix, func(key string, size int64, modified time.Time) error {
		if !strings.HasPrefix(key, prefix) {
			return fmt.Errorf("warehouse: the store listed %q below %q", key, prefix)
		}
		l := folder
		l.segments = strings.Split(key, "/")
		return each(Entry{Location: l, Size: size, Modified: modified})
	})
}

func (s store) open(ctx context.Context, l Location) (icebergio.File, error) {
	o, err := s.get(ctx, l.path(), 0, -1)
	if err != nil {
		return nil, err
	}
	return &objectFile{ctx: ctx, objects: s.objects, l: l, object: o}, nil
}

// objectFile reads an object: in order from one answer, elsewhere by ranges. It
// keeps the context it was opened with, since io.Reader takes none.
type objectFile struct {
	ctx     context.Context
	objects objects
	l       Location
	object
	// at is the position of Read, and streamed that of the body.
	at, streamed int64
}

func (f *objectFile) Read(p []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if f.body == nil || f.streamed != f.at {
		if err := f.drop(); err != nil {
			return 0, err
		}
		o, err := f.objects.get(f.ctx, f.l.path(), f.at, f.size-f.at)
		if err != nil {
			return 0, err
		}
		f.body, f.streamed = o.body, f.at
	}
	n, err := f.body.Read(p)
	f.at += int64(n)
	f.streamed = f.at
	if errors.Is(err, io.EOF) && f.at < f.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (f *objectFile) ReadAt(p []byte, offset int64) (n int, err error) {
	switch {
	case offset < 0:
		return 0, fs.ErrInvalid
	case offset >= f.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	want := p[:min(int64(len(p)), f.size-offset)]
	o, err := f.objects.get(f.ctx, f.l.path(), offset, int64(len(want)))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, o.body.Close()) }()
	if n, err = io.ReadFull(o.body, want); err != nil {
		return n, fmt.Errorf("warehouse: reading %s: %w", f.l, err)
	}
	if len(want) < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *objectFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	default:
		return 0, fs.ErrInvalid
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	f.at = offset
	return offset, nil
}

func (f *objectFile) Stat() (fs.FileInfo, error) { return objectInfo{f}, nil }

func (f *objectFile) Close() error { return f.drop() }

func (f *objectFile) drop() error {
	if f.body == nil {
		return nil
	}
	err := f.body.Close()
	f.body = nil
	return err
}

// objectInfo describes an open object.
type objectInfo struct{ f *objectFile }

func (i objectInfo) Name() string       { return i.f.l.Base() }
func (i objectInfo) Size() int64        { return i.f.size }
func (i objectInfo) Mode() fs.FileMode  { return 0o444 }
func (i objectInfo) ModTime() time.Time { return i.f.modified }
func (i objectInfo) IsDir() bool        { return false }
func (i objectInfo) Sys() any           { return nil }

// removers bounds the removals that are on their way at a time to a store
// without a removal of many at once.
const removers = 16

// removeEach removes one by one, several at a time, and goes on after a failure.
func removeEach[T any](ctx context.Context, names []T, atATime int, remove func(context.Context, T) error) (int, error) {
	var failed failures
	var mu sync.Mutex
	gone, next := 0, 0
	work := func() {
		for ctx.Err() == nil {
			mu.Lock()
			i := next
			next++
			mu.Unlock()
			if i >= len(names) {
				return
			}
			err := remove(ctx, names[i])
			mu.Lock()
			if err == nil || errors.Is(err, ErrMissing) {
				gone++
			} else {
				failed.add(err)
			}
			mu.Unlock()
		}
	}
	var group sync.WaitGroup
	for range min(atATime, len(names)) {
		group.Go(work)
	}
	group.Wait()
	if err := ctx.Err(); err != nil && gone < len(names) {
		return gone, err
	}
	return gone, failed.err()
}

// failures counts and keeps the first, for there may be a million.
type failures struct {
	count int
	first error
}

func (f *failures) add(err error) {
	if f.count == 0 {
		f.first = err
	}
	f.count++
}

func (f *failures) err() error {
	switch f.count {
	case 0:
		return nil
	case 1:
		return f.first
	}
	return fmt.Errorf("warehouse: %d files were not removed; the first: %w", f.count, f.first)
}
