package vend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/icefield/icefield/mounts"
)

const (
	// shortest is how much life credentials need to be of use.
	shortest = 30 * time.Second
	// failureHolds is how long a failed exchange is not tried again: engines
	// repeat a failed load at once, and a token service that is out of breath
	// does not get it back that way.
	failureHolds = time.Second
)

var errClosed = errors.New("the mount is being closed")

// exchanges remembers credentials, and sees to it that nobody asks for the same
// ones twice at a time, that few are asked for at once, and that each exchange
// ends in time whoever waits for it.
type exchanges struct {
	provider Provider
	timeout  time.Duration
	now      func() time.Time
	observe  func(Event)
	slots    chan struct{}

	life context.Context // ends with close; not that of any request
	end  context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	held    *simplelru.LRU[Ask, outcome]
	flights map[Ask]*flight
}

// outcome is what came of an exchange: credentials to hand out before renew and
// to fall back on before last, or a failure to repeat before renew.
type outcome struct {
	minted      *Minted
	err         error
	renew, last time.Time
}

// flight is an exchange under way. Its fields are set before done is closed.
type flight struct {
	done   chan struct{}
	minted *Minted
	err    error
}

func newExchanges(opt Options) *exchanges {
	x := &exchanges{provider: opt.Provider, timeout: opt.Timeout, now: opt.Now, observe: opt.Observe,
		slots: make(chan struct{}, opt.Exchanges), flights: map[Ask]*flight{}}
	x.held, _ = simplelru.NewLRU[Ask, outcome](opt.Remember, nil) // the size is positive
	x.life, x.end = context.WithCancel(context.Background())
	return x
}

// get returns credentials, remembered or new. The error is a *Failure.
func (x *exchanges) get(ctx context.Context, ask Ask) (*Minted, error) {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return nil, &Failure{Reason: Busy, Err: errClosed}
	}
	before, known := x.held.Get(ask)
	if known && x.now().Before(before.renew) {
		x.mu.Unlock()
		if before.err == nil {
			x.observe(Event{Outcome: "cached"})
		}
		return before.minted, before.err
	}
	f := x.flights[ask]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		x.flights[ask] = f
		x.work.Go(func() { x.fly(f, ask, before) })
	}
	x.mu.Unlock()
	select {
	case <-f.done:
		return f.minted, f.err
	case <-ctx.Done():
		return nil, &Failure{Reason: Slow, Err: context.Cause(ctx)}
	}
}

// fly makes the exchange. Where it fails the credentials from before serve on,
// if they are good for a while yet.
func (x *exchanges) fly(f *flight, ask Ask, before outcome) {
	start := time.Now()
	minted, err := x.mint(ask)
	event := Event{Outcome: "minted", Took: time.Since(start)}
	now := x.now()
	after := outcome{minted: minted, err: err, renew: now.Add(failureHolds)}
	if err == nil {
		after.renew, after.last = until(now, minted.Expires)
	} else {
		event.Outcome, event.Reason = "failed", Broken
		if known := (*Failure)(nil); errors.As(err, &known) {
			event.Reason = known.Reason
		}
		if before.minted != nil && now.Before(before.last) {
			after.minted, after.err, after.last = before.minted, nil, before.last
		}
	}
	x.mu.Lock()
	x.held.Add(ask, after)
	delete(x.flights, ask)
	x.mu.Unlock()
	f.minted, f.err = after.minted, after.err
	x.observe(event)
	close(f.done)
}

// until says how long credentials are handed out: until a third of their life is
// left and, since Java's clients renew what ends within five minutes, no less
// than those, unless that is most of their life. While they cannot be renewed
// they serve until a tenth is left.
func until(now, expires time.Time) (renew, last time.Time) {
	life := expires.Sub(now)
	return expires.Add(-max(life/3, min(5*time.Minute, life/2))), expires.Add(-life / 10)
}

func (x *exchanges) mint(ask Ask) (minted *Minted, err error) {
	ctx, cancel := context.WithTimeout(x.life, x.timeout)
	defer cancel()
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return nil, &Failure{Reason: Busy, Err: errors.New("no exchange ended in time for this one to begin")}
	}
	defer func() {
		if p := recover(); p != nil {
			minted, err = nil, &Failure{Reason: Broken, Err: fmt.Errorf("the provider panicked: %v", p)}
		}
	}()
	if ask.Access != mounts.ReadStorage && ask.Access != mounts.WriteStorage {
		return nil, &Failure{Reason: Broken, Err: fmt.Errorf("there are no credentials of the width %s", ask.Access)}
	}
	minted, err = x.provider.Mint(ctx, ask)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &Failure{Reason: Slow, Err: err}
	case err != nil:
		return nil, err
	case minted == nil || len(minted.Config) == 0 || minted.Prefix != ask.Location:
		return nil, &Failure{Reason: Broken, Err: errors.New("the provider gave no credentials for what was asked for")}
	case minted.Expires.Sub(x.now()) < shortest:
		return nil, &Failure{Reason: Broken, Err: fmt.Errorf("the credentials end at %s, which is now or past; look at the clocks",
			minted.Expires.UTC().Format(time.RFC3339))}
	}
	return minted, nil
}

// close ends the exchanges under way, waits for them, and lets none begin.
func (x *exchanges) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.end()
	x.work.Wait()
	x.mu.Lock()
	x.held.Purge()
	x.mu.Unlock()
}
