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
	// pending is a probe that did not end in its time, or nil.
	pending *call[struct{}]
}

// run probes at once and then at every interval, until ctx ends.
func (p *prober) run(ctx context.Context) {
	for {
		p.probe(ctx)
		tenth := p.opt.Interval / 10
		timer := time.NewTimer(p.opt.Interval - tenth + rand.N(2*tenth+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
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
