package router

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// A mount that the caller may not see is answered, on every route and for every
// flaw of a request, as one that is not there: the names have the same length,
// and are all that differs.
func TestAMountThatMayNotBeSeenIsAsOneThatIsNotThere(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	compare := func(method, path, body string, headers ...string) {
		t.Helper()
		headers = append(headers, asAlice)
		hidden := answered(h, method, strings.ReplaceAll(path, "NAME", "hidden"), body, headers...).bytes()
		absent := answered(h, method, strings.ReplaceAll(path, "NAME", "nobody"), body, headers...).bytes()
		if strings.ReplaceAll(hidden, "hidden", "NAME") != strings.ReplaceAll(absent, "nobody", "NAME") {
			t.Errorf("%s %s:\n%s\n%s", method, path, hidden, absent)
		}
	}
	for route, c := range requests() {
		if rest, ok := strings.CutPrefix(c.path, "/v1/"); ok {
			method, _, _ := strings.Cut(route, " ")
			compare(method, "/v1/NAME/"+rest, c.body)
			compare(method, "/v1/NAME/"+rest, "{", "Idempotency-Key: 1")
			compare("PATCH", "/v1/NAME/"+rest, "")
		}
	}
	for _, path := range []string{"/v1/NAME", "/v1/NAME/nope", "/v1/NAME/config", "/v1/NAME/NAME/namespaces", "/v1//NAME//namespaces/", "/v1/v1/NAME/namespaces",
		"/v1/config?warehouse=NAME", "/admin/v1/jobs?mount=NAME", "/admin/v1/commits?mount=NAME&object=id"} {
		compare("GET", path, "")
	}
	for name, s := range g.views {
		if s.last() != nil {
			t.Errorf("%s was asked", name)
		}
	}
	a := answered(h, "GET", "/v1/hidden/namespaces", "", asAlice)
	if message := a.wantError(t, 404, "NoSuchWarehouseException"); message != `there is no warehouse "hidden" here; there is icefield, prod` {
		t.Error(message)
	}
	if strings.Contains(g.log.String(), `"catalog":"hidden"`) {
		t.Error("the log counts a call for a catalog that was not called")
	}
	if a := answered(h, "GET", "/v1/hidden/namespaces", "", asBob); a.status != 200 {
		t.Errorf("its own tenant: %s", a.bytes())
	}
	if a := answered(h, "GET", "/v1/config?warehouse=prod", "", asAlice); a.status != 200 || !strings.Contains(a.body, `"prefix":"prod"`) {
		t.Errorf("one that may be seen: %s", a.bytes())
	}
}

// A mount called v1 changes how paths are read, but not those of callers who may
// not see it.
func TestAHiddenMountCalledV1DoesNotShowInHowPathsAreRead(t *testing.T) {
	for owner, prefix := range map[string]string{"acme": "v1", "globex": ""} {
		g := newGuarded(t)
		view, backend := scripted(typical)
		g.Views = append(g.Views, Catalog{Name: "v1", Prefix: "v1", Backend: backend, Visible: func(context.Context) bool { return owner == "acme" }})
		if a := answered(New(g.Config), "GET", "/v1/v1/namespaces", "", asAlice); a.status != 200 {
			t.Errorf("%s: %s", owner, a.bytes())
		}
		if asked := view.last() != nil; asked != (prefix == "v1") {
			t.Errorf("of %s: the mount was asked: %v", owner, asked)
		}
	}
}

// The list of the whole tree is of the mounts that the caller may see: nothing
// is to be read from it of the others.
func TestTheTreesEndpointsAreThoseOfTheMountsThatMayBeSeen(t *testing.T) {
	g := newGuarded(t)
	g.views["prod"].able = capabilities.All()
	g.views["hidden"].able = capabilities.Floor()
	g.tree.able = capabilities.Floor()
	h := New(g.Config)
	for who, want := range map[string]capabilities.Set{asAlice: capabilities.All(), asBob: capabilities.Floor(), asRoot: capabilities.Floor()} {
		var got struct{ Endpoints []string }
		a := answered(h, "GET", "/v1/config", "", who)
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || !slices.Equal(got.Endpoints, want.Endpoints()) {
			t.Errorf("%s: %s", who, a.body)
		}
	}
	// So is for how long keys are honoured: not less, for a mount that is not there.
	g.views["prod"].keys = time.Hour
	for who, want := range map[string]bool{asAlice: true, asBob: false, asRoot: false} {
		if a := answered(h, "GET", "/v1/config", "", who); strings.Contains(a.body, `"idempotency-key-lifetime":"PT1H"`) != want {
			t.Errorf("%s: %s", who, a.body)
		}
	}
	g.door.callers["bearer lost"] = g.door.callers["bearer bob-token"]
	for i := range g.Views {
		g.Views[i].Visible = func(context.Context) bool { return false }
	}
	if a := answered(New(g.Config), "GET", "/v1/config", "", asAlice); !strings.Contains(a.body, "GET /v1/{prefix}/namespaces") {
		t.Errorf("who sees no mount: %s", a.body)
	}
}

