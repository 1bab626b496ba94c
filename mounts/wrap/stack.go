package wrap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Stack puts every decorator around a mount's backend, in the order that the
// package comment says. It owns the backend from now on: Mounted.Close closes
// it. The mount answers at once; Start begins to watch it.
func Stack(backend mounts.Backend, opt Options) *Mounted {
	opt = opt.withDefaults()
	metrics := opt.Metrics.of(opt.Name)
	m := &Mounted{opt: opt, backend: backend, calls: newCalls()}

	m.limiter = &limiter{max: int64(opt.InFlight), owner: m.calls, refused: and(&m.tally.limit, metrics.refusal("limit"))}
	m.breaker = newBreaker(opt.Breaker, opt.Timeout/2, opt.Logger, and(&m.tally.breaker, metrics.refusal("breaker")), m.noteReached)
	m.retrier = &retrier{early: opt.Timeout / 2, mean: retryPause, budget: newBudget(), again: and(&m.tally.retries, metrics.retry())}
	m.prober = &prober{opt: opt.Probe, owner: m.calls, health: guarded(backend.Health),
		success: m.breaker.recovered, changed: m.logChange, again: make(chan struct{}, 1)}

	// From the inside out.
	core := Contract(owned{backend, m})
	core = mounts.Around(core, timeout(opt.Timeout, m.calls, opt.HeedsContext))
	core = mounts.Around(core, m.limiter.intercept)
	core = mounts.Around(core, m.breaker.intercept)
	core = mounts.Around(core, m.retrier.intercept)
	if opt.Cache.on() {
		m.cache = newCache(opt.Cache, m.calls, opt.Timeout+grace, m.tally.cache(metrics.cache()))
		core = mounts.Around(core, m.cache.intercept)
	}
	if opt.ReadOnly {
		core = readOnly(core, and(&m.tally.readOnly, metrics.refusal("read_only")))
	}
	tree := core
	if opt.prefixed() {
		tree = Prefix(core, opt.Name)
	}
	m.tree = mounts.Around(tree, observe(opt.Name, metrics.request))
	m.view = mounts.Around(core, observe(opt.Name, metrics.request))

	if opt.Metrics != nil {
		opt.Metrics.gauges.add(opt.Name, m)
	}
	return m
}

// Mounted is a backend with everything that stands around it. It is safe for
// concurrent use.
type Mounted struct {
	opt        Options
	backend    mounts.Backend
	tree, view mounts.Backend
	calls      *calls
	limiter    *limiter
	breaker    *breaker
	retrier    *retrier
	prober     *prober
	cache      *cache // nil for none
	tally      tally

	mu     sync.Mutex // of stop and closed
	stop   context.CancelFunc
	closed bool
	probes sync.WaitGroup

	once sync.Once
	err  error
}

// Mount is the mount's row of the mount table. Tree and View share the breaker,
// the limit and the backend; closing either closes the mount.
func (m *Mounted) Mount() mounts.Mount {
	return mounts.Mount{Name: m.opt.Name, ViewName: m.opt.ViewName, Driver: m.opt.Driver, Owner: m.opt.Owner, Owners: m.owners(),
		Required: m.opt.Required, ReadOnly: m.opt.ReadOnly, Profile: m.opt.Profile, Credentials: m.opt.Credentials,
		Relays: m.opt.Relays, FoldsCase: m.opt.FoldsCase, Tree: m.tree, View: m.view, Status: m.Status,
		Jobs: m.jobs(), Log: m.log(), TableAt: m.tableAt()}
}

// Start begins to probe the backend in the background, until Close. Further
// calls do nothing.
func (m *Mounted) Start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil || m.closed || m.opt.Probe.Interval < 0 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.probes.Go(func() { m.prober.run(ctx) })
}

// Status tells how the mount is doing, as last seen. It does no I/O.
func (m *Mounted) Status() mounts.Status {
	s := mounts.Status{State: mounts.Up, Breaker: m.breaker.state().String(), InFlight: m.limiter.load(),
		Capabilities: m.tree.Capabilities(), Jobs: m.jobCounts()}
	m.tell(&s)
	if last := m.prober.last.Load(); last != nil {
		s.CheckedAt, s.Latency, s.LastError = last.at, last.latency, last.err
	}
	if lazy, is := m.backend.(*Lazy); is && !lazy.Opened() {
		s.State = mounts.Opening
		if last := lazy.LastError(); last != "" {
			s.LastError = last // newer than the last probe's
		}
	} else if s.Breaker == "open" || !m.prober.up() {
		s.State = mounts.Down
	}
	return s
}

// closePatience is how long Close waits, beyond the time for one attempt, for
// calls of a backend that ignores its context.
const closePatience = 5 * time.Second

// Close stops the prober, refuses further calls, waits for those under way and
// closes the backend. It waits for all of this, but no longer than a call may
// take for one that does not heed its context; such calls are an error.
func (m *Mounted) Close() error {
	m.once.Do(func() {
		m.mu.Lock()
		m.closed = true
		if m.stop != nil {
			m.stop()
		}
		m.mu.Unlock()
		m.probes.Wait()
		if left := m.calls.close(m.opt.Timeout + closePatience); left > 0 {
			m.err = fmt.Errorf("mount %q: %d calls did not end in time", m.opt.Name, left)
		}
		m.err = errors.Join(m.err, m.backend.Close())
		if m.opt.Metrics != nil { // at last, when nothing is counted any more
			m.opt.Metrics.gauges.remove(m.opt.Name, m)
			m.opt.Metrics.leave(m.opt.Name)
		}
	})
	return m.err
}

// noteReached remembers that the backend answered after the last probe.
func (m *Mounted) noteReached() {
	if !m.prober.reached.Load() {
		m.prober.reached.Store(true)
		select {
		case m.prober.again <- struct{}{}:
		default:
		}
	}
}

func (m *Mounted) logChange(up bool, err error) {
	if up {
		m.opt.Logger.Info("mount is reachable")
		return
	}
	m.opt.Logger.Warn("mount is not reachable", "error", err)
}

// owned is the backend with the lifecycle that its stack gives it.
type owned struct {
	mounts.Backend
	m *Mounted
}

// Capabilities implements mounts.Backend.
func (o owned) Capabilities() capabilities.Set { return o.Backend.Capabilities() }

// Health implements mounts.Backend. It asks the backend, within the time for
// one attempt.
func (o owned) Health(ctx context.Context) error {
	work, cancel := context.WithTimeout(ctx, o.m.opt.Timeout)
	asked := spawn(o.m.calls, cancel, func() (struct{}, error) { return struct{}{}, guarded(o.Backend.Health)(work) })
	if asked == nil {
		return &mounts.Error{Kind: mounts.Unavailable, Mount: o.m.opt.Name, Err: errNotSent, Msg: "being closed"}
	}
	err := error(nil)
	if cause := asked.wait(ctx, work, false); cause != nil && asked.leave(o.m.calls) {
		err = &mounts.Error{Kind: mounts.Timeout, Err: cause}
	} else if err = asTimeout(asked.err); err == nil {
		return nil
	}
	e := *mounts.AsError(err)
	e.Mount = o.m.opt.Name
	return &e
}

// Close implements mounts.Backend.
func (o owned) Close() error { return o.m.Close() }
