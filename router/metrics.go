package router

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/router/middleware"
)

// Metrics counts what clients asked for and how long it took. One serves any
// number of handlers, as those of a server whose mount table changes. A nil
// *Metrics counts nothing.
type Metrics struct{ duration *prometheus.HistogramVec }

// NewMetrics makes the metrics and registers them. It panics, as
// prometheus.MustRegister does, when they are registered already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "icefield_http_request_duration_seconds",
		Help:    "Time from a client's request to the end of its answer, by operation, HTTP method, status class and catalog (the tree or a mount's view).",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"operation", "method", "status", "catalog"})}
	reg.MustRegister(m.duration)
	return m
}

// Forget removes what was counted for a catalog that is no longer there.
func (m *Metrics) Forget(catalog string) {
	if m != nil {
		m.duration.DeletePartialMatch(prometheus.Labels{"catalog": catalog})
	}
}

func (m *Metrics) observe(call *middleware.Call, method string) {
	if m == nil {
		return
	}
	m.duration.WithLabelValues(call.Operation.String(), verb(method), class(call.Status()), call.Catalog).
		Observe(time.Since(call.Started).Seconds())
}

// verb keeps made-up methods from making time series.
func verb(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS":
		return method
	}
	return "other"
}

func class(status int) string {
	switch {
	case status >= 500:
		return "5xx"
	case status >= 400:
		return "4xx"
	case status >= 300:
		return "3xx"
	case status >= 200:
		return "2xx"
	}
	return "none"
}
