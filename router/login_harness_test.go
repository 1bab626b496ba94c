package router

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// door is an Authenticator, and the limits before and behind it, for tests: it
// knows callers by their tokens and keys, and remembers in which order what was
// asked.
type door struct {
	mu      sync.Mutex
	steps   []string
	callers map[string]*policy.Principal // by "bearer token" or "key token"
	wrong   error                        // what a credential that is not known gets
	wait    map[string]time.Duration     // "client" and "tenant": over their rate
	panics  string                       // the step that panics
}

var errUnknown = &mounts.Error{Kind: mounts.Unauthenticated, Msg: "never on the wire", Err: fmt.Errorf("the signature is wrong")}

func newDoor() *door {
	return &door{wrong: errUnknown, wait: map[string]time.Duration{}, callers: map[string]*policy.Principal{
		"bearer alice-token": {ID: "corp/alice", Name: "alice", Tenant: "acme", Roles: []string{"reader"}, Login: "oidc", Forwardable: true},
		"bearer key-of-ci":   {ID: "key/ci", Name: "ci", Tenant: "acme", Login: "api_key"},
		"key key-of-ci":      {ID: "key/ci", Name: "ci", Tenant: "acme", Login: "api_key"},
		"bearer bob-token":   {ID: "corp/bob", Name: "bob", Tenant: "globex", Login: "oidc", Forwardable: true},
		"bearer root-token":  {ID: "corp/root", Name: "root", Operator: true, Login: "oidc", Forwardable: true},
	}}
}

func (d *door) step(name string) {
	d.mu.Lock()
	d.steps = append(d.steps, name)
	d.mu.Unlock()
	if d.panics == name {
		panic("hunter2")
	}
}

func (d *door) taken() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.steps
	d.steps = nil
	return out
}

func (d *door) Authenticate(_ context.Context, c *policy.Credentials) (*policy.Principal, error) {
	d.step("authenticate")
	if !c.Malformed {
		if p := d.callers["bearer "+c.Bearer]; p != nil {
			return p, nil
		}
		if p := d.callers["key "+c.APIKey]; p != nil {
			return p, nil
		}
	}
	return nil, d.wrong
}

func (d *door) Client(netip.Addr) (time.Duration, bool) {
	d.step("client")
	wait, over := d.wait["client"]
	return wait, !over
}

func (d *door) Tenant(tenant string) (time.Duration, bool) {
	d.step("tenant " + tenant)
	wait, over := d.wait["tenant"]
	return wait, !over
}

// trail keeps events.
type trail struct {
	mu     sync.Mutex
	events []policy.Event
	door   *door
}

func (l *trail) Record(_ context.Context, e policy.Event, must bool) error {
	if l.door != nil {
		l.door.step("record")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if must {
		e.Outcome = "must not be waited for"
	}
	l.events = append(l.events, e)
	return nil
}

func (l *trail) taken() []policy.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.events
	l.events = nil
	return out
}

// guarded is a server with everything on: three mounts, of which each tenant may
// see its own, and operators all.
type guarded struct {
	Config
	door     *door
	trail    *trail
	tree     *script
	views    map[string]*script
	log      *lines
	registry *prometheus.Registry
}

func newGuarded(t testing.TB) *guarded {
	t.Helper()
	g := &guarded{door: newDoor(), trail: &trail{}, views: map[string]*script{}, log: &lines{}, registry: prometheus.NewRegistry()}
	g.trail.door = g.door
	tree, backend := scripted(typical)
	g.tree = tree
	sees := func(ctx context.Context, owner string) bool {
		p, _ := policy.PrincipalFrom(ctx)
		return p != nil && (p.Operator || p.Tenant == owner)
	}
	var rows []mounts.Mount
	for _, m := range []struct{ name, owner string }{{"prod", "acme"}, {"hidden", "globex"}} {
		view, viewBackend := scripted(typical)
		g.views[m.name] = view
		g.Views = append(g.Views, Catalog{Name: m.name, Prefix: m.name, Backend: viewBackend, Visible: func(ctx context.Context) bool {
			g.door.step("visible")
			return sees(ctx, m.owner)
		}})
		rows = append(rows, mounts.Mount{Name: m.name, Driver: "native", Owner: m.owner, Jobs: jobsList(numbered(1)...),
			Status: func() mounts.Status { return mounts.Status{State: mounts.Up, LastError: "why " + m.name} },
			Log: func(context.Context, mounts.LogQuery) (*mounts.Log, error) {
				return &mounts.Log{ID: "id-" + m.name}, nil
			}})
	}
	table, err := mounts.NewMap(rows...)
	if err != nil {
		t.Fatal(err)
	}
	g.Tree, g.Mounts = Catalog{Name: "icefield", Backend: backend}, table
	g.Authenticator, g.Limits, g.Trail = g.door, g.door, g.trail
	g.Inspect = func(ctx context.Context, m *mounts.Mount, a policy.Action) (bool, []string) {
		g.door.step("inspect")
		switch p, _ := policy.PrincipalFrom(ctx); {
		case p.Operator:
			return true, []string{"operator"}
		case m == nil || a != policy.Inspect || p.ID != "key/ci" || m.Owner != p.Tenant:
			return false, []string{"forbids"}
		}
		return true, []string{"admin"}
	}
	g.Token = func(w http.ResponseWriter, r *http.Request, from policy.Client) {
		g.door.step("token " + from.Addr.String())
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		case strings.Contains(string(body), "wrong"):
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, `{"read":%d}`, len(body))
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	g.Policy = func() PolicyStatus {
		return PolicyStatus{State: "refused", Since: at, Reason: "line 3", Policies: 7, Files: 2, Tenants: 1, Builtin: true, LoadedAt: at}
	}
	g.Audit = func() AuditStatus {
		return AuditStatus{Sink: "file", FailClosed: true, State: "ok", Since: at, Written: 9, Lost: 3, Refused: 1}
	}
	g.Components = func() []Component {
		return []Component{{Name: "configuration", State: "refused", Since: at, Reason: "why not"}}
	}
	g.Version = "1.2.3"
	g.Metrics, g.Gatherer = NewMetrics(g.registry), g.registry
	g.Logger = g.log.logger()
	return g
}

// idle reports that no backend was asked.
func (g *guarded) idle() bool {
	for _, s := range append(slices.Collect(maps.Values(g.views)), g.tree) {
		if s.last() != nil {
			return false
		}
	}
	return true
}

// answered is what a handler answers, without a network; headers are
// "Name: value". The request id is always the same.
func answered(h http.Handler, method, path, body string, headers ...string) got {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, reader)
	r.Header.Set("X-Request-Id", "id-1")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return got{w.Code, w.Header(), w.Body.String()}
}

// bytes is an answer as a whole.
func (g got) bytes() string {
	var b bytes.Buffer
	fmt.Fprintln(&b, g.status)
	_ = g.header.Write(&b)
	b.WriteString(g.body)
	return b.String()
}

const (
	asAlice = "Authorization: Bearer alice-token"
	asBob   = "Authorization: Bearer bob-token"
	asRoot  = "Authorization: Bearer root-token"
	asCI    = "X-Api-Key: key-of-ci"
)
