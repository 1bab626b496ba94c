package wrap

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/mounts"
)

// gauges shows the state that mounts have at the moment of a scrape.
type gauges struct {
	up, breaker, inFlight, probe, jobs, purged, held, budget, room, told *prometheus.Desc

	mu sync.Mutex
	// mounts are those of each name, the newest last: while a mount is replaced
	// there are two.
	mounts map[string][]*Mounted
	memory *mounts.Memory
}

func newGauges() *gauges {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"mount"}, nil)
	}
	return &gauges{
		up:       desc("icefield_mount_up", "1 if the last probe or call of the mount succeeded and its breaker is not open, else 0."),
		breaker:  desc("icefield_mount_breaker_state", "State of the mount's breaker: 0 closed, 1 half-open, 2 open."),
		inFlight: desc("icefield_mount_in_flight", "Calls that the mount's backend is working on, those included that nobody waits for any more."),
		probe:    desc("icefield_mount_probe_latency_seconds", "Time that the last successful probe of the mount took; 0 if none did."),
		jobs: prometheus.NewDesc("icefield_mount_jobs",
			"Background jobs of the mount by state (waiting, running, failed), of all replicas, counted about once a minute.", []string{"mount", "state"}, nil),
		purged: desc("icefield_mount_job_files_deleted_total", "Files that background jobs deleted in this process."),
		held:   desc("icefield_mount_cache_bytes", "Bytes that the mount's cache holds; absent for a mount without one."),
		told:   desc("icefield_mount_settings_timestamp_seconds", "When the catalog behind the mount last said what it can do; absent for one that is not asked or was not reached."),
		budget: prometheus.NewDesc("icefield_memory_budget_bytes", "Most that answers under way may hold (server.max_memory), over all mounts.", nil, nil),
		room:   prometheus.NewDesc("icefield_memory_held_bytes", "Bytes that answers under way hold, over all mounts.", nil, nil),
		mounts: map[string][]*Mounted{},
	}
}

// add shows a mount instead of an older one of the same name.
func (g *gauges) add(name string, m *Mounted) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mounts[name] = append(g.mounts[name], m)
}

// remove shows a mount no longer.
func (g *gauges) remove(name string, m *Mounted) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := slices.DeleteFunc(g.mounts[name], func(other *Mounted) bool { return other == m })
	if g.mounts[name] = rest; len(rest) == 0 {
		delete(g.mounts, name)
	}
}

// ShowMemory shows the budget that answers under way have, from now on.
func (m *Metrics) ShowMemory(budget *mounts.Memory) {
	if m == nil {
		return
	}
	m.gauges.mu.Lock()
	defer m.gauges.mu.Unlock()
	m.gauges.memory = budget
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.up, g.breaker, g.inFlight, g.probe, g.jobs, g.purged, g.held, g.budget, g.room, g.told} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.memory != nil {
		ch <- prometheus.MustNewConstMetric(g.budget, prometheus.GaugeValue, float64(g.memory.Max()))
		ch <- prometheus.MustNewConstMetric(g.room, prometheus.GaugeValue, float64(g.memory.Held()))
	}
	for name, list := range g.mounts {
		m := list[len(list)-1]
		status := m.Status()
		send := func(d *prometheus.Desc, value float64) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, name)
		}
		send(g.breaker, map[string]float64{"closed": 0, "half-open": 1, "open": 2}[status.Breaker])
		send(g.inFlight, float64(status.InFlight))
		send(g.probe, status.Latency.Seconds())
		if !status.SettingsAt.IsZero() {
			send(g.told, float64(status.SettingsAt.UnixMilli())/1000)
		}
		up := 0.0
		if status.State == mounts.Up {
			up = 1
		}
		send(g.up, up)
		if m.cache != nil {
			send(g.held, float64(m.cache.bytes()))
		}
		if status.Jobs == nil {
			continue
		}
		for state, n := range map[string]int{"waiting": status.Jobs.Waiting, "running": status.Jobs.Running, "failed": status.Jobs.Failed} {
			ch <- prometheus.MustNewConstMetric(g.jobs, prometheus.GaugeValue, float64(n), name, state)
		}
		ch <- prometheus.MustNewConstMetric(g.purged, prometheus.CounterValue, float64(status.Jobs.FilesDeleted), name)
	}
}
