package quota

import (
	"math"
	"net/netip"
	"time"

	"golang.org/x/time/rate"
)

// DefaultMaxTracked is how many clients, and how many tenants, are remembered.
const DefaultMaxTracked = 100_000

// Rate is how many requests may come.
type Rate struct {
	// PerSecond is how many a second may come for long; 0 means any number.
	PerSecond float64
	// Burst is how many may come at once after a quiet time; 0 means PerSecond,
	// rounded up.
	Burst int
}

func (r Rate) limits() (rate.Limit, int) {
	if !(r.PerSecond > 0) || math.IsInf(r.PerSecond, 1) {
		return rate.Inf, 0
	}
	burst := r.Burst
	if burst <= 0 {
		burst = int(math.Ceil(min(r.PerSecond, 1e9)))
	}
	return rate.Limit(r.PerSecond), burst
}

// Options say how much is too much.
type Options struct {
	// Client bounds one address, Tenant all callers of a tenant together.
	Client, Tenant Rate
	// MaxTracked bounds the memory: about 250 bytes for each of so many clients,
	// and of so many tenants. 0 means DefaultMaxTracked.
	MaxTracked int
	// Metrics counts what is refused; nil counts nothing.
	Metrics *Metrics
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Limits are the buckets of a server. A nil *Limits lets everything pass. It is
// safe for concurrent use.
type Limits struct {
	clients *buckets[netip.Addr]
	tenants *buckets[string]
	metrics *Metrics
	now     func() time.Time
}

// New makes them, all full.
func New(opt Options) *Limits {
	if opt.MaxTracked <= 0 {
		opt.MaxTracked = DefaultMaxTracked
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Limits{
		clients: newBuckets[netip.Addr](opt.Client, opt.MaxTracked),
		tenants: newBuckets[string](opt.Tenant, opt.MaxTracked),
		metrics: opt.Metrics, now: opt.Now,
	}
}

// Set changes the rates. Buckets keep the tokens that they have, cut to the new
// burst: a reload gives nobody a burst.
func (l *Limits) Set(client, tenant Rate) {
	if l != nil {
		l.clients.set(client)
		l.tenants.set(tenant)
	}
}

// Client takes one request of an address. If ok is false there are too many, and
// one may come after wait, which is more than zero. Requests that are refused do
// not count. All addresses that are not known share one bucket.
func (l *Limits) Client(addr netip.Addr) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	wait, ok = l.clients.take(client(addr), l.now())
	if !ok && l.metrics != nil {
		l.metrics.client.Inc()
	}
	return wait, ok
}

// Tenant takes one request of a tenant, as Client does. Callers of no tenant, who
// are operators, are not limited.
func (l *Limits) Tenant(name string) (wait time.Duration, ok bool) {
	if l == nil || name == "" {
		return 0, true
	}
	wait, ok = l.tenants.take(name, l.now())
	if !ok && l.metrics != nil {
		l.metrics.tenant.Inc()
	}
	return wait, ok
}

// client is what counts as one client: an IPv4 address, or 64 bits of IPv6.
func client(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return addr
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return addr // cannot be: every IPv6 address has 64 bits
	}
	return network.Addr()
}
