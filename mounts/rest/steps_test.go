package rest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/router"
)

// steps is a web server in front of a catalog that takes "." and ".." for steps
// in the path, encoded or not.
func steps(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawPath = path.Clean(strings.ReplaceAll(r.URL.EscapedPath(), "%2E", "."))
		r.URL.Path, _ = url.PathUnescape(r.URL.RawPath)
		r.RequestURI = ""
		h.ServeHTTP(w, r)
	})
}

func TestANameThatTheRemoteTakesForAStepIsNoFailureOfTheRemote(t *testing.T) {
	srv := serve(t, remote.Options{})
	to := &url.URL{Scheme: "http", Host: srv.Addr()}
	front := httptest.NewServer(steps(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}))
	t.Cleanup(front.Close)
	b := open(t, srv, func(c *rest.Config) { c.URL = front.URL })
	ctx := context.Background()
	for _, name := range []string{".", ".."} {
		id := mounts.Identifier{Namespace: shared, Name: name}
		for what, req := range map[string]mounts.Request{
			"load": &mounts.LoadTableRequest{Table: id}, "exists": &mounts.TableExistsRequest{Table: id},
			"view": &mounts.LoadViewRequest{View: id}, "namespace": &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{name}},
			"tables": &mounts.ListTablesRequest{Namespace: mounts.Namespace{name}},
		} {
			_, err := mounts.Invoke(ctx, b, req)
			var e *mounts.Error
			if !errors.As(err, &e) {
				t.Errorf("%s of %q: %v", what, name, err)
				continue
			}
			absent := e.Kind == mounts.NoSuchTable || e.Kind == mounts.NoSuchView || e.Kind == mounts.NoSuchNamespace
			if !e.Answered && !absent {
				t.Errorf("%s of %q counts against the remote: %v", what, name, err)
			}
		}
	}
	// What is wrong with any other name's answer is the remote's doing.
	b.srv.Fail("loadTable", remote.Fault{Status: 200, Body: []byte(`{"namespace":["shared"]}`)})
	_, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
	if e := wantKind(t, err, mounts.BadGateway); e.Answered {
		t.Errorf("a broken answer counts for one: %v", err)
	}
}

// catalogOf is a catalog with a table, and the paths that were deleted in it.
func catalogOf(t *testing.T, table mounts.Identifier) (h http.Handler, deleted func() []string) {
	t.Helper()
	m, ctx := memory.New(memory.Options{}), context.Background()
	if _, err := m.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: table.Namespace}); err != nil {
		t.Fatal(err)
	}
	if table.Name != "" {
		if _, err := m.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: table.Namespace, Name: table.Name,
			Schema: []byte(`{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","type":"long","required":false}]}`)}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var paths []string
	next := router.New(router.Config{Tree: router.Catalog{Name: "icefield", Backend: m}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				mu.Lock()
				paths = append(paths, r.URL.EscapedPath())
				mu.Unlock()
			}
			next.ServeHTTP(w, r)
		}), func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(paths)
		}
}

func TestDroppingATableThatIsTakenForAStepDropsNothingElse(t *testing.T) {
	empty := mounts.Namespace{"empty"}
	catalog, deleted := catalogOf(t, mounts.Identifier{Namespace: empty})
	b, ctx := openOn(t, steps(catalog), ""), context.Background()
	id := mounts.Identifier{Namespace: empty, Name: ".."}
	for what, req := range map[string]mounts.Request{"table": &mounts.DropTableRequest{Table: id}, "view": &mounts.DropViewRequest{View: id}} {
		_, err := mounts.Invoke(ctx, b, req)
		if e := wantKind(t, err, mounts.BadRequest); !e.Answered || e.OutcomeUnknown || e.Op != req.Op() {
			t.Errorf("%s: %+v", what, e)
		}
	}
	if paths := deleted(); len(paths) > 0 {
		t.Errorf("deleted %q", paths)
	}
}

func TestATableOfSuchANameIsDroppedWhereItIsAName(t *testing.T) {
	id := mounts.Identifier{Namespace: shared, Name: ".."}
	catalog, deleted := catalogOf(t, id)
	b := openOn(t, catalog, "")
	if err := b.DropTable(context.Background(), &mounts.DropTableRequest{Table: id}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, b.DropTable(context.Background(), &mounts.DropTableRequest{Table: id}), mounts.NoSuchTable)
	if paths := deleted(); len(paths) != 1 {
		t.Errorf("deleted %q", paths)
	}
}
