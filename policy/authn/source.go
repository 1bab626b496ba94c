package authn

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pace says how often keys are fetched.
type pace struct {
	// every is the time between two fetches that nobody asked for; retry the same
	// after one that failed.
	every, retry time.Duration
	// gap is the least time from the start of a fetch to the next one's, whoever
	// asks.
	gap time.Duration
	// patience is how long a request waits for a key.
	patience time.Duration
}

func usualPace() pace {
	return pace{every: DefaultKeyRefresh, retry: 20 * time.Second, gap: 2 * time.Second, patience: 5 * time.Second}
}

// refreshing is the pace with other times between fetches; 0 is no other.
func (p pace) refreshing(every time.Duration) pace {
	if every > 0 {
		p.every, p.retry, p.gap = every, min(p.retry, every), min(p.gap, every)
	}
	return p
}

// maxWaiting bounds the requests that wait for keys of one issuer.
const maxWaiting = 1024

// source holds the keys of one issuer. One goroutine fetches them, so there is
// never more than one fetch at a time; close ends it.
type source struct {
	fetch func(ctx context.Context) ([]*publicKey, error)
	pace  pace
	log   *slog.Logger
	saw   func(outcome string)

	keys    atomic.Pointer[[]*publicKey]
	waiting atomic.Int32
	wake    chan struct{}
	stop    context.CancelFunc
	stopped chan struct{}

	mu sync.Mutex
	// running is the fetch under way, nil for none; next is the one that has not
	// begun, which is the first that shows what is published after now.
	running, next *round
	// failing is since when fetches fail; zero if the last one did not.
	failing time.Time
}

// round is one fetch.
type round struct {
	done chan struct{}
	err  error
}

func newRound() *round { return &round{done: make(chan struct{})} }

// openSource fetches the keys for the first time.
func openSource(ctx context.Context, s *source) error {
	s.wake, s.stopped, s.next = make(chan struct{}, 1), make(chan struct{}), newRound()
	began := time.Now()
	keys, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return errors.New("it publishes no key that tokens could be checked with")
	}
	s.keys.Store(&keys)
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go s.run(life, began)
	return nil
}

func (s *source) close() {
	s.stop()
	<-s.stopped
}

// run fetches when it is time or somebody asks, until the context ends.
func (s *source) run(ctx context.Context, last time.Time) {
	defer close(s.stopped)
	due := s.pace.every
	for {
		timer := time.NewTimer(time.Until(last.Add(due)))
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
		if wait := time.Until(last.Add(s.pace.gap)); wait > 0 && ctx.Err() == nil {
			timer = time.NewTimer(wait)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
		if ctx.Err() != nil {
			s.mu.Lock()
			s.next.err = errors.New("the server no longer uses this issuer")
			close(s.next.done)
			s.mu.Unlock()
			return
		}
		last = time.Now()
		if due = s.pace.every; s.once(ctx) != nil {
			due = s.pace.retry
		}
	}
}

// once fetches and takes over what came.
func (s *source) once(ctx context.Context) error {
	s.mu.Lock()
	r := s.next
	s.running, s.next = r, newRound()
	s.mu.Unlock()
	keys, err := s.fetch(ctx)
	if err == nil {
		s.take(keys)
	} else if ctx.Err() == nil {
		s.saw("failed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil && s.failing.IsZero():
		s.failing = time.Now()
		s.log.Warn("the keys of an issuer cannot be fetched; those that are known stay in use", "error", err)
	case err == nil && !s.failing.IsZero():
		s.log.Info("the keys of an issuer can be fetched again", "failed_for", time.Since(s.failing).Round(time.Second))
		s.failing = time.Time{}
	}
	r.err = err
	s.running = nil
	close(r.done)
	return err
}

// take puts a new set in place of the old one. Keys that are in both stay the
// same; those that are not in the new one are gone, and with them what they
// signed.
func (s *source) take(fresh []*publicKey) {
	old := *s.keys.Load()
	keys := make([]*publicKey, 0, len(fresh))
	added := 0
	for _, k := range fresh {
		at := slices.IndexFunc(old, func(o *publicKey) bool { return o.id == k.id && o.thumb == k.thumb && o.alg == k.alg })
		if at >= 0 {
			k = old[at]
		} else {
			added++
		}
		keys = append(keys, k)
	}
	s.keys.Store(&keys)
	removed := 0
	for _, o := range old {
		if !slices.Contains(keys, o) {
			o.gone.Store(true)
			removed++
		}
	}
	if added+removed == 0 {
		s.saw("unchanged")
		return
	}
	s.saw("changed")
	s.log.Info("an issuer changed its keys", "added", added, "removed", removed, "keys", len(keys))
}

// with calls try with the keys until it says that it is content: with those that
// are known, then with those that a fetch under way brings, then with those of a
// fetch that begins after the call, which show all that was published before it.
// The error means that this could not be done, so that nothing is known.
func (s *source) with(ctx context.Context, try func(keys []*publicKey) bool) error {
	if try(*s.keys.Load()) {
		return nil
	}
	if s.waiting.Add(1) > maxWaiting {
		s.waiting.Add(-1)
		return errors.New("too many requests wait for its keys")
	}
	defer s.waiting.Add(-1)
	patience := time.NewTimer(s.pace.patience)
	defer patience.Stop()
	s.mu.Lock()
	running, next := s.running, s.next
	s.mu.Unlock()
	for _, r := range []*round{running, next} {
		if r == nil {
			continue
		}
		if r == next {
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience.C:
			return errors.New("its keys did not come in time")
		}
		if try(*s.keys.Load()) {
			return nil
		}
		if r == next {
			return r.err
		}
	}
	return nil
}

// failingSince is when fetching began to fail; zero if it does not.
func (s *source) failingSince() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failing
}
