package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/router"
)

// writable serves a catalog over HTTP and opens a backend on it that may write.
func writable(t testing.TB, catalog mounts.Backend, warehouse string, change ...func(*rest.Config)) *rest.Backend {
	t.Helper()
	c := router.Config{Tree: router.Catalog{Name: "icefield", Backend: catalog}, InstanceID: "inner"}
	if warehouse != "" {
		c.Tree.Backend = memory.New(memory.Options{})
		c.Views = []router.Catalog{{Name: warehouse, Prefix: warehouse, Backend: catalog}}
	}
	return openOn(t, router.New(c), warehouse, change...)
}

// openOn serves a handler and opens a backend on it that may write.
func openOn(t testing.TB, handler http.Handler, warehouse string, change ...func(*rest.Config)) *rest.Backend {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	config := rest.Config{URL: srv.URL, Warehouse: warehouse, InstanceID: "outer", Writable: true, Request: time.Minute}
	for _, f := range change {
		f(&config)
	}
	b, err := rest.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func inMemory() mounts.Backend {
	return memory.New(memory.Options{Files: map[string]json.RawMessage{}})
}

// registry is a catalog that honours Idempotency-Keys.
func registry(t testing.TB) mounts.Backend {
	t.Helper()
	dir := t.TempDir()
	s, err := bolt.Open(filepath.Join(dir, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := native.Open(context.Background(), native.Config{Store: s, Warehouse: filepath.Join(dir, "warehouse"),
		MetadataCache: 16 << 20, KeyLifetime: native.DefaultKeyLifetime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b.Idempotent()
}

func stack(t testing.TB, b mounts.Backend) mounts.Mount {
	t.Helper()
	m := wrap.Stack(b, wrap.Options{Name: "prod", Metrics: wrap.NewMetrics(nil)})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m.Mount()
}

// The suite over a remote's tree, over a mount of it behind the stack, and over a
// registry, which remembers what it answered under a key, behind the stack in the
// tree's names.

func TestAWritableRemoteConforms(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend { return writable(t, inMemory(), "") }})
}

func TestAWritableRemoteConformsBehindTheStack(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		return stack(t, writable(t, inMemory(), "prod")).View
	}})
}

func TestARemoteThatHonoursKeysConforms(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Under: mounts.Namespace{"prod"}, Open: func(t testing.TB) mounts.Backend {
		return stack(t, writable(t, registry(t), "")).Tree
	}})
}

// A report that is lost is a 204 of the router that is the remote here.
var notReports = capabilities.All().Without(capabilities.Of(capabilities.ReportMetrics))

// TestFaultsBehindTheRemoteAreTold: the catalog behind the remote's HTTP server
// fails before, after and in the middle of each operation.
func TestFaultsBehindTheRemoteAreTold(t *testing.T) {
	forwarded := notReports.Without(capabilities.Of(capabilities.PlanScan, capabilities.FetchPlan, capabilities.CancelPlan,
		capabilities.FetchScanTasks, capabilities.LoadCredentials, capabilities.SignRequest))
	t.Run("bare", mounttest.Matrix{Remote: true, Ops: forwarded,
		Build: func(t testing.TB, inner mounts.Backend) mounts.Backend { return writable(t, inner, "") }}.Run)
	t.Run("behind the stack", mounttest.Matrix{Remote: true, Ops: forwarded,
		Names: func(n mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{"prod"}, n...) },
		Build: func(t testing.TB, inner mounts.Backend) mounts.Backend {
			return stack(t, writable(t, inner, "")).Tree
		}}.Run)
}

func TestNoCommitIsLostOrDoubledOnTheWay(t *testing.T) {
	mounttest.LostCommits(t, func(testing.TB) mounts.Backend { return inMemory() }, mounttest.Matrix{Remote: true,
		Names: func(n mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{"prod"}, n...) },
		Build: func(t testing.TB, inner mounts.Backend) mounts.Backend { return stack(t, writable(t, inner, "")).Tree },
	})
}
