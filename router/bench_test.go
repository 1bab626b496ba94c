package router

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
)

// loaded20K is a backend in memory that has one table with 20 KB of metadata.
func loaded20K() mounts.Backend {
	metadata := mounttest.Metadata(20 << 10)
	full := &mounts.Table{MetadataLocation: "s3://sample-bucket/warehouse/shop/orders/metadata/00007.metadata.json", Metadata: metadata,
		ETag: `"0123456789abcdef"`, Config: map[string]string{"s3.region": "eu-central-1", "client.region": "eu-central-1"}}
	unchanged := &mounts.Table{NotModified: true, ETag: full.ETag}
	s := &script{able: capabilities.All()}
	return mounts.Dispatch(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		if req.(*mounts.LoadTableRequest).IfNoneMatch == full.ETag {
			return unchanged, nil
		}
		return full, nil
	}, s)
}

// BenchmarkLoadTable compares, over loopback connections kept alive, a bare
// net/http handler that writes 20 KB with loadTable through the router over a
// backend in memory; "handler" leaves the network out.
func BenchmarkLoadTable(b *testing.B) {
	metadata := mounttest.Metadata(20 << 10)
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(metadata)))
		w.Write(metadata)
	})
	router := New(Config{Tree: Catalog{Name: "icefield", Backend: loaded20K()}, Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: loaded20K()}}})
	for _, c := range []struct {
		name, path, tag, accept string
		handler                 http.Handler
		status                  int
	}{
		{"bare", "/v1/namespaces/shop/tables/orders", "", "identity", bare, 200},
		{"router", "/v1/namespaces/shop/tables/orders", "", "identity", router, 200},
		{"router-view", "/v1/prod/namespaces/shop/tables/orders", "", "identity", router, 200},
		{"router-gzip", "/v1/namespaces/shop/tables/orders", "", "gzip", router, 200},
		{"router-304", "/v1/namespaces/shop/tables/orders", `"0123456789abcdef"`, "identity", router, 304},
	} {
		request := func(base string) *http.Request {
			r := httptest.NewRequest("GET", base+c.path, nil)
			r.RequestURI = ""
			r.Header.Set("Accept-Encoding", c.accept)
			if c.tag != "" {
				r.Header.Set("If-None-Match", c.tag)
			}
			return r
		}
		b.Run("wire/"+c.name, func(b *testing.B) {
			s := httptest.NewServer(c.handler)
			defer s.Close()
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := client.Do(request(s.URL))
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != c.status {
						b.Errorf("%d %v", resp.StatusCode, err)
						return
					}
					resp.Body.Close()
				}
			})
		})
		b.Run("handler/"+c.name, func(b *testing.B) {
			r := request("http://x")
			b.ReportAllocs()
			for b.Loop() {
				w := &discard{header: http.Header{}}
				c.handler.ServeHTTP(w, r)
				if w.status != 0 && w.status != c.status {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// discard is a response writer that keeps the status only.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
