package rest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// newTransport is the connection pool of one remote. No proxy of the
// environment is used: a catalog_url means that host. Compression is undone by
// the caller (body.go), where its size can be bounded.
//
// It speaks HTTP/1.1 only. There a connection carries one call at a time, so
// that what is written to it belongs to that call (passage), a connection that
// breaks costs one call, and nothing is sent again but what was not written.
func newTransport(c Config) *http.Transport {
	dialer := &net.Dialer{Timeout: c.Connect, KeepAlive: 30 * time.Second}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            counted(dialer.DialContext),
		TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    c.Connect,
		Protocols:              protocols,
		DisableCompression:     true,
		MaxIdleConns:           0, // one host and its token endpoint: bounded per host
		MaxIdleConnsPerHost:    c.InFlight,
		IdleConnTimeout:        60 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ReadBufferSize:         16 << 10,
	}
}

// newHTTP builds the client of catalog calls. It makes one attempt: retries are
// package wrap's, which knows the breaker, the limit and the caller's deadline
// and tries only what is safe to send again.
func newHTTP(base http.RoundTripper) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   plainClient(base),
		Logger:       nil,
		RetryMax:     0,
		CheckRetry:   func(context.Context, *http.Response, error) (bool, error) { return false, nil },
		Backoff:      retryablehttp.DefaultBackoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// plainClient follows no redirect and keeps no cookie.
func plainClient(base http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     base,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// pool hides the transport's CloseIdleConnections: retryablehttp calls it after
// every failed request, and one caller who leaves must not cost everybody else
// their connections.
type pool struct{ transport *http.Transport }

func (p pool) RoundTrip(r *http.Request) (*http.Response, error) { return p.transport.RoundTrip(r) }

// observed reports the token endpoint's calls, which the OAuth2 library makes.
type observed struct {
	next    http.RoundTripper
	agent   string
	observe func(Call)
}

func (o observed) RoundTrip(r *http.Request) (*http.Response, error) {
	start := time.Now()
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", o.agent)
	r.Header.Set("Accept", "application/json")
	// Asking for a token twice does no harm, so the transport may try again when
	// the idle connection that it took turns out to be dead. The empty value says
	// that to package http and is not sent.
	r.Header["Idempotency-Key"] = []string{}
	resp, err := o.next.RoundTrip(r)
	call := Call{Kind: kindToken, Duration: time.Since(start)}
	if resp != nil {
		call.Status = resp.StatusCode
	}
	o.observe(call)
	return resp, err
}
