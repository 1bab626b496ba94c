package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func loopbacks() []net.IP { return []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} }

const tlsServer = `server {
  listen = "127.0.0.1:0"
  tls {
    cert_file = "tls.crt"
    key_file  = "tls.key"
%s  }
}
`

// secured is a server that speaks TLS, with a certificate of an authority.
func secured(t *testing.T, more, rest string) (*server, *journal, *authority, string) {
	t.Helper()
	dir, ca := t.TempDir(), newAuthority(t)
	cert, key := ca.issue("server")
	putFiles(t, dir, map[string][]byte{"tls.crt": cert, "tls.key": key, "clients.crt": ca.pem})
	s, log := started(t, load(t, dir, fmt.Sprintf(tlsServer, more)+rest+nativeText("/", "root")))
	require.True(t, strings.HasPrefix(s.url(), "https://127.0.0.1:"), s.url())
	return s, log, ca, dir
}

func TestTLSServesBothVersionsOfHTTPAndNoOldTLS(t *testing.T) {
	s, _, ca, _ := secured(t, "", "")
	client, cfg := trusting(t, nil, ca)
	resp, err := client.Get(s.url() + "/ready")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 2, resp.ProtoMajor)
	assert.EqualValues(t, tls.VersionTLS13, resp.TLS.Version)
	assert.Contains(t, fmt.Sprint(s.catalogs.components(s.catalogs.current.Load())), "{tls ok ")

	one := cfg.Clone()
	one.MaxVersion, one.NextProtos = tls.VersionTLS12, []string{"http/1.1"}
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: one}}
	defer plain.CloseIdleConnections()
	resp, err = plain.Get(s.url() + "/v1/config")
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 1, resp.ProtoMajor)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Contains(t, string(text), `"endpoints"`)

	old := cfg.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	_, err = tls.Dial("tcp", s.listener.Addr().String(), old)
	assert.ErrorContains(t, err, "protocol version")
}

func TestACatalogIsWholeOverTLS(t *testing.T) {
	s, _, ca, _ := secured(t, "", "")
	client, _ := trusting(t, nil, ca)
	status, body := call(t, client, "POST", s.url()+"/v1/namespaces", "", `{"namespace":["shop"]}`)
	require.Equal(t, 200, status, body)
	status, body = call(t, client, "POST", s.url()+"/v1/namespaces/shop/tables", "", createOrders)
	require.Equal(t, 200, status, body)
	for range 3 {
		status, body = call(t, client, "GET", s.url()+"/v1/namespaces/shop/tables/orders", "", "")
		require.Equal(t, 200, status, body)
		assert.Contains(t, body, `"metadata-location"`)
	}
}

func TestHTTPSpokenToTheTLSPortIsToldSo(t *testing.T) {
	s, _, _, _ := secured(t, "", "")
	resp, err := http.Get(strings.Replace(s.url(), "https:", "http:", 1) + "/ready")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 400, resp.StatusCode)
	assert.Contains(t, string(text), "HTTPS")
}

func TestACertificateIsReplacedWithoutAFailedRequest(t *testing.T) {
	s, log, first, dir := secured(t, "", "")
	second := newAuthority(t)
	_, cfg := trusting(t, nil, first, second)
	var failed atomic.Value
	var asked atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg.Clone(), DisableKeepAlives: true}}
			resp, err := client.Get(s.url() + "/health")
			if err != nil {
				failed.Store(err)
				return
			}
			asked.Add(1)
			_ = resp.Body.Close()
		}
	}()
	shownBy := func(a *authority) func() bool {
		only, _ := trusting(t, nil, a)
		only.Transport.(*http.Transport).DisableKeepAlives = true
		return func() bool {
			resp, err := only.Get(s.url() + "/health")
			if err == nil {
				_ = resp.Body.Close()
			}
			return err == nil
		}
	}
	trusted, _ := trusting(t, nil, first, second)
	state := func() (string, string) {
		status, body := call(t, trusted, "GET", s.url()+"/ready", "", "")
		require.Equal(t, 200, status)
		return componentIn(t, body, "tls")
	}
	assert.True(t, shownBy(first)())

	cert, key := second.issue("server")
	putFiles(t, dir, map[string][]byte{"tls.crt": cert}) // its key is still the other's
	require.Eventually(t, func() bool { now, _ := state(); return now == "refused" }, 30*time.Second, 20*time.Millisecond)
	_, reason := state()
	assert.NotContains(t, reason, dir)
	assert.True(t, shownBy(first)(), "a pair that does not fit is not shown")
	assert.Contains(t, log.String(), "the key belongs to another certificate")
	_, metrics := call(t, trusted, "GET", s.url()+"/metrics", "", "")
	assert.Contains(t, metrics, "icefield_tls_last_reread_successful 0")

	putFiles(t, dir, map[string][]byte{"tls.key": key})
	require.Eventually(t, shownBy(second), 30*time.Second, 20*time.Millisecond)
	now, reason := state()
	assert.Equal(t, "ok", now, reason)
	_, metrics = call(t, trusted, "GET", s.url()+"/metrics", "", "")
	assert.Contains(t, metrics, "icefield_tls_last_reread_successful 1")
	assert.Contains(t, metrics, `icefield_tls_rereads_total{outcome="applied"} 1`)
	close(stop)
	<-done
	assert.Nil(t, failed.Load())
	assert.Greater(t, asked.Load(), int64(10))
	assert.NotContains(t, log.String(), "BEGIN")
}

func TestABrokenCertificateIsNotServedAtAll(t *testing.T) {
	dir := t.TempDir()
	putFiles(t, dir, map[string][]byte{"tls.crt": []byte("no certificate"), "tls.key": []byte("no key")})
	path := dir + "/icefield.hcl"
	require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(tlsServer, "")+nativeText("/", "root")), 0o600))
	code, _, stderr := cli(t, "serve", "--config", path)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "error: Unusable certificate")
	assert.NotContains(t, stderr, "no key\n")
}
