package wrap

import (
	"context"
	"errors"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// logging is a backend with a commit log.
type logging struct {
	mounts.Backend
	err error
}

func (l logging) Commits(_ context.Context, q mounts.LogQuery) (*mounts.Log, error) {
	return &mounts.Log{ID: q.ID}, l.err
}

func TestTheCommitLogOfABackendThatKeepsOneCanBeRead(t *testing.T) {
	m := Stack(logging{Backend: answering()}, Options{Name: "prod"})
	if log, err := m.Mount().Log(context.Background(), mounts.LogQuery{ID: "7"}); err != nil || log.ID != "7" {
		t.Errorf("%v, %v", log, err)
	}
	m = Stack(logging{answering(), context.DeadlineExceeded}, Options{Name: "prod"})
	_, err := m.Mount().Log(context.Background(), mounts.LogQuery{})
	if e := is(t, err, mounts.Timeout); e.Mount != "prod" {
		t.Errorf("%+v", e)
	}
	if Stack(answering(), Options{Name: "prod"}).Mount().Log != nil {
		t.Error("a log of a backend that keeps none")
	}
}

// TestTheCommitLogOfAMountThatIsNotOpenYet: that it cannot be read is no absence.
func TestTheCommitLogOfAMountThatIsNotOpenYet(t *testing.T) {
	m, open := late(t)
	read := m.Mount().Log
	if _, err := read(context.Background(), mounts.LogQuery{}); !errors.Is(err, mounts.Unavailable) {
		t.Errorf("before: %v", err)
	}
	open(logging{Backend: answering()})
	if log, err := read(context.Background(), mounts.LogQuery{ID: "7"}); err != nil || log.ID != "7" {
		t.Errorf("after: %v, %v", log, err)
	}
}
