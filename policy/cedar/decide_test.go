package cedar

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// oracle decides with cedar-go alone, without index: every policy of the server
// and of the resource's tenant is evaluated on a full graph of entities.
func oracle(s *Set, originals map[string]*cedar.Policy, q policy.Question) (allowed bool, policies []string) {
	set := cedar.NewPolicySet()
	for id, p := range originals {
		if tenant := s.byID[id].tenant; tenant == "" || tenant == q.Resource.Tenant {
			set.Add(cedar.PolicyID(id), p)
		}
	}
	decision, diagnostic := cedar.Authorize(set, graph(q), cedar.Request{
		Principal: types.NewEntityUID(typeUser, types.String(q.Principal.ID)), Action: types.NewEntityUID(typeAction, types.String(q.Action)),
		Resource: uidOf(q.Resource), Context: contextOf(&q.Context)})
	for _, r := range diagnostic.Reasons {
		policies = append(policies, string(r.PolicyID))
	}
	if len(diagnostic.Errors) > 0 {
		if decision == cedar.Allow || len(diagnostic.Reasons) == 0 {
			policies = nil
			for _, e := range diagnostic.Errors {
				policies = append(policies, string(e.PolicyID))
			}
		}
		decision = cedar.Deny
	}
	slices.Sort(policies)
	return bool(decision), policies
}

func uidOf(r policy.Resource) types.EntityUID {
	return types.NewEntityUID(types.EntityType("Icefield::"+string(r.Kind)), types.String(r.ID()))
}

// graph has every entity with its direct parents only.
func graph(q policy.Question) types.EntityMap {
	m := types.EntityMap{}
	add := func(uid types.EntityUID, attributes types.RecordMap, parents ...types.EntityUID) {
		m[uid] = types.Entity{UID: uid, Attributes: types.NewRecord(attributes), Parents: types.NewEntityUIDSet(parents...)}
	}
	tenant := func(name string) types.EntityUID {
		uid := types.NewEntityUID(typeTenant, types.String(policy.EntityID(name)))
		add(uid, nil)
		return uid
	}
	p := q.Principal
	own := tenant(p.Tenant)
	parents := []types.EntityUID{own}
	var roles []types.Value
	for _, role := range p.Roles {
		g := types.NewEntityUID(typeGroup, types.String(policy.EntityID(p.Tenant, role)))
		add(g, nil, own)
		parents, roles = append(parents, g), append(roles, types.String(role))
	}
	add(types.NewEntityUID(typeUser, types.String(p.ID)), types.RecordMap{"name": types.String(p.Name), "tenant": own, "roles": types.NewSet(roles...),
		"operator": types.False, "login": types.String(p.Login)}, parents...)
	var groups []types.EntityUID
	if !(q.Action == policy.Inspect && q.Resource.Kind == policy.KindServer) {
		for _, g := range policy.Groups(q.Action) {
			groups = append(groups, types.NewEntityUID(typeAction, types.String(g)))
		}
	}
	add(types.NewEntityUID(typeAction, types.String(q.Action)), nil, groups...)

	r := q.Resource
	attributes := func(name string) types.RecordMap {
		a := types.RecordMap{"name": types.String(name)}
		if r.Tenant != "" {
			a["tenant"] = tenant(r.Tenant)
		}
		return a
	}
	var above []types.EntityUID
	if r.Tenant != "" {
		above = []types.EntityUID{tenant(r.Tenant)}
	}
	if r.Kind == policy.KindServer {
		add(uidOf(r), attributes("server"))
		return m
	}
	mount := policy.Resource{Kind: policy.KindMount, Mount: r.Mount}
	add(uidOf(mount), attributes(r.Mount), above...)
	above = []types.EntityUID{uidOf(mount)}
	path := r.Path
	first := 1
	if r.Mount != mounts.UnderName {
		first = 2
	}
	for i := first; i <= len(path); i++ {
		n := policy.Resource{Kind: policy.KindNamespace, Mount: r.Mount, Path: path[:i]}
		add(uidOf(n), attributes(path[i-1]), above...)
		above = []types.EntityUID{uidOf(n)}
	}
	if r.Name != "" {
		add(uidOf(r), attributes(r.Name), above...)
	}
	return m
}

