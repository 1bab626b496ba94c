package rest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/pagination"
)

// scene is a fake remote with a little content and a backend on it.
type scene struct {
	*rest.Backend
	srv   *remote.Server
	log   *syncBuffer
	calls *recorder
}

// syncBuffer is a log that several goroutines may write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

type recorder struct {
	mu    sync.Mutex
	calls []rest.Call
}

func (r *recorder) observe(c rest.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

func (r *recorder) take() []rest.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.calls
	r.calls = nil
	return taken
}

func serve(t testing.TB, opt remote.Options) *remote.Server {
	t.Helper()
	srv := remote.New(t, opt)
	srv.AddNamespace([]string{"shared"}, map[string]string{"location": "s3://partner-lake/shared"})
	srv.AddTable([]string{"shared"}, "orders")
	srv.AddView([]string{"shared"}, "recent")
	return srv
}

func config(srv *remote.Server) (rest.Config, *syncBuffer, *recorder) {
	log, calls := &syncBuffer{}, &recorder{}
	return rest.Config{URL: srv.URL, InstanceID: "front-1", Request: time.Minute, Observe: calls.observe,
		Logger: slog.New(slog.NewTextHandler(log, nil))}, log, calls
}

func open(t testing.TB, srv *remote.Server, change ...func(*rest.Config)) *scene {
	t.Helper()
	c, log, calls := config(srv)
	for _, f := range change {
		f(&c)
	}
	b, err := rest.Open(context.Background(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { b.Close() })
	calls.take()
	srv.Forget()
	return &scene{Backend: b, srv: srv, log: log, calls: calls}
}

var (
	shared = mounts.Namespace{"shared"}
	orders = mounts.Identifier{Namespace: shared, Name: "orders"}
	recent = mounts.Identifier{Namespace: shared, Name: "recent"}
)

// reads are one request of each operation that is forwarded.
func reads() map[string]mounts.Request {
	return map[string]mounts.Request{
		"listNamespaces": &mounts.ListNamespacesRequest{Parent: shared},
		"loadNamespace":  &mounts.LoadNamespaceRequest{Namespace: shared},
		"listTables":     &mounts.ListTablesRequest{Namespace: shared},
		"loadTable":      &mounts.LoadTableRequest{Table: orders},
		"tableExists":    &mounts.TableExistsRequest{Table: orders},
		"listViews":      &mounts.ListViewsRequest{Namespace: shared},
		"loadView":       &mounts.LoadViewRequest{View: recent},
	}
}

func invoke(b mounts.Backend, req mounts.Request) error {
	_, err := mounts.Invoke(context.Background(), b, req)
	return err
}

func wantKind(t *testing.T, err error, kind mounts.Kind) *mounts.Error {
	t.Helper()
	var e *mounts.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("got %v, want the kind %q", err, kind)
		return &mounts.Error{}
	}
	return e
}

// walk lists the tables of a namespace to the end, with the rows of each page.
func walk(t *testing.T, b mounts.Backend, n mounts.Namespace, size int) (names []string, pages int) {
	t.Helper()
	token := ""
	for pages = 1; ; pages++ {
		page, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Token: token, Size: size}})
		if err != nil {
			t.Fatalf("page %d of size %d: %v", pages, size, err)
		}
		if size > 0 && len(page.Items) > size {
			t.Fatalf("page %d of size %d holds %d rows", pages, size, len(page.Items))
		}
		for _, id := range page.Items {
			if !id.Namespace.Equal(n) {
				t.Fatalf("%v listed in %v", id, n)
			}
			names = append(names, id.Name)
		}
		if page.Next == "" {
			return names, pages
		}
		if token = page.Next; pages > 200 {
			t.Fatalf("the walk by %d does not end", size)
		}
	}
}

func open20(url string) (*rest.Backend, error) {
	return rest.Open(context.Background(), rest.Config{URL: url})
}
