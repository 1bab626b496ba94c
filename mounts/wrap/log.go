package wrap

import (
	"context"

	"github.com/icefield/icefield/mounts"
)

// log is Mount.Log, which goes to the backend directly, as jobs does.
func (m *Mounted) log() func(ctx context.Context, q mounts.LogQuery) (*mounts.Log, error) {
	lazy, is := m.backend.(*Lazy)
	if _, logs := mounts.As[mounts.Logging](m.opened()); !logs && !(is && m.opt.Jobs) {
		return nil
	}
	return func(ctx context.Context, q mounts.LogQuery) (*mounts.Log, error) {
		l, logs := mounts.As[mounts.Logging](m.opened())
		if !logs && is && !lazy.Opened() {
			return nil, named(m.opt.Name, lazy.notYet())
		}
		if !logs {
			return nil, named(m.opt.Name, &mounts.Error{Kind: mounts.UnsupportedOperation, Msg: "keeps no log of its commits"})
		}
		log, err := l.Commits(ctx, q)
		if err != nil {
			return nil, named(m.opt.Name, err)
		}
		return log, nil
	}
}
