package main

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/router"
)

// settings is what is known of the configuration that a server runs on: whether
// what was last read could be put into effect. It is safe for concurrent use.
type settings struct {
	reloads    *prometheus.CounterVec
	successful prometheus.Gauge
	taken      prometheus.Gauge

	mu    sync.Mutex
	state router.Component
}

// The outcomes of a reload.
const (
	reloadApplied   = "applied"
	reloadUnchanged = "unchanged"
	reloadRefused   = "refused"
)

func newSettings(reg prometheus.Registerer) *settings {
	s := &settings{
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_config_reloads_total",
			Help: "Times that the configuration was read again, by outcome: applied, unchanged (it meant the same as before) or refused (the one before serves on).",
		}, []string{"outcome"}),
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "icefield_config_last_reload_successful",
			Help: "1 if the server runs on the configuration that was last read, 0 if that was refused.",
		}),
		taken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "icefield_config_last_reload_success_timestamp_seconds",
			Help: "When a configuration was last read and found to be, or put into, effect.",
		}),
	}
	reg.MustRegister(s.reloads, s.successful, s.taken)
	for _, outcome := range []string{reloadApplied, reloadUnchanged, reloadRefused} {
		s.reloads.WithLabelValues(outcome)
	}
	s.good(time.Now())
	return s
}

// components is what /ready says.
func (s *settings) components() []router.Component {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []router.Component{s.state}
}

// accepted takes note of a configuration that is in effect.
func (s *settings) accepted(outcome string) {
	s.good(time.Now())
	s.reloads.WithLabelValues(outcome).Inc()
}

func (s *settings) good(now time.Time) {
	s.mu.Lock()
	s.state = router.Component{Name: "configuration", State: "ok", Since: now.UTC()}
	s.mu.Unlock()
	s.successful.Set(1)
	s.taken.Set(float64(now.UnixMilli()) / 1000)
}

// refused takes note of one that is not, and why, in words for everybody. What
// counts is since when the server does not run on what it was told to.
func (s *settings) refused(reason string) {
	now := time.Now().UTC()
	s.mu.Lock()
	since := now
	if s.state.State != "ok" {
		since = s.state.Since
	}
	s.state = router.Component{Name: "configuration", State: "refused", Since: since, Reason: reason}
	s.mu.Unlock()
	s.successful.Set(0)
	s.reloads.WithLabelValues(reloadRefused).Inc()
}
