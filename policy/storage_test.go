package policy

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

var orders = mounts.Identifier{Namespace: ns("a"), Name: "orders"}

// generous is a backend that gives everybody everything, asked or not.
type generous struct {
	mounts.Backend
	last    mounts.Request
	caller  mounts.Caller
	without bool // gives no credentials
	extra   map[string]json.RawMessage
}

var secrets = []mounts.StorageCredential{{Prefix: "s3://lake/a", Config: map[string]string{"s3.secret-access-key": "SECRET"}}}

func newGenerous(t testing.TB) *generous {
	t.Helper()
	g := &generous{}
	inner := catalog()
	fill(t, inner, alice(), ns("a"))
	g.Backend = mounts.Around(inner, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		g.last, g.caller = req, mounts.CallerFrom(ctx)
		switch req.(type) {
		case *mounts.LoadCredentialsRequest:
			return &mounts.Credentials{StorageCredentials: secrets}, nil
		case *mounts.PlanScanRequest, *mounts.FetchPlanRequest:
			return &mounts.Document{Body: []byte(`{"status":"completed"}`), StorageCredentials: secrets, Refresh: true}, nil
		case *mounts.FetchScanTasksRequest:
			return &mounts.Document{Body: []byte(`{"file-scan-tasks":[]}`)}, nil
		case *mounts.SignStorageRequest:
			return &mounts.Document{Body: []byte(`{"uri":"SECRET","headers":{}}`)}, nil
		}
		resp, err := next(ctx, req)
		switch r := resp.(type) {
		case *mounts.Table:
			if r.NotModified {
				return r, err
			}
			out := *r
			out.Extra = g.extra
			if !g.without {
				out.StorageCredentials, out.Refresh, out.Signing = secrets, true, &mounts.Signing{State: "SECRET"}
				out.Config = map[string]string{"s3.region": "eu-central-1", "s3.path-style-access": "true", "s3.secret-access-key": "SECRET", "gcs.oauth2.token": "SECRET",
					"adls.sas-token.account": "SECRET", "token": "SECRET", "client.refresh-credentials-endpoint": "v1/x"}
			}
			return &out, err
		case *mounts.View:
			out := *r
			out.Config = map[string]string{"token": "SECRET", "s3.region": "eu-central-1"}
			return &out, err
		}
		return resp, err
	})
	return g
}

// behind puts a guard before it, in a mount that relays credentials as wide.
func (g *generous) behind(t testing.TB, relays mounts.StorageAccess, a Authorizer, trail Trail) *Guard {
	t.Helper()
	m, err := mounts.NewMap(mounts.Mount{Name: "prod", Owner: "acme", Tree: g, View: g, Relays: relays})
	if err != nil {
		t.Fatal(err)
	}
	return NewGuard(g, GuardOptions{Catalog: "prod", Places: InMount(m, m.Mounted("prod")), Authorizer: a, Ring: ring(t), Trail: trail})
}

func shows(resp mounts.Response) bool {
	text, _ := json.Marshal(resp)
	return strings.Contains(string(text), "SECRET")
}

// width is a policy that permits so much.
func width(read, write, commit bool) permits {
	return func(q Question) bool {
		switch q.Action {
		case "loadCredentials":
			return q.Context.Write && write || !q.Context.Write && read
		case "commitTable":
			return commit
		}
		return true
	}
}

