package router

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/policy"
)

// named are the mounts that a body tells of.
func named(body string) string {
	var names []string
	for _, name := range []string{"prod", "hidden"} {
		if strings.Contains(body, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestAdminsSeeTheirOwnMountsAndOperatorsTheServer(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	for _, path := range []string{"/admin/v1/mounts", "/admin/v1/jobs"} {
		for who, want := range map[string]string{asCI: "prod", asRoot: "prod hidden"} {
			a := answered(h, "GET", path, "", who)
			if a.status != 200 || named(a.body) != want {
				t.Errorf("%s, %s: %s", path, who, a.bytes())
			}
			if server := strings.Contains(a.body, "1.2.3") && strings.Contains(a.body, "why not"); server != (who == asRoot && path == "/admin/v1/mounts") {
				t.Errorf("%s, %s: of the server: %s", path, who, a.body)
			}
		}
		answered(h, "GET", path, "", asAlice).wantError(t, 403, "ForbiddenException")
	}
	for _, path := range []string{"/admin/v1/jobs?mount=", "/admin/v1/commits?object=id&mount="} {
		for who, want := range map[string]map[string]int{asCI: {"prod": 200, "hidden": 404, "nobody": 404}, asRoot: {"prod": 200, "hidden": 200, "nobody": 404}, asAlice: {"prod": 404}} {
			for mount, status := range want {
				if a := answered(h, "GET", path+mount, "", who); a.status != status || status == 404 && !strings.Contains(a.body, "names no mount") {
					t.Errorf("%s%s, %s: %s", path, mount, who, a.bytes())
				}
			}
		}
	}
	for _, path := range []string{"/admin/v1/policy", "/admin/v1/audit", "/metrics"} {
		if a := answered(h, "GET", path, "", asRoot); a.status != 200 {
			t.Errorf("%s: %s", path, a.bytes())
		}
		for _, who := range []string{asCI, asAlice} {
			answered(h, "GET", path, "", who).wantError(t, 403, "ForbiddenException")
		}
	}
}

func TestWireOfPolicyAndAudit(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	golden(t, "admin-policy", answered(h, "GET", "/admin/v1/policy", "", asRoot))
	golden(t, "admin-audit", answered(h, "GET", "/admin/v1/audit", "", asRoot))
	golden(t, "admin-mounts-tenant", answered(h, "GET", "/admin/v1/mounts", "", asCI))
	golden(t, "ready-brief", answered(h, "GET", "/ready", ""))
	golden(t, "health-brief", answered(h, "GET", "/health", ""))
	g.Policy, g.Audit = nil, nil
	h = New(g.Config)
	for _, path := range []string{"/admin/v1/policy", "/admin/v1/audit"} {
		answered(h, "GET", path, "", asRoot).wantError(t, 404, "NoSuchRouteException")
	}
}

func TestWhoLooksAtTheServerIsInTheTrail(t *testing.T) {
	for name, c := range map[string]struct {
		path, who string
		want      policy.Event
		more      int
	}{
		"an operator":       {"/admin/v1/mounts", asRoot, policy.Event{Action: policy.Inspect, Resource: policy.Resource{Kind: policy.KindServer}, Outcome: policy.Done, Policies: []string{"operator"}}, 0},
		"an admin":          {"/admin/v1/jobs", asCI, policy.Event{Action: policy.Inspect, Resource: policy.Resource{Kind: policy.KindMount, Mount: "prod", Tenant: "acme"}, Outcome: policy.Done, Policies: []string{"admin"}}, 0},
		"one mount":         {"/admin/v1/jobs?mount=hidden", asRoot, policy.Event{Action: policy.Inspect, Resource: policy.Resource{Kind: policy.KindMount, Mount: "hidden", Tenant: "globex"}, Outcome: policy.Done, Policies: []string{"operator"}}, 0},
		"another's mount":   {"/admin/v1/commits?object=i&mount=hidden", asCI, policy.Event{Action: policy.Inspect, Resource: policy.Resource{Kind: policy.KindMount, Mount: "hidden", Tenant: "globex"}, Outcome: policy.Denied, Result: "no such warehouse", Policies: []string{"forbids"}}, 0},
		"a reader":          {"/admin/v1/mounts", asAlice, policy.Event{Action: policy.Inspect, Resource: policy.Resource{Kind: policy.KindServer}, Outcome: policy.Denied, Result: "forbidden", Policies: []string{"forbids"}}, 0},
		"of the server":     {"/admin/v1/audit", asCI, policy.Event{Action: policy.Inspect, Resource: policy.Resource{Kind: policy.KindServer}, Outcome: policy.Denied, Result: "forbidden", Policies: []string{"forbids"}}, 0},
		"a reader's scrape": {"/metrics", asAlice, policy.Event{Action: policy.ReadMetrics, Resource: policy.Resource{Kind: policy.KindServer}, Outcome: policy.Denied, Result: "forbidden", Policies: []string{"forbids"}}, 0},
	} {
		g := newGuarded(t)
		answered(New(g.Config), "GET", c.path, "", c.who)
		events := g.trail.taken()
		if len(events) != 1 {
			t.Errorf("%s: %+v", name, events)
			continue
		}
		e := events[0]
		if e.Principal == nil || !strings.Contains(c.who, e.Principal.Name) || e.RequestID != "id-1" || e.Catalog != "icefield" || !e.Client.Addr.IsValid() {
			t.Errorf("%s: %+v", name, e)
		}
		got, _ := json.Marshal([]any{e.Action, e.Resource.Kind, e.Resource.ID(), e.Resource.Tenant, e.Outcome, e.Result, e.Policies, len(e.More)})
		want, _ := json.Marshal([]any{c.want.Action, c.want.Resource.Kind, c.want.Resource.ID(), c.want.Resource.Tenant, c.want.Outcome, c.want.Result, c.want.Policies, c.more})
		if string(got) != string(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Whatever happens to logins and rates, a probe hears whether the server serves,
// and strangers hear nothing else.
func TestReadyTurnsNobodyAwayAndTellsStrangersNothing(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	brief := answered(h, "GET", "/ready", "").body
	if named(brief) != "" || strings.Contains(brief, "why") {
		t.Error(brief)
	}
	for _, who := range []string{"Authorization: Bearer nobody", "X-Api-Key: ", asAlice, asCI} {
		answered(h, "GET", "/ready", "", who).want(t, 200, brief)
	}
	if events := g.trail.taken(); len(events) != 2 || events[0].Outcome != policy.Refused {
		t.Errorf("the trail has %+v", events)
	}
	if a := answered(h, "GET", "/ready", "", asRoot); named(a.body) != "prod hidden" || !strings.Contains(a.body, "why not") || !strings.Contains(a.body, "why prod") {
		t.Errorf("an operator: %s", a.body)
	}
	g.door.taken()
	g.door.wait["client"] = time.Second
	answered(h, "GET", "/ready", "", asRoot).want(t, 200, brief)
	answered(h, "HEAD", "/ready", "").want(t, 200, "")
	for _, step := range g.door.taken() {
		if step == "authenticate" {
			t.Error("a client over its rate can try logins at /ready")
		}
	}
}
