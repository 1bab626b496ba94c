package rest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// newTransport is the connection pool of one remote. No proxy of the
// environment is used: a catalog_url means that host. Compression is undone by
// the caller (body.go), where its size can be bounded.
func newTransport(c Config) *http.Transport {
	dialer := &net.Dialer{Timeout: c.Connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    c.Connect,
		ForceAttemptHTTP2:      true,
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

// traced notes whether a request got a connection; one that got none was not
// sent. The transport tries a read again when the idle connection that it took
// turns out to be dead, so it is the last attempt that counts.
func traced(ctx context.Context) (context.Context, *atomic.Bool) {
	connected := new(atomic.Bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { connected.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), connected
}
