package policy

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store/bolt"
)

// What the guard says of things that may not be seen is word for word what the
// registry says of those that are not there, through the whole stack of a mount.
func TestDenialsAreWordForWordTheAbsencesOfTheNativeRegistry(t *testing.T) {
	dir := t.TempDir()
	s, err := bolt.Open(filepath.Join(dir, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := native.Open(t.Context(), native.Config{Store: s, Warehouse: filepath.Join(dir, "wh")})
	if err != nil {
		t.Fatal(err)
	}
	m := wrap.Stack(b, wrap.Options{Name: "prod", Owner: "acme", Metrics: wrap.NewMetrics(nil)})
	m.Start()
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	table, err := mounts.NewMap(m.Mount())
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]struct {
		next   mounts.Backend
		places Places
		shape  func(mounts.Request) mounts.Request
	}{
		"tree": {m.Mount().Tree, InTree(table), func(r mounts.Request) mounts.Request { return inProd(t, r) }},
		"view": {m.Mount().View, InMount(table, table.Mounted("prod")), func(r mounts.Request) mounts.Request { return r }},
	}
	for what, c := range in {
		g := NewGuard(c.next, GuardOptions{Catalog: what, Places: c.places, Ring: ring(t)})
		compared := 0
		for _, req := range mounttest.Requests() {
			req = c.shape(req)
			_, real := mounts.Invoke(as(t, Anonymous()), c.next, req)
			if errors.Is(real, mounts.UnsupportedOperation) {
				continue // the registry does not have it; what is denied hides that
			}
			_, got := mounts.Invoke(as(t, alice()), g, req)
			compared++
			same(t, what+": "+req.Op().String(), got, real)
			if g, w := mounts.AsError(got), mounts.AsError(real); g != nil && w != nil && !g.Ident.Equal(w.Ident) {
				t.Errorf("%s: %s: about %q, where a real absence is about %q", what, req.Op(), g.Ident, w.Ident)
			}
		}
		if compared < 20 {
			t.Errorf("%s: only %d operations were compared", what, compared)
		}
	}
}
