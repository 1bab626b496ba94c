package wrap

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/pagination"
)

var prod = mounts.Namespace{"prod"}

func stacked(t testing.TB, b mounts.Backend, opt Options) mounts.Mount {
	t.Helper()
	opt.Name, opt.Metrics = "prod", NewMetrics(nil)
	m := Stack(b, opt)
	m.retrier.mean = time.Millisecond
	m.Start()
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m.Mount()
}

func TestSuiteOverPrefix(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Under: prod,
		Open: func(testing.TB) mounts.Backend { return Prefix(memory.New(memory.Options{}), "prod") }})
}

func TestSuiteOverTheStackInTheTreesNames(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Under: prod, Open: func(t testing.TB) mounts.Backend {
		return stacked(t, memory.New(memory.Options{Files: map[string]json.RawMessage{}}), Options{}).Tree
	}})
}

func TestSuiteOverTheStackInItsOwnNamesWithSealedTokens(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		view := stacked(t, memory.New(memory.Options{MaxPage: 3, Files: map[string]json.RawMessage{}}), Options{}).View
		return Tokens(view, keyring(t, "prod"), "prod", "prod")
	}})
}

// Whatever is kept for however long: this server's own changes are seen at once.
func TestSuiteOverAStackThatKeepsEverythingForAnHour(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Under: prod, Open: func(t testing.TB) mounts.Backend {
		return stacked(t, memory.New(memory.Options{Files: map[string]json.RawMessage{}}),
			Options{HeedsContext: true, Cache: CacheOptions{Size: 64 << 20, TTL: time.Hour, StaleIfDown: time.Hour, Coalesce: true}}).Tree
	}})
}

func TestSuiteOverAStackThatRevalidates(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		return stacked(t, memory.New(memory.Options{Files: map[string]json.RawMessage{}}),
			Options{Cache: CacheOptions{Size: 64 << 10, Coalesce: true}}).View
	}})
}

func TestSuiteOverAReadOnlyStack(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Seed: func(t testing.TB) (backend, writer mounts.Backend) {
		catalog := memory.New(memory.Options{})
		return stacked(t, catalog, Options{ReadOnly: true}).View, catalog
	}})
}

func TestSuiteOverALazyMount(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		lazy := NewLazy(func(context.Context) (mounts.Backend, error) { return memory.New(memory.Options{}), nil }, LazyOptions{})
		<-lazy.ended
		return stacked(t, lazy, Options{}).View
	}})
}

func TestFaultMatrixOverTheStack(t *testing.T) {
	for name, side := range map[string]mounttest.Matrix{
		"view": {Build: func(t testing.TB, inner mounts.Backend) mounts.Backend { return stacked(t, inner, Options{}).View }},
		"tree": {Build: func(t testing.TB, inner mounts.Backend) mounts.Backend {
			return stacked(t, inner, Options{}).Tree
		},
			Names: func(n mounts.Namespace) mounts.Namespace { return append(prod[:1:1], n...) }},
	} {
		t.Run(name, side.Run)
	}
}

func TestNoCommitIsLostOrDoubledByTheStack(t *testing.T) {
	mounttest.LostCommits(t, func(testing.TB) mounts.Backend { return memory.New(memory.Options{}) }, mounttest.Matrix{
		Build: func(t testing.TB, inner mounts.Backend) mounts.Backend { return stacked(t, inner, Options{}).Tree },
		Names: func(n mounts.Namespace) mounts.Namespace { return append(prod[:1:1], n...) },
	})
}

// TestFaultMatrixThroughTokens: sealing leaves everything but cursors alone.
func TestFaultMatrixThroughTokens(t *testing.T) {
	ring, err := pagination.NewKeyring([]byte("secret"), map[string][]byte{"prod": nil})
	if err != nil {
		t.Fatal(err)
	}
	mounttest.FaultMatrix(t, func(inner mounts.Backend) mounts.Backend { return Tokens(inner, ring, "prod", "prod") })
}
