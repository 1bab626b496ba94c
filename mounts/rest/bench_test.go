package rest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
)

// fixed serves one loadTable answer of 20 KB and a configuration, as fast as
// net/http can.
func fixed(b *testing.B) *httptest.Server {
	body := []byte(`{"metadata-location":"s3://b/m.json","metadata":` + string(remote.Metadata("s3://b", 20<<10)) + `,"config":{"s3.region":"eu"}}`)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/config" {
			io.WriteString(w, `{"defaults":{},"overrides":{}}`)
			return
		}
		w.Header().Set("ETag", `"x"`)
		w.Write(body)
	}))
	b.Cleanup(srv.Close)
	return srv
}

func BenchmarkLoadTable20KB(b *testing.B) {
	srv := fixed(b)
	backend, err := open20(srv.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	b.Run("rest", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := backend.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: orders}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
	target, err := url.Parse(srv.URL)
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport}
	b.Run("ReverseProxy", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				w := &discard{header: http.Header{}}
				proxy.ServeHTTP(w, httptest.NewRequest("GET", "/v1/namespaces/shared/tables/orders", nil))
				if w.status != 200 {
					b.Errorf("status %d", w.status)
					return
				}
			}
		})
	})
}

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