func TestStorageIsOpenedAsWideAsPoliciesSay(t *testing.T) {
	b := newGenerous(t)
	for _, c := range []struct {
		what                string
		policy              permits
		relays, want, vends mounts.StorageAccess
	}{
		{"everything", width(true, true, true), 0, mounts.WriteStorage, mounts.WriteStorage},
		{"reads", width(true, false, true), 0, mounts.ReadStorage, mounts.ReadStorage},
		{"writing credentials, but no commits", width(true, true, false), 0, mounts.ReadStorage, mounts.ReadStorage},
		{"nothing", width(false, false, true), 0, mounts.NoStorage, mounts.NoStorage},
		{"only writing credentials, but no commits", width(false, true, false), 0, mounts.NoStorage, mounts.NoStorage},
		{"reads, of a mount that relays what reads", width(true, false, true), mounts.ReadStorage, mounts.ReadStorage, mounts.ReadStorage},
		{"reads, of a mount that relays what writes", width(true, false, true), mounts.WriteStorage, mounts.ReadStorage, mounts.NoStorage},
		{"everything, of a mount that relays what writes", width(true, true, true), mounts.WriteStorage, mounts.WriteStorage, mounts.WriteStorage},
	} {
		g := b.behind(t, c.relays, c.policy, nil)
		ctx := as(t, alice())
		table, err := g.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders, Delegation: "vended-credentials, remote-signing"})
		if err != nil {
			t.Fatal(c.what, err)
		}
		asked := b.last.(*mounts.LoadTableRequest).Delegation
		if b.caller.Storage != c.want || len(table.StorageCredentials) > 0 != (c.vends > 0) || table.Signing != nil != (c.want > 0) ||
			asked != map[bool]string{true: "vended-credentials, remote-signing", false: map[bool]string{true: "remote-signing"}[c.want > 0]}[c.vends > 0] {
			t.Errorf("%s: %v asked for %q and answered %v", c.what, b.caller.Storage, asked, table)
		}
		if table.Config["s3.region"] == "" || table.Config["s3.path-style-access"] == "" {
			t.Errorf("%s: the hints are gone: %v", c.what, table.Config)
		}
		if _, there := table.Config["gcs.oauth2.token"]; there != (c.vends > 0) {
			t.Errorf("%s: %v", c.what, table.Config)
		}
		credentials, err := g.LoadCredentials(ctx, &mounts.LoadCredentialsRequest{Table: orders})
		if (err == nil) != (c.vends > 0) || err != nil && mounts.AsError(err).Kind != mounts.Forbidden || shows(credentials) != (c.vends > 0) {
			t.Errorf("%s: credentials %v, %v", c.what, credentials, err)
		}
		plan, err := g.PlanScan(ctx, &mounts.PlanScanRequest{Table: orders, Delegation: "vended-credentials"})
		if err != nil || shows(plan) != (c.vends > 0) || plan.Refresh != (c.vends > 0) {
			t.Errorf("%s: plan %v, %v", c.what, plan, err)
		}
	}
}

func TestNothingIsGivenThatWasNotAskedFor(t *testing.T) {
	for what, p := range map[string]*Principal{"a tenant": alice(), "the operator": Anonymous()} {
		b := newGenerous(t)
		g := b.behind(t, 0, AllowAll(), nil)
		for _, req := range []mounts.Request{
			&mounts.LoadTableRequest{Table: orders},
			&mounts.CreateTableRequest{Namespace: ns("a"), Name: "fresh", Schema: schemaOf(t, g)},
			&mounts.CommitTableRequest{Table: orders},
			&mounts.LoadViewRequest{View: mounts.Identifier{Namespace: ns("a"), Name: "recent"}},
			&mounts.PlanScanRequest{Table: orders, Body: []byte(`{}`)},
			&mounts.FetchPlanRequest{Table: orders, PlanID: "1"},
			&mounts.UnregisterTableRequest{Table: orders},
		} {
			resp, err := mounts.Invoke(mounts.WithCaller(as(t, p), mounts.Caller{Storage: mounts.WriteStorage}), g, req)
			if err != nil || shows(resp) {
				t.Errorf("%s of %s: %v, %v", req.Op(), what, resp, err)
			}
			if b.caller.Storage != mounts.NoStorage {
				t.Errorf("%s of %s: the backend was told %v", req.Op(), what, b.caller.Storage)
			}
		}
	}
}

func schemaOf(t testing.TB, _ *Guard) json.RawMessage {
	t.Helper()
	return json.RawMessage(`{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}`)
}

