package router

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// requests has a request for every route of a server, by "METHOD template".
func requests() map[string]call {
	all := map[string]call{
		"GET /v1/config":        {"/v1/config", ""},
		"POST /v1/aws/s3/sign":  {"/v1/aws/s3/sign", `{"region":"eu","uri":"https://b.s3.amazonaws.com/k","method":"GET","headers":{}}`},
		"POST /v1/oauth/tokens": {"/v1/oauth/tokens", "grant_type=client_credentials"},
		"GET /health":           {"/health", ""}, "HEAD /health": {"/health", ""},
		"GET /ready": {"/ready", ""}, "HEAD /ready": {"/ready", ""},
		"GET /metrics":          {"/metrics", ""},
		"GET /admin/v1/mounts":  {"/admin/v1/mounts", ""},
		"GET /admin/v1/jobs":    {"/admin/v1/jobs", ""},
		"GET /admin/v1/commits": {"/admin/v1/commits?mount=prod&object=id-1", ""},
		"GET /admin/v1/policy":  {"/admin/v1/policy", ""},
		"GET /admin/v1/audit":   {"/admin/v1/audit", ""},
	}
	for _, row := range capabilities.Operations() {
		c := calls()[row.Op]
		all[row.Verb+" "+pattern(row.Path)] = call{"/v1" + c.path, c.body}
	}
	return all
}

