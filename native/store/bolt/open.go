package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/icefield/icefield/native/store"
)

// lockTimeout is how long Open waits for another process to let go of the file,
// as in a restart whose old process is still shutting down.
const lockTimeout = time.Second

// Store is a registry in one file. It implements store.Portable.
type Store struct {
	path  string
	db    *bbolt.DB
	queue *queue
	// durable commits a transaction; tests put failures of the disk in its place.
	durable func(*bbolt.Tx) error
	failure atomic.Pointer[error]
	fence   atomic.Pointer[store.Fence]
}

var _ store.Portable = (*Store)(nil)

// Open opens or creates the file, and the folders above it. It fails, with a
// sentence that names the file and what to do, when another process holds the
// file, when it is something else than a registry, or when a newer release
// wrote it.
func Open(path string) (store.Portable, error) {
	if path == "" {
		return nil, errors.New("bolt: no file was named; give the catalog a file, as in bolt:///var/lib/icefield/catalog.db")
	}
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("bolt: cannot create the folder of the registry file: %w", err)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, openError(path, err)
	}
	if err := prepare(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{path: path, db: db, queue: newQueue(), durable: (*bbolt.Tx).Commit}
	if err := s.loadFence(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go s.queue.run(s.commit)
	return s, nil
}

func (s *Store) loadFence() error {
	return s.db.View(func(btx *bbolt.Tx) error {
		f, err := newTx(btx).fence()
		s.fence.Store(f)
		return err
	})
}

// InUseError is a file that another process, or another Store of this one, holds.
type InUseError struct {
	Path string
	err  error
}

// Error implements error.
func (e *InUseError) Error() string {
	return fmt.Sprintf("bolt: the registry file %s is in use by another process; stop that one, or give this one a file of its own (several replicas need a postgres registry): %v", e.Path, e.err)
}

// Unwrap is the lock's error.
func (e *InUseError) Unwrap() error { return e.err }

func openError(path string, err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return &InUseError{Path: path, err: err}
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return fmt.Errorf("bolt: %s is not a registry file, or is damaged; name another file, or restore it from a backup: %w", path, err)
	}
	return fmt.Errorf("bolt: cannot open the registry file %s: %w", path, err)
}

// makeDirs creates a folder and those above it, and flushes the name of each:
// a file that is on disk is lost with a folder that is not.
func makeDirs(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := makeDirs(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) { // #nosec G301 -- folders above the file may be shared with other programs; the registry file itself is 0600
		return err
	} else if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	return syncDir(above)
}

func syncDir(name string) error {
	dir, err := os.Open(name) // #nosec G304 -- the folder of the registry file that the operator configured, or one above; it is only flushed
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, f func(store.Tx) error) error {
	return s.read(ctx, func(t *tx) error {
		if err := s.fence.Load().Refuses(false); err != nil {
			return err
		}
		return f(t)
	})
}

// read runs f on one consistent state, fenced or not.
func (s *Store) read(ctx context.Context, f func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.stopped(); err != nil {
		return err
	}
	btx, err := s.db.Begin(false)
	if err != nil {
		return closedError(err)
	}
	defer func() { _ = btx.Rollback() }() // ends a read; there is nothing to undo
	return f(newTx(btx))
}

// Update implements store.Store: it waits for the transaction that f becomes
// part of.
func (s *Store) Update(ctx context.Context, f func(store.Tx) error) error {
	return s.queue.do(ctx, shared(f))
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.queue.close()
	return s.db.Close()
}

func closedError(err error) error {
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return store.ErrClosed
	}
	return err
}
