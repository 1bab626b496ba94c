package wrap

import (
	"context"

	"github.com/icefield/icefield/mounts"
)

// log is Mount.Log, which goes to the backend directly, as jobs does.
func (m *Mounted) log() func(ctx context.Context, q mounts.LogQuery) (*mounts.Log, error) {
	lazy, is := m.backend.(*Lazy)
	if _, logs := m.opened().(mounts.Logging); !logs && !(is && m.opt.Jobs) {
		return nil
	}
	return func(ctx context.Context, q mounts.LogQuery) (*mounts.Log, error) {
		l, logs := m.opened().(mounts.Logging)
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
