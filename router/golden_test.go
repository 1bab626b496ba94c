package router

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares an answer, headers included, with a file under testdata.
func golden(t *testing.T, name string, g got) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", g.status)
	for _, h := range []string{"Allow", "Cache-Control", "Content-Type", "Content-Length", "ETag", "Retry-After", "Vary", "X-Request-Id"} {
		key := h
		if h == "ETag" {
			key = "Etag" // net/http's client has it under this name, whatever was sent
		}
		for _, v := range g.header[key] {
			fmt.Fprintf(&b, "%s: %s\n", h, v)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", g.body)
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs (run with -update if it should):\n%s\nwant:\n%s", file, b.String(), want)
	}
}

func TestWireOfEveryOperation(t *testing.T) {
	_, b := scripted(typical)
	w := over(t, b)
	for _, row := range capabilities.Operations() {
		c := calls()[row.Op]
		golden(t, row.Name, w.do(row.Verb, "/v1"+c.path, c.body, "X-Request-Id: id-1"))
	}
}

// Lists and maps that a backend left nil are never null on the wire.
func TestWireOfEmptyAnswers(t *testing.T) {
	_, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		switch req.(type) {
		case *mounts.LoadNamespaceRequest:
			return &mounts.NamespaceInfo{}, nil
		case *mounts.UpdateNamespacePropertiesRequest:
			return &mounts.UpdatedProperties{}, nil
		case *mounts.CreateTableRequest: // staged
			return &mounts.Table{Metadata: []byte(`{}`)}, nil
		case *mounts.LoadTableRequest:
			return &mounts.Table{NotModified: true, ETag: `W/"e"`}, nil
		case *mounts.LoadCredentialsRequest:
			return &mounts.Credentials{}, nil
		}
		return sample(req.Op()), nil
	})
	w := over(t, b)
	for _, op := range []capabilities.Op{capabilities.LoadNamespace, capabilities.UpdateNamespaceProperties, capabilities.CreateTable,
		capabilities.LoadTable, capabilities.LoadCredentials} {
		golden(t, op.String()+"-empty", w.do(op.Row().Verb, "/v1"+calls()[op].path, calls()[op].body, "X-Request-Id: id-1"))
	}
}

func TestWireOfErrors(t *testing.T) {
	for name, err := range map[string]*mounts.Error{
		"error-no-such-table": {Kind: mounts.NoSuchTable},
		"error-unavailable":   {Kind: mounts.Unavailable, Mount: "partner", RetryAfter: 15 * time.Second},
		"error-unsupported":   {Kind: mounts.UnsupportedOperation, Mount: "partner"},
	} {
		golden(t, name, over(t, failing(err)).do("GET", "/v1/namespaces/a/tables/t", "", "X-Request-Id: id-1"))
	}
	c := calls()[capabilities.CommitTable]
	golden(t, "error-commit-state-unknown", over(t, failing(&mounts.Error{Kind: mounts.Timeout, OutcomeUnknown: true, Mount: "prod"})).
		do("POST", "/v1"+c.path, c.body, "X-Request-Id: id-1"))
}

func TestWireOfTheServersOwnRoutes(t *testing.T) {
	w := serve(t, withMounts(t))
	for name, path := range map[string]string{
		"config": "/v1/config", "config-tree": "/v1/config?warehouse=icefield", "config-mount": "/v1/config?warehouse=partner",
		"config-unknown": "/v1/config?warehouse=nope", "health": "/health", "ready": "/ready", "admin-mounts": "/admin/v1/mounts",
	} {
		golden(t, name, w.do("GET", path, "", "X-Request-Id: id-1"))
	}
	for _, path := range []string{"/health", "/ready"} {
		w.do("HEAD", path, "").want(t, 200, "")
	}
}

