package warehouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	icebergio "github.com/apache/iceberg-go/io"
)

// MaxFile bounds a file that is read, in bytes.
const MaxFile = 512 << 20

var (
	// ErrMissing is a file that is certainly not there.
	ErrMissing = errors.New("the file does not exist")
	// ErrTooLarge is a file over MaxFile.
	ErrTooLarge = fmt.Errorf("the file is larger than %d bytes", MaxFile)
)

// Warehouse is one root and the way to its files. It is safe for concurrent use.
type Warehouse struct {
	root  Location
	files files
	hints map[string]string
}

// files is a way to read and write files of one scheme and authority.
type files interface {
	read(ctx context.Context, l Location, limit int64) ([]byte, error)
	write(ctx context.Context, l Location, content []byte) error
	remove(ctx context.Context, l Location) error
	removeAll(ctx context.Context, ls []Location) (gone int, err error)
	removeEmptyFolders(ctx context.Context, folder Location) error
	list(ctx context.Context, folder Location, each func(Entry) error) error
	open(ctx context.Context, l Location) (icebergio.File, error)
	close() error
}

// Entry is a file that List found. Its location may hold what Parse refuses (an
// empty last segment, where a store keeps a marker of a folder): it is to be
// handed on as it is, to RemoveAll, not as text.
type Entry struct {
	Location
	// Size in bytes; of a symbolic link, its own.
	Size     int64
	Modified time.Time
}

// Open opens a warehouse. The root is a location as for Parse; a path without a
// scheme may be relative to the working directory. A local folder is created;
// a bucket is not contacted. Storage holds FileIO properties ("s3.endpoint" …).
func Open(ctx context.Context, root string, storage map[string]string) (*Warehouse, error) {
	if root != "" && !strings.Contains(root, ":") {
		absolute, err := filepath.Abs(root)
		if err != nil {
			return nil, fmt.Errorf("warehouse: %w", err)
		}
		root = absolute
	}
	l, err := Parse(root)
	if err != nil {
		return nil, fmt.Errorf("warehouse: %w", err)
	}
	if err := checkProperties(l, storage); err != nil {
		return nil, err
	}
	w := &Warehouse{root: l.canonical(), hints: clientHints(l.scheme, storage)}
	switch l.scheme {
	case "s3":
		w.files, err = openS3(ctx, l.authority, storage)
	case "gs":
		w.files, err = openGCS(ctx, l.authority, storage)
	case "abfss":
		w.files, err = openAzure(ctx, l.authority, storage)
	default:
		w.files, err = openLocal(w.root)
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Root is the warehouse's own location, as file:///path or s3://bucket/path.
func (w *Warehouse) Root() Location { return w.root }

// Confine reads a location that a client named and refuses it, with a
// *BadLocation, unless it lies inside the warehouse; the root itself does not.
func (w *Warehouse) Confine(text string) (Location, error) {
	l, err := Parse(text)
	if err != nil {
		return Location{}, err
	}
	if err := w.within(l, false); err != nil {
		return Location{}, err
	}
	return l, nil
}

// within refuses a location outside the warehouse, and the root itself unless
// it may be meant.
func (w *Warehouse) within(l Location, rootToo bool) error {
	if l.Within(w.root) && (rootToo || len(l.segments) > len(w.root.segments)) {
		return nil
	}
	return &BadLocation{l.String(), fmt.Sprintf("lies outside the warehouse; leave it out, or choose one below %s", w.root)}
}

// Read reads a whole file. ErrMissing only if it is certainly not there;
// ErrTooLarge. Like every operation on a Location, it refuses one outside the
// warehouse with a *BadLocation.
func (w *Warehouse) Read(ctx context.Context, l Location) ([]byte, error) {
	if err := w.within(l, true); err != nil {
		return nil, err
	}
	return w.files.read(ctx, l, MaxFile)
}

// Write writes a file under a name that was never used; it is durable when
// Write returns nil. A name that is taken is fs.ErrExist and keeps its file,
// except by an S3 server that knows no conditional writes. After any other error
// part of it may be there.
func (w *Warehouse) Write(ctx context.Context, l Location, content []byte) error {
	if err := w.within(l, false); err != nil {
		return err
	}
	return w.files.write(ctx, l, content)
}

// Remove removes a file. One that is not there is no error.
func (w *Warehouse) Remove(ctx context.Context, l Location) error {
	if err := w.within(l, false); err != nil {
		return err
	}
	if err := w.files.remove(ctx, l); !errors.Is(err, ErrMissing) {
		return err
	}
	return nil
}

// RemoveAll removes any number of files, many at once where the store can. It
// says how many are certainly not there any more, those that never were
// included. A file that cannot be removed does not keep it from the others; the
// error then holds the first cause. Nothing is removed if one lies outside the
// warehouse.
func (w *Warehouse) RemoveAll(ctx context.Context, ls []Location) (gone int, err error) {
	for _, l := range ls {
		if err := w.within(l, false); err != nil {
			return 0, err
		}
	}
	return w.files.removeAll(ctx, ls)
}

// List calls each for every file in a folder and in those below it, in no
// particular order; a folder that is not there has none. The first error of each
// ends it and is returned. Links are listed and never followed. Files may be
// removed meanwhile.
func (w *Warehouse) List(ctx context.Context, folder Location, each func(Entry) error) error {
	if err := w.within(folder, true); err != nil {
		return err
	}
	return w.files.list(ctx, folder, each)
}

// RemoveEmptyFolders removes what became an empty folder, the named one and
// those below it; a folder that holds anything stays. In an object store there
// are none. A writer may be about to use one of them: it makes it again.
func (w *Warehouse) RemoveEmptyFolders(ctx context.Context, folder Location) error {
	if err := w.within(folder, true); err != nil {
		return err
	}
	return w.files.removeEmptyFolders(ctx, folder)
}

// Close releases the client.
func (w *Warehouse) Close() error { return w.files.close() }

// ClientHints returns what an engine must know to reach the files itself: how,
// never as whom. The map is the caller's own.
func (w *Warehouse) ClientHints() map[string]string {
	if len(w.hints) == 0 {
		return map[string]string{}
	}
	return maps.Clone(w.hints)
}
