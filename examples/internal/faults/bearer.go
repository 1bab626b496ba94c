package faults

import (
	"crypto/subtle"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// Bearer is a proxy before a catalog that has no authentication of its own.
type Bearer struct {
	URL     string
	refused atomic.Int64
}

// RequireBearer starts a proxy to target that answers 401 to every request without exactly this bearer token. The token
// itself is not passed on.
func RequireBearer(t testing.TB, target, token string) *Bearer {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
		r.Out.Host = to.Host
		r.Out.Header.Del("Authorization")
	}}
	b := &Bearer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
			b.refused.Add(1)
			answer(w, http.StatusUnauthorized, "application/json",
				`{"error":{"message":"no valid token","type":"NotAuthorizedException","code":401}}`)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.URL = server.URL
	return b
}

// Refused is how many requests came without the token.
func (b *Bearer) Refused() int64 { return b.refused.Load() }
