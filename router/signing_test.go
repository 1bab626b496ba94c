package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// toSign is a request to sign for an object.
func toSign(location string) string {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(location, "s3://"), "/")
	return fmt.Sprintf(`{"region":"eu-central-1","uri":"https://%s.s3.eu-central-1.amazonaws.com/%s","method":"GET","headers":{"host":["x"]}}`, bucket, key)
}

// located is a server of two mounts, each with one table: a.t of prod at
// s3://prod-lake/a/t, b.u of the catalog underneath at s3://root-lake/b/u.
func located(t *testing.T) (g *guarded, failing map[string]error) {
	t.Helper()
	g, failing = newGuarded(t), map[string]error{}
	at := func(name, root string, id mounts.Identifier) func(context.Context, string) (mounts.Identifier, error) {
		return func(_ context.Context, location string) (mounts.Identifier, error) {
			switch {
			case failing[name] != nil:
				return mounts.Identifier{}, failing[name]
			case strings.HasPrefix(location, root+"/"):
				return id, nil
			}
			return mounts.Identifier{}, &mounts.Error{Kind: mounts.NoSuchTable}
		}
	}
	table, err := mounts.NewMap(
		mounts.Mount{Name: "prod", Owner: "acme", TableAt: at("prod", "s3://prod-lake/a/t", mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"})},
		mounts.Mount{Name: "/", ViewName: "root", Owner: "acme", TableAt: at("/", "s3://root-lake/b/u", mounts.Identifier{Namespace: mounts.Namespace{"b"}, Name: "u"})},
		mounts.Mount{Name: "partner", Owner: "acme"},
	)
	if err != nil {
		t.Fatal(err)
	}
	g.Mounts = table
	return g, failing
}

func TestTheSignRouteWithoutATableAsksTheCatalogOfTheObjectsTable(t *testing.T) {
	g, _ := located(t)
	h := New(g.Config)
	for _, c := range []struct{ path, location, want string }{
		{"/v1/aws/s3/sign", "s3://prod-lake/a/t/data/1.parquet", "prod.a.t"},
		{"/v1/v1/aws/s3/sign", "s3://root-lake/b/u/x", "b.u"},
		{"/v1/prod/aws/s3/sign", "s3://prod-lake/a/t/x", "a.t"},
		{"/v1/prod/v1/aws/s3/sign", "s3://prod-lake/a/t/x", "a.t"},
	} {
		asked := g.tree
		if strings.Contains(c.path, "prod") {
			asked = g.views["prod"]
		}
		body := toSign(c.location)
		a := answered(h, "POST", c.path, body, asAlice)
		a.want(t, 200, `{"uri":"https://x","headers":{}}`)
		if a.header.Get("Cache-Control") != "private" {
			t.Errorf("%s: Cache-Control %q", c.path, a.header.Get("Cache-Control"))
		}
		req, ok := asked.last().(*mounts.SignStorageRequest)
		if !ok || req.Table.String() != c.want || string(req.Body) != body || asked.caller.Principal != "corp/alice" {
			t.Errorf("%s: asked %+v", c.path, asked.last())
		}
		asked.asked = nil
	}
	if !strings.Contains(g.log.String(), `"operation":"signRequest"`) {
		t.Error("it is not the operation signRequest")
	}
}

// Nobody finds out at this route where tables lie: what is not there, what is in
// another catalog and what policy hides are one answer.
func TestTheSignRouteWithoutATableIsNoOracle(t *testing.T) {
	g, failing := located(t)
	h := New(g.Config)
	nothing := answered(h, "POST", "/v1/aws/s3/sign", toSign("s3://nobodys/a/t/x"), asAlice)
	nothing.wantError(t, 403, "ForbiddenException")
	if !g.idle() {
		t.Error("a backend was asked for a table that was not found")
	}
	same := func(name, path, location string) {
		t.Helper()
		if a := answered(h, "POST", path, toSign(location), asAlice); a.bytes() != nothing.bytes() {
			t.Errorf("%s: %s\nwant %s", name, a.bytes(), nothing.bytes())
		}
	}
	same("beside a table", "/v1/aws/s3/sign", "s3://prod-lake/a/tt/x")
	same("of another catalog", "/v1/prod/aws/s3/sign", "s3://root-lake/b/u/x")
	for _, err := range []error{
		&mounts.Error{Kind: mounts.NoSuchTable, Ident: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"}},
		&mounts.Error{Kind: mounts.NoSuchNamespace, Ident: mounts.Identifier{Namespace: mounts.Namespace{"a"}}},
		fmt.Errorf("wrapped: %w", &mounts.Error{Kind: mounts.NoSuchTable}),
	} {
		deny := func(context.Context, mounts.Request) (mounts.Response, error) { return nil, err }
		g.tree.handle, g.views["prod"].handle = deny, deny
		same("hidden", "/v1/aws/s3/sign", "s3://prod-lake/a/t/x")
		same("hidden in a view", "/v1/prod/aws/s3/sign", "s3://prod-lake/a/t/x")
	}
	hidden := answered(h, "POST", "/v1/hidden/aws/s3/sign", toSign("s3://x/y"), asAlice)
	hidden.wantError(t, 404, "NoSuchWarehouseException")

	// what is known of the table may be said
	g.tree.handle = func(context.Context, mounts.Request) (mounts.Response, error) {
		return nil, &mounts.Error{Kind: mounts.Forbidden, Msg: "no ACLs"}
	}
	if message := answered(h, "POST", "/v1/aws/s3/sign", toSign("s3://prod-lake/a/t/x?acl"), asAlice).wantError(t, 403, "ForbiddenException"); message != "no ACLs" {
		t.Error(message)
	}

	// and an error is never an absence, nor does it name the mount
	failing["prod"] = &mounts.Error{Kind: mounts.BadGateway, Mount: "prod", Err: errors.New("hunter2")}
	a := answered(h, "POST", "/v1/aws/s3/sign", toSign("s3://nobodys/x"), asAlice)
	a.wantError(t, 503, "ServiceUnavailableException")
	if strings.Contains(a.body, "prod") || strings.Contains(a.body, "hunter2") {
		t.Error(a.body)
	}
	if a := answered(h, "POST", "/v1/aws/s3/sign", toSign("s3://root-lake/b/u/x"), asAlice); strings.Contains(a.body, "looked up") {
		t.Errorf("a mount that fails hides another's table: %s", a.body)
	}
}

// nothingAllowed is an Authorizer that denies everything.
type nothingAllowed struct{}

func (nothingAllowed) Decide(context.Context, policy.Question) policy.Decision {
	return policy.Decision{}
}
func (nothingAllowed) Filter(_ context.Context, _ policy.Question, r []policy.Resource) ([]bool, error) {
	return make([]bool, len(r)), nil
}
func (nothingAllowed) Uniform(context.Context, policy.Question, policy.Resource, policy.Kind) (bool, bool) {
	return false, true
}

// Under the real guard, too, no flaw of a request tells a table that is hidden
// from one that is not there.
func TestTheGuardMakesNoOracleOfTheSignRoute(t *testing.T) {
	g, _ := located(t)
	asked, backend := scripted(typical)
	g.Tree.Backend = policy.NewGuard(backend, policy.GuardOptions{Catalog: "icefield", Places: policy.InTree(g.Mounts), Authorizer: nothingAllowed{}})
	h := New(g.Config)
	const hidden, absent = "prod-lake", "none-lake"
	for _, body := range []string{
		toSign("s3://prod-lake/a/t/x"), strings.Replace(toSign("s3://prod-lake/a/t/x"), "GET", "PUT", 1), strings.Replace(toSign("s3://prod-lake/a/t/x"), "GET", "", 1),
		strings.Replace(toSign("s3://prod-lake/a/t/x"), `"method"`, `"Method"`, 1), strings.Replace(toSign("s3://prod-lake/a/t/x"), `"method":"GET"`, `"method":null`, 1),
		toSign("s3://prod-lake/a/t/x?acl"), toSign("s3://prod-lake/a/t/../t/x"), strings.Replace(toSign("s3://prod-lake/a/t/x"), "}}", `},"body":"x"}`, 1),
		strings.Replace(toSign("s3://prod-lake/a/t/x"), `"region"`, `"properties":7,"region"`, 1),
	} {
		there := answered(h, "POST", "/v1/aws/s3/sign", body, asAlice)
		not := answered(h, "POST", "/v1/aws/s3/sign", strings.ReplaceAll(body, hidden, absent), asAlice)
		if there.status < 400 || strings.ReplaceAll(there.bytes(), hidden, absent) != not.bytes() {
			t.Errorf("%s:\n%s\n%s", body, there.bytes(), not.bytes())
		}
	}
	if asked.last() != nil {
		t.Error("the backend was asked")
	}
}

func TestTheSignRouteWithoutATableRefusesWhatItCannotRead(t *testing.T) {
	g, _ := located(t)
	h := New(g.Config)
	for _, body := range []string{"", "[]", "{", `{"method":"GET"}`, `{"uri":7}`} {
		answered(h, "POST", "/v1/aws/s3/sign", body, asAlice).wantError(t, 400, "BadRequestException")
	}
	large, _ := json.Marshal(map[string]string{"uri": "https://b.s3.amazonaws.com/x", "body": strings.Repeat("x", maxToSign)})
	answered(h, "POST", "/v1/aws/s3/sign", string(large), asAlice).wantError(t, 413, "ContentTooLargeException")
	if !g.idle() {
		t.Error("a backend was asked")
	}
	if a := answered(h, "GET", "/v1/config", "", asAlice); strings.Contains(a.body, "aws") {
		t.Errorf("it is advertised: %s", a.body)
	}
}
