package router

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/router/middleware"
)

// metrics counts what clients asked for and how long it took.
type metrics struct{ duration *prometheus.HistogramVec }

// newMetrics registers the histogram, or joins one that another router
// registered; nil takes no metrics.
func newMetrics(reg prometheus.Registerer) *metrics {
	if reg == nil {
		return nil
	}
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "icefield_http_request_duration_seconds",
		Help:    "Time from a client's request to the end of its answer, by operation, HTTP method, status class and catalog (the tree or a mount's view).",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"operation", "method", "status", "catalog"})
	if err := reg.Register(duration); err != nil {
		var already prometheus.AlreadyRegisteredError
		if !errors.As(err, &already) {
			return nil
		}
		duration, _ = already.ExistingCollector.(*prometheus.HistogramVec)
		if duration == nil {
			return nil
		}
	}
	return &metrics{duration}
}

func (m *metrics) observe(call *middleware.Call, method string) {
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