// withMounts is a server with a mount table of three.
func withMounts(t *testing.T) Config {
	t.Helper()
	tree, treeBackend := scripted(typical)
	tree.able = capabilities.Floor()
	reads, readsBackend := scripted(typical)
	reads.able = capabilities.Reads().Without(capabilities.Of(capabilities.TableExists))
	none, noneBackend := scripted(typical)
	none.able = 0
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	table, err := mounts.NewMap(
		mounts.Mount{Name: "/", ViewName: "root", Driver: "native", Required: true, Status: func() mounts.Status {
			return mounts.Status{State: mounts.Up, Breaker: "closed", Latency: 1500 * time.Microsecond, CheckedAt: at, Capabilities: capabilities.All()}
		}},
		mounts.Mount{Name: "partner", Driver: "rest", Owner: "acme", ReadOnly: true, Profile: "polaris", Credentials: "forward", Status: func() mounts.Status {
			return mounts.Status{State: mounts.Down, Breaker: "open", InFlight: 3, CheckedAt: at, LastError: "connection refused", Capabilities: reads.able,
				SettingsAt: at, Retries: 1, RefusedByBreaker: 2, RefusedByLimit: 3, RefusedAsReadOnly: 4,
				Cache: &mounts.CacheStatus{Size: 5, Held: 6, Hits: 7, Confirmed: 8, Misses: 9, Stale: 10, Joined: 11}}
		}},
		mounts.Mount{Name: "late", Driver: "rest", Owner: "acme", Status: func() mounts.Status { return mounts.Status{State: mounts.Opening} }},
	)
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Tree: Catalog{Name: "icefield", Backend: treeBackend}, Mounts: table, Version: "1.2.3",
		Components: func() []Component {
			return []Component{{Name: "configuration", State: "refused", Since: at, Reason: "the configuration has a mistake"}}
		},
		Views: []Catalog{{Name: "root", Prefix: "root", Backend: treeBackend}, {Name: "partner", Prefix: "partner", Backend: readsBackend},
			{Name: "late", Prefix: "late", Backend: noneBackend}},
	}
}

// An empty list means "nothing" to some clients and "the default" to others.
func TestConfigNeverListsNoEndpoints(t *testing.T) {
	w := serve(t, withMounts(t))
	if g := w.do("GET", "/v1/config?warehouse=late", ""); !strings.Contains(g.body, `"endpoints":["GET /v1/{prefix}/namespaces",`) {
		t.Errorf("%s", g.body)
	}
}

func TestMetricsCountByOperationStatusAndCatalog(t *testing.T) {
	registry := prometheus.NewRegistry()
	c := withMounts(t)
	c.Metrics, c.Gatherer = NewMetrics(registry), registry
	w := serve(t, c)
	w.do("GET", "/v1/namespaces/a/tables/t", "")
	w.do("GET", "/v1/partner/namespaces/a/tables/t", "")
	w.do("GET", "/v1/nope", "")
	w.do("BREW", "/v1/nope", "")
	g := w.do("GET", "/metrics", "")
	for _, want := range []string{
		`icefield_http_request_duration_seconds_count{catalog="icefield",method="GET",operation="loadTable",status="2xx"} 1`,
		`icefield_http_request_duration_seconds_count{catalog="partner",method="GET",operation="loadTable",status="2xx"} 1`,
		`icefield_http_request_duration_seconds_count{catalog="",method="GET",operation="unknown",status="4xx"} 1`,
		`icefield_http_request_duration_seconds_count{catalog="",method="other",operation="unknown",status="4xx"} 1`,
	} {
		if !strings.Contains(g.body, want) {
			t.Errorf("no %s", want)
		}
	}
	New(c) // a second router counts in the same place
	c.Metrics.Forget("partner")
	if g := w.do("GET", "/metrics", ""); strings.Contains(g.body, `catalog="partner"`) || !strings.Contains(g.body, `catalog="icefield"`) {
		t.Errorf("one catalog was to be forgotten: %s", g.body)
	}
	w.do("POST", "/metrics", "").wantError(t, 405, "MethodNotAllowedException")
	over(t, failing(nil)).do("GET", "/metrics", "").wantError(t, 404, "NoSuchRouteException")
}