func TestDecisionsAreThoseOfCedarWithoutIndex(t *testing.T) {
	v, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	allowed, denied, failed := 0, 0, 0
	for seed := range uint64(100) {
		w := world{rand.New(rand.NewPCG(seed, 1))}
		s, originals := w.set(t, v, 1+w.IntN(60))
		for range 40 {
			q := policy.Question{Principal: w.principal(), Resource: w.resource(), Context: w.context()}
			q.Action = w.action(v, q.Resource)
			got := s.Decide(t.Context(), q)
			want, policies := oracle(s, originals, q)
			if got.Allowed != want || !slices.Equal(got.Policies, policies) {
				t.Fatalf("seed %d: %+v\n%v says %v by %v, Cedar %v by %v", seed, q, got.Err, got.Allowed, got.Policies, want, policies)
			}
			switch {
			case got.Err != nil:
				failed++
			case got.Allowed:
				allowed++
			default:
				denied++
			}
		}
	}
	if allowed < 100 || denied < 100 || failed < 20 {
		t.Errorf("%d allowed, %d denied, %d failed: too few to tell", allowed, denied, failed)
	}
}

func TestWhatNoPermitCoversIsDeniedAndOneForbidOutweighsPermits(t *testing.T) {
	s := load(t, map[string]string{"": `
		@id("all of sales") permit (principal, action, resource in Icefield::Namespace::"prod/sales");
		@id("and again") permit (principal in Icefield::Tenant::"acme", action in Icefield::Action::"read", resource);
		@id("never orders") forbid (principal, action in Icefield::Action::"read", resource == Icefield::Table::"prod/sales/orders");
	`})
	alice := user("acme", "alice")
	for _, c := range []struct {
		action   policy.Action
		resource policy.Resource
		allowed  bool
		policies []string
	}{
		{"loadTable", table("", "prod", "sales", "items"), true, []string{"all of sales", "and again"}},
		{"loadTable", table("", "prod", "sales", "orders"), false, []string{"never orders"}},
		{"dropTable", table("", "prod", "sales", "orders"), true, []string{"all of sales"}},
		{"dropTable", table("", "prod", "sale", "orders"), false, nil},
		{"dropTable", table("", "prod", "sales/x", "orders"), false, nil},
		{"createNamespace", namespaceOf("", "prod", "sales"), true, []string{"all of sales"}},
	} {
		d := decide(t, s, alice, c.action, c.resource)
		if d.Allowed != c.allowed || !slices.Equal(d.Policies, c.policies) || d.Err != nil {
			t.Errorf("%s of %s: %+v", c.action, c.resource.ID(), d)
		}
	}
}

func TestAPolicyThatCannotBeEvaluatedDenies(t *testing.T) {
	s := load(t, map[string]string{"": `
		@id("everything") permit (principal, action, resource);
		@id("overflows") permit (principal, action, resource is Icefield::Table)
			when { (if resource.name == "big" then 9223372036854775807 else 0) + 1 > 0 };
	`})
	if d := decide(t, s, user("acme", "a"), "loadTable", table("acme", "prod", "small")); !d.Allowed || d.Err != nil {
		t.Errorf("%+v", d)
	}
	d := decide(t, s, user("acme", "a"), "loadTable", table("acme", "prod", "big"))
	if d.Allowed || d.Err == nil || !strings.Contains(d.Err.Error(), "overflows") || !slices.Equal(d.Policies, []string{"overflows"}) {
		t.Errorf("%+v", d)
	}
}