func TestSignaturesAreDecidedByTheirMethod(t *testing.T) {
	reads := permits(func(q Question) bool { return !q.Context.Write && q.Action != "commitTable" })
	noCommit := permits(func(q Question) bool { return q.Action != "commitTable" })
	for _, c := range []struct {
		policy permits
		body   string
		want   mounts.Kind
		width  mounts.StorageAccess
	}{
		{reads, `{"method":"GET","uri":"s3://x"}`, 0, mounts.ReadStorage},
		{reads, `{"uri":"x","method":"HEAD"}`, 0, mounts.ReadStorage},
		{reads, `{"method":"PUT"}`, mounts.Forbidden, 0},
		{reads, `{"method":"get"}`, mounts.Forbidden, 0},
		{reads, `{"method":"POST"}`, mounts.Forbidden, 0},
		{noCommit, `{"method":"DELETE"}`, mounts.Forbidden, 0},
		{permits(ownTenant), `{"method":"DELETE"}`, 0, mounts.WriteStorage},
		{permits(ownTenant), `{"method":"GET"}`, 0, mounts.ReadStorage},
		{permits(ownTenant), `{"method":"GET","method":"PUT"}`, mounts.BadRequest, 0},
		{permits(ownTenant), `{"method":"GET","Method":"PUT"}`, mounts.BadRequest, 0},
		{permits(ownTenant), `{"method":"GET"} {}`, mounts.BadRequest, 0},
		{permits(ownTenant), `{"method":1}`, mounts.BadRequest, 0},
		{permits(ownTenant), `{"method":""}`, mounts.BadRequest, 0},
		{permits(ownTenant), `{"method":"GET"`, mounts.BadRequest, 0},
		{permits(ownTenant), `{"m\u0065thod":"PUT"}`, 0, mounts.WriteStorage},
		{permits(ownTenant), `{}`, mounts.BadRequest, 0},
		{permits(ownTenant), `[]`, mounts.BadRequest, 0},
		{permits(ownTenant), ``, mounts.BadRequest, 0},
		{permits(ownTenant), `{"method":"GET","x":"` + strings.Repeat("x", maxSigning) + `"}`, mounts.BadRequest, 0},
	} {
		b := newGenerous(t)
		_, err := b.behind(t, 0, c.policy, nil).SignRequest(as(t, alice()), &mounts.SignStorageRequest{Table: orders, Body: []byte(c.body)})
		if c.want == 0 && err != nil || c.want != 0 && (err == nil || mounts.AsError(err).Kind != c.want) || b.caller.Storage != c.width {
			t.Errorf("%.60s: %v, %v", c.body, b.caller.Storage, err)
		}
	}
}

func TestStorageNeedsTheRightToLoad(t *testing.T) {
	b := newGenerous(t)
	g := b.behind(t, 0, permits(func(q Question) bool { return q.Action != "loadTable" }), nil)
	for _, req := range []mounts.Request{
		&mounts.LoadCredentialsRequest{Table: orders},
		&mounts.SignStorageRequest{Table: orders, Body: []byte(`{"method":"GET"}`)},
		&mounts.PlanScanRequest{Table: orders},
		&mounts.FetchScanTasksRequest{Table: orders},
	} {
		if _, err := mounts.Invoke(as(t, alice()), g, req); mounts.AsError(err).Kind != mounts.Forbidden {
			t.Errorf("%s: %v", req.Op(), err)
		}
	}
	table, err := g.CreateTable(as(t, alice()), &mounts.CreateTableRequest{Namespace: ns("a"), Name: "fresh", Schema: schemaOf(t, g), Delegation: "vended-credentials"})
	if err != nil || shows(table) {
		t.Errorf("a created table: %v, %v", table, err)
	}
}

func TestAViewCountsOnlyForWhomItIsThere(t *testing.T) {
	b := newGenerous(t)
	for _, sees := range []bool{true, false} {
		g := b.behind(t, 0, permits(func(q Question) bool {
			switch q.Action {
			case "loadView":
				return sees
			case "loadTable":
				return len(q.Context.ReferencedBy) == 1 && q.Context.ReferencedBy[0].ID() == "prod/a/recent"
			}
			return false
		}), nil)
		_, err := g.LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: orders, ReferencedBy: []mounts.Identifier{{Namespace: ns("a"), Name: "recent"}}})
		if (err == nil) != sees {
			t.Errorf("the view may be loaded: %v, and then the table: %v", sees, err)
		}
	}
}
