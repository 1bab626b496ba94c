package router

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
)

// wire is a client of a router that sends exactly the bytes it is told to.
type wire struct {
	t   testing.TB
	url string
}

// got is an answer.
type got struct {
	status int
	header http.Header
	body   string
}

func serve(t testing.TB, c Config) *wire {
	t.Helper()
	if c.Tree.Name == "" {
		c.Tree.Name = "icefield"
	}
	s := httptest.NewServer(New(c))
	t.Cleanup(s.Close)
	return &wire{t: t, url: s.URL}
}

func over(t testing.TB, b mounts.Backend) *wire { return serve(t, Config{Tree: Catalog{Backend: b}}) }

// do sends a request; headers are "Name: value".
func (w *wire) do(method, path, body string, headers ...string) got {
	w.t.Helper()
	base, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, w.url, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	r.URL = &url.URL{Scheme: base.Scheme, Host: base.Host, Opaque: path} // sent as it is
	if path, query, ok := strings.Cut(path, "?"); ok {
		r.URL.Opaque, r.URL.RawQuery = path, query
	}
	if strings.HasPrefix(r.URL.Opaque, "//") {
		r.URL.Opaque = "//" + base.Host + r.URL.Opaque
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	if r.Header.Get("Accept-Encoding") == "" {
		r.Header.Set("Accept-Encoding", "identity")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got{resp.StatusCode, resp.Header, string(data)}
}

// wantError checks that an answer is the error, in the spec's shape.
func (g got) wantError(t testing.TB, status int, name string) string {
	t.Helper()
	var e struct {
		Error *struct {
			Message string
			Type    string
			Code    int
		}
	}
	if err := json.Unmarshal([]byte(g.body), &e); err != nil || e.Error == nil {
		t.Fatalf("%d %q is no error body: %v", g.status, g.body, err)
	}
	if ct := g.header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type %q", ct)
	}
	if g.status != status || e.Error.Code != status || e.Error.Type != name || e.Error.Message == "" {
		t.Errorf("got %d %s, want %d %s", g.status, g.body, status, name)
	}
	return e.Error.Message
}

func (g got) want(t testing.TB, status int, body string) {
	t.Helper()
	if g.status != status || g.body != body {
		t.Errorf("got %d %s\nwant %d %s", g.status, g.body, status, body)
	}
}

// script is a backend whose operations all go to one function, and that
// remembers what it was asked.
type script struct {
	mu     sync.Mutex
	asked  []mounts.Request
	caller mounts.Caller
	able   capabilities.Set
	keys   time.Duration // how long it honours Idempotency-Keys
	handle mounts.Handler
}

func (s *script) Capabilities() capabilities.Set { return s.able }
func (s *script) Health(context.Context) error   { return nil }
func (s *script) KeyLifetime() time.Duration     { return s.keys }
func (s *script) Close() error                   { return nil }

func (s *script) last() mounts.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) == 0 {
		return nil
	}
	return s.asked[len(s.asked)-1]
}

func scripted(handle mounts.Handler) (*script, mounts.Backend) {
	s := &script{able: capabilities.All(), handle: handle}
	return s, mounts.Dispatch(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		s.mu.Lock()
		s.asked = append(s.asked, req)
		s.caller = mounts.CallerFrom(ctx)
		s.mu.Unlock()
		return s.handle(ctx, req)
	}, s)
}

func failing(err error) mounts.Backend {
	_, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) { return nil, err })
	return b
}

// typical answers every operation with something small that is valid.
func typical(_ context.Context, req mounts.Request) (mounts.Response, error) {
	return sample(req.Op()), nil
}

// chunked sends a body without declaring its length.
func (w *wire) chunked(method, path, body string) got {
	w.t.Helper()
	r, err := http.NewRequest(method, w.url+path, struct{ io.Reader }{strings.NewReader(body)})
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return got{resp.StatusCode, resp.Header, string(data)}
}

// memoryWith is a catalog with the table a.t.
func memoryWith(t testing.TB) *memory.Backend {
	t.Helper()
	b := memory.New(memory.Options{})
	ctx := context.Background()
	if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: mounts.Namespace{"a"}, Name: "t", Schema: mounttest.Schema()}); err != nil {
		t.Fatal(err)
	}
	return b
}