// routesOf lists the routes that a server really has.
func routesOf(t *testing.T, c Config) []string {
	t.Helper()
	var list []string
	err := newServer(c).routes.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		template, err := route.GetPathTemplate()
		if err != nil {
			return err
		}
		methods, err := route.GetMethods()
		for _, method := range methods {
			list = append(list, method+" "+template)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var openRoutes = []string{"GET /health", "HEAD /health", "GET /ready", "HEAD /ready", "POST /v1/oauth/tokens"}

// Whatever is wrong with the credentials, and whatever was asked for, be it there
// or not, the answer is byte for byte the same.
func TestEveryRouteAnswersUnknownCallersWithTheSame401(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	table := requests()
	type asked struct{ name, method, path, body string }
	var all []asked
	for _, route := range routesOf(t, g.Config) {
		c, ok := table[route]
		if !ok {
			t.Errorf("the route %s has no row in this test", route)
		}
		delete(table, route)
		if slices.Contains(openRoutes, route) {
			continue
		}
		method, _, _ := strings.Cut(route, " ")
		all = append(all, asked{route, method, c.path, c.body})
		if rest, ok := strings.CutPrefix(c.path, "/v1/"); ok {
			for _, prefix := range []string{"prod", "hidden", "nobody"} {
				all = append(all, asked{route + " of " + prefix, method, "/v1/" + prefix + "/" + rest, c.body})
			}
		}
	}
	for route := range table {
		t.Errorf("a row for %s, which is no route", route)
	}
	for _, path := range []string{"/", "/v1", "/nope", "/v1/namespaces/a/nope", "/v1/nope/config", "/admin", "/admin/v1/nope", "/v1/hidden/health",
		"/healthz", "/v1/health", "/v1/config?warehouse=hidden", "/v1/config?warehouse=nobody"} {
		all = append(all, asked{path, "GET", path, ""})
	}
	all = append(all, asked{"a verb", "PUT", "/v1/config", ""}, asked{"a verb of an open route", "POST", "/health", ""},
		asked{"another", "GET", "/v1/oauth/tokens", ""}, asked{"a made-up one", "BREW", "/ready", ""})

	credentials := map[string][]string{
		"none": nil, "a token that nobody issued": {"Authorization: Bearer nobody"}, "a key that nobody has": {"X-Api-Key: nobody"},
		"both, wrong": {"Authorization: Bearer nobody", "X-Api-Key: nobody"}, "two tokens": {asAlice, asAlice}, "two keys": {asCI, asCI},
		"another scheme": {"Authorization: Basic YWxpY2U6aHVudGVyMg=="}, "an empty token": {"Authorization: Bearer "}, "an empty key": {"X-Api-Key: "},
		"a blank in it": {"Authorization: Bearer alice-token alice-token"}, "not ASCII": {"X-Api-Key: key-of-ci\xff"},
		"too long": {"Authorization: Bearer " + strings.Repeat("x", 17<<10)}, "a long key": {"X-Api-Key: " + strings.Repeat("x", 17<<10)},
	}
	first := map[string]string{} // by whether the request has a body or is a HEAD
	for _, c := range all {
		for name, headers := range credentials {
			a := answered(h, c.method, c.path, c.body, headers...)
			class := fmt.Sprint(c.method == "HEAD", c.body != "")
			if first[class] == "" {
				first[class] = a.bytes()
			}
			if a.bytes() != first[class] {
				t.Errorf("%s with %s: %s\nwant %s", c.name, name, a.bytes(), first[class])
			}
		}
	}
	if !g.idle() {
		t.Error("a backend was asked")
	}
	a := answered(h, "GET", "/v1/config", "")
	message := a.wantError(t, 401, "NotAuthorizedException")
	if a.header.Get("Www-Authenticate") != "Bearer" || a.header.Get("Cache-Control") != "no-store" || strings.Contains(message, "id-1") {
		t.Errorf("%s", a.bytes())
	}
	if text := g.log.String(); strings.Contains(text, "hunter2") || strings.Contains(text, "YWxp") || strings.Contains(text, "alice-token") || !strings.Contains(text, "the signature is wrong") {
		t.Error("the log holds a credential, or not the cause")
	}
	golden(t, "error-unauthenticated", a)
}

func TestEveryStepHasItsPlaceBeforeTheOneThatCostsMore(t *testing.T) {
	g := newGuarded(t)
	g.ClientAddr = nil
	h := New(g.Config)
	ask := func(headers ...string) got {
		return answered(h, "GET", "/v1/prod/namespaces/a/tables/t", "", headers...)
	}
	expect := func(name string, want ...string) {
		t.Helper()
		if steps := g.door.taken(); !slices.Equal(steps, want) {
			t.Errorf("%s: %q, want %q", name, steps, want)
		}
	}
	if a := ask(asAlice); a.status != 200 {
		t.Error(a)
	}
	expect("all is well", "client", "authenticate", "tenant acme", "visible")

	if a := ask(asRoot); a.status != 200 {
		t.Error(a)
	}
	expect("nobody's caller", "client", "authenticate", "visible")

	g.views["prod"].asked = nil
	g.door.wait["tenant"] = 1500 * time.Millisecond
	a := ask(asAlice)
	a.wantError(t, 429, "TooManyRequestsException")
	if a.header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %s", a.header.Get("Retry-After"))
	}
	expect("the tenant asks too often", "client", "authenticate", "tenant acme")

	g.door.wait["client"] = 0
	a = ask(asAlice)
	a.wantError(t, 429, "TooManyRequestsException")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %s", a.header.Get("Retry-After"))
	}
	expect("the client asks too often", "client")
	answered(h, "HEAD", "/v1/prod/namespaces/a/tables/t", "", asAlice).want(t, 429, "")
	expect("the same", "client")
	if g.views["prod"].last() != nil {
		t.Error("a backend was asked")
	}
	if a := answered(h, "GET", "/health", ""); a.status != 200 {
		t.Error(a)
	}
	expect("health")
}

