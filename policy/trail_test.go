package policy

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
)

func TestTheTrailHasEveryCall(t *testing.T) {
	b, j := newGenerous(t), &journal{}
	g := b.behind(t, 0, permits(ownTenant), j)
	ctx := mounts.WithCaller(as(t, alice()), mounts.Caller{RequestID: "r-1", Scope: &mounts.Scope{}})
	mounts.CallerFrom(ctx).Scope.NoteRemote(mounts.RemoteCall{Identity: "icefield", Status: 200})
	missing := mounts.Identifier{Namespace: ns("a"), Name: "missing"}
	for _, c := range []struct {
		want string
		req  mounts.Request
	}{
		{"done", &mounts.LoadTableRequest{Table: orders}},
		{"issued!", &mounts.LoadTableRequest{Table: orders, Delegation: "vended-credentials"}},
		{"issued!", &mounts.LoadCredentialsRequest{Table: orders}},
		{"issued!", &mounts.SignStorageRequest{Table: orders, Body: []byte(`{"method":"GET"}`)}},
		{"issued!", &mounts.PlanScanRequest{Table: orders, Delegation: "vended-credentials"}},
		{"done", &mounts.PlanScanRequest{Table: orders}},
		{"failed", &mounts.LoadTableRequest{Table: missing}},
		{"done", &mounts.ListTablesRequest{Namespace: ns("a")}},
		{"failed", &mounts.ListTablesRequest{Namespace: ns("b")}},
		{"done", &mounts.ReportMetricsRequest{Table: orders, Body: []byte(`{}`)}},
		{"permitted! done", &mounts.CreateNamespaceRequest{Namespace: ns("b")}},
		{"permitted! failed", &mounts.CreateNamespaceRequest{Namespace: ns("b")}},
		{"permitted! done issued!", &mounts.CreateTableRequest{Namespace: ns("b"), Name: "t", Schema: mounttest.Schema(), Delegation: "vended-credentials"}},
		{"permitted! done", &mounts.CommitTableRequest{Table: orders}},
		{"permitted! done", &mounts.RenameTableRequest{Source: orders, Destination: missing}},
		{"permitted! done", &mounts.DropTableRequest{Table: missing}},
	} {
		_, _ = mounts.Invoke(ctx, g, c.req)
		events := slices.Clone(j.events)
		if got := j.outcomes(); got != c.want {
			t.Errorf("%s: %s", c.req.Op(), got)
		}
		for _, e := range events {
			if e.Principal.ID != "corp/alice" || e.RequestID != "r-1" || e.Action != ActionOf(c.req.Op()) || e.Catalog != "prod" ||
				e.Resource.Mount != "prod" || len(e.Policies) == 0 || e.Remote.Identity != "icefield" || (e.Outcome == Issued) != (e.Storage > 0) {
				t.Errorf("%s: %+v", c.req.Op(), e)
			}
			if (e.Outcome == Permitted) != (e.Result == "") {
				t.Errorf("%s: %s with the result %q", c.req.Op(), e.Outcome, e.Result)
			}
			if _, rename := c.req.(*mounts.RenameTableRequest); rename && (len(e.More) != 1 || e.More[0].ID() != "prod/a/missing") {
				t.Errorf("a rename: %+v", e.More)
			}
		}
	}
}

func TestDenialsAreOnTheTrail(t *testing.T) {
	b, j := newGenerous(t), &journal{}
	g := b.behind(t, 0, permits(existsOnly), j)
	for _, req := range []mounts.Request{
		&mounts.LoadTableRequest{Table: orders}, &mounts.DropTableRequest{Table: orders}, &mounts.ListTablesRequest{Namespace: ns("a")},
		&mounts.LoadCredentialsRequest{Table: orders}, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: orders}, {Table: orders}}},
	} {
		_, _ = mounts.Invoke(as(t, alice()), g, req)
		if got := j.outcomes(); got != "denied" {
			t.Errorf("%s: %s", req.Op(), got)
		}
	}
}

