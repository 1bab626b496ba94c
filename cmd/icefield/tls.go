package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/router"
)

// shown is what a server proves itself with, and asks of its clients.
type shown struct {
	from config.TLS
	sum  [sha256.Size]byte
	tls  *tls.Config
	// until is when the certificate is over.
	until time.Time
}

// show reads the files of a tls block.
func show(from config.TLS) (*shown, error) {
	s := &shown{from: from, sum: from.Sum()}
	files, err := from.Read()
	if err != nil {
		return nil, err
	}
	s.until = files.Certificate.Leaf.NotAfter
	s.tls = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{files.Certificate},
		NextProtos:   []string{"h2", "http/1.1"},
		// For TLS 1.2; those of 1.3 are all like these.
		CipherSuites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
	}
	if files.ClientCAs != nil {
		s.tls.ClientAuth, s.tls.ClientCAs = tls.VerifyClientCertIfGiven, files.ClientCAs
		// A session that is taken up again brings its certificates along, which those
		// who were trusted then may not be any more.
		s.tls.SessionTicketsDisabled = true
	}
	return s, nil
}

// certificates is what a running server shows of itself: what its files last held
// that could be used. It is safe for concurrent use.
type certificates struct {
	logger  *slog.Logger
	current atomic.Pointer[shown]

	rereads *prometheus.CounterVec
	good    prometheus.Gauge

	mu    sync.Mutex
	state router.Component
}

// newCertificates begins with what the files of a tls block hold.
func newCertificates(from config.TLS, logger *slog.Logger) (*certificates, error) {
	first, err := show(from)
	if err != nil {
		return nil, err
	}
	c := &certificates{
		logger: logger,
		rereads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "icefield_tls_rereads_total",
			Help: "Times that the files of the tls block had changed and were read again, by outcome: applied or refused (what was shown before is shown on).",
		}, []string{"outcome"}),
		good: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "icefield_tls_last_reread_successful",
			Help: "1 if the server shows the certificate that its files hold, 0 if they hold none that it can use.",
		}),
		state: router.Component{Name: "tls", State: "ok", Since: time.Now().UTC()},
	}
	for _, outcome := range []string{reloadApplied, reloadRefused} {
		c.rereads.WithLabelValues(outcome)
	}
	c.good.Set(1)
	c.current.Store(first)
	return c, nil
}

// register shows it in the metrics.
func (c *certificates) register(reg prometheus.Registerer) {
	reg.MustRegister(c.rereads, c.good, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "icefield_tls_certificate_not_after_timestamp_seconds",
		Help: "When the certificate that the server shows is over.",
	}, func() float64 { return float64(c.current.Load().until.Unix()) }))
}

// config is for a listener: each connection begins with what is shown then.
func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load().tls, nil },
	}
}

// component is what /ready says of it.
func (c *certificates) component() router.Component {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// set shows something else from the next connection on.
func (c *certificates) set(s *shown) {
	c.current.Store(s)
	c.settle("ok", "")
	c.good.Set(1)
}

func (c *certificates) settle(state, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.State != state {
		c.state.Since = time.Now().UTC()
	}
	c.state.State, c.state.Reason = state, reason
}

// certificatesEvery is how often the files are looked at. Looking works where
// notices of a file system do not.
const certificatesEvery = 500 * time.Millisecond

// watch reads the files again whenever they have changed, until ctx ends.
func (c *certificates) watch(ctx context.Context) {
	var tried [sha256.Size]byte
	for pause(ctx, certificatesEvery) {
		now := c.current.Load()
		sum := now.from.Sum()
		if sum == now.sum || sum == tried {
			if sum == now.sum && tried != [sha256.Size]byte{} { // what could not be used was taken back
				tried = [sha256.Size]byte{}
				c.settle("ok", "")
				c.good.Set(1)
			}
			continue
		}
		// A certificate and its key are two files, and hardly change at once.
		for range settleRounds {
			if !pause(ctx, settleEvery) {
				return
			}
			before := sum
			if sum = now.from.Sum(); sum == before {
				break
			}
		}
		tried = c.reread(now, sum)
	}
}

// reread takes over what the files hold now, if it can be used. It returns the sum
// of what cannot.
func (c *certificates) reread(before *shown, sum [sha256.Size]byte) (refused [sha256.Size]byte) {
	next, err := show(before.from)
	if err != nil {
		c.rereads.WithLabelValues(reloadRefused).Inc()
		c.good.Set(0)
		c.settle("refused", "the files of the tls block hold no certificate with its key; what was shown before is shown on, and the server's log says more")
		c.logger.Error("the certificate on disk cannot be used, and the one before is shown on", "error", err)
		return sum
	}
	if !c.current.CompareAndSwap(before, next) {
		return refused // another configuration names other files by now
	}
	c.rereads.WithLabelValues(reloadApplied).Inc()
	c.good.Set(1)
	c.settle("ok", "")
	c.logger.Info("the certificate has changed and is shown from now on", "not_after", next.until)
	return refused
}
