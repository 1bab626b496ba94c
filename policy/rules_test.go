package policy

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
)

func TestEveryOperationHasARule(t *testing.T) {
	for _, row := range capabilities.Operations() {
		r := rules[row.Op]
		if r == nil {
			t.Errorf("%s has no rule: the guard refuses it", row.Name)
			continue
		}
		if r.kind == "" || r.absent == 0 {
			t.Errorf("the rule of %s is not complete", row.Name)
		}
		if list := (Ask{Op: row.Op}).Needs(); len(list) == 0 {
			t.Errorf("%s asks the policies nothing", row.Name)
		}
		if (r.rows != "") != (row.Group == capabilities.GroupList) {
			t.Errorf("%s: is it a listing or not?", row.Name)
		}
		for _, n := range r.needs {
			if !slices.Contains(Actions(), n.Action) {
				t.Errorf("%s needs %q, which is no action", row.Name, n.Action)
			}
		}
		own := slices.ContainsFunc(r.needs, func(n Need) bool { return n.Action == ActionOf(row.Op) })
		if !own {
			t.Errorf("%s does not ask for its own action", row.Name)
		}
	}
	if len(rules) != len(capabilities.Operations()) {
		t.Errorf("%d rules for %d operations", len(rules), len(capabilities.Operations()))
	}
}

func TestEveryBackendMethodGoesThroughTheRules(t *testing.T) {
	asked := map[string]bool{}
	s := newScene(t)
	g := s.guard(permits(func(q Question) bool { asked[string(q.Action)] = true; return false }))
	for _, req := range mounttest.Requests() {
		if _, err := mounts.Invoke(as(t, alice()), g, inProd(t, req)); err == nil && rules[req.Op()].rows == "" {
			t.Errorf("%s passed although everything is denied", req.Op())
		}
	}
	for _, req := range s.calls.take() {
		t.Errorf("%s reached the backend although everything is denied", req.Op())
	}
	b := reflect.TypeFor[mounts.Backend]()
	life := reflect.TypeFor[mounts.Lifecycle]()
	for i := range b.NumMethod() {
		m := b.Method(i).Name
		if _, ok := life.MethodByName(m); ok {
			continue
		}
		if !slices.ContainsFunc(capabilities.Operations(), func(o capabilities.Operation) bool { return o.Method == m && asked[o.Name] }) &&
			m != "LoadCredentials" && m != "CommitTransaction" {
			t.Errorf("the method %s asked the policies nothing of its own", m)
		}
	}
}

// later is a request type that the guard was not taught, as one that is added to
// the Backend later would be.
type later struct {
	*mounts.LoadTableRequest
	op capabilities.Op
}

func (l later) Op() capabilities.Op { return l.op }

func TestWhatIsAddedLaterIsRefusedUntilItHasARule(t *testing.T) {
	s := newScene(t)
	g := s.guard(AllowAll())
	inner := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}}
	for what, req := range map[string]mounts.Request{
		"an operation behind the table":         later{inner, capabilities.Op(60)},
		"no operation":                          later{inner, 0},
		"a request type of a known operation":   later{inner, capabilities.LoadTable},
		"a request type of another's operation": later{inner, capabilities.DropTable},
	} {
		for _, p := range []*Principal{alice(), Anonymous()} {
			_, err := g.handle(as(t, p), req)
			if mounts.AsError(err).Kind != mounts.Forbidden {
				t.Errorf("%s, for %s: %v", what, p.ID, err)
			}
		}
	}
	if reached := s.calls.take(); len(reached) > 0 {
		t.Errorf("%d of them reached the backend", len(reached))
	}
}

func TestNobodyDoesAnything(t *testing.T) {
	s := newScene(t)
	g := s.guard(AllowAll())
	stray := &Principal{ID: "corp/stray", Login: "oidc"} // of no tenant
	for _, req := range mounttest.Requests() {
		for what, ctx := range map[string]context.Context{"nobody": t.Context(), "somebody of no tenant": as(t, stray)} {
			_, err := mounts.Invoke(ctx, g, inProd(t, req))
			want := mounts.Unauthenticated
			if what != "nobody" {
				want = mounts.Forbidden
			}
			if mounts.AsError(err).Kind != want {
				t.Errorf("%s by %s: %v", req.Op(), what, err)
			}
		}
	}
	if reached := s.calls.take(); len(reached) > 0 {
		t.Errorf("%d calls reached the backend", len(reached))
	}
	if g.Visible(t.Context()) != true || s.view("prod", AllowAll()).Visible(t.Context()) {
		t.Error("nobody sees a mount")
	}
	if ok, _ := g.MayInspect(t.Context(), nil, Inspect); ok {
		t.Error("nobody inspects the server")
	}
}

func TestNeedsAreWhatTheGuardAsks(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "a"})
	table := mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "orders"}
	to := mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "moved"}
	for _, c := range []struct {
		ask Ask
		req mounts.Request
	}{
		{Ask{Op: capabilities.LoadTable}, &mounts.LoadTableRequest{Table: table}},
		{Ask{Op: capabilities.LoadTable, Delegation: true}, &mounts.LoadTableRequest{Table: table, Delegation: "vended-credentials"}},
		{Ask{Op: capabilities.RenameTable}, &mounts.RenameTableRequest{Source: table, Destination: to}},
		{Ask{Op: capabilities.DropTable, Purge: true}, &mounts.DropTableRequest{Table: to, Purge: true}},
		{Ask{Op: capabilities.SignRequest, Write: true}, &mounts.SignStorageRequest{Table: table, Body: []byte(`{"method":"PUT"}`)}},
		{Ask{Op: capabilities.LoadCredentials}, &mounts.LoadCredentialsRequest{Table: table}},
	} {
		asked := map[string]bool{}
		g := s.guard(permits(func(q Question) bool {
			asked[asKey(q)] = true
			return q.Context.Write || q.Action != "commitTable" || c.ask.Op != capabilities.LoadTable
		}))
		_, _ = mounts.Invoke(as(t, alice()), g, c.req)
		for _, q := range Questions(alice(), c.ask, Resource{Kind: KindTable, Name: c.req.Object().Name}, Resource{Kind: KindTable, Name: "moved"}, Context{}) {
			if q.Action == "loadCredentials" && !q.Context.Write && c.ask.Op == capabilities.LoadCredentials {
				continue // not asked where writing is allowed
			}
			if !asked[asKey(q)] {
				t.Errorf("%s: the guard does not ask for %s on %s (write %v)", c.ask.Op, q.Action, q.Resource.Name, q.Context.Write)
			}
		}
	}
}

func asKey(q Question) string {
	return fmt.Sprint(q.Action, " ", q.Resource.Name, " ", q.Context.Write)
}
