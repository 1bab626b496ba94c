package wrap

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/mounts"
)

// limiter bounds how many calls a backend works on at once, those that nobody
// waits for any more included. Over the limit a call is refused at once: a
// queue in front of a slow backend only makes every caller late.
type limiter struct {
	max      int64
	inFlight atomic.Int64
	owner    *calls
	refused  func()
}

func (l *limiter) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	defer l.inFlight.Add(-1)
	if l.inFlight.Add(1)+l.owner.stray.Load() > l.max {
		l.refused()
		return nil, &mounts.Error{Kind: mounts.Unavailable, RetryAfter: time.Second, Err: errNotSent,
			Msg: fmt.Sprintf("busy with %d calls, which is its limit; nothing was sent, try again", l.max)}
	}
	return next(ctx, req)
}

// load is the number of calls that the backend is working on.
func (l *limiter) load() int { return int(l.inFlight.Load() + l.owner.stray.Load()) }