// What an Authenticator says beside the kind stays in the log.
func TestLoginsThatCannotBeDecidedSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		kind   string
		retry  string
	}{
		"failed too often":    {&mounts.Error{Kind: mounts.RateLimited, RetryAfter: time.Minute, Msg: "hunter2"}, 429, "TooManyRequestsException", "60"},
		"no wait is told":     {&mounts.Error{Kind: mounts.RateLimited}, 429, "TooManyRequestsException", "1"},
		"an issuer is away":   {&mounts.Error{Kind: mounts.Unavailable, Msg: "hunter2"}, 503, "ServiceUnavailableException", "5"},
		"an issuer is slow":   {&mounts.Error{Kind: mounts.Timeout, Mount: "hunter2"}, 503, "ServiceUnavailableException", "5"},
		"a fault":             {fmt.Errorf("hunter2"), 500, "InternalServerError", ""},
		"nobody and no error": {nil, 500, "InternalServerError", ""},
		"another kind":        {&mounts.Error{Kind: mounts.NoSuchTable, Msg: "hunter2"}, 500, "InternalServerError", ""},
	} {
		g := newGuarded(t)
		g.door.wrong = c.err
		a := answered(New(g.Config), "POST", "/v1/namespaces", `{"namespace":["a"]}`, "Authorization: Bearer x")
		a.wantError(t, c.status, c.kind)
		if strings.Contains(a.body, "hunter2") || a.header.Get("Retry-After") != c.retry || !g.idle() {
			t.Errorf("%s: %s", name, a.bytes())
		}
		if events := g.trail.taken(); len(events) != 1 || events[0].Action != authenticate || events[0].Outcome != policy.Refused || events[0].Principal != nil ||
			events[0].RequestID != "id-1" || !events[0].Client.Addr.IsValid() || events[0].Result == "" {
			t.Errorf("%s: the trail has %+v", name, events)
		}
	}
}

func TestOnlyALoginThatWasTriedIsAnEvent(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	answered(h, "GET", "/v1/config", "")
	answered(h, "GET", "/v1/config", "", asAlice)
	if events := g.trail.taken(); len(events) != 0 {
		t.Errorf("%+v", events)
	}
	answered(h, "GET", "/v1/config", "", "Authorization: Basic x")
	if events := g.trail.taken(); len(events) != 1 || events[0].Result != "unauthenticated" || events[0].Resource.Kind != policy.KindServer {
		t.Errorf("%+v", events)
	}
}

// unreadable fails the test that reads it.
type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}
func (unreadable) Close() error { return nil }

func TestTheBodyOfWhoIsTurnedAwayIsNotRead(t *testing.T) {
	for _, limited := range []string{"", "client", "tenant"} {
		g := newGuarded(t)
		header, status := "nobody", 401
		if limited != "" {
			g.door.wait[limited] = time.Second
			header, status = "alice-token", 429
		}
		for _, length := range []int64{-1, 10, 1 << 20} {
			r := httptest.NewRequest("POST", "/v1/namespaces", unreadable{t})
			r.ContentLength = length
			r.Header.Set("Authorization", "Bearer "+header)
			w := httptest.NewRecorder()
			New(g.Config).ServeHTTP(w, r)
			if w.Code != status || w.Header().Get("Connection") != "close" {
				t.Errorf("%s: %d, Connection %q", limited, w.Code, w.Header().Get("Connection"))
			}
		}
	}
}

