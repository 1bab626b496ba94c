package vend

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// maxAnswer is how much is read of a token service's answer: one set of
// credentials, or an error.
const maxAnswer = 256 << 10

var errHuge = fmt.Errorf("the answer of the token service is longer than %d bytes", maxAnswer)

// plainClient is a client for a token service: it follows no redirect, which
// would carry the request's secrets elsewhere, and reads no more than maxAnswer.
func plainClient(secure *tls.Config) *http.Client {
	return &http.Client{
		Transport: short{&http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, ForceAttemptHTTP2: true,
			DialContext:         (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 3 * time.Second, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// short is a transport whose answers are bounded.
type short struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if answer != nil {
		answer.Body = &bounded{answer.Body, maxAnswer}
	}
	return answer, err
}

// CloseIdleConnections is for http.Client.
func (s short) CloseIdleConnections() {
	if closer, ok := s.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// capped is a client of the AWS SDK whose answers are bounded.
type capped struct{ next aws.HTTPClient }

// Do implements aws.HTTPClient.
func (c capped) Do(r *http.Request) (*http.Response, error) {
	answer, err := c.next.Do(r)
	if answer != nil {
		answer.Body = &bounded{answer.Body, maxAnswer}
	}
	return answer, err
}

// bounded is a body that is an error when it goes on for too long, rather than
// an end.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errHuge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// byStatus is the reason of an answer that says nothing else, status 0 for none.
func byStatus(status int, err error) Reason {
	var network net.Error
	switch {
	case errors.Is(err, errHuge):
		return Broken
	case status == http.StatusTooManyRequests:
		return Throttled
	case status == http.StatusUnauthorized:
		return Login
	case status == http.StatusForbidden:
		return Denied
	case status >= 500:
		return Unreachable
	case status == 0 && errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF):
		return Unreachable
	}
	return Broken
}

// retryAfterOf reads a Retry-After in seconds; 0 for none.
func retryAfterOf(text string) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16); err == nil {
		return time.Duration(n) * time.Second
	}
	return 0
}

// hushed is an error in whose text no secret stands.
type hushed struct {
	error
	text string
}

func (h hushed) Error() string { return h.text }
func (h hushed) Unwrap() error { return h.error }

// hush takes secrets out of an error's text, and bounds that.
func hush(err error, secrets ...string) error {
	text := err.Error()
	for _, secret := range secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	if len(text) > 1000 {
		text = strings.ToValidUTF8(text[:1000], "") + "…"
	}
	return hushed{err, text}
}

func (a *assumer) hush(err error) error {
	return hush(err, a.opt.SecretAccessKey, a.opt.SessionToken, a.opt.ExternalID)
}
