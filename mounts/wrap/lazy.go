package wrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// LazyOptions tune how a backend is opened in the background; the zero value is
// useful.
type LazyOptions struct {
	// First and Longest are the pauses after the first failed attempt and the
	// longest there is in between, a second and 15 seconds if 0.
	First, Longest time.Duration
	// Attempt bounds one attempt; 0 means 30s.
	Attempt time.Duration
	Logger  *slog.Logger
}

// Lazy is a backend that is opened in the background, at once and then again
// and again until it works. Until then every operation is refused with
// Unavailable (or Loop, when that is why it cannot be opened), nothing is sent,
// and the capabilities are the reads that every catalog must have by the spec.
type Lazy struct {
	mounts.Backend // dispatches to handle
	opt            LazyOptions
	open           func(context.Context) (mounts.Backend, error)

	opened atomic.Pointer[mounts.Backend]
	failed atomic.Pointer[failure]

	stop  context.CancelFunc
	tried chan struct{} // closed after the first attempt
	ended chan struct{}
	once  sync.Once
	err   error
}

// remind is how often a mount that goes on failing in the same way is logged.
const remind = 10 * time.Minute

// failure is the last attempt that failed and when the next one is due.
type failure struct {
	err  *mounts.Error
	next time.Time
}

// NewLazy starts opening. open must end when its context does; whatever it
// returns after Close is closed.
func NewLazy(open func(context.Context) (mounts.Backend, error), opt LazyOptions) *Lazy {
	if opt.First <= 0 {
		opt.First = time.Second
	}
	if opt.Longest <= 0 {
		opt.Longest = 15 * time.Second
	}
	if opt.Attempt <= 0 {
		opt.Attempt = 30 * time.Second
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Lazy{opt: opt, open: open, stop: stop, tried: make(chan struct{}), ended: make(chan struct{})}
	l.Backend = mounts.Dispatch(l.handle, lazyLife{l})
	go l.run(ctx)
	return l
}

// Opened reports whether the backend is open.
func (l *Lazy) Opened() bool { return l.opened.Load() != nil }

// Tried is closed once the first attempt to open the backend has ended, or the
// Lazy was closed.
func (l *Lazy) Tried() <-chan struct{} { return l.tried }

// LastError says to clients why the last attempt to open failed; empty if none
// did, or if the backend is open.
func (l *Lazy) LastError() string {
	if last := l.failed.Load(); last != nil && !l.Opened() {
		return last.err.Message()
	}
	return ""
}

func (l *Lazy) run(ctx context.Context) {
	defer close(l.ended)
	tried := sync.OnceFunc(func() { close(l.tried) })
	defer tried()
	pause := l.opt.First
	var logged time.Time
	var told string
	for {
		b, err := l.attempt(ctx)
		if err == nil {
			l.opened.Store(&b)
			l.opt.Logger.Info("mount opened")
			return
		}
		if ctx.Err() != nil {
			return
		}
		// Somewhat less than the pause, so that servers that started together
		// do not try together.
		wait := pause - rand.N(pause/4+1) // #nosec G404 -- spreads attempts over time; to guess it gains nothing
		l.failed.Store(&failure{err: unopened(err), next: time.Now().Add(wait)})
		tried()
		if text := err.Error(); text != told || time.Since(logged) >= remind {
			l.opt.Logger.Warn("mount cannot be opened, trying again", "error", text, "in", wait)
			told, logged = text, time.Now()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, l.opt.Longest)
	}
}

// unopened is why a backend could not be opened, for whoever looks at the mount:
// what has no text for clients is in the log, and belongs to no request.
func unopened(err error) *mounts.Error {
	e := *mounts.AsError(err)
	if e.Kind == mounts.Internal && e.Msg == "" {
		e.Msg = "it cannot be opened and is tried again; the server's log says why"
	}
	return &e
}

func (l *Lazy) attempt(ctx context.Context) (b mounts.Backend, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.opt.Attempt)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			b, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	b, err = l.open(ctx)
	if err == nil && b == nil {
		err = errors.New("opening gave neither a backend nor an error")
	}
	return b, err
}

func (l *Lazy) handle(ctx context.Context, req mounts.Request) (mounts.Response, error) {
	if b := l.opened.Load(); b != nil {
		return mounts.Invoke(ctx, *b, req)
	}
	return nil, l.notYet()
}

// notYet is the error of everything until the backend is open.
func (l *Lazy) notYet() *mounts.Error {
	e := &mounts.Error{Kind: mounts.Unavailable, RetryAfter: time.Second, Err: errNotSent,
		Msg: "not reached since it was mounted and still being tried; try again later"}
	if last := l.failed.Load(); last != nil {
		// Its text only: an error of opening must not be matched as one of req.
		e.Err = fmt.Errorf("%w: %v", errNotSent, last.err)
		e.RetryAfter = max(time.Second, time.Until(last.next))
		if last.err.Kind == mounts.Loop {
			e.Kind, e.Msg = mounts.Loop, last.err.Msg
		}
	}
	return e
}

// lazyLife is the part of Lazy that is no operation.
type lazyLife struct{ l *Lazy }

// Capabilities implements mounts.Lifecycle.
func (life lazyLife) Capabilities() capabilities.Set {
	if b := life.l.opened.Load(); b != nil {
		return (*b).Capabilities()
	}
	return capabilities.Default().Intersect(capabilities.Reads()).Emulated()
}

// KeyLifetime implements mounts.Lifecycle: 0 until the backend is open, as no
// change is possible before.
func (life lazyLife) KeyLifetime() time.Duration {
	if b := life.l.opened.Load(); b != nil {
		return (*b).KeyLifetime()
	}
	return 0
}

// Health implements mounts.Lifecycle: until the backend is open it is the error
// of the last attempt. It waits for the first one, so that a mount that opens at
// once is never said to be down.
func (life lazyLife) Health(ctx context.Context) error {
	select {
	case <-life.l.tried:
	case <-ctx.Done():
	}
	if b := life.l.opened.Load(); b != nil {
		return (*b).Health(ctx)
	}
	if last := life.l.failed.Load(); last != nil {
		return last.err
	}
	return life.l.notYet()
}

// Close implements mounts.Lifecycle: it stops opening, waits, and closes the
// backend if there is one.
func (life lazyLife) Close() error {
	l := life.l
	l.once.Do(func() {
		l.stop()
		<-l.ended
		if b := l.opened.Load(); b != nil {
			l.err = (*b).Close()
		}
	})
	return l.err
}
