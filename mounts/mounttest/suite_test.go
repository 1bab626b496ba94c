package mounttest_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
)

func openMemory(testing.TB) mounts.Backend { return memory.New(memory.Options{}) }

func TestSuiteOverMemory(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: openMemory})
}

func TestSuiteOverMemoryWithPagesAndFiles(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(testing.TB) mounts.Backend {
		return memory.New(memory.Options{MaxPage: 2, Files: map[string]json.RawMessage{}})
	}})
}

func TestSuiteThroughADecoratorThatDoesNothing(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(testing.TB) mounts.Backend {
		return mounts.Around(memory.New(memory.Options{}), func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			return next(ctx, req)
		})
	}})
}

// prefixed shows a backend under one more level: what every mount does.
func prefixed(next mounts.Backend, level string) mounts.Backend {
	up := func(n mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{level}, n...) }
	return mounts.Around(next, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		down, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) {
			if len(n) == 0 || n[0] != level {
				return nil, &mounts.Error{Kind: mounts.NoSuchNamespace, Op: req.Op(), Ident: req.Object()}
			}
			return n[1:], nil
		})
		if err != nil {
			return nil, err
		}
		resp, err := next(ctx, down)
		if err != nil {
			mapped := *mounts.AsError(err)
			if !mapped.Ident.IsZero() {
				mapped.Ident.Namespace = up(mapped.Ident.Namespace)
			}
			if !mapped.To.IsZero() {
				mapped.To.Namespace = up(mapped.To.Namespace)
			}
			return nil, &mapped
		}
		return mounts.MapResponse(resp, up), nil
	})
}

func TestSuiteThroughADecoratorThatMapsNames(t *testing.T) {
	mounttest.Run(t, mounttest.Config{
		Open:  func(testing.TB) mounts.Backend { return prefixed(memory.New(memory.Options{}), "prod") },
		Under: mounts.Namespace{"prod"},
	})
}

func TestSuiteUnderANestedNamespace(t *testing.T) {
	under := mounts.Namespace{"tenants", "acme"}
	mounttest.Run(t, mounttest.Config{
		Open: func(testing.TB) mounts.Backend {
			b := memory.New(memory.Options{})
			b.PutNamespace(under, nil)
			return b
		},
		Under: under,
	})
}

// readOnly shows a catalog that somebody else writes to.
type readOnly struct{ mounts.Backend }

func (b readOnly) Capabilities() capabilities.Set {
	return b.Backend.Capabilities().Intersect(capabilities.Reads())
}

func TestSuiteOverAReadOnlyBackend(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Seed: func(testing.TB) (backend, writer mounts.Backend) {
		catalog := memory.New(memory.Options{})
		closed := mounts.Around(readOnly{catalog}, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			if req.Op().Row().Class != capabilities.Read {
				return nil, mounts.NotSupported(req)
			}
			return next(ctx, req)
		})
		return closed, catalog
	}})
}

func TestSubtestNamesAreDistinctAndStable(t *testing.T) {
	names := mounttest.Subtests()
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if compact := slices.Compact(slices.Clone(sorted)); len(compact) != len(names) {
		t.Errorf("%d names for %d subtests", len(compact), len(names))
	}
	for _, name := range names {
		if area, rest, ok := strings.Cut(name, "/"); !ok || area == "" || rest == "" {
			t.Errorf("%q is not area/subtest", name)
		}
	}
}
