package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/router"
)

// asked lets a test wait for the calls of /v1/config.
type asked chan struct{}

func (a asked) observe(next func(rest.Call)) func(rest.Call) {
	return func(c rest.Call) {
		next(c)
		if c.Kind == "config" {
			select {
			case a <- struct{}{}:
			default:
			}
		}
	}
}

// until waits for calls of /v1/config until a condition holds after one.
func (a asked) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !holds() {
		select {
		case <-a:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

func eager(a asked) func(*rest.Config) {
	return func(c *rest.Config) {
		c.RefreshSettings, c.Observe = 16*time.Millisecond, a.observe(c.Observe)
	}
}

func endpoints(ops ...capabilities.Op) json.RawMessage {
	text, _ := json.Marshal(capabilities.Of(ops...).Endpoints())
	return text
}

func TestWhatTheRemoteOffersIsFollowedWhileTheMountIsOpen(t *testing.T) {
	srv, calls := serve(t, remote.Options{}), make(asked, 1)
	srv.Tune(func(q *remote.Quirks) { q.Endpoints = endpoints(capabilities.ListNamespaces, capabilities.LoadTable) })
	b := open(t, srv, eager(calls))
	if b.Capabilities().Has(capabilities.LoadView) {
		t.Fatal("views before there are any")
	}
	wantKind(t, invoke(b, reads()["loadView"]), mounts.UnsupportedOperation)
	srv.Tune(func(q *remote.Quirks) { q.Endpoints = endpoints(capabilities.LoadTable, capabilities.LoadView) })
	calls.until(t, "the new list holds", func() bool { return b.Capabilities().Has(capabilities.LoadView) })
	if err := invoke(b, reads()["loadView"]); err != nil {
		t.Error(err)
	}
	if b.Capabilities().Has(capabilities.ListNamespaces) {
		t.Error("an operation that the remote took back is still offered")
	}
	if log := b.log.String(); !strings.Contains(log, "settings have changed") || !strings.Contains(log, "GET /v1/{prefix}/namespaces/{namespace}/views/{view}") {
		t.Errorf("the log does not say what changed: %s", log)
	}
}

// TestOurOwnSettingsFollowTheRemotes reads /v1/config of this server, as its
// clients do.
func TestOurOwnSettingsFollowTheRemotes(t *testing.T) {
	srv, calls := serve(t, remote.Options{}), make(asked, 1)
	srv.Tune(func(q *remote.Quirks) { q.NoEndpoints = true })
	b := open(t, srv, eager(calls), func(c *rest.Config) { c.Writable = true })
	front := router.New(router.Config{Tree: router.Catalog{Name: "icefield", Backend: b}})
	settings := func() string {
		w := httptest.NewRecorder()
		front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/config", nil))
		return w.Body.String()
	}
	if said := settings(); strings.Contains(said, "/views") || strings.Contains(said, "idempotency") {
		t.Fatalf("before: %s", said)
	}
	srv.Tune(func(q *remote.Quirks) {
		q.Defaults, q.KeyLifetime = map[string]string{"view-endpoints-supported": "true"}, json.RawMessage(`"PT10M"`)
	})
	calls.until(t, "our settings have views and keys", func() bool {
		said := settings()
		return strings.Contains(said, "POST /v1/{prefix}/namespaces/{namespace}/views") && strings.Contains(said, `"idempotency-key-lifetime":"PT10M"`)
	})
}

func TestARemoteThatDoesNotTellItsSettingsKeepsTheOnesItHad(t *testing.T) {
	srv, calls := serve(t, remote.Options{}), make(asked, 1)
	b := open(t, srv, eager(calls))
	before := b.Capabilities()
	srv.Fail(remote.Config, remote.Fault{Status: 503})
	calls.until(t, "several failures", func() bool { return srv.Count(remote.Config) > 4 })
	if err := invoke(b, reads()["loadTable"]); err != nil || b.Capabilities() != before {
		t.Errorf("while it fails: %v, %v", err, b.Capabilities().Endpoints())
	}
	srv.Heal()
	calls.until(t, "it recovered", func() bool { return strings.Contains(b.log.String(), "tells its settings again") })
	if n := strings.Count(b.log.String(), "does not tell its settings"); n != 1 {
		t.Errorf("the failure was logged %d times: %s", n, b.log)
	}
}

func TestCloseEndsTheAskingThatIsUnderWay(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv, func(c *rest.Config) { c.RefreshSettings = 10 * time.Millisecond })
	srv.Fail(remote.Config, remote.Fault{Break: remote.Hang})
	for deadline := time.Now().Add(time.Minute); srv.Count(remote.Config) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("it was never asked again")
		}
		if err := invoke(b, reads()["loadTable"]); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- b.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second): // the call itself has a minute
		t.Fatal("Close waits for a remote that does not answer")
	}
	asked := srv.Count(remote.Config)
	if _, err := b.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: orders}); err != nil {
		t.Error("a call that comes late:", err)
	}
	if n := srv.Count(remote.Config); n != asked {
		t.Error("it goes on asking after Close")
	}
}