func TestBuiltinRolesReachAsFarAsTheirNamesSayInTheOwnTenantOnly(t *testing.T) {
	s, err := Load(Source{Builtin: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range policy.Actions() {
		for _, kind := range kinds {
			k, _ := kindNumber(kind)
			if s.vocabulary.actions[a].kinds&(1<<k) == 0 {
				continue
			}
			r := policy.Resource{Kind: kind, Mount: "prod", Path: mounts.Namespace{"prod", "a"}, Name: "t", Tenant: "acme"}
			if kind == policy.KindServer {
				r.Tenant = ""
			}
			groups := policy.Groups(a)
			in := func(names ...string) bool {
				return slices.ContainsFunc(names, func(n string) bool {
					for _, g := range groups {
						if string(g) == n {
							return true
						}
					}
					return false
				})
			}
			for role, want := range map[string]bool{"admin": true, "writer": in("list", "read", "write"), "reader": in("list", "read"), "other": false} {
				if d := decide(t, s, user("acme", "x", role), a, r); d.Allowed != (want && kind != policy.KindServer) {
					t.Errorf("%s of a %s by a %s: %v", a, kind, role, d.Allowed)
				}
				if d := decide(t, s, user("globex", "x", role), a, r); d.Allowed {
					t.Errorf("%s of a %s by a %s of another tenant is allowed", a, kind, role)
				}
			}
		}
	}
}

func TestTenantPoliciesAreEvaluatedForTheTenantsOwnResourcesOnly(t *testing.T) {
	everything := `@id("x") permit (principal, action, resource);`
	s := load(t, map[string]string{"acme": everything, "globex": `@id("x") forbid (principal, action, resource);`})
	mallory := user("acme", "mallory", "admin")
	if d := decide(t, s, mallory, "dropTable", table("acme", "prod", "a", "t")); !d.Allowed || !slices.Equal(d.Policies, []string{"acme/x"}) {
		t.Errorf("%+v", d)
	}
	for _, tenant := range []string{"", "globex", "ACME", "acme/", "acme\u200b"} {
		if d := decide(t, s, mallory, "dropTable", table(tenant, "prod", "a", "t")); d.Allowed {
			t.Errorf("a policy of acme lets somebody drop a table of %q: %+v", tenant, d)
		}
	}
	for _, r := range []policy.Resource{{Kind: policy.KindServer}, mountOf("", mounts.UnderName)} {
		if d := decide(t, s, mallory, policy.Inspect, r); d.Allowed {
			t.Errorf("a policy of acme lets somebody inspect %s", r.ID())
		}
	}
}

func TestOperatorsAreDecidedBeforeAnyPolicy(t *testing.T) {
	s := load(t, map[string]string{"": `forbid (principal, action, resource);`, "acme": `forbid (principal, action, resource);`})
	op := policy.Anonymous()
	r := table("acme", "prod", "a", "t")
	if d := decide(t, s, op, "dropTable", r); !d.Allowed || !slices.Equal(d.Policies, []string{Operator}) || d.Restrictions != nil {
		t.Errorf("%+v", d)
	}
	q := policy.Question{Principal: op, Action: "loadTable"}
	if got, err := s.Filter(t.Context(), q, []policy.Resource{r, r}); err != nil || !slices.Equal(got, []bool{true, true}) {
		t.Errorf("%v %v", got, err)
	}
	if allowed, known := s.Uniform(t.Context(), q, namespaceOf("acme", "prod", "a"), policy.KindTable); !allowed || !known {
		t.Error("not known of operators")
	}
}

func TestQuestionsThatMakeNoSenseAreDenied(t *testing.T) {
	s := load(t, map[string]string{"": `permit (principal, action, resource);`})
	for name, q := range map[string]policy.Question{
		"no principal":    {Action: "loadTable", Resource: table("acme", "prod", "a", "t")},
		"no action":       {Principal: user("acme", "a"), Action: "loadtable", Resource: table("acme", "prod", "a", "t")},
		"no kind":         {Principal: user("acme", "a"), Action: "loadTable", Resource: policy.Resource{Kind: "Tables"}},
		"no such subject": {Principal: user("acme", "a"), Action: "loadTable", Resource: namespaceOf("acme", "prod", "a")},
	} {
		if d := s.Decide(t.Context(), q); d.Allowed || d.Err == nil {
			t.Errorf("%s: %+v", name, d)
		}
		if _, err := s.Filter(t.Context(), q, []policy.Resource{q.Resource}); err == nil {
			t.Errorf("%s: a listing of it is filtered", name)
		}
	}
}

func TestInspectOfTheServerHasToBeNamed(t *testing.T) {
	s := load(t, map[string]string{"": `
		permit (principal in Icefield::Group::"acme/ops", action in Icefield::Action::"manage", resource);
		permit (principal in Icefield::Group::"acme/sre", action == Icefield::Action::"inspect", resource);`})
	server, mount := policy.Resource{Kind: policy.KindServer}, mountOf("acme", "prod")
	for role, server_ := range map[string]bool{"ops": false, "sre": true} {
		if decide(t, s, user("acme", "a", role), policy.Inspect, server).Allowed != server_ {
			t.Errorf("%s and the server", role)
		}
		if !decide(t, s, user("acme", "a", role), policy.Inspect, mount).Allowed {
			t.Errorf("%s and a mount", role)
		}
	}
}

func TestConditionsSeeAddressAndTime(t *testing.T) {
	s := load(t, map[string]string{"": `
		permit (principal, action, resource) when { context has client && context.client.isInRange(ip("10.0.0.0/8")) };`})
	for addr, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "11.0.0.1": false, "::1": false, "fe80::1%eth0": false, "": false} {
		q := policy.Question{Principal: user("acme", "a"), Action: "loadTable", Resource: table("acme", "prod", "a", "t")}
		if addr != "" {
			q.Context.Client = addrOf(t, addr)
		}
		if d := s.Decide(t.Context(), q); d.Allowed != want || d.Err != nil {
			t.Errorf("%q: %+v", addr, d)
		}
	}
}
