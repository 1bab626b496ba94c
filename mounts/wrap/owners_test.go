package wrap

import (
	"context"
	"errors"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// owning is a backend that keeps owners and knows where its tables lie.
type owning struct {
	mounts.Backend
	err error
}

func (o owning) Owners(_ context.Context, levels []string) (map[string]string, error) {
	return map[string]string{levels[0]: "acme"}, o.err
}

func (o owning) TableAt(_ context.Context, location string) (mounts.Identifier, error) {
	return mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: location}, o.err
}

// through is a decorator that lets what it stands around be seen.
type through struct{ mounts.Backend }

func (t through) Unwrap() mounts.Backend { return t.Backend }

func TestTheOwnersOfABackendThatKeepsThemAreAskedUnlessTheMountHasOne(t *testing.T) {
	ctx := context.Background()
	m := Stack(through{owning{Backend: answering()}}, Options{Name: mounts.UnderName, ViewName: "default"}).Mount()
	if got, err := m.Owners(ctx, []string{"a"}); err != nil || got["a"] != "acme" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.TableAt(ctx, "x"); err != nil || got.String() != "a.x" {
		t.Errorf("%v, %v", got, err)
	}
	m = Stack(owning{answering(), context.DeadlineExceeded}, Options{Name: "prod"}).Mount()
	_, err := m.Owners(ctx, []string{"a"})
	if e := is(t, err, mounts.Timeout); e.Mount != "prod" {
		t.Errorf("%+v", e)
	}
	if _, err = m.TableAt(ctx, "x"); !errors.Is(err, mounts.Timeout) {
		t.Errorf("%v", err)
	}
	m = Stack(owning{Backend: answering()}, Options{Name: "prod", Owner: "acme", Relays: mounts.ReadStorage, FoldsCase: true}).Mount()
	if m.Owners != nil || m.Relays != mounts.ReadStorage || !m.FoldsCase {
		t.Errorf("%+v", m)
	}
	if m := Stack(answering(), Options{Name: "prod"}).Mount(); m.Owners != nil || m.TableAt != nil {
		t.Error("owners of a backend that keeps none")
	}
}

// TestTheOwnersOfAMountThatIsNotOpenYet: that nobody knows is no tenant.
func TestTheOwnersOfAMountThatIsNotOpenYet(t *testing.T) {
	lazy, open := late(t)
	m := lazy.Mount()
	if _, err := m.Owners(context.Background(), []string{"a"}); !errors.Is(err, mounts.Unavailable) {
		t.Errorf("before: %v", err)
	}
	if _, err := m.TableAt(context.Background(), "x"); !errors.Is(err, mounts.Unavailable) {
		t.Errorf("before: %v", err)
	}
	open(owning{Backend: answering()})
	if got, err := m.Owners(context.Background(), []string{"a"}); err != nil || got["a"] != "acme" {
		t.Errorf("after: %v, %v", got, err)
	}
}
