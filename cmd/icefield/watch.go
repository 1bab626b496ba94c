package main

import (
	"context"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

const (
	// watchEvery is how often the files of a configuration are looked at. Looking
	// works where notices of a file system do not: on network file systems, with
	// files that are replaced by renaming, with folders whose content is swapped by
	// a symbolic link.
	watchEvery = time.Second
	// settleEvery is how long files must stay as they are before they are read: an
	// editor may be in the middle of writing them.
	settleEvery = 100 * time.Millisecond
	// settleRounds is how often that is waited for.
	settleRounds = 20
)

// watcher tells of changes of a configuration's files.
type watcher struct {
	path string
	// included are the files that values came from the last time.
	included func() []string
	every    time.Duration
	changed  func()
}

// run looks at the files until ctx ends, and calls changed when their content is
// not what it was at the call before. last is what they were when the
// configuration was read.
func (w *watcher) run(ctx context.Context, last config.Fingerprint) {
	for pause(ctx, w.every) {
		now := w.look()
		if now.Same(last) {
			last = now // which may have more files that values come from
			continue
		}
		for range settleRounds {
			if !pause(ctx, min(settleEvery, w.every)) {
				return
			}
			next := w.look()
			still := next.Same(now)
			if now = next; still {
				break
			}
		}
		last = now
		w.changed()
	}
}

func (w *watcher) look() config.Fingerprint { return config.Look(w.path, w.included()) }

// pause waits; false once ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
