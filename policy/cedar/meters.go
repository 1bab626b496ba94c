package cedar

import "github.com/prometheus/client_golang/prometheus"

// meters are the metrics of a Live.
type meters struct {
	policies, successful prometheus.Gauge
	reloads              *prometheus.CounterVec
}

func newMeters() *meters {
	m := &meters{
		policies: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "icefield_policies",
			Help: "Policies in effect, built-in ones and those of tenants included.",
		}),
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "icefield_policy_last_reload_successful",
			Help: "1 if the policies in effect are those that the policy files hold, 0 if those were refused.",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_policy_reloads_total",
			Help: "Times that changed policy files were read, by outcome: applied or refused (the policies before stay).",
		}, []string{"outcome"}),
	}
	for _, outcome := range []string{"applied", "refused"} {
		m.reloads.WithLabelValues(outcome)
	}
	return m
}

func (m *meters) all() []prometheus.Collector {
	return []prometheus.Collector{m.policies, m.successful, m.reloads}
}

// register registers all or none.
func (m *meters) register(reg prometheus.Registerer) error {
	if reg == nil {
		return nil
	}
	for i, c := range m.all() {
		if err := reg.Register(c); err != nil {
			for _, before := range m.all()[:i] {
				reg.Unregister(before)
			}
			return err
		}
	}
	return nil
}

func (m *meters) unregister(reg prometheus.Registerer) {
	if reg == nil {
		return
	}
	for _, c := range m.all() {
		reg.Unregister(c)
	}
}
