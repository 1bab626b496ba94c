package router

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/router/middleware"
)

// Metrics counts what clients asked for and how long it took. One serves any
// number of handlers, as those of a server whose mount table changes. A nil
// *Metrics counts nothing.
type Metrics struct {
	duration *prometheus.HistogramVec
	refused  *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them. It panics, as
// prometheus.MustRegister does, when they are registered already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "icefield_http_request_duration_seconds",
		Help:    "Time from a client's request to the end of its answer, by operation, HTTP method, status class and catalog (the tree or a mount's view).",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"operation", "method", "status", "catalog"})}
	m.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "icefield_http_refused_requests_total",
		Help: "Requests that were answered with a status of the kind \"not you\" (401, 403) or \"not now\" (429).",
	}, []string{"status"})
	for _, status := range refusals {
		m.refused.WithLabelValues(status)
	}
	reg.MustRegister(m.duration, m.refused)
	return m
}

// refusals are the statuses that are counted one by one.
var refusals = [...]string{"401", "403", "429"} // read only

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
	switch status := call.Status(); status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		m.refused.WithLabelValues(strconv.Itoa(status)).Inc()
	}
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