// What policy adds to an answer comes out wherever a table does, and nothing of
// it stays for the next caller.
func TestRestrictionsComeOutOfEveryAnswerThatHasATable(t *testing.T) {
	const restriction = `{"required-row-filter":{"type":"eq","term":"tenant","value":"acme"}}`
	metadata := json.RawMessage(`{"pad":"` + strings.Repeat("x", 4000) + `"}`) // large enough to be zipped
	g := newGuarded(t)
	shared := &mounts.Table{MetadataLocation: "s3://b/m.json", Metadata: metadata, ETag: `"e1"`, Config: map[string]string{}}
	g.tree.handle = func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		if mounts.CallerFrom(ctx).Principal == "corp/bob" {
			return shared, nil
		}
		bound := *shared
		bound.ETag, bound.Extra = "", map[string]json.RawMessage{"read-restrictions": json.RawMessage(restriction)}
		return &bound, nil
	}
	h := New(g.Config)
	for _, op := range []capabilities.Op{capabilities.LoadTable, capabilities.CreateTable, capabilities.RegisterTable, capabilities.CommitTable, capabilities.UnregisterTable} {
		c, verb := calls()[op], op.Row().Verb
		for range 2 { // one after the other, again and again, zipped and not
			bound := answered(h, verb, "/v1"+c.path, c.body, asAlice)
			free := answered(h, verb, "/v1"+c.path, c.body, asBob)
			zipped := answered(h, verb, "/v1"+c.path, c.body, asAlice, "Accept-Encoding: gzip")
			if !strings.Contains(bound.body, `"read-restrictions":`+restriction) || bound.header["ETag"] != nil || strings.Contains(free.body, "read-restrictions") {
				t.Errorf("%v: %s\n%s", op, bound.body, free.body)
			}
			if text := unzip(t, zipped.body); text != bound.body || zipped.header.Get("Content-Encoding") != "gzip" {
				t.Errorf("%v zipped: %s", op, text)
			}
			for _, a := range []got{bound, free, zipped} {
				if a.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%v: Cache-Control %q", op, a.header.Get("Cache-Control"))
				}
			}
		}
	}
}

func TestTheTokenRouteFindsOutByItselfWhoCalls(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	for _, path := range []string{"/v1/oauth/tokens", "/v1/oauth/tokens/", "//v1//oauth/tokens", "/v1/v1/oauth/tokens", "/v1/prod/oauth/tokens", "/v1/hidden/oauth/tokens",
		"/v1/nobody/oauth/tokens", "/v1/prod/v1/oauth/tokens", "/v1/v1/hidden/v1/oauth/tokens"} {
		g.door.taken()
		a := answered(h, "POST", path, "grant_type=x", "Authorization: Bearer expired")
		a.want(t, 200, `{"read":12}`)
		if a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", path, a.header.Get("Cache-Control"))
		}
		if steps := g.door.taken(); !slices.Equal(steps, []string{"client", "token 192.0.2.1"}) {
			t.Errorf("%s: %q", path, steps)
		}
	}
	if events := g.trail.taken(); len(events) != 0 {
		t.Errorf("%+v", events)
	}
	if a := answered(h, "POST", "/v1/oauth/tokens", "wrong"); a.status != 401 {
		t.Error(a)
	}
	if events := g.trail.taken(); len(events) != 1 || events[0].Action != authenticate || events[0].Outcome != "refused" || events[0].Result != "unauthorized" {
		t.Errorf("%+v", events)
	}
	g.door.taken()
	answered(h, "POST", "/v1/oauth/tokens", strings.Repeat("x", maxForm+1)).wantError(t, 413, "ContentTooLargeException")
	if steps := g.door.taken(); !slices.Equal(steps, []string{"client"}) {
		t.Errorf("%q", steps)
	}
	answered(h, "POST", "/v1/oauth/tokens", strings.Repeat("x", maxForm)).want(t, 200, `{"read":65536}`)
	if a := serve(t, g.Config).chunked("POST", "/v1/oauth/tokens", strings.Repeat("x", maxForm+1)); a.status != 413 {
		t.Errorf("a body of no declared length: %d", a.status)
	}
	g.door.wait["client"] = time.Second
	answered(h, "POST", "/v1/oauth/tokens", "grant_type=x").wantError(t, 429, "TooManyRequestsException")
	delete(g.door.wait, "client")

	g.Token = nil
	h = New(g.Config)
	answered(h, "POST", "/v1/oauth/tokens", "grant_type=x", asAlice).wantError(t, 404, "NoSuchRouteException")
	answered(h, "POST", "/v1/oauth/tokens", "grant_type=x").wantError(t, 401, "NotAuthorizedException")
}

func unzip(t *testing.T, body string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
