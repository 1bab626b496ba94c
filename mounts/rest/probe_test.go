package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/router"
)

func TestAProbeKnowsAnotherIcefield(t *testing.T) {
	srv := httptest.NewServer(router.New(router.Config{Tree: router.Catalog{Name: "icefield", Backend: memory.New(memory.Options{})}}))
	defer srv.Close()
	f, err := rest.Probe(context.Background(), rest.Config{URL: srv.URL + "/v1/config"})
	if err != nil || f.Profile != "icefield" || f.URL != srv.URL || !f.Open || !f.Has(capabilities.CommitTable) {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestAProbeLearnsHowDeepNamespacesGo(t *testing.T) {
	for status, want := range map[int]int{0: 0, 400: 1} {
		srv := serve(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.OneLevel = status })
		f, err := rest.Probe(context.Background(), rest.Config{URL: srv.URL})
		if err != nil || f.Levels != want || f.Namespaces != 1 {
			t.Errorf("status %d: %+v, %v", status, f, err)
		}
		if n := srv.Count(remote.AnyOp); n > 12 {
			t.Errorf("status %d: %d calls", status, n)
		}
	}
}

func TestAProbeSendsTheLoginNowhereElse(t *testing.T) {
	const token = "probe-token-4711"
	var stray atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stray.Add(1) }))
	defer elsewhere.Close()
	other := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.Bearer, q.URI = token, other })
	auth := rest.Bearer(func() (string, error) { return token, nil })
	f, err := rest.Probe(context.Background(), rest.Config{URL: srv.URL, Auth: auth})
	if err != nil || !f.Open || f.MovedTo != other || len(f.Notes) == 0 {
		t.Errorf("%+v, %v", f, err)
	}
	srv.Fail(remote.Config, remote.Fault{Status: 307, Location: other + "/v1/config"})
	_, err = rest.Probe(context.Background(), rest.Config{URL: srv.URL, Auth: auth})
	wantKind(t, err, mounts.BadGateway)
	if n := stray.Load(); n != 0 {
		t.Errorf("%d calls went to another host", n)
	}
}

func TestAProbeOfWhatIsNoCatalogIsAnError(t *testing.T) {
	srv := serve(t, remote.Options{})
	for name, c := range map[string]struct {
		fault remote.Fault
		kind  mounts.Kind
	}{
		"a web page": {remote.Fault{Status: 404, HTML: true}, mounts.BadGateway},
		"nothing":    {remote.Fault{Raw: []byte("hello")}, mounts.BadGateway},
		"a failure":  {remote.Fault{Status: 500}, mounts.BadGateway},
		"too busy":   {remote.Fault{Status: 503}, mounts.Unavailable},
	} {
		srv.Fail(remote.Config, c.fault)
		_, err := rest.Probe(context.Background(), rest.Config{URL: srv.URL})
		wantKind(t, err, c.kind)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	srv.Stop()
	_, err := rest.Probe(context.Background(), rest.Config{URL: srv.URL})
	wantKind(t, err, mounts.Unavailable)
	_, err = rest.Probe(context.Background(), rest.Config{URL: "ftp://x"})
	wantKind(t, err, mounts.BadRequest)
}