// The answer does not wait for a body that is announced and does not come, and a
// client that asks whether to send it is not told to.
func TestWhoIsTurnedAwayHearsItAtOnce(t *testing.T) {
	g := newGuarded(t)
	s := httptest.NewServer(New(g.Config))
	defer s.Close()
	for _, expects := range []string{"", "Expect: 100-continue\r\n"} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(conn, "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n%s\r\n{", expects)
		reader := bufio.NewReader(conn)
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != 401 || !resp.Close {
			t.Errorf("%q: %d, the connection is to be used again: %v", expects, resp.StatusCode, !resp.Close)
		}
		if expects == "" { // what was on its way does not cost the client its answer
			fmt.Fprint(conn, strings.Repeat(" ", 999))
			if rest, err := io.ReadAll(reader); err != nil || !strings.Contains(string(rest), "NotAuthorizedException") {
				t.Errorf("%v, and then %q", err, rest)
			}
		}
	}
	// without a body the connection lives on
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for range 2 {
		fmt.Fprintf(conn, "GET /v1/namespaces HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(reader, nil)
		if err != nil || resp.StatusCode != 401 {
			t.Fatal(resp, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBackendsHearWhoCallsAndTokensOnlyOfIssuers(t *testing.T) {
	g := newGuarded(t)
	g.door.callers["bearer both"] = g.door.callers["key key-of-ci"]
	h := New(g.Config)
	for name, c := range map[string]struct {
		headers                  []string
		principal, tenant, token string
	}{
		"a token":              {[]string{asAlice}, "corp/alice", "acme", "alice-token"},
		"another's":            {[]string{asBob}, "corp/bob", "globex", "bob-token"},
		"a key":                {[]string{asCI}, "key/ci", "acme", ""},
		"a key as a token":     {[]string{"Authorization: Bearer key-of-ci"}, "key/ci", "acme", ""},
		"a key beside a token": {[]string{asCI, "Authorization: Bearer both"}, "key/ci", "acme", ""},
		"an operator's":        {[]string{asRoot}, "corp/root", "", "root-token"},
	} {
		if a := answered(h, "GET", "/v1/namespaces/a", "", c.headers...); a.status != 200 || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s", name, a.bytes())
		}
		got := g.tree.caller
		if got.Principal != c.principal || got.Tenant != c.tenant || got.Token != c.token || got.Storage != mounts.NoStorage {
			t.Errorf("%s: %+v", name, got)
		}
	}
	text := g.log.String()
	for _, want := range []string{`"principal":"corp/alice","tenant":"acme"`, `"principal":"key/ci"`, `"client":"192.0.2.1:1234"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %s: %s", want, text)
		}
	}
	if strings.Contains(text, "-token") || strings.Contains(text, "key-of-ci") {
		t.Error("a credential is in the log")
	}
}

// The keys of two principals have nothing to do with each other, whatever they
// ask for; what everybody asked for before there were principals stays as it was.
func TestAKeyStandsForOnePrincipal(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	of := func(who string) [32]byte {
		if a := answered(h, "DELETE", "/v1/namespaces/a", "", who, "Idempotency-Key: "+someKey); a.status != 204 {
			t.Fatal(a)
		}
		return g.tree.caller.Once.Fingerprint
	}
	if of(asAlice) == of(asBob) || of(asAlice) != of(asAlice) {
		t.Error("a fingerprint does not tell who asks")
	}
	before := (&once{key: someKey}).of(&Catalog{}, "anonymous", &mounts.DropNamespaceRequest{Namespace: mounts.Namespace{"a"}})
	if want := "bed01cd17b1bf4cd"; fmt.Sprintf("%x", before.Fingerprint[:8]) != want {
		t.Errorf("the fingerprint of a request of nobody has changed: %x", before.Fingerprint)
	}
}

// A panic, wherever, is answered like any other, and lets nobody in.
func TestPanicsAtTheDoorAreErrors(t *testing.T) {
	for _, step := range []string{"client", "authenticate", "tenant acme", "visible", "inspect", "record", "token 192.0.2.1"} {
		g := newGuarded(t)
		g.door.panics = step
		h := New(g.Config)
		method, path, header := "GET", "/v1/prod/namespaces/a", asAlice
		switch step {
		case "inspect":
			path = "/admin/v1/mounts"
		case "record":
			header = "Authorization: Bearer nobody"
		case "token 192.0.2.1":
			method, path = "POST", "/v1/oauth/tokens"
		}
		a := answered(h, method, path, "", header)
		a.wantError(t, 500, "InternalServerError")
		if strings.Contains(a.body, "hunter2") || !g.idle() {
			t.Errorf("%s: %s", step, a.body)
		}
	}
}

func TestRefusedRequestsAreCounted(t *testing.T) {
	g := newGuarded(t)
	h := New(g.Config)
	answered(h, "GET", "/v1/config", "")
	answered(h, "GET", "/admin/v1/audit", "", asAlice)
	g.door.wait["client"] = time.Second
	answered(h, "GET", "/v1/config", "")
	answered(h, "GET", "/v1/config", "")
	delete(g.door.wait, "client")
	text := answered(h, "GET", "/metrics", "", asRoot).body
	for _, want := range []string{`icefield_http_refused_requests_total{status="401"} 1`, `icefield_http_refused_requests_total{status="403"} 1`, `icefield_http_refused_requests_total{status="429"} 2`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}
