package authn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	// maxDocument bounds discovery and key sets, maxCAFile a file of authorities.
	maxDocument = 1 << 20
	maxCAFile   = 4 << 20
	// issuerTimeout bounds one request to an issuer.
	issuerTimeout = 10 * time.Second
)

// newClient makes the HTTP client for one issuer: with timeouts, bounded answers
// and no way to another host.
func newClient(caFile string) (*http.Client, error) {
	roots, err := authorities(caFile)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  issuerTimeout,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    4,
		MaxConnsPerHost:        64,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
	return &http.Client{Transport: bounded{transport}, CheckRedirect: sameHost, Timeout: issuerTimeout}, nil
}

// authorities reads a PEM file; nil, for the system's, without one.
func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path) // #nosec G304 -- the operator's configuration names the file
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCAFile))
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca_file %s: there is no certificate in it", path)
	}
	return roots, nil
}

// sameHost follows redirects within the host only, and none of a POST: it
// carries secrets.
func sameHost(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case first.Method != http.MethodGet:
		return errors.New("it answers with a redirect, which is not followed with a secret")
	case next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host:
		return errors.New("it redirects to another host, which is not followed")
	case len(via) > 3:
		return errors.New("it redirects again and again")
	}
	return nil
}

// bounded fails the reading of a body that is too long, rather than cutting it.
type bounded struct{ *http.Transport }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxDocument}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

var errTooLong = fmt.Errorf("the answer is longer than %d bytes", maxDocument)

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLong
	}
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
