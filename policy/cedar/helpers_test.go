package cedar

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cedar "github.com/cedar-policy/cedar-go"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// load makes a set of policy texts by tenant, "" for the server.
func load(t testing.TB, texts map[string]string) *Set {
	t.Helper()
	s, err := Load(written(t, texts))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func written(t testing.TB, texts map[string]string) Source {
	t.Helper()
	dir := t.TempDir()
	src := Source{Tenants: map[string][]string{}}
	for tenant, text := range texts {
		path := filepath.Join(dir, "policies-"+tenant+".cedar")
		write(t, path, text)
		if tenant == "" {
			src.Files = []string{path}
		} else {
			src.Tenants[tenant] = []string{path}
		}
	}
	return src
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func user(tenant, name string, roles ...string) *policy.Principal {
	return &policy.Principal{ID: "corp/" + name, Name: name, Tenant: tenant, Roles: roles, Login: "oidc"}
}

func table(tenant string, levels ...string) policy.Resource {
	n := len(levels) - 1
	return policy.Resource{Kind: policy.KindTable, Mount: levels[0], Path: levels[:n:n], Name: levels[n], Tenant: tenant}
}

func namespaceOf(tenant string, levels ...string) policy.Resource {
	return policy.Resource{Kind: policy.KindNamespace, Mount: levels[0], Path: levels, Tenant: tenant}
}

func mountOf(tenant, name string) policy.Resource {
	r := policy.Resource{Kind: policy.KindMount, Mount: name, Tenant: tenant}
	if name != mounts.UnderName {
		r.Path = mounts.Namespace{name}
	}
	return r
}

func decide(t testing.TB, s policy.Authorizer, p *policy.Principal, a policy.Action, r policy.Resource) policy.Decision {
	t.Helper()
	return s.Decide(t.Context(), policy.Question{Principal: p, Action: a, Resource: r, Context: policy.Context{Time: time.Unix(1_700_000_000, 0)}})
}

// world is a small one, where everything meets everything.
type world struct{ *rand.Rand }

func one[T any](w world, list ...T) T { return list[w.IntN(len(list))] }

func (w world) principal() *policy.Principal {
	p := &policy.Principal{ID: one(w, "corp/u1", "corp/u2", "key/u1"), Login: one(w, "oidc", "api_key"), Tenant: one(w, "acme", "globex", "a/b%")}
	p.Name = strings.TrimPrefix(p.ID, "corp/")
	for _, role := range []string{"admin", "b/c", "reader", "%"} {
		if w.IntN(3) == 0 {
			p.Roles = append(p.Roles, role)
		}
	}
	slices.Sort(p.Roles)
	return p
}

var worldNames = []string{"a", "b", "a/b", "%2F", "é"}

func (w world) resource() policy.Resource {
	r := policy.Resource{Kind: one(w, kinds[:]...), Mount: one(w, "prod", "part", mounts.UnderName)}
	if r.Kind == policy.KindServer {
		return policy.Resource{Kind: r.Kind}
	}
	r.Tenant = map[string]string{"prod": "acme", "part": "globex"}[r.Mount]
	if r.Mount != mounts.UnderName {
		r.Path = mounts.Namespace{r.Mount}
	} else {
		r.Tenant = one(w, "", "acme", "a/b%")
	}
	switch r.Kind {
	case policy.KindMount:
		return r
	case policy.KindNamespace:
		r.Path = r.Path.Child(one(w, worldNames...))
	default:
		r.Name = one(w, worldNames...)
	}
	for range w.IntN(3) {
		r.Path = r.Path.Child(one(w, worldNames...))
	}
	return r
}

func (w world) context() policy.Context {
	c := policy.Context{Time: time.Unix(int64(w.IntN(10)), 0), Write: w.IntN(2) == 0}
	if w.IntN(2) == 0 {
		c.ReferencedBy = []policy.Resource{{Kind: policy.KindView, Mount: "prod", Path: mounts.Namespace{"prod", "a"}, Name: one(w, worldNames...)}}
	}
	return c
}

func (w world) group() string {
	return fmt.Sprintf("Icefield::Group::%q", one(w, "acme/admin", "acme/b%2Fc", "globex/reader", "a%2Fb%25/%25", "acme/nobody"))
}

func (w world) tenant() string {
	return fmt.Sprintf("Icefield::Tenant::%q", one(w, "acme", "globex", "a%2Fb%25"))
}

func (w world) entity() string {
	r := w.resource()
	return fmt.Sprintf("Icefield::%s::%q", r.Kind, r.ID())
}

// policy writes a policy; not every one is valid.
func (w world) policy() string {
	principal := one(w, "principal", "principal is Icefield::User", "principal == Icefield::User::\"corp/u1\"", "principal == Icefield::User::\"key/u1\"",
		"principal in "+w.group(), "principal in "+w.tenant(), "principal is Icefield::User in "+w.group())
	action := one(w, "action", "action == Icefield::Action::\"loadTable\"", "action == Icefield::Action::\"inspect\"", "action in Icefield::Action::\"read\"",
		"action in [Icefield::Action::\"list\", Icefield::Action::\"manage\"]", "action in [Icefield::Action::\"createTable\", Icefield::Action::\"read\"]")
	resource := one(w, "resource", "resource is Icefield::"+string(one(w, kinds[:]...)), "resource == "+w.entity(), "resource in "+w.entity(),
		"resource in "+w.tenant(), "resource in "+w.entity(), "resource == "+w.entity(), "resource is Icefield::Table in "+w.entity())
	var when strings.Builder
	for range max(0, w.IntN(5)-2) {
		fmt.Fprintf(&when, " %s { %s }", one(w, "when", "unless"), w.condition())
	}
	return fmt.Sprintf("%s (%s, %s, %s)%s;", one(w, "permit", "permit", "permit", "forbid"), principal, action, resource, when.String())
}

func (w world) condition() string {
	switch w.IntN(16) {
	case 0:
		return "principal has tenant && resource in principal.tenant"
	case 1:
		return "principal.roles.contains(\"admin\")"
	case 2:
		return "context.write"
	case 3:
		return "resource.name like \"*" + one(w, "a", "b") + "*\""
	case 4:
		return "resource == " + w.entity()
	case 5:
		return "resource in [" + w.entity() + ", " + w.entity() + "]"
	case 6:
		return "resource has tenant && resource.tenant == " + w.tenant()
	case 7:
		return "[" + w.entity() + ", " + w.entity() + "].contains(resource)"
	case 8: // fails for some
		return "(if context.write then 9223372036854775807 else 1) + 1 > 0"
	case 9: // fails for some rows
		return "(if resource.name == \"a\" then 9223372036854775807 else 1) + 1 > 0"
	case 10:
		return "principal in " + w.group()
	case 11:
		return "context.time > datetime(\"1970-01-01T00:00:05Z\")"
	case 12:
		return "context.referencedBy.contains(Icefield::View::\"prod/a/b\")"
	case 13:
		return "action in Icefield::Action::\"read\""
	case 14:
		return "resource is Icefield::Table && resource in " + w.entity()
	}
	return "resource != " + w.entity()
}

// set makes a set of n valid policies that are the server's or some tenant's.
func (w world) set(t testing.TB, v *vocabulary, n int) (*Set, map[string]*cedar.Policy) {
	originals := map[string]*cedar.Policy{}
	s := &Set{vocabulary: v, people: newPeople(), decided: newDecisions(maxDecisions), tenants: map[string]*index{}, byID: map[string]*rule{}}
	rules := map[string][]*rule{}
	for len(s.byID) < n {
		tenant := one(w, "", "", "acme", "globex")
		text := w.policy()
		var problems Problems
		statements := parse(file{tenant: tenant, path: fmt.Sprint(len(s.byID)), text: []byte(text)}, &problems)
		if len(statements) != 1 {
			t.Fatalf("%s: %v", text, problems.err())
		}
		r := v.check(statements[0], &problems)
		if problems.err() != nil {
			continue // it could apply to nothing
		}
		s.byID[r.id] = r
		originals[r.id] = statements[0].policy
		rules[tenant] = append(rules[tenant], r)
	}
	s.server = newIndex(rules[""])
	for tenant, own := range rules {
		s.tenants[tenant] = newIndex(own)
	}
	return s, originals
}

// action is one that applies to a resource.
func (w world) action(v *vocabulary, r policy.Resource) policy.Action {
	k, _ := kindNumber(r.Kind)
	for {
		if a := one(w, policy.Actions()...); v.actions[a].kinds&(1<<k) != 0 {
			return a
		}
	}
}

func addrOf(t testing.TB, s string) netip.Addr {
	t.Helper()
	addr, err := netip.ParseAddr(s)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
