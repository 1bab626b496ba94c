package cedar

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// siblings makes rows of one kind under one parent; below the root, of several
// mounts and tenants.
func (w world) siblings() (parent policy.Resource, rows []policy.Resource) {
	for parent.Kind != policy.KindMount && parent.Kind != policy.KindNamespace {
		parent = w.resource()
	}
	kind := one(w, kinds[kindNamespace:]...)
	atRoot := w.IntN(8) == 0
	for range 1 + w.IntN(20) {
		name := one(w, append(slices.Clone(worldNames), "c", "d")...)
		r := policy.Resource{Kind: kind, Mount: parent.Mount, Path: parent.Path, Name: name, Tenant: parent.Tenant}
		if kind == policy.KindNamespace {
			r.Path, r.Name = parent.Path.Child(name), ""
		}
		if parent.Kind == policy.KindMount && parent.Tenant == "" {
			r.Tenant = one(w, "", "acme", "a/b%")
		}
		if atRoot {
			r = mountOf(one(w, "acme", "globex"), one(w, "prod", "part", mounts.UnderName))
		}
		rows = append(rows, r)
	}
	return parent, rows
}

func TestFilterIsDecideForEachRow(t *testing.T) {
	v, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	yes, no := 0, 0
	for seed := range uint64(100) {
		w := world{rand.New(rand.NewPCG(seed, 2))}
		s, _ := w.set(t, v, 1+w.IntN(60))
		for range 10 {
			_, rows := w.siblings()
			q := policy.Question{Principal: w.principal(), Action: w.action(v, rows[0]), Context: w.context()}
			got, err := s.Filter(t.Context(), q, rows)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range rows {
				q.Resource = r
				d := s.Decide(t.Context(), q)
				if got[i] != d.Allowed {
					t.Fatalf("seed %d: %s of %s %s by %s: filtered %v, decided %+v", seed, q.Action, r.Kind, r.ID(), q.Principal.ID, got[i], d)
				}
				if got[i] {
					yes++
				} else {
					no++
				}
			}
		}
	}
	if yes < 300 || no < 300 {
		t.Errorf("%d yes, %d no: too few to tell", yes, no)
	}
}

func TestWhatUniformKnowsIsDecidedSoForEveryName(t *testing.T) {
	v, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	yes, no, unknown := 0, 0, 0
	for seed := range uint64(300) {
		w := world{rand.New(rand.NewPCG(seed, 3))}
		s, _ := w.set(t, v, 1+w.IntN(25))
		for range 10 {
			parent, rows := w.siblings()
			if rows[0].Kind == policy.KindMount {
				continue
			}
			q := policy.Question{Principal: w.principal(), Action: w.action(v, rows[0]), Context: w.context()}
			allowed, known := s.Uniform(t.Context(), q, parent, rows[0].Kind)
			switch {
			case !known:
				unknown++
				continue
			case allowed:
				yes++
			default:
				no++
			}
			for _, r := range rows {
				q.Resource = r
				if d := s.Decide(t.Context(), q); d.Allowed != allowed {
					t.Fatalf("seed %d: %s of %s in %s by %s is said to be %v for all, but of %s it is %+v", seed, q.Action, r.Kind, parent.ID(), q.Principal.ID, allowed, r.ID(), d)
				}
			}
		}
	}
	if yes < 150 || no < 150 || unknown < 150 {
		t.Errorf("%d yes, %d no, %d unknown: too few to tell", yes, no, unknown)
	}
}

func TestUniformKnowsTheCasesThatListingsLiveOn(t *testing.T) {
	s := load(t, map[string]string{"": strings.ReplaceAll(Builtin(), "builtin-", "") + `
		permit (principal == Icefield::User::"corp/bob", action, resource == Icefield::Table::"prod/a/t");
		permit (principal == Icefield::User::"corp/eve", action, resource) when { resource.name like "pub*" };
		permit (principal in Icefield::Group::"acme/sales", action, resource in Icefield::Namespace::"prod/a");
		permit (principal == Icefield::User::"corp/carl", action, resource in Icefield::Namespace::"prod/a/deep");
		forbid (principal == Icefield::User::"corp/dave", action, resource == Icefield::Table::"prod/b/t");
	`})
	a, b := namespaceOf("acme", "prod", "a"), namespaceOf("acme", "prod", "b")
	for _, c := range []struct {
		who            *policy.Principal
		parent         policy.Resource
		kind           policy.Kind
		allowed, known bool
	}{
		{user("acme", "ann", "reader"), a, policy.KindTable, true, true},
		{user("globex", "ann", "reader"), a, policy.KindTable, false, true},
		{user("acme", "ann"), a, policy.KindTable, false, true},
		{user("acme", "ann", "sales"), a, policy.KindTable, true, true},
		{user("acme", "ann", "sales"), b, policy.KindTable, false, true},
		{user("acme", "bob"), a, policy.KindTable, false, false},
		{user("acme", "bob"), b, policy.KindTable, false, true},
		{user("acme", "bob"), a, policy.KindView, false, true},
		{user("acme", "bob", "sales"), a, policy.KindTable, true, true},
		{user("acme", "eve"), b, policy.KindTable, false, false},
		{user("acme", "carl"), a, policy.KindNamespace, false, false},
		{user("acme", "carl"), b, policy.KindNamespace, false, true},
		{user("acme", "dave", "reader"), b, policy.KindTable, false, false},
		{user("acme", "dave", "reader"), a, policy.KindTable, true, true},
		{user("acme", "ann", "reader"), mountOf("acme", "prod"), policy.KindNamespace, true, true},
		{user("acme", "ann", "reader"), mountOf("", mounts.UnderName), policy.KindNamespace, false, false},
	} {
		exists := map[policy.Kind]policy.Action{policy.KindTable: "tableExists", policy.KindView: "viewExists", policy.KindNamespace: "namespaceExists"}
		allowed, known := s.Uniform(t.Context(), policy.Question{Principal: c.who, Action: exists[c.kind]}, c.parent, c.kind)
		if allowed != c.allowed || known != c.known {
			t.Errorf("%s %v, each %s in %s: %v, known %v", c.who.ID, c.who.Roles, c.kind, c.parent.ID(), allowed, known)
		}
	}
}

func TestFilterStopsWhenNobodyWaits(t *testing.T) {
	s := load(t, map[string]string{"": `permit (principal, action, resource);`})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Filter(ctx, policy.Question{Principal: user("acme", "a"), Action: "tableExists"}, []policy.Resource{table("acme", "prod", "a", "t")})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFilterFindsSevenAmongTenThousand(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "permit (principal == Icefield::User::\"corp/u%d\", action, resource == Icefield::Namespace::\"prod/n%d\");\n", i/7, i)
	}
	s := load(t, map[string]string{"": text.String()})
	rows := make([]policy.Resource, 10_000)
	for i := range rows {
		rows[i] = namespaceOf("acme", "prod", fmt.Sprintf("n%d", i))
	}
	got, err := s.Filter(t.Context(), policy.Question{Principal: user("acme", "u100", "x"), Action: "namespaceExists"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	var seen []int
	for i, ok := range got {
		if ok {
			seen = append(seen, i)
		}
	}
	if !slices.Equal(seen, []int{700, 701, 702, 703, 704, 705, 706}) {
		t.Errorf("seen: %v", seen)
	}
}
