package warehouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
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
	close() error
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
	w := &Warehouse{root: l.canonical(), hints: clientHints(l.scheme, storage)}
	if l.scheme == "s3" {
		w.files, err = openS3(ctx, l.authority, storage)
	} else {
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
	if !l.Within(w.root) || len(l.segments) == len(w.root.segments) {
		return Location{}, &BadLocation{text, fmt.Sprintf("lies outside the warehouse; leave it out, or choose one below %s", w.root)}
	}
	return l, nil
}

// Read reads a whole file. ErrMissing only if it is certainly not there;
// ErrTooLarge.
func (w *Warehouse) Read(ctx context.Context, l Location) ([]byte, error) {
	return w.files.read(ctx, l, MaxFile)
}

// Write writes a file under a name that was never used; it is durable when
// Write returns nil. After an error part of it may be there.
func (w *Warehouse) Write(ctx context.Context, l Location, content []byte) error {
	return w.files.write(ctx, l, content)
}

// Remove removes a file. One that is not there is no error.
func (w *Warehouse) Remove(ctx context.Context, l Location) error {
	if err := w.files.remove(ctx, l); !errors.Is(err, ErrMissing) {
		return err
	}
	return nil
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
