package authn

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// counters are what operators see of logins. Every label is from a fixed list or
// from the configuration.
type counters struct {
	logins, fetches, remembered, tokens *prometheus.CounterVec
	// hit and miss are those of every request.
	hit, miss, accepted prometheus.Counter
}

// newCounters registers them, or finds those that an earlier Authn has.
func newCounters(reg prometheus.Registerer) (*counters, error) {
	var failed error
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		if reg == nil {
			return v
		}
		err := reg.Register(v)
		var already prometheus.AlreadyRegisteredError
		if errors.As(err, &already) {
			if earlier, ok := already.ExistingCollector.(*prometheus.CounterVec); ok {
				return earlier
			}
		}
		if err != nil {
			failed = fmt.Errorf("metric %s: %w", name, err)
		}
		return v
	}
	c := &counters{
		logins:     vec("icefield_logins_total", "Logins by method (oidc, api_key, certificate, anonymous, none) and outcome (accepted, refused, locked_out, unavailable).", "method", "outcome"),
		fetches:    vec("icefield_issuer_key_fetches_total", "Times that the keys of an issuer were fetched, by outcome (changed, unchanged, failed).", "oidc", "outcome"),
		remembered: vec("icefield_login_cache_total", "Tokens that were known to be good (hit) or had to be verified (miss).", "outcome"),
		tokens:     vec("icefield_token_requests_total", "Requests to the token route, by grant (client_credentials, token-exchange, refresh_token, other) and outcome (answered, relayed, refused, unavailable).", "grant", "outcome"),
	}
	c.hit, c.miss = c.remembered.WithLabelValues("hit"), c.remembered.WithLabelValues("miss")
	c.accepted = c.logins.WithLabelValues("oidc", "accepted")
	return c, failed
}
