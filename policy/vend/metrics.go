package vend

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts credentials for all mounts. It is safe for concurrent use; a
// nil *Metrics counts nothing.
type Metrics struct {
	credentials *prometheus.CounterVec
	failures    *prometheus.CounterVec
	duration    *prometheus.HistogramVec
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves that
// out. It panics, as prometheus.MustRegister does, when they are registered
// already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		credentials: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_vended_credentials_total",
			Help: "Storage credentials that were asked for, by outcome: minted (new), cached (made before for the same principal), failed.",
		}, []string{"mount", "provider", "outcome"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_vending_failures_total",
			Help: "Exchanges for storage credentials that failed, by reason (denied, throttled, unreachable, timeout, busy, too_long, login, broken).",
		}, []string{"mount", "provider", "reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "icefield_vending_exchange_duration_seconds",
			Help:    "Time of an exchange for storage credentials, however it ended.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"mount", "provider"}),
	}
	if reg != nil {
		reg.MustRegister(m.credentials, m.failures, m.duration)
	}
	return m
}

// Of is Options.Observe for a mount and its kind of provider: both labels are
// words of the configuration.
func (m *Metrics) Of(mount, provider string) func(Event) {
	if m == nil {
		return nil
	}
	minted := m.credentials.WithLabelValues(mount, provider, "minted")
	cached := m.credentials.WithLabelValues(mount, provider, "cached")
	failed := m.credentials.WithLabelValues(mount, provider, "failed")
	duration := m.duration.WithLabelValues(mount, provider)
	return func(e Event) {
		switch e.Outcome {
		case "minted":
			minted.Inc()
		case "cached":
			cached.Inc()
			return
		default:
			failed.Inc()
			m.failures.WithLabelValues(mount, provider, string(e.Reason)).Inc()
		}
		duration.Observe(e.Took.Seconds())
	}
}

// Forget drops what was counted for a mount that is gone.
func (m *Metrics) Forget(mount string) {
	if m == nil {
		return
	}
	of := prometheus.Labels{"mount": mount}
	m.credentials.DeletePartialMatch(of)
	m.failures.DeletePartialMatch(of)
	m.duration.DeletePartialMatch(of)
}