func TestNoChangeIsMadeThatCannotBeRecorded(t *testing.T) {
	full := errors.New("no space left on device")
	for _, req := range mounttest.Requests() {
		s := newScene(t)
		fill(t, s.guard(AllowAll()), alice(), ns("prod", "fixture"))
		s.calls.take()
		j := &journal{fails: map[string]error{Permitted: full}}
		for _, p := range []*Principal{alice(), Anonymous()} {
			g := NewGuard(s.tree, GuardOptions{Catalog: "icefield", Places: InTree(s.table), Authorizer: permits(ownTenant), Ring: s.ring, Trail: j})
			_, err := mounts.Invoke(as(t, p), g, inProd(t, req))
			reached := len(s.calls.take()) > 0
			if changes.Has(req.Op()) == reached {
				t.Errorf("%s by %s reached the backend: %v (%v)", req.Op(), p.ID, reached, err)
			}
			if e := mounts.AsError(err); changes.Has(req.Op()) && (e.Kind != mounts.Unavailable || e.OutcomeUnknown) {
				t.Errorf("%s by %s: %v", req.Op(), p.ID, err)
			}
		}
	}
}

func TestNoAccessLeavesThatCannotBeRecorded(t *testing.T) {
	b := newGenerous(t)
	j := &journal{fails: map[string]error{Issued: errors.New("no space left on device")}}
	for _, p := range []*Principal{alice(), Anonymous()} {
		g := b.behind(t, 0, permits(ownTenant), j)
		for _, req := range []mounts.Request{
			&mounts.LoadTableRequest{Table: orders, Delegation: "vended-credentials"}, &mounts.LoadCredentialsRequest{Table: orders},
			&mounts.SignStorageRequest{Table: orders, Body: []byte(`{"method":"GET"}`)}, &mounts.PlanScanRequest{Table: orders, Delegation: "vended-credentials"},
		} {
			resp, err := mounts.Invoke(as(t, p), g, req)
			if mounts.AsError(err).Kind != mounts.Unavailable || shows(resp) {
				t.Errorf("%s: %v, %v", req.Op(), resp, err)
			}
		}
		// What was made was made: it is answered, without the access.
		name := p.Login
		table, err := g.CreateTable(as(t, p), &mounts.CreateTableRequest{Namespace: ns("a"), Name: name, Schema: mounttest.Schema(), Delegation: "vended-credentials"})
		if err != nil || shows(table) || len(table.Metadata) == 0 {
			t.Errorf("a created table: %v, %v", table, err)
		}
		if _, err := g.LoadTable(as(t, p), &mounts.LoadTableRequest{Table: orders}); err != nil {
			t.Errorf("a read without access: %v", err)
		}
	}
}

func TestUnknownOutcomesAndPanicsStandOnTheTrail(t *testing.T) {
	j := &journal{}
	lost := mounts.Around(catalog(), func(context.Context, mounts.Request, mounts.Handler) (mounts.Response, error) {
		return nil, &mounts.Error{Kind: mounts.Timeout, OutcomeUnknown: true}
	})
	g := single(t, lost, permits(ownTenant))
	g.trail = j
	_ = g.DropTable(as(t, alice()), &mounts.DropTableRequest{Table: orders})
	if got := j.outcomes(); got != "permitted! unknown" {
		t.Error(got)
	}
	g = single(t, mounts.Around(catalog(), func(context.Context, mounts.Request, mounts.Handler) (mounts.Response, error) { panic("a bug") }), permits(ownTenant))
	g.trail = j
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is for the HTTP surface to see")
			}
		}()
		_ = g.DropTable(as(t, alice()), &mounts.DropTableRequest{Table: orders})
	}()
	if got := j.outcomes(); got != "permitted! unknown" {
		t.Error(got)
	}
}
