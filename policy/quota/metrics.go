package quota

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what was refused. It outlives the Limits and Lockouts that come
// and go with the configuration. A nil *Metrics counts nothing. It is safe for
// concurrent use.
type Metrics struct {
	client, tenant     prometheus.Counter
	lockouts, refusals prometheus.Counter
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves that
// out. It panics, as prometheus.MustRegister does, when they are registered
// already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	limited := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "icefield_limited_requests_total",
		Help: "Requests refused because there were too many, by whose limit it was: client (one address) or tenant.",
	}, []string{"kind"})
	m := &Metrics{
		client: limited.WithLabelValues("client"),
		tenant: limited.WithLabelValues("tenant"),
		lockouts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "icefield_login_lockouts_total",
			Help: "Times that an address was locked out because its logins failed too often.",
		}),
		refusals: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "icefield_locked_out_logins_total",
			Help: "Logins refused unseen because their address was locked out.",
		}),
	}
	if reg != nil {
		reg.MustRegister(limited, m.lockouts, m.refusals)
	}
	return m
}
