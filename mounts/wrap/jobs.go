package wrap

import (
	"context"

	"github.com/icefield/icefield/mounts"
)

// opened is the backend itself; nil if it is not open yet.
func (m *Mounted) opened() mounts.Backend {
	lazy, is := m.backend.(*Lazy)
	if !is {
		return m.backend
	}
	if opened := lazy.opened.Load(); opened != nil {
		return *opened
	}
	return nil
}

// working is the backend's background work; nil if it has none, or is not open
// yet.
func (m *Mounted) working() mounts.Working {
	w, _ := mounts.As[mounts.Working](m.opened())
	return w
}

// jobs is Mount.Jobs. It goes to the backend directly: operators look at jobs
// also while the breaker is open.
func (m *Mounted) jobs() func(ctx context.Context, before string, limit int) ([]mounts.Job, error) {
	lazy, is := m.backend.(*Lazy)
	if !m.opt.Jobs && (is || m.working() == nil) {
		return nil
	}
	return func(ctx context.Context, before string, limit int) ([]mounts.Job, error) {
		w := m.working()
		if w == nil && is {
			return nil, named(m.opt.Name, lazy.notYet())
		}
		if w == nil {
			return nil, nil
		}
		list, err := w.Jobs(ctx, before, limit)
		if err != nil {
			return nil, named(m.opt.Name, err)
		}
		return list, nil
	}
}

// jobCounts is Status.Jobs.
func (m *Mounted) jobCounts() *mounts.JobCounts {
	w := m.working()
	if w == nil {
		return nil
	}
	counts := w.JobCounts()
	return &counts
}

// named is an error with the mount that is responsible for it.
func named(mount string, err error) error {
	e := *mounts.AsError(asTimeout(err))
	e.Mount = mount
	return &e
}
