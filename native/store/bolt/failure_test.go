package bolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func openFile(t *testing.T, path string) *Store {
	t.Helper()
	opened, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened.(*Store)
}

func create(s *Store, name string) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{name}})
	})
}

// What a failed flush left behind may look written and be lost, so nothing may
// be built on it and nobody may be told of it.
func TestAFailedFlushStopsTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openFile(t, path)
	if err := create(s, "before"); err != nil {
		t.Fatal(err)
	}
	s.durable = func(tx *bbolt.Tx) error { return errors.Join(tx.Commit(), syscall.EIO) }
	if err := create(s, "doubtful"); !errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the write whose flush failed: %v", err)
	}
	s.durable = (*bbolt.Tx).Commit
	if err := create(s, "after"); !errors.Is(err, store.ErrStopped) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("a write after it: %v", err)
	}
	err := s.View(context.Background(), func(store.Tx) error { t.Error("a reader was let in"); return nil })
	if !errors.Is(err, store.ErrStopped) || !strings.Contains(err.Error(), path) {
		t.Errorf("a read after it: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := create(openFile(t, path), "again"); err != nil {
		t.Errorf("after it was opened again: %v", err)
	}
}

func TestAFailedFlushIsUnknownToEverybodyWhoWroteInTheGroup(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "catalog.db"))
	s.durable = func(tx *bbolt.Tx) error { return errors.Join(tx.Rollback(), syscall.EIO) }
	refused := errors.New("refused")
	group := []*write{
		{f: func(tx store.Tx) error { return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{"a"}}) }, done: make(chan struct{})},
		{f: func(store.Tx) error { return refused }, done: make(chan struct{})},
		{f: func(tx store.Tx) error { return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{"b"}}) }, done: make(chan struct{})},
	}
	s.commit(group)
	for i, unknown := range []bool{true, false, true} {
		if err := group[i].err; err == nil || errors.Is(err, refused) || errors.Is(err, store.ErrOutcomeUnknown) != unknown {
			t.Errorf("writer %d was told %v", i, err)
		}
	}
}

func TestAFullDiskIsNotForever(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "catalog.db"))
	s.durable = func(tx *bbolt.Tx) error {
		return errors.Join(tx.Rollback(), &fs.PathError{Op: "write", Path: "catalog.db", Err: syscall.ENOSPC})
	}
	if err := create(s, "a"); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a write to a full disk: %v", err)
	}
	s.durable = (*bbolt.Tx).Commit
	if err := create(s, "a"); err != nil {
		t.Errorf("the same write when there is room again: %v", err)
	}
}

func TestDiskFullIsOnlyARefusedWrite(t *testing.T) {
	for name, err := range map[string]error{
		"flush":         syscall.ENOSPC,
		"named flush":   &fs.PathError{Op: "sync", Err: syscall.ENOSPC},
		"broken device": &fs.PathError{Op: "write", Err: syscall.EIO},
	} {
		if diskFull(err) {
			t.Errorf("%s: %v counts as a full disk", name, err)
		}
	}
}

// A transaction whose commit failed is over, whatever the library left of it:
// else the next writer would wait for ever.
func TestAFailedCommitHoldsNoLock(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "catalog.db"))
	s.durable = func(*bbolt.Tx) error { return &fs.PathError{Op: "write", Err: syscall.ENOSPC} }
	_ = create(s, "a")
	s.durable = (*bbolt.Tx).Commit
	var group sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		group.Go(func() {
			if err := create(s, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	group.Wait()
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "catalog.db"), filepath.Join(file, "deep", "catalog.db")} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "folder of the registry file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
