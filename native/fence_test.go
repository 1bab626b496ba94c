package native

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAFencedRegistryIsUnavailableAndSaysWhyWithoutNamingTheOtherStore(t *testing.T) {
	f := newFixture(t)
	space := f.namespace("a")
	id := mounts.Identifier{Namespace: space, Name: "t"}
	f.table(id)
	before := len(files(t, f.dir))
	registry := f.inner.Store.(store.Portable)
	var now *store.Fence
	fence := func(role store.FenceRole) {
		t.Helper()
		next := &store.Fence{Role: role, Migration: uuid.New(), Peer: "postgres://secret-host/lake", Since: time.Now()}
		if err := registry.SetFence(context.Background(), now, next); err != nil {
			t.Fatal(err)
		}
		now = next
	}
	closed := func(what string, err error, words string) {
		t.Helper()
		var e *mounts.Error
		if !errors.As(err, &e) || e.Kind != mounts.Unavailable || e.OutcomeUnknown || !e.Answered || e.RetryAfter <= 0 {
			t.Errorf("%s: %#v", what, err)
			return
		}
		if text := e.Message(); !strings.Contains(text, words) || !strings.Contains(text, "nothing was done") || strings.Contains(text, "secret-host") {
			t.Errorf("%s: %s", what, text)
		}
	}
	write := func() error {
		_, err := f.CommitTable(context.Background(), setProperties(id, map[string]string{"k": "v"}))
		return err
	}
	read := func() error {
		_, err := f.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: id})
		return err
	}
	fence(store.FenceSource)
	closed("a commit to a source", write(), "is being moved to another store")
	_, err := f.CreateTable(context.Background(), createRequest(mounts.Identifier{Namespace: space, Name: "u"}))
	closed("a create in a source", err, "takes no changes")
	if err := errors.Join(read(), f.Health(context.Background())); err != nil {
		t.Errorf("a source cannot be read: %v", err)
	}
	fence(store.FenceDestination)
	closed("a commit to a destination", write(), "is being filled")
	closed("a load from a destination", read(), "is being filled")
	fence(store.FenceMoved)
	closed("a commit to a moved registry", write(), "was moved")
	closed("a load from a moved registry", read(), "catalog_url")
	closed("its health", f.Health(context.Background()), "was moved")
	if left := files(t, f.dir); len(left) != before {
		t.Errorf("refused commits left files: %q", left)
	}
	if err := registry.SetFence(context.Background(), now, nil); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("after the fence: %v", err)
	}
}

func TestADatabaseThatIsAwayIsUnavailableUnlessTheOutcomeIsUnknown(t *testing.T) {
	away := fmt.Errorf("postgres: %w: dial tcp: lookup secret-host: %w", store.ErrUnavailable, context.DeadlineExceeded)
	e := fault(away)
	if e.Kind != mounts.Unavailable || e.RetryAfter <= 0 || e.OutcomeUnknown || strings.Contains(e.Message(), "secret-host") {
		t.Errorf("a database that is away: %#v", e)
	}
	if e.Answered {
		t.Error("a database that is away counts as one that answered")
	}
	e = fault(errors.Join(store.ErrOutcomeUnknown, away))
	if !e.OutcomeUnknown || e.Kind == mounts.Unavailable || e.RetryAfter != 0 {
		t.Errorf("a commit whose answer was lost: %#v", e)
	}
}
