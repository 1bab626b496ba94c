package policy

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/router/federate"
)

// permits is an Authorizer for tests: it permits what its function does.
type permits func(q Question) bool

func (p permits) Decide(_ context.Context, q Question) Decision {
	return Decision{Allowed: p(q), Policies: []string{string(q.Action)}}
}

func (p permits) Filter(ctx context.Context, q Question, list []Resource) ([]bool, error) {
	out := make([]bool, len(list))
	for i := range list {
		q.Resource = list[i]
		out[i] = p(q)
	}
	return out, nil
}

func (p permits) Uniform(context.Context, Question, Resource, Kind) (allowed, known bool) {
	return false, false
}

// ownTenant permits everything in the own tenant, as the built-in admin.
func ownTenant(q Question) bool {
	return q.Resource.Tenant != "" && q.Resource.Tenant == q.Principal.Tenant
}

func alice() *Principal {
	return &Principal{ID: "corp/alice", Name: "alice", Tenant: "acme", Login: "oidc"}
}
func bob() *Principal { return &Principal{ID: "corp/bob", Name: "bob", Tenant: "bolt", Login: "oidc"} }

func as(t testing.TB, p *Principal) context.Context {
	return WithPrincipal(t.Context(), p, Client{})
}

// acting puts a principal into every call, for suites that know of none.
func acting(b mounts.Backend, p *Principal) mounts.Backend {
	return mounts.Around(b, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		return next(WithPrincipal(ctx, p, Client{}), req)
	})
}

func ring(t testing.TB, sources ...string) *pagination.Keyring {
	t.Helper()
	material := map[string][]byte{GuardSource: nil}
	for _, s := range sources {
		material[s] = nil
	}
	k, err := pagination.NewKeyring([]byte("a secret of tests"), material)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// owning keeps the tenants of top-level namespaces in memory, as the native
// registry does in its store.
type owning struct {
	mounts.Backend
	mu     sync.Mutex
	tenant map[string]string
	asked  [][]string
	fails  error
}

func newOwning() *owning {
	o := &owning{tenant: map[string]string{}}
	o.Backend = mounts.Around(memory.New(memory.Options{Files: map[string]json.RawMessage{}}), o.keep)
	return o
}

func (o *owning) keep(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	resp, err := next(ctx, req)
	if create, ok := req.(*mounts.CreateNamespaceRequest); ok && err == nil && len(create.Namespace) == 1 {
		p, _ := PrincipalFrom(ctx)
		o.mu.Lock()
		o.tenant[create.Namespace[0]] = p.Tenant
		o.mu.Unlock()
	}
	return resp, err
}

func (o *owning) Owners(_ context.Context, levels []string) (map[string]string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, slices.Clone(levels))
	if o.fails != nil {
		return nil, o.fails
	}
	out := map[string]string{}
	for _, l := range levels {
		if owner, ok := o.tenant[l]; ok {
			out[l] = owner
		}
	}
	return out, nil
}

// scene is a tree of two mounts of two tenants and a shared catalog underneath.
type scene struct {
	table *mounts.Map
	tree  mounts.Backend
	under *owning
	ring  *pagination.Keyring
	calls *calls
}

// calls counts what reaches the Backend behind a guard.
type calls struct {
	mu   sync.Mutex
	reqs []mounts.Request
	ctxs []context.Context
}

func (c *calls) around(b mounts.Backend) mounts.Backend {
	return mounts.Around(b, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		c.mu.Lock()
		c.reqs, c.ctxs = append(c.reqs, req), append(c.ctxs, ctx)
		c.mu.Unlock()
		return next(ctx, req)
	})
}

func (c *calls) take() []mounts.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.reqs
	c.reqs, c.ctxs = nil, nil
	return r
}

func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{under: newOwning(), ring: ring(t, "prod", "beta", mounts.UnderName), calls: &calls{}}
	mount := func(name, owner string) mounts.Mount {
		b := memory.New(memory.Options{Files: map[string]json.RawMessage{}})
		return mounts.Mount{Name: name, Owner: owner, Tree: wrap.Prefix(b, name), View: b}
	}
	var err error
	s.table, err = mounts.NewMap(mount("prod", "acme"), mount("beta", "bolt"),
		mounts.Mount{Name: mounts.UnderName, ViewName: "root", Owners: s.under.Owners, Tree: s.under, View: s.under})
	if err != nil {
		t.Fatal(err)
	}
	s.tree = s.calls.around(federate.New(s.table, s.ring, federate.Options{Name: "icefield"}))
	return s
}

func (s *scene) guard(a Authorizer) *Guard {
	return NewGuard(s.tree, GuardOptions{Catalog: "icefield", Places: InTree(s.table), Authorizer: a, Ring: s.ring})
}

// view is a mount as a catalog of its own.
func (s *scene) view(name string, a Authorizer) *Guard {
	m := s.table.ByView(name)
	return NewGuard(s.calls.around(wrap.Tokens(m.View, s.ring, name, m.Name)),
		GuardOptions{Catalog: name, Places: InMount(s.table, m), Authorizer: a, Ring: s.ring})
}

// fill makes a namespace with a table and a view in it.
func fill(t testing.TB, b mounts.Backend, p *Principal, n mounts.Namespace) {
	t.Helper()
	ctx := as(t, p)
	if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: n, Properties: map[string]string{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: n, Name: "orders", Schema: mounttest.Schema()}); err != nil {
		t.Fatal(err)
	}
	levels, _ := json.Marshal(n)
	version := strings.ReplaceAll(string(mounttest.ViewVersion()), `["fixture"]`, string(levels))
	if _, err := b.CreateView(ctx, &mounts.CreateViewRequest{Namespace: n, Name: "recent", Schema: mounttest.Schema(),
		ViewVersion: json.RawMessage(version), Properties: map[string]string{}}); err != nil {
		t.Fatal(err)
	}
}

func same(t testing.TB, what string, got, want error) {
	t.Helper()
	g, w := mounts.AsError(got), mounts.AsError(want)
	if got == nil || want == nil || g.Kind != w.Kind || g.Message() != w.Message() {
		t.Errorf("%s: %v, where a real absence is %v", what, got, want)
	}
}

func names[T interface{ String() string }](rows []T) string {
	var list []string
	for _, r := range rows {
		list = append(list, r.String())
	}
	return strings.Join(list, " ")
}

// journal is a Trail for tests.
type journal struct {
	mu     sync.Mutex
	events []Event
	musts  []bool
	fails  map[string]error // by outcome, for events that must be kept
}

func (j *journal) Record(_ context.Context, e Event, must bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.fails[e.Outcome]; err != nil && must {
		return err
	}
	j.events, j.musts = append(j.events, e), append(j.musts, must)
	return nil
}

func (j *journal) outcomes() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []string
	for i, e := range j.events {
		o := e.Outcome
		if j.musts[i] {
			o += "!"
		}
		list = append(list, o)
	}
	j.events, j.musts = nil, nil
	return strings.Join(list, " ")
}

func keys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
