package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
)

func ns(levels ...string) mounts.Namespace { return levels }

func TestATopLevelNamespaceBelongsToWhoMadeIt(t *testing.T) {
	s := newScene(t)
	g := s.guard(permits(ownTenant))
	fill(t, g, alice(), ns("ours"))
	fill(t, g, bob(), ns("theirs"))
	for p, own := range map[*Principal]string{alice(): "ours", bob(): "theirs"} {
		page, err := g.ListNamespaces(as(t, p), &mounts.ListNamespacesRequest{})
		mount := map[string]string{"acme": "prod", "bolt": "beta"}[p.Tenant]
		if err != nil || names(page.Items) != mount+" "+own {
			t.Errorf("%s sees %v, %v", p.ID, page, err)
		}
	}
	if _, err := g.CreateNamespace(as(t, bob()), &mounts.CreateNamespaceRequest{Namespace: ns("ours")}); mounts.AsError(err).Kind != mounts.Forbidden || !strings.Contains(mounts.AsError(err).Message(), "choose another") {
		t.Errorf("made again by another: %v", err)
	}
}

// What is another tenant's and what is not there answer alike, and cost the
// catalog the same one question.
func TestAnotherTenantsNamespaceIsLikeNone(t *testing.T) {
	s := newScene(t)
	g := s.guard(permits(ownTenant))
	fill(t, g, bob(), ns("fixture"))
	empty := newScene(t)
	s.calls.take()
	for _, req := range mounttest.Requests() {
		s.under.asked, empty.under.asked = nil, nil
		_, got := mounts.Invoke(as(t, alice()), g, req)
		_, want := mounts.Invoke(as(t, alice()), empty.guard(permits(ownTenant)), req)
		same(t, req.Op().String(), got, want)
		if len(s.under.asked) != 1 || len(empty.under.asked) != 1 {
			t.Errorf("%s: %d questions, %d where nothing is", req.Op(), len(s.under.asked), len(empty.under.asked))
		}
	}
	if reached := append(s.calls.take(), empty.calls.take()...); len(reached) > 0 {
		t.Errorf("%s reached a catalog", reached[0].Op())
	}
}

func TestTenantsThatCannotBeToldAreAnError(t *testing.T) {
	for _, c := range []struct {
		fails error
		want  mounts.Kind
	}{
		{&mounts.Error{Kind: mounts.Unavailable, RetryAfter: 7e9}, mounts.Unavailable},
		{&mounts.Error{Kind: mounts.NoSuchNamespace}, mounts.Internal}, // an absence is no answer to this
		{errors.New("disk"), mounts.Internal},
	} {
		s := newScene(t)
		g := s.guard(permits(func(Question) bool { return true }))
		fill(t, g, alice(), ns("ours"))
		s.under.fails = c.fails
		s.calls.take()
		for _, req := range []mounts.Request{
			&mounts.LoadNamespaceRequest{Namespace: ns("ours")},
			&mounts.CreateNamespaceRequest{Namespace: ns("fresh")},
			&mounts.ListTablesRequest{Namespace: ns("ours")},
		} {
			_, err := mounts.Invoke(as(t, alice()), g, req)
			if mounts.AsError(err).Kind != c.want {
				t.Errorf("%s: %v", req.Op(), err)
			}
			if len(s.calls.take()) > 0 {
				t.Errorf("%s reached the catalog", req.Op())
			}
		}
		if _, err := g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{}); mounts.AsError(err).Kind != c.want {
			t.Errorf("a listing of the root: %v", err)
		}
	}
}

func TestOperatorsPassWithoutAnyPolicy(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), ns("fixture"))
	g := s.guard(nil) // denies everything
	operator := &Principal{ID: "key/ops", Operator: true, Login: "api_key"}
	for _, req := range mounttest.Requests() {
		s.calls.take()
		s.under.asked = nil
		_, _ = mounts.Invoke(as(t, operator), g, req)
		if len(s.calls.take()) != 1 || len(s.under.asked) > 0 {
			t.Errorf("%s did not go straight through", req.Op())
		}
	}
	if ok, by := g.MayInspect(as(t, operator), nil, ReadMetrics); !ok || !slices.Equal(by, []string{"operator"}) {
		t.Error("an operator may inspect the server")
	}
}

