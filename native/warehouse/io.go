package warehouse

import (
	"context"
	"errors"
	"io/fs"

	icebergio "github.com/apache/iceberg-go/io"
)

// IO is the warehouse as iceberg-go reads manifests from it: Open and Remove, of
// files that ConfineFile lets pass. Any other is refused with a *BadLocation, a
// file that is not there with fs.ErrNotExist; both arrive in a *fs.PathError. The
// context ends what it does, as iceberg-go passes none.
func (w *Warehouse) IO(ctx context.Context) icebergio.IO { return confinedIO{ctx, w} }

type confinedIO struct {
	ctx context.Context
	w   *Warehouse
}

func (c confinedIO) Open(name string) (icebergio.File, error) {
	l, err := c.w.ConfineFile(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	file, err := c.w.files.open(c.ctx, l)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return file, nil
}

func (c confinedIO) Remove(name string) error {
	l, err := c.w.ConfineFile(name)
	if err == nil {
		err = c.w.files.remove(c.ctx, l)
	}
	if err != nil {
		return pathError("remove", name, err)
	}
	return nil
}

func pathError(op, name string, err error) error {
	if errors.Is(err, ErrMissing) && !errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(fs.ErrNotExist, err)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