func TestAMovedPrefixCostsAReadOneMoreCallAndNoError(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.Prefix = "old" })
	b := open(t, srv)
	srv.Tune(func(q *remote.Quirks) { q.Prefix = "new/one" })
	var all sync.WaitGroup
	for range 20 {
		for op, req := range reads() {
			all.Go(func() {
				if err := invoke(b, req); err != nil {
					t.Errorf("%s: %v", op, err)
				}
			})
		}
	}
	all.Wait()
	if n := srv.Count(remote.Config); n != 1 {
		t.Errorf("the settings were asked for %d times", n)
	}
	srv.Forget()
	if err := invoke(b, reads()["loadTable"]); err != nil || srv.Count(remote.AnyOp) != 1 || srv.Last().Path != "/v1/new/one/namespaces/shared/tables/orders" {
		t.Errorf("afterwards: %v, %d calls, %s", err, srv.Count(remote.AnyOp), srv.Last().Path)
	}
}

func TestARemoteThatKnowsNothingIsNotAskedAtTheRateOfItsCallers(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	srv.Fail(remote.AnyOp, remote.Fault{Status: 404, HTML: true})
	for range 50 {
		wantKind(t, invoke(b, reads()["loadTable"]), mounts.BadGateway)
	}
	if n := srv.Count(remote.Config); n != 1 {
		t.Errorf("%d config calls for 50 refusals", n)
	}
	if n := srv.Count("loadTable"); n != 50 {
		t.Errorf("%d loads for 50 refusals under the same settings", n)
	}
}

func TestARunOfRefusalsOfAnAdvertisedRouteIsASign(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	srv.Fail("listViews", remote.Fault{Status: 405})
	srv.Tune(func(q *remote.Quirks) { q.Endpoints = endpoints(capabilities.LoadTable, capabilities.ListTables) })
	for i := range 3 {
		wantKind(t, invoke(b, reads()["listViews"]), mounts.UnsupportedOperation)
		if offered := b.Capabilities().Has(capabilities.ListViews); offered != (i < 2) {
			t.Errorf("after %d refusals the route is offered: %v", i+1, offered)
		}
	}
	if n := srv.Count("listViews"); n != 3 {
		t.Errorf("%d calls of a route that is not there", n)
	}
}

func TestAnOrdinaryAbsenceIsNoSign(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	for range 10 {
		wantKind(t, invoke(b, &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: shared, Name: "absent"}}), mounts.NoSuchTable)
		wantKind(t, invoke(b, &mounts.TableExistsRequest{Table: mounts.Identifier{Namespace: shared, Name: "absent"}}), mounts.NoSuchTable)
	}
	if n := b.srv.Count(remote.Config); n != 0 {
		t.Errorf("%d config calls", n)
	}
}