func TestViewsOfMountsNameTheirObjectsAsTheTreeDoes(t *testing.T) {
	s := newScene(t)
	var got []Resource
	a := permits(func(q Question) bool { got = append(got, q.Resource); return ownTenant(q) })
	fill(t, s.view("prod", a), alice(), ns("a"))
	inView := slices.Clone(got)
	got = nil
	s.table.Mounted("prod").View.(*memory.Backend).DropTable(t.Context(), &mounts.DropTableRequest{Table: mounts.Identifier{Namespace: ns("a"), Name: "orders"}})
	_, _ = s.guard(a).CreateTable(as(t, alice()), &mounts.CreateTableRequest{Namespace: ns("prod", "a"), Name: "orders", Schema: mounttest.Schema()})
	if len(got) == 0 || !slices.ContainsFunc(inView, func(r Resource) bool {
		return r.Kind == got[0].Kind && r.ID() == got[0].ID() && r.Tenant == got[0].Tenant
	}) {
		t.Errorf("in the tree %v, in the view %v", got, inView)
	}
	if _, err := s.view("beta", a).ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{}); err != nil {
		t.Error(err) // the root of a view is there, and empty
	}
	if s.view("beta", a).Visible(as(t, alice())) || !s.view("prod", a).Visible(as(t, alice())) || !s.guard(a).Visible(as(t, alice())) {
		t.Error("a view is seen by whoever may see its mount, the tree by all")
	}
	if !s.view("root", a).Visible(as(t, alice())) {
		t.Error("the shared catalog underneath is every tenant's")
	}
	if ok, _ := s.guard(a).MayInspect(as(t, alice()), s.table.Under(), Inspect); ok {
		t.Error("the shared catalog underneath is no tenant's to inspect")
	}
}

// A namespace of the catalog underneath that a mount has the name of would have
// the ids of the mount's objects.
func TestHiddenNamespacesAreNotReachedThroughTheViewUnderneath(t *testing.T) {
	s := newScene(t)
	fill(t, s.under, bob(), ns("prod")) // by somebody who writes to that catalog directly
	g := s.view("root", permits(func(Question) bool { return true }))
	_, err := g.LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: ns("prod"), Name: "orders"}})
	if mounts.AsError(err).Kind != mounts.NoSuchTable {
		t.Error(err)
	}
	page, err := g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{})
	if err != nil || len(page.Items) > 0 {
		t.Errorf("%v, %v", page, err)
	}
	if _, err := g.LoadNamespace(as(t, Anonymous()), &mounts.LoadNamespaceRequest{Namespace: ns("prod")}); err != nil {
		t.Errorf("an operator has to get at it: %v", err)
	}
}

func TestNamesBelowARemoteThatFoldsCaseAreFolded(t *testing.T) {
	b := memory.New(memory.Options{})
	table, err := mounts.NewMap(mounts.Mount{Name: "Glue", Owner: "acme", FoldsCase: true, Tree: b, View: b})
	if err != nil {
		t.Fatal(err)
	}
	m := table.Mounted("Glue")
	for _, c := range []struct{ in, want string }{
		{"Sales", "Glue/sales/orders"}, {"SALES", "Glue/sales/orders"}, {"ſales", "Glue/sales/orders"},
		{"ΣΑΣ", "Glue/σασ/orders"}, {"σας", "Glue/σασ/orders"},
	} {
		p := spot{Place: InMount(table, m).Place(ns(c.in))}
		if got := p.object(KindTable, "Orders").ID(); got != c.want {
			t.Errorf("%q in the view: %q", c.in, got)
		}
		p = spot{Place: InTree(table).Place(ns("Glue", c.in))}
		if got := p.object(KindTable, "ORDERS").ID(); got != c.want {
			t.Errorf("%q in the tree: %q", c.in, got)
		}
	}
	if p := InTree(table).Place(ns("glue")); p.Mount != nil {
		t.Error("the name of a mount itself is not folded")
	}
}
