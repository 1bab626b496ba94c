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

// watch looks at the files of a configuration until ctx ends, and calls changed
// when they are not what was read last: once for each content that they come to.
func watch(ctx context.Context, o *origin, changed func()) {
	var told config.Fingerprint
	for pause(ctx, o.every) {
		now, read := o.look()
		if read || now.Same(told) {
			continue
		}
		for range settleRounds {
			if !pause(ctx, min(settleEvery, o.every)) {
				return
			}
			next, _ := o.look()
			still := next.Same(now)
			if now = next; still {
				break
			}
		}
		told = now
		changed()
	}
}

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
