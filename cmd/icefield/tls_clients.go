package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync/atomic"
)

// A connection lives long, and so would the client certificate that it began
// with, had its authority been taken out of client_ca_file. So each connection
// remembers what was shown when its certificate was last found good, and once
// something else is shown it is looked at again. One that would not be let in any
// more is cut off: its client then hears at the door what it would have heard
// without it.

// visit is what is known of a connection.
type visit struct{ under atomic.Pointer[shown] }

type visitKey struct{}

// greet begins a connection.
func greet(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, visitKey{}, &visit{})
}

// recheck lets the requests of connections pass whose clients would be let in now.
func (c *certificates) recheck(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
			now := c.current.Load()
			v, _ := r.Context().Value(visitKey{}).(*visit)
			if v == nil || v.under.Load() != now {
				if !now.lets(r.TLS) {
					panic(http.ErrAbortHandler) // ends the connection, of HTTP/2 the stream, with no answer
				}
				if v != nil {
					v.under.Store(now)
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// lets reports whether a client's certificate is by one of the authorities. That
// it has expired since is told to whoever logs in with it.
func (s *shown) lets(state *tls.ConnectionState) bool {
	if s.tls.ClientCAs == nil {
		return false
	}
	leaf, between := state.PeerCertificates[0], x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	at := state.VerifiedChains[0][0].NotBefore
	for _, cert := range state.VerifiedChains[0] {
		if cert.NotBefore.After(at) {
			at = cert.NotBefore
		}
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: s.tls.ClientCAs, Intermediates: between, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}
