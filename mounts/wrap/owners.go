package wrap

import (
	"context"

	"github.com/icefield/icefield/mounts"
)

// owners is Mount.Owners, which goes to the backend directly, as jobs does: it is
// asked before every decision, and a decision is no call of the catalog.
func (m *Mounted) owners() func(ctx context.Context, levels []string) (map[string]string, error) {
	if m.opt.Owner != "" || !offers[mounts.Owning](m) {
		return nil
	}
	return func(ctx context.Context, levels []string) (map[string]string, error) {
		o, err := offered[mounts.Owning](m, "keeps no owners of its namespaces")
		if err != nil {
			return nil, err
		}
		owners, err := o.Owners(ctx, levels)
		if err != nil {
			return nil, named(m.opt.Name, err)
		}
		return owners, nil
	}
}

// tableAt is Mount.TableAt.
func (m *Mounted) tableAt() func(ctx context.Context, location string) (mounts.Identifier, error) {
	if !offers[mounts.Locating](m) {
		return nil
	}
	return func(ctx context.Context, location string) (mounts.Identifier, error) {
		l, err := offered[mounts.Locating](m, "cannot find tables by their location")
		if err != nil {
			return mounts.Identifier{}, err
		}
		id, err := l.TableAt(ctx, location)
		if err != nil {
			return mounts.Identifier{}, named(m.opt.Name, err)
		}
		return id, nil
	}
}

// offers reports whether the backend is a T, or is said to be one when it is open.
func offers[T any](m *Mounted) bool {
	_, lazy := m.backend.(*Lazy)
	_, is := mounts.As[T](m.opened())
	return is || lazy && m.opt.Jobs
}

// offered is the backend as a T: Unavailable if it is not open yet,
// UnsupportedOperation, with what it does not do, if it turned out to be none.
func offered[T any](m *Mounted, not string) (T, error) {
	backend := m.opened()
	t, is := mounts.As[T](backend)
	if lazy, late := m.backend.(*Lazy); !is && late && backend == nil {
		return t, named(m.opt.Name, lazy.notYet())
	}
	if !is {
		return t, named(m.opt.Name, &mounts.Error{Kind: mounts.UnsupportedOperation, Msg: not})
	}
	return t, nil
}
