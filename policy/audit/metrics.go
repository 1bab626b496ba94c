package audit

import "github.com/prometheus/client_golang/prometheus"

// Metrics is what operators see of the audit trail. It outlives the logs that
// come and go with the configuration. A nil *Metrics counts nothing. It is safe
// for concurrent use.
type Metrics struct {
	written, lost, refused prometheus.Counter
	healthy                prometheus.Gauge
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves that
// out. It panics, as prometheus.MustRegister does, when they are registered
// already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "icefield_audit_events_total",
		Help: "Events of the audit trail, by outcome: written, lost (the queue was full, or it could not be written) or refused (it could not be written, so that what it permits was not done).",
	}, []string{"outcome"})
	m := &Metrics{
		written: events.WithLabelValues("written"),
		lost:    events.WithLabelValues("lost"),
		refused: events.WithLabelValues("refused"),
		healthy: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "icefield_audit_healthy",
			Help: "1 if the audit trail could be written when it was last tried, 0 if not.",
		}),
	}
	m.healthy.Set(1)
	if reg != nil {
		reg.MustRegister(events, m.healthy)
	}
	return m
}

func (m *Metrics) count(written, lost, refused uint64) {
	if m == nil {
		return
	}
	if written > 0 {
		m.written.Add(float64(written))
	}
	if lost > 0 {
		m.lost.Add(float64(lost))
	}
	if refused > 0 {
		m.refused.Add(float64(refused))
	}
}

func (m *Metrics) health(ok bool) {
	switch {
	case m == nil:
	case ok:
		m.healthy.Set(1)
	default:
		m.healthy.Set(0)
	}
}
