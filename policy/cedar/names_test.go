package cedar

import (
	"slices"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// FuzzNamesNeverReachWhatAnotherNameMeans holds that a policy about one table is
// about no other, a policy about a namespace about nothing outside, and a tenant's
// admin admin of nothing of another tenant, whatever names hold.
func FuzzNamesNeverReachWhatAnotherNameMeans(f *testing.F) {
	f.Add("a", "b", "t", "a", "b/t", "", "acme", "globex")
	f.Add("a/b", "", "t", "a", "b", "t", "acme", "ACME")
	f.Add("a%2Fb", "x", "t", "a/b", "x", "t", "a/b", "a%2Fb")
	f.Add("..", "a", "t", "a", "..", "t", "acme", "acme\x00")
	f.Add("é", "a", "t", "é", "a", "t", "é", "é")
	f.Add("%2F", "a", "t", "/", "a", "t", "/", "%2F")
	builtin, err := Load(Source{Builtin: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a1, a2, a3, b1, b2, b3, tenant, other string) {
		for _, mount := range []string{"prod", mounts.UnderName} {
			named := policy.Resource{Kind: policy.KindTable, Mount: mount, Path: mounts.Namespace{a1, a2}, Name: a3, Tenant: tenant}
			asked := policy.Resource{Kind: policy.KindTable, Mount: mount, Path: mounts.Namespace{b1, b2}, Name: b3, Tenant: tenant}
			if mount != mounts.UnderName {
				named.Path, asked.Path = slices.Insert(named.Path, 0, mount), slices.Insert(asked.Path, 0, mount)
			}
			same := a1 == b1 && a2 == b2
			about := func(r policy.Resource, exact bool) *Set {
				one := &rule{id: "x", permit: true, actions: ^mask(0), kinds: 1<<len(kinds) - 1, resource: uidOf(r), exact: exact}
				return &Set{vocabulary: builtin.vocabulary, people: newPeople(), decided: newDecisions(maxDecisions), server: newIndex([]*rule{one}), byID: map[string]*rule{"x": one}}
			}
			q := policy.Question{Principal: user(tenant, "alice", "admin"), Action: "loadTable", Resource: asked}
			if got := about(named, true).Decide(t.Context(), q).Allowed; got != (same && a3 == b3) {
				t.Errorf("a policy about %q reaches %q: %v", named.ID(), asked.ID(), got)
			}
			space := policy.Resource{Kind: policy.KindNamespace, Mount: mount, Path: named.Path}
			set := about(space, false)
			if got := set.Decide(t.Context(), q).Allowed; got != same {
				t.Errorf("a policy about %q reaches %q: %v", space.ID(), asked.ID(), got)
			}
			if got, err := set.Filter(t.Context(), q, []policy.Resource{asked, named}); err != nil || !slices.Equal(got, []bool{same, true}) {
				t.Errorf("of %q and %q a listing shows %v: %v", asked.ID(), named.ID(), got, err)
			}
			if tenant == "" {
				continue
			}
			q.Resource.Tenant = other
			if got := builtin.Decide(t.Context(), q).Allowed; got != (tenant == other) {
				t.Errorf("an admin of %q may read what belongs to %q: %v", tenant, other, got)
			}
		}
	})
}
