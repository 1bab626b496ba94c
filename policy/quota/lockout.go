package quota

import (
	"log/slog"
	"net/netip"
	"time"
)

// The defaults of a Lockout.
const (
	DefaultFailures   = 10
	DefaultWindow     = time.Minute
	DefaultMaxPenalty = 15 * time.Minute
)

// LockoutOptions say how many failed logins are too many.
type LockoutOptions struct {
	// Failures of one address within Window lock it out; 0 means DefaultFailures,
	// DefaultWindow.
	Failures int
	Window   time.Duration
	// MaxPenalty bounds how long that lasts: Window the first time, twice as long
	// each further time. The count of times falls by one for each MaxPenalty that
	// passes without. 0 means DefaultMaxPenalty; it is never less than Window.
	MaxPenalty time.Duration
	// MaxTracked bounds how many addresses are remembered; 0 means
	// DefaultMaxTracked.
	MaxTracked int
	Metrics    *Metrics
	// Logger is told of each address that is locked out; nil for nobody.
	Logger *slog.Logger
	Now    func() time.Time
}

// Lockout keeps addresses from guessing credentials. What it takes for one client
// is what Limits does. A nil *Lockout blocks nobody. It is safe for concurrent use.
//
// Everybody behind a locked address is locked out, so only what can be guessed
// should count as failed: a wrong key or password. A job with an expired token
// guesses nothing, and would lock out its neighbours.
//
// Addresses that are not known are never locked out: on a unix socket callers
// cannot be told apart, and whoever may open it is let in by the file's mode.
//
// Memory is bounded by forgetting who failed or asked least recently. So to have a
// lock forgotten takes failed logins from as many other networks as are tracked.
type Lockout struct {
	records *shards[netip.Addr, *record]
	opt     LockoutOptions
}

// record is what is known of an address. Times are those of the clock.
type record struct {
	// failures and forgiven count within the window that began at start.
	failures, forgiven int
	start              time.Time
	// times is how often it was locked out; until when it is, or was the last time.
	times int
	until time.Time
}

// NewLockout makes one that knows of no failure.
func NewLockout(opt LockoutOptions) *Lockout {
	if opt.Failures <= 0 {
		opt.Failures = DefaultFailures
	}
	if opt.Window <= 0 {
		opt.Window = DefaultWindow
	}
	if opt.MaxPenalty <= 0 {
		opt.MaxPenalty = DefaultMaxPenalty
	}
	opt.MaxPenalty = max(opt.MaxPenalty, opt.Window)
	if opt.MaxTracked <= 0 {
		opt.MaxTracked = DefaultMaxTracked
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Lockout{newShards[netip.Addr, *record](opt.MaxTracked), opt}
}

// Blocked tells whether logins of an address are refused unseen, and for how much
// longer. Being refused does not prolong that: a program that knows no better gets
// in when the time is over.
func (l *Lockout) Blocked(addr netip.Addr) (wait time.Duration, blocked bool) {
	if l == nil || !addr.IsValid() {
		return 0, false
	}
	key := client(addr)
	s := l.records.of(key)
	s.mu.Lock()
	r, ok := s.lru.Get(key)
	if ok {
		wait = r.until.Sub(l.opt.Now())
	}
	s.mu.Unlock()
	if wait <= 0 {
		return 0, false
	}
	if m := l.opt.Metrics; m != nil {
		m.refusals.Inc()
	}
	return wait, true
}

// Failed counts a login that failed.
func (l *Lockout) Failed(addr netip.Addr) {
	if l == nil || !addr.IsValid() {
		return
	}
	key := client(addr)
	penalty := l.fail(key, l.opt.Now())
	if penalty == 0 {
		return
	}
	if m := l.opt.Metrics; m != nil {
		m.lockouts.Inc()
	}
	if l.opt.Logger != nil {
		l.opt.Logger.Warn("an address is locked out, since its logins failed too often (server.login_lockout)", "client", key, "for", penalty.String())
	}
}

// fail counts, and returns for how long that locks the address out.
func (l *Lockout) fail(key netip.Addr, now time.Time) time.Duration {
	s := l.records.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.lru.Get(key)
	if !ok {
		s.makeRoom(func(*record) bool { return true })
		r = &record{start: now}
		s.lru.Add(key, r)
	}
	if now.Before(r.until) {
		return 0 // was on its way when the address was locked
	}
	r.renew(now, l.opt.Window)
	if r.failures++; r.failures < l.opt.Failures {
		return 0
	}
	quiet := 0
	if !r.until.IsZero() {
		quiet = int(now.Sub(r.until) / l.opt.MaxPenalty)
	}
	r.times = max(r.times-quiet, 0) + 1
	r.until = now.Add(l.penalty(r.times))
	r.failures, r.forgiven, r.start = 0, 0, r.until
	return r.until.Sub(now)
}

// Succeeded takes back one failure of an address, but in each window no more than
// half of those that lock it out: somebody mistyped. A success says nothing of the
// others behind the address, nor of what else whoever has one good account tries
// there: that gains half as many guesses again, and no more. A lock, and how long
// the next one lasts, stay as they are.
func (l *Lockout) Succeeded(addr netip.Addr) {
	if l == nil || !addr.IsValid() {
		return
	}
	key := client(addr)
	s := l.records.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.lru.Peek(key)
	if !ok {
		return
	}
	r.renew(l.opt.Now(), l.opt.Window)
	if r.failures > 0 && r.forgiven < l.opt.Failures/2 {
		r.failures--
		r.forgiven++
	}
}

// renew begins a new window if the last one is over.
func (r *record) renew(now time.Time, window time.Duration) {
	if now.Sub(r.start) >= window {
		r.failures, r.forgiven, r.start = 0, 0, now
	}
}

// penalty is how long the n-th lock lasts.
func (l *Lockout) penalty(n int) time.Duration {
	d := l.opt.Window
	for ; n > 1 && d < l.opt.MaxPenalty; n-- {
		d *= 2
	}
	return min(d, l.opt.MaxPenalty)
}
