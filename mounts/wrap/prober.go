package wrap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/mounts"
)

// ProbeOptions say how a mount is watched in the background.
type ProbeOptions struct {
	// Interval is the pause between two probes, give or take a tenth; 0 means
	// 5s. Negative: the mount is not probed.
	Interval time.Duration
	// Longest is the pause between two probes of a backend that cannot be reached,
	// to which the pauses double; 0 means 30s. A call that is answered ends that.
	Longest time.Duration
	// Timeout bounds one probe; 0 means the interval, but at most 5s.
	Timeout time.Duration
}

func (o ProbeOptions) withDefaults() ProbeOptions {
	if o.Interval == 0 {
		o.Interval = 5 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = min(o.Interval, 5*time.Second)
	}
	if o.Longest <= 0 {
		o.Longest = 30 * time.Second
	}
	return o
}

// seen is what the last probe saw. It is immutable.
type seen struct {
	at      time.Time
	latency time.Duration // of the last successful probe
	err     string        // for clients; empty after a success
}

// prober asks a backend's Health again and again, and keeps what it saw.
type prober struct {
	opt     ProbeOptions
	owner   *calls
	health  func(context.Context) error
	success func()
	changed func(up bool, err error)

	last atomic.Pointer[seen]
	// reached is set when a call succeeded after the last probe.
	reached atomic.Bool
	// again is told that a call was answered while the probes failed.
	again chan struct{}
	// pending is a probe that did not end in its time, or nil.
	pending *call[struct{}]
}

// run probes at once and then after a pause, again and again, until ctx ends.
func (p *prober) run(ctx context.Context) {
	failures := 0
	for {
		p.probe(ctx)
		if failures++; p.up() {
			failures = 0
		}
		if !p.wait(ctx, p.opt.pause(failures)) {
			return
		}
	}
}

// wait waits for about the given pause, or only for the usual one if a call is
// answered meanwhile; false once ctx has ended.
func (p *prober) wait(ctx context.Context, pause time.Duration) bool {
	select {
	case <-p.again:
	default: // what was answered before the probe is no news
	}
	start := time.Now()
	timer := time.NewTimer(jittered(pause))
	defer timer.Stop()
	for again := p.again; ; {
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		case <-again:
			again = nil
			timer.Reset(max(0, jittered(min(pause, p.opt.Interval))-time.Since(start)))
		}
	}
}

// jittered is a pause give or take a tenth, so that servers that started together
// do not probe together.
func jittered(pause time.Duration) time.Duration {
	tenth := pause / 10
	return pause - tenth + rand.N(2*tenth+1) // #nosec G404 -- spreads probes over time; to guess it gains nothing
}

// pause is how long to wait after so many failures in a row. The first one is
// looked into as soon as a success would be: it may have been one lost call.
func (o ProbeOptions) pause(failures int) time.Duration {
	pause := o.Interval
	for range failures - 1 {
		if pause >= o.Longest {
			break
		}
		pause = min(2*pause, o.Longest)
	}
	return pause
}

// probe asks once. A backend that ignores its context is not asked again while
// an earlier probe hangs.
func (p *prober) probe(ctx context.Context) {
	start := time.Now()
	err := p.ask(ctx)
	if ctx.Err() != nil {
		return // being closed
	}
	before, now := p.last.Load(), &seen{at: time.Now(), latency: time.Since(start)}
	if err != nil {
		now.latency, now.err = 0, mounts.AsError(err).Message()
		if before != nil {
			now.latency = before.latency
		}
	}
	p.reached.Store(false)
	p.last.Store(now)
	if before == nil && err != nil || before != nil && (before.err == "") != (err == nil) {
		p.changed(err == nil, err)
	}
	if err == nil {
		p.success()
	}
}

func (p *prober) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.opt.Timeout)
	defer cancel()
	if p.pending != nil && p.pending.ended() {
		p.pending = nil // too late to tell how the backend is now
	}
	if p.pending == nil {
		p.pending = spawn(p.owner, func() {}, func() (none struct{}, err error) { return none, p.health(ctx) })
		if p.pending == nil {
			return errNotSent
		}
	}
	if p.pending.wait(ctx, ctx, false) != nil {
		return &mounts.Error{Kind: mounts.Timeout, Err: ctx.Err()}
	}
	err := p.pending.err
	p.pending = nil
	return asTimeout(err)
}

// guarded turns a panic of a health check into an error.
func guarded(health func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &mounts.Error{Kind: mounts.Internal, Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
			}
		}()
		return health(ctx)
	}
}

// asTimeout gives a probe that ran out of time its kind.
func asTimeout(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && inside(err) == nil {
		return &mounts.Error{Kind: mounts.Timeout, Err: err}
	}
	return err
}

// up reports whether the last probe or a call after it succeeded.
func (p *prober) up() bool {
	last := p.last.Load()
	return last == nil || last.err == "" || p.reached.Load()
}
