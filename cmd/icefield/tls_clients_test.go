package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A connection that is open already is worth no more than a new one: once the
// authority of its client certificate is no longer named, it is cut off. Those of
// clients that stay welcome go on.
func TestAnOpenConnectionDoesNotOutliveTheAuthorityOfItsCertificate(t *testing.T) {
	for _, second := range []bool{false, true} { // HTTP/1.1, HTTP/2
		dir, old, fresh := t.TempDir(), newAuthority(t), newAuthority(t)
		cert, key := old.issue("server")
		putFiles(t, dir, map[string][]byte{"tls.crt": cert, "tls.key": key, "clients.crt": append(append([]byte{}, old.pem...), fresh.pem...)})
		text := fmt.Sprintf(tlsServer, "    client_ca_file = \"clients.crt\"\n") + authText(`  certificate "etl" {
    tenant   = "acme"
    roles    = ["writer"]
    dns_name = "etl.acme.example"
  }
`)
		s, _ := started(t, load(t, dir, text+twoTenants()))
		client := func(by *authority) *http.Client {
			cert, key := by.issue("etl.acme.example")
			pair, err := tls.X509KeyPair(cert, key)
			require.NoError(t, err)
			c, _ := trusting(t, []tls.Certificate{pair}, old)
			c.Transport.(*http.Transport).ForceAttemptHTTP2 = second
			return c
		}
		first, other := client(old), client(fresh)
		keyed, _ := trusting(t, nil, old)
		for _, c := range []*http.Client{first, other} {
			status, body := call(t, c, "GET", s.url()+"/v1/namespaces", "", "")
			assert.Equal(t, 200, status, body)
		}
		before := s.certificates.current.Load()
		putFiles(t, dir, map[string][]byte{"clients.crt": fresh.pem})
		require.Eventually(t, func() bool { return s.certificates.current.Load() != before }, 30*time.Second, 10*time.Millisecond)
		resp, err := first.Get(s.url() + "/v1/namespaces")
		if err == nil {
			resp.Body.Close()
		}
		assert.Error(t, err, "HTTP/2: %v", second)
		status, body := call(t, other, "GET", s.url()+"/v1/namespaces", "", "")
		assert.Equal(t, 200, status, body)
		status, body = call(t, keyed, "GET", s.url()+"/v1/namespaces", keyOf("acme-reader"), "")
		assert.Equal(t, 200, status, body)
	}
}
