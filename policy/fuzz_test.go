package policy

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
)

// crafted are names that somebody could hope to be taken for others.
var crafted = []string{"theirs", "Theirs", "THEIRS", "th\u0435irs", "theirs ", " theirs", "theirs\u200b", "theirs.", "./theirs", "../theirs",
	"..", ".", "%2F", "%2f", "/", "beta", "beta/theirs", "beta%2Ftheirs", "prod/..", "prod", "PROD", "\u00e9", "e\u0301",
	"a\x1fb", "\x1f", "beta\x1ftheirs", "%1F", "a.b", "orders", "theirs/orders", "server", "\x7f", "%7F", "\u2044theirs", "٪2F"}

// FuzzNamesAndEntityIDs: no two names have one entity id, and no name leads a
// tenant's admin to what is another's, in the tree or in a mount's own view.
func FuzzNamesAndEntityIDs(f *testing.F) {
	for i, a := range crafted {
		f.Add(a, crafted[(i*7+3)%len(crafted)], crafted[(i*5+1)%len(crafted)])
	}
	s := newScene(f)
	admin := permits(ownTenant)
	tree := s.guard(admin)
	fill(f, tree, bob(), ns("theirs"))
	fill(f, tree, bob(), ns("beta", "theirs"))
	// What the mounts answer for is not asked for names but for tenants.
	tenantOf := func(r Resource) string {
		switch m := s.table.Resolve(r.Path); {
		case m == nil:
			return ""
		case m.Owner != "":
			return m.Owner
		}
		s.under.mu.Lock()
		defer s.under.mu.Unlock()
		if owner, ok := s.under.tenant[r.Path[0]]; ok {
			return owner
		}
		return "acme" // to be made by who asks
	}
	watch := permits(func(q Question) bool {
		if r := q.Resource; len(r.Path) > 0 && r.Tenant != "" && r.Tenant != tenantOf(r) && r.Kind != KindMount {
			f.Errorf("%s %q is decided as %q's and is %q's", r.Kind, r.ID(), r.Tenant, tenantOf(r))
		}
		return ownTenant(q)
	})
	guards := []*Guard{s.guard(watch), s.view("root", watch), s.view("prod", watch), s.view("beta", watch)}
	before := contents(f, s)

	f.Fuzz(func(t *testing.T, a, b, c string) {
		distinct(t, a, b, c)
		if !valid(a) || !valid(b) || !valid(c) {
			return
		}
		for _, g := range guards {
			for _, n := range []mounts.Namespace{ns(a), ns(a, b), ns("beta", a), ns("prod", a, b)} {
				for _, req := range mounttest.Requests() {
					req, err := mounts.MapRequest(req, func(mounts.Namespace) (mounts.Namespace, error) { return n, nil })
					if err != nil {
						t.Fatal(err)
					}
					s.calls.take()
					resp, err := mounts.Invoke(as(t, alice()), g, renamed(req, c))
					if err == nil && resp != nil && leaks(resp) {
						t.Errorf("%s of %q answers %v", req.Op(), n, resp)
					}
					for _, reached := range s.calls.take() {
						if at := g.places.Place(reached.Object().Namespace); at.Mount != nil && at.Mount.Owner == "bolt" {
							t.Errorf("%s of %q reached beta", req.Op(), n)
						}
					}
				}
			}
		}
		if after := contents(t, s); !slices.Equal(before, after) {
			t.Fatalf("what is another's changed: %q, was %q", after, before)
		}
	})
}

// distinct checks that different lists of parts have different ids.
func distinct(t *testing.T, a, b, c string) {
	lists := [][]string{{a}, {b}, {c}, {a, b}, {b, a}, {a, b, c}, {a + b}, {a + "/" + b}, {a + "%2F" + b}, {a, ""}, {"", a}, {a + "/", b}, {a, "/" + b}, {mounts.UnderName}}
	ids := map[string][]string{}
	for _, l := range lists {
		id := EntityID(l...)
		if other, ok := ids[id]; ok && !slices.Equal(other, l) {
			t.Errorf("%q and %q have the id %q", l, other, id)
		}
		ids[id] = l
		for i := range len(id) {
			if id[i] < ' ' {
				t.Errorf("%q has a control character in its id", l)
			}
		}
	}
}

// valid names are those that the HTTP surface lets through.
func valid(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.ContainsRune(name, 0x1f) && len(name) < 500
}

// renamed gives objects with a name of their own another one.
func renamed(req mounts.Request, name string) mounts.Request {
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		r.Table.Name = name
	case *mounts.DropTableRequest:
		r.Table.Name = name
	case *mounts.RenameTableRequest:
		r.Destination.Name = name
	case *mounts.CreateTableRequest:
		r.Name = name
	case *mounts.CreateNamespaceRequest:
		return &mounts.DropNamespaceRequest{Namespace: r.Namespace} // so that runs do not depend on one another
	}
	return req
}

// leaks reports an answer that holds something: the tenant that asks has nothing.
func leaks(resp mounts.Response) bool {
	switch r := resp.(type) {
	case *mounts.Table, *mounts.View, *mounts.Document, *mounts.Credentials:
		return true
	case *mounts.NamespaceInfo:
		return len(r.Namespace) > 0 && !slices.Equal(r.Namespace, ns("prod"))
	}
	return !empty(resp)
}

// contents is everything of the other tenant.
func contents(t testing.TB, s *scene) []string {
	t.Helper()
	var all []string
	for _, n := range []mounts.Namespace{ns("theirs"), ns("beta", "theirs")} {
		tables, err := s.tree.ListTables(t.Context(), &mounts.ListTablesRequest{Namespace: n})
		if err != nil {
			t.Fatal(err)
		}
		views, err := s.tree.ListViews(t.Context(), &mounts.ListViewsRequest{Namespace: n})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names(tables.Items), names(views.Items))
	}
	s.calls.take()
	return all
}