func TestKeyLifetimesAreReadAsISO8601(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`"PT30M"`: 30 * time.Minute, `"PT1H30M"`: 90 * time.Minute, `"P1D"`: 24 * time.Hour, `"P1DT0.5S"`: 24*time.Hour + 500*time.Millisecond,
		`"PT0S"`: 0, `"P2W"`: 14 * 24 * time.Hour, `"PT1,5S"`: 1500 * time.Millisecond, `"P999999999D"`: 366 * 24 * time.Hour,
		`null`: 0, `"P1M"`: 0, `"half an hour"`: 0, `"P"`: 0, `"PT"`: 0, `"P1DT"`: 0, `"-PT5M"`: 0, `1800`: 0, `""`: 0, `{}`: 0,
	} {
		srv := serve(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.KeyLifetime = json.RawMessage(text) })
		b := open(t, srv, func(c *rest.Config) { c.Writable = true })
		if got := b.KeyLifetime(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		b = open(t, srv)
		if got := b.KeyLifetime(); got != 0 {
			t.Errorf("%s: a mount without changes honours keys for %v", text, got)
		}
	}
}

// TestARemoteThatTellsOnlyItsCallersIsReachable has a mount that passes its
// callers' tokens on, and a remote that answers nobody without one.
func TestARemoteThatTellsOnlyItsCallersIsReachable(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.Bearer, q.Prefix = "callers-own", "sales" })
	b := open(t, srv, func(c *rest.Config) { c.Auth = rest.Passthrough() })
	if err := b.Health(context.Background()); err != nil {
		t.Errorf("health: %v", err)
	}
	as := func(token string) context.Context {
		return mounts.WithCaller(context.Background(), mounts.Caller{Principal: "p", RequestID: "r", Token: token})
	}
	_, err := b.LoadTable(as("somebody-elses"), &mounts.LoadTableRequest{Table: orders})
	wantKind(t, err, mounts.Unauthenticated)
	if _, err := b.LoadTable(as("callers-own"), &mounts.LoadTableRequest{Table: orders}); err != nil {
		t.Fatal(err)
	}
	if path := srv.Last().Path; path != "/v1/sales/namespaces/shared/tables/orders" {
		t.Errorf("the path is %s", path)
	}
	if !b.Capabilities().Has(capabilities.LoadView) {
		t.Errorf("what the remote told is not known: %v", b.Capabilities().Endpoints())
	}
	srv.Forget()
	if _, err := b.LoadTable(as("callers-own"), &mounts.LoadTableRequest{Table: orders}); err != nil || srv.Count(remote.AnyOp) != 1 {
		t.Errorf("the second call: %v, %d calls", err, srv.Count(remote.AnyOp))
	}
}

func TestARemoteThatIsDownIsNoProvisionalOne(t *testing.T) {
	srv := serve(t, remote.Options{})
	for name, fault := range map[string]remote.Fault{"503": {Status: 503}, "404": {Status: 404, HTML: true}, "login page": {Status: 302, Location: "/login"}, "reset": {Break: remote.Reset}} {
		srv.Fail(remote.Config, fault)
		c, _, _ := config(srv)
		c.Auth = rest.Passthrough()
		if b, err := rest.Open(context.Background(), c); err == nil {
			b.Close()
			t.Errorf("%s: opened", name)
		}
	}
}

func TestNegotiationNotesAreSaidOnce(t *testing.T) {
	srv, calls := serve(t, remote.Options{}), make(asked, 1)
	srv.Tune(func(q *remote.Quirks) { q.URI = "https://elsewhere.example/api" })
	b := open(t, srv, eager(calls))
	calls.until(t, "several rounds", func() bool { return srv.Count(remote.Config) > 3 })
	if n := strings.Count(b.log.String(), "names another address"); n != 1 {
		t.Error(fmt.Sprintf("logged %d times: ", n), b.log)
	}
}
