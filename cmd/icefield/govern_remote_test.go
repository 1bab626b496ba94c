package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/capabilities"
)

// What the remote gives access with. None of it may be where it was not granted.
const (
	relayedKey  = "ASIARELAYED"
	relayedSign = "AWS4-HMAC-SHA256 signed-by-the-remote"
)

// withEverything is a remote catalog: another server with one registry, in front of
// which the operations are answered that registries do not have.
func withEverything(t testing.TB) string {
	t.Helper()
	behind, _ := started(t, load(t, t.TempDir(), nativeText("/", "root")))
	target, err := url.Parse(behind.url())
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	credentials := `"storage-credentials":[{"prefix":"s3://elsewhere/shop","config":{"s3.access-key-id":"` + relayedKey + `","s3.secret-access-key":"x","s3.session-token":"y","s3.session-token-expires-at-ms":"4102444800000"}}]`
	// Loads come with credentials, whether they were asked for or not.
	proxy.ModifyResponse = func(resp *http.Response) error {
		at := resp.Request.URL.EscapedPath()
		if resp.Request.Method != http.MethodGet || resp.StatusCode != http.StatusOK || !strings.Contains(at, "/tables/") {
			return nil
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		text = append([]byte("{"+credentials+","), text[1:]...)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		resp.Header.Set("Content-Length", fmt.Sprint(len(text)))
		return nil
	}
	canned := map[string]string{
		"functions":   `{"identifiers":[["shop","add_one"]]}`,
		"add_one":     `{"metadata":{"function-uuid":"5f0f1b1e-1c8a-4d3c-9d2b-6a7a0a0a0a0a"}}`,
		"plan":        `{"status":"completed","plan-id":"p-1","plan-tasks":["task-1"],"file-scan-tasks":[],"delete-files":[]}`,
		"p-1":         `{"status":"completed","plan-id":"p-1","plan-tasks":["task-1"],"file-scan-tasks":[],"delete-files":[]}`,
		"tasks":       `{"file-scan-tasks":[],"plan-tasks":[]}`,
		"credentials": `{` + credentials + `}`,
		"sign":        `{"uri":"https://elsewhere.s3.amazonaws.com/shop/orders/data/f.parquet","headers":{"Authorization":["` + relayedSign + `"]}}`,
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		last := path[strings.LastIndex(path, "/")+1:]
		known, ok := canned[last]
		switch {
		case path == "/v1/config":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"defaults":{},"overrides":{},"endpoints":["` + strings.Join(capabilities.All().Endpoints(), `","`) + `"]}`))
		case ok && r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case ok:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(known))
		default:
			r.Header.Set("Accept-Encoding", "identity")
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}
