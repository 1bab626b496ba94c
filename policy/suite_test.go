package policy

import (
	"encoding/json"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
)

func single(t testing.TB, b mounts.Backend, a Authorizer) *Guard {
	t.Helper()
	m, err := mounts.NewMap(mounts.Mount{Name: "prod", Owner: "acme", Tree: b, View: b})
	if err != nil {
		t.Fatal(err)
	}
	return NewGuard(b, GuardOptions{Catalog: "prod", Places: InMount(m, m.Mounted("prod")), Authorizer: a, Ring: ring(t)})
}

func catalog() mounts.Backend {
	return memory.New(memory.Options{Files: map[string]json.RawMessage{}})
}

func TestSuiteOverAGuardThatAllowsEverything(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		return acting(single(t, catalog(), AllowAll()), alice())
	}})
}

func TestSuiteOverAGuardForItsOperator(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		return acting(single(t, catalog(), nil), Anonymous())
	}})
}

// Every row is decided on its own, over pages that the backend keeps short.
func TestSuiteOverAGuardThatFiltersEveryListing(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		b := memory.New(memory.Options{MaxPage: 3, Files: map[string]json.RawMessage{}})
		return acting(single(t, b, permits(ownTenant)), alice())
	}})
}

func TestSuiteOverAGuardedTree(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Under: mounts.Namespace{"prod"}, Open: func(t testing.TB) mounts.Backend {
		return acting(newScene(t).guard(permits(ownTenant)), alice())
	}})
}

func TestSuiteOverTheSharedCatalogUnderneath(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		return acting(newScene(t).view("root", permits(ownTenant)), alice())
	}})
}

func TestFaultMatrixThroughAGuard(t *testing.T) {
	mounttest.FaultMatrix(t, func(inner mounts.Backend) mounts.Backend {
		return acting(single(t, inner, permits(ownTenant)), alice())
	})
}
