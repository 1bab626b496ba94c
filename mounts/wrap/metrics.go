package wrap

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Metrics is what operators see of all mounts. Every label comes from the
// configuration or from a fixed list, never from a client. A nil *Metrics
// records nothing. It is safe for concurrent use.
type Metrics struct {
	requests *prometheus.HistogramVec
	remote   *prometheus.CounterVec
	duration *prometheus.HistogramVec
	retries  *prometheus.CounterVec
	refusals *prometheus.CounterVec
	reports  *prometheus.CounterVec
	cached   *prometheus.CounterVec
	joined   *prometheus.CounterVec
	gauges   *gauges

	mu sync.Mutex
	// uses counts the stacks of each mount's name: while a mount is replaced there
	// are two.
	uses map[string]int
}

// requestBuckets reaches from a look-up in memory to the longest request
// timeout that makes sense.
var requestBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMetrics makes the metrics and registers them; a nil registerer leaves that
// out. It panics, as prometheus.MustRegister does, when they are registered
// already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "icefield_mount_request_duration_seconds",
			Help:    "Time that a mount took to answer a catalog operation, retries included, by how it ended.",
			Buckets: requestBuckets,
		}, []string{"mount", "operation", "outcome"}),
		remote: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_remote_calls_total",
			Help: "HTTP requests sent to the catalog behind a mount, by operation, kind (catalog, config, token) and class of status (none: no answer).",
		}, []string{"mount", "operation", "kind", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "icefield_remote_call_duration_seconds",
			Help:    "Time from sending an HTTP request to the catalog behind a mount until its answer was read or given up.",
			Buckets: requestBuckets,
		}, []string{"mount", "operation", "kind"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_mount_retries_total",
			Help: "Reads that were tried again because the mount was not reached.",
		}, []string{"mount"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_mount_refusals_total",
			Help: "Calls refused before the mount's backend was asked, by reason (breaker, limit, read_only).",
		}, []string{"mount", "reason"}),
		reports: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_mount_metrics_reports_total",
			Help: "Metrics reports of engines that a mount accepted, by type (scan, commit, other).",
		}, []string{"mount", "type"}),
		cached: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_mount_cache_reads_total",
			Help: "Reads that the mount's cache had to do with, by result: hit (within the ttl), revalidated (the backend confirmed what is held), miss (the backend gave the answer), stale (the backend could not be reached).",
		}, []string{"mount", "result"}),
		joined: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_mount_coalesced_reads_total",
			Help: "Reads that shared a call of the mount's backend which another one brought about.",
		}, []string{"mount"}),
		gauges: newGauges(),
		uses:   map[string]int{},
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.remote, m.duration, m.retries, m.refusals, m.reports, m.cached, m.joined, m.gauges)
	}
	return m
}

// RemoteCall counts one HTTP request to the catalog behind a mount. op is an
// operation's name, kind "catalog", "config" or "token"; anything else is
// counted as "other". status 0 stands for no answer.
func (m *Metrics) RemoteCall(mount string, op, kind string, status int, d time.Duration) {
	if m == nil {
		return
	}
	op, kind = knownOperation(op, kind), knownKind(kind)
	m.remote.WithLabelValues(mount, op, kind, statusClass(status)).Inc()
	m.duration.WithLabelValues(mount, op, kind).Observe(d.Seconds())
}

var operationNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, row := range capabilities.Operations() {
		names[row.Name] = true
	}
	return names
})

// knownOperation keeps the label to the operation table; calls for a remote's
// configuration and for tokens belong to no operation.
func knownOperation(op, kind string) string {
	switch {
	case operationNames()[op]:
		return op
	case kind == "config" || kind == "token":
		return "none"
	}
	return "other"
}

func knownKind(kind string) string {
	switch kind {
	case "catalog", "config", "token":
		return kind
	}
	return "other"
}

func statusClass(status int) string {
	switch {
	case status == 0:
		return "none"
	case status >= 100 && status < 600:
		return string(rune('0'+status/100)) + "xx"
	}
	return "other"
}

// mountMetrics is the share of one mount, its series looked up beforehand.
type mountMetrics struct {
	all      *Metrics
	name     string
	requests [][outcomes]atomic.Pointer[prometheus.Observer] // by operation
}

// of begins a stack's use of a mount's name, which leave ends.
func (m *Metrics) of(mount string) *mountMetrics {
	if m != nil {
		m.mu.Lock()
		m.uses[mount]++
		m.mu.Unlock()
	}
	return &mountMetrics{all: m, name: mount,
		requests: make([][outcomes]atomic.Pointer[prometheus.Observer], len(capabilities.Operations())+1)}
}

// leave ends the use of a name. With the last one everything that was counted
// under it goes away.
func (m *Metrics) leave(mount string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.uses[mount]--; m.uses[mount] <= 0 {
		delete(m.uses, mount)
		m.drop(mount)
	}
}

// Forget removes what was counted for a mount that could not be opened, unless
// there is a stack of that name.
func (m *Metrics) Forget(mount string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.uses[mount] == 0 {
		m.drop(mount)
	}
}

func (m *Metrics) drop(mount string) {
	for _, vec := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.requests, m.remote, m.duration, m.retries, m.refusals, m.reports, m.cached, m.joined} {
		vec.DeletePartialMatch(prometheus.Labels{"mount": mount})
	}
}

func (m *mountMetrics) request(req mounts.Request, o outcome, took time.Duration) {
	if m.all == nil {
		return
	}
	slot := &m.requests[req.Op()][o]
	series := slot.Load()
	if series == nil {
		found := m.all.requests.WithLabelValues(m.name, req.Op().String(), o.String())
		series = &found
		slot.Store(series)
	}
	(*series).Observe(took.Seconds())
	m.report(req, o)
}

// refusal returns the function that counts a refused call.
func (m *mountMetrics) refusal(reason string) func() {
	if m.all == nil {
		return func() {}
	}
	return m.all.refusals.WithLabelValues(m.name, reason).Inc
}

func (m *mountMetrics) retry() func() {
	if m.all == nil {
		return func() {}
	}
	return m.all.retries.WithLabelValues(m.name).Inc
}

// cache returns the functions that count what the mount's cache does.
func (m *mountMetrics) cache() cacheCounts {
	nothing := func() {}
	if m.all == nil {
		return cacheCounts{hit: nothing, miss: nothing, confirmed: nothing, stale: nothing, joined: nothing}
	}
	result := func(name string) func() { return m.all.cached.WithLabelValues(m.name, name).Inc }
	return cacheCounts{hit: result("hit"), miss: result("miss"), confirmed: result("revalidated"), stale: result("stale"),
		joined: m.all.joined.WithLabelValues(m.name).Inc}
}
