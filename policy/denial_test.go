package policy

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/pagination"
)

// inProd is a sample request about the mount prod.
func inProd(t testing.TB, req mounts.Request) mounts.Request {
	t.Helper()
	out, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) {
		return append(mounts.Namespace{"prod"}, n...), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if create, ok := out.(*mounts.CreateViewRequest); ok {
		create.ViewVersion = json.RawMessage(strings.ReplaceAll(string(create.ViewVersion), `["fixture"]`, `["prod","fixture"]`))
	}
	return out
}

// existsOnly permits to know that things exist, and nothing else.
func existsOnly(q Question) bool {
	switch q.Action {
	case "namespaceExists", "tableExists", "viewExists":
		return true
	}
	return false
}

// absenceOf is what a catalog without anything in it answers; for operations that
// the memory backend does not have, the absence of their object.
func absenceOf(t testing.TB, req mounts.Request) error {
	t.Helper()
	_, err := mounts.Invoke(as(t, Anonymous()), newScene(t).tree, req)
	if errors.Is(err, mounts.UnsupportedOperation) {
		kind := mounts.NoSuchTable
		switch req.Op() {
		case capabilities.ListFunctions:
			kind = mounts.NoSuchNamespace
		case capabilities.LoadFunction:
			kind = mounts.NoSuchFunction
		}
		err = &mounts.Error{Kind: kind, Op: req.Op(), Ident: req.Object()}
	}
	return err
}

func TestWhatMayNotBeSeenIsAbsentForEveryOperation(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "fixture"})
	s.calls.take()
	g := s.guard(permits(func(Question) bool { return false }))
	for _, req := range mounttest.Requests() {
		req = inProd(t, req)
		_, err := mounts.Invoke(as(t, alice()), g, req)
		same(t, req.Op().String(), err, absenceOf(t, req))
	}
	if reached := s.calls.take(); len(reached) > 0 {
		t.Errorf("%d calls reached the backend", len(reached))
	}
}

func TestWhatMayBeSeenIsForbiddenOrStillHidden(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "fixture"})
	s.calls.take()
	g := s.guard(permits(existsOnly))
	for _, req := range mounttest.Requests() {
		op := req.Op()
		req = inProd(t, req)
		resp, err := mounts.Invoke(as(t, alice()), g, req)
		switch op {
		case capabilities.TableExists: // this much is permitted
			if err != nil {
				t.Errorf("%s: %v", op, err)
			}
		case capabilities.LoadNamespace, capabilities.LoadTable, capabilities.LoadView, capabilities.LoadFunction:
			same(t, op.String(), err, absenceOf(t, req))
		case capabilities.ListNamespaces, capabilities.ListTables, capabilities.ListViews, capabilities.ListFunctions:
			if err != nil || !empty(resp) {
				t.Errorf("%s: %v, %v", op, resp, err)
			}
		default:
			e := mounts.AsError(err)
			if e.Kind != mounts.Forbidden || !strings.Contains(e.Message(), "may not") {
				t.Errorf("%s: %v", op, err)
			}
		}
	}
	for _, req := range s.calls.take() {
		if op := req.Op(); op != capabilities.TableExists && op != capabilities.LoadNamespace {
			t.Errorf("%s reached the backend", op)
		}
	}
}

func TestWhatIsPermittedPassesForEveryOperation(t *testing.T) {
	for _, req := range mounttest.Requests() {
		s := newScene(t)
		fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "fixture"})
		s.calls.take()
		g := s.guard(permits(ownTenant))
		_, err := mounts.Invoke(as(t, alice()), g, inProd(t, req))
		if reached := s.calls.take(); len(reached) != 1 || reached[0].Op() != req.Op() {
			t.Errorf("%s: %d calls reached the backend (%v)", req.Op(), len(reached), err)
		}
		if e := mounts.AsError(err); e != nil && e.Kind == mounts.Forbidden {
			t.Errorf("%s: %v", req.Op(), err)
		}
	}
}

func empty(resp mounts.Response) bool {
	switch p := resp.(type) {
	case *pagination.Page[mounts.Namespace]:
		return len(p.Items) == 0 && p.Next == "" && p.Items != nil
	case *pagination.Page[mounts.Identifier]:
		return len(p.Items) == 0 && p.Next == "" && p.Items != nil
	}
	return false
}

func TestADeniedListingOfWhatIsNotThereIsAbsent(t *testing.T) {
	s := newScene(t)
	g := s.guard(permits(existsOnly))
	req := &mounts.ListTablesRequest{Namespace: mounts.Namespace{"prod", "nowhere"}}
	_, err := g.ListTables(as(t, alice()), req)
	same(t, "a listing", err, absenceOf(t, req))
}

func TestRenamesHideEachSide(t *testing.T) {
	s := newScene(t)
	all := s.guard(AllowAll())
	fill(t, all, alice(), mounts.Namespace{"prod", "a"})
	fill(t, all, alice(), mounts.Namespace{"prod", "b"})
	fill(t, all, bob(), mounts.Namespace{"beta", "b"})
	id := func(name string, n ...string) mounts.Identifier { return mounts.Identifier{Namespace: n, Name: name} }
	own := func(q Question) bool { return ownTenant(q) }
	for _, c := range []struct {
		what     string
		permit   permits
		from, to mounts.Identifier
		want     mounts.Kind
		about    string
	}{
		{"both sides are own", own, id("orders", "prod", "a"), id("moved", "prod", "b"), 0, ""},
		{"the destination is another tenant's", own, id("moved", "prod", "b"), id("x", "beta", "b"), mounts.NoSuchNamespace, "beta.b"},
		{"the source is another tenant's", own, id("orders", "beta", "b"), id("x", "prod", "a"), mounts.NoSuchTable, "beta.b.orders"},
		{"neither is own: the source comes first", own, id("orders", "beta", "b"), id("x", "beta", "b"), mounts.NoSuchTable, "beta.b.orders"},
		{"the source is seen, the destination not", func(q Question) bool { return existsOnly(q) && q.Resource.Mount == "prod" },
			id("moved", "prod", "b"), id("x", "beta", "b"), mounts.NoSuchNamespace, "beta.b"},
		{"both are seen, neither is permitted", existsOnly, id("moved", "prod", "b"), id("x", "beta", "b"), mounts.Forbidden, "prod.b.moved"},
		{"only the source is permitted", func(q Question) bool { return existsOnly(q) || q.Action == "renameTable" },
			id("moved", "prod", "b"), id("x", "prod", "a"), mounts.Forbidden, "prod.b.moved"},
		{"only the destination is permitted", func(q Question) bool { return existsOnly(q) || q.Action == "createTable" },
			id("moved", "prod", "b"), id("x", "prod", "a"), mounts.Forbidden, "prod.b.moved"},
	} {
		s.calls.take()
		err := s.guard(c.permit).RenameTable(as(t, alice()), &mounts.RenameTableRequest{Source: c.from, Destination: c.to})
		e := mounts.AsError(err)
		if c.want == 0 {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err == nil || e.Kind != c.want || e.Ident.String() != c.about {
			t.Errorf("%s: %v", c.what, err)
		}
		if strings.Contains(e.Message(), "mount") || len(s.calls.take()) > 0 {
			t.Errorf("%s: it tells of mounts, or reached one: %v", c.what, err)
		}
	}
}

// What may be changed and not be read is not read by giving it another name.
func TestNoRenameLetsReadWhatMayNotBeRead(t *testing.T) {
	s := newScene(t)
	all := s.guard(AllowAll())
	fill(t, all, alice(), mounts.Namespace{"prod", "hr"})
	fill(t, all, alice(), mounts.Namespace{"prod", "mine"})
	id := func(name string, n ...string) mounts.Identifier { return mounts.Identifier{Namespace: n, Name: name} }
	g := s.guard(permits(func(q Question) bool {
		loads := q.Action == "loadTable" || q.Action == "loadView"
		return ownTenant(q) && !(loads && len(q.Resource.Path) > 1 && q.Resource.Path[1] == "hr")
	}))
	for _, req := range []mounts.Request{
		&mounts.RenameTableRequest{Source: id("orders", "prod", "hr"), Destination: id("x", "prod", "mine")},
		&mounts.RenameViewRequest{Source: id("recent", "prod", "hr"), Destination: id("x", "prod", "mine")},
		&mounts.UnregisterTableRequest{Table: id("orders", "prod", "hr")},
	} {
		s.calls.take()
		if _, err := mounts.Invoke(as(t, alice()), g, req); mounts.AsError(err) == nil || mounts.AsError(err).Kind != mounts.Forbidden || len(s.calls.take()) > 0 {
			t.Errorf("%T: %v", req, err)
		}
	}
	for _, req := range []mounts.Request{
		&mounts.RenameTableRequest{Source: id("orders", "prod", "hr"), Destination: id("renamed", "prod", "hr")},
		&mounts.RenameTableRequest{Source: id("orders", "prod", "mine"), Destination: id("renamed", "prod", "mine")},
		&mounts.RenameTableRequest{Source: id("renamed", "prod", "mine"), Destination: id("given", "prod", "hr")},
	} {
		if _, err := mounts.Invoke(as(t, alice()), g, req); err != nil {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

func TestATransactionNeedsEachTable(t *testing.T) {
	s := newScene(t)
	all := s.guard(AllowAll())
	fill(t, all, alice(), mounts.Namespace{"prod", "a"})
	fill(t, all, alice(), mounts.Namespace{"prod", "b"})
	fill(t, all, bob(), mounts.Namespace{"beta", "b"})
	change := func(n ...string) mounts.CommitTableRequest {
		return mounts.CommitTableRequest{Table: mounts.Identifier{Namespace: n, Name: "orders"}}
	}
	made := change("beta", "b")
	made.Requirements = append(made.Requirements, []byte(`{"type":"assert-create"}`))
	two := func(a, b mounts.CommitTableRequest) *mounts.CommitTransactionRequest {
		return &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{a, b}}
	}
	only := func(actions ...string) permits {
		return func(q Question) bool {
			return existsOnly(q) || strings.Contains(strings.Join(actions, " "), string(q.Action))
		}
	}
	for _, c := range []struct {
		what   string
		permit permits
		req    *mounts.CommitTransactionRequest
		want   mounts.Kind
		about  string
	}{
		{"the second is another's", ownTenant, two(change("prod", "a"), change("beta", "b")), mounts.NoSuchTable, "beta.b.orders"},
		{"the first is another's", ownTenant, two(change("beta", "b"), change("prod", "a")), mounts.NoSuchTable, "beta.b.orders"},
		{"the second would be made where nothing may be seen", ownTenant, two(change("prod", "a"), made), mounts.NoSuchNamespace, "beta.b"},
		{"seen, and not permitted", existsOnly, two(change("prod", "a"), change("prod", "b")), mounts.Forbidden, "prod.a.orders"},
		{"permitted, but no commits", only("commitTransaction"), two(change("prod", "a"), change("prod", "b")), mounts.Forbidden, "prod.a.orders"},
		{"commits, but none that make a table", only("commitTransaction", "commitTable"), two(change("prod", "a"), made), mounts.Forbidden, "prod.a.orders"},
		{"no change at all", ownTenant, &mounts.CommitTransactionRequest{}, mounts.BadRequest, ""},
		{"a change of nothing", ownTenant, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{}}}, mounts.BadRequest, ""},
	} {
		s.calls.take()
		err := s.guard(c.permit).CommitTransaction(as(t, alice()), c.req)
		e := mounts.AsError(err)
		if err == nil || e.Kind != c.want || e.Ident.String() != c.about || len(s.calls.take()) > 0 {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if err := s.guard(permits(ownTenant)).CommitTransaction(as(t, alice()), two(change("prod", "a"), change("prod", "b"))); err != nil {
		t.Errorf("of own tables: %v", err)
	}
}

func TestACommitThatMakesATableNeedsTheRightToMakeIt(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "a"})
	req := &mounts.CommitTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "fresh"},
		Requirements: []json.RawMessage{[]byte(`{"type":"assert-create"}`)}}
	g := s.guard(permits(func(q Question) bool { return q.Action == "commitTable" || q.Action == "namespaceExists" }))
	if _, err := g.CommitTable(as(t, alice()), req); mounts.AsError(err).Kind != mounts.Forbidden {
		t.Error(err)
	}
	g = s.guard(permits(func(q Question) bool { return q.Action == "commitTable" }))
	_, err := g.CommitTable(as(t, alice()), req)
	if e := mounts.AsError(err); e.Kind != mounts.NoSuchNamespace || e.Ident.String() != "prod.a" {
		t.Error(err)
	}
}

func TestPurgeAndOverwriteNeedMore(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "a"})
	table := mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "orders"}
	g := s.guard(permits(func(q Question) bool {
		return existsOnly(q) || q.Action == "dropTable" || q.Action == "registerTable"
	}))
	if err := g.DropTable(as(t, alice()), &mounts.DropTableRequest{Table: table, Purge: true}); mounts.AsError(err).Kind != mounts.Forbidden {
		t.Errorf("purge: %v", err)
	}
	_, err := g.RegisterTable(as(t, alice()), &mounts.RegisterTableRequest{Namespace: table.Namespace, Name: "orders", MetadataLocation: "memory://x", Overwrite: true})
	if mounts.AsError(err).Kind != mounts.Forbidden {
		t.Errorf("overwrite: %v", err)
	}
	if err := g.DropTable(as(t, alice()), &mounts.DropTableRequest{Table: table}); err != nil {
		t.Errorf("drop: %v", err)
	}
}

func TestAProbeAsksForExistenceAndTellsNothingElse(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "a"})
	g, n := s.guard(permits(existsOnly)), mounts.Namespace{"prod", "a"}
	ctx := Probe(as(t, alice()))
	if info, err := g.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: n}); err != nil || len(info.Properties) > 0 {
		t.Errorf("namespace: %v, %v", info, err)
	}
	v, err := g.LoadView(ctx, &mounts.LoadViewRequest{View: mounts.Identifier{Namespace: n, Name: "recent"}})
	if err != nil || v.Metadata != nil || v.MetadataLocation != "" {
		t.Errorf("view: %v, %v", v, err)
	}
	table, err := g.LoadTable(ctx, &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: n, Name: "orders"}, Delegation: "vended-credentials"})
	if err != nil || table.Metadata != nil {
		t.Errorf("table: %v, %v", table, err)
	}
	if err := g.DropNamespace(ctx, &mounts.DropNamespaceRequest{Namespace: n}); mounts.AsError(err).Kind != mounts.Forbidden {
		t.Errorf("a drop is no probe: %v", err)
	}
}

func TestTheRootOfTheTreeIsNothing(t *testing.T) {
	s := newScene(t)
	g := s.guard(AllowAll())
	_, err := g.LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: mounts.Identifier{Name: "t"}})
	same(t, "load", err, &mounts.Error{Kind: mounts.NoSuchTable, Op: capabilities.LoadTable, Ident: mounts.Identifier{Name: "t"}})
	if err := g.DropNamespace(as(t, alice()), &mounts.DropNamespaceRequest{}); mounts.AsError(err).Kind != mounts.BadRequest {
		t.Error(err)
	}
	if _, err := g.ListTables(as(t, alice()), &mounts.ListTablesRequest{}); mounts.AsError(err).Kind != mounts.BadRequest && mounts.AsError(err).Kind != mounts.NoSuchNamespace {
		t.Error(err)
	}
}

func TestADecisionThatFailsDenies(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), mounts.Namespace{"prod", "a"})
	s.calls.take()
	g := s.guard(broken{})
	_, err := g.LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "orders"}})
	if mounts.AsError(err).Kind != mounts.NoSuchTable {
		t.Error(err)
	}
	if _, err := g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{}); mounts.AsError(err).Kind != mounts.Internal {
		t.Errorf("a listing that cannot be filtered: %v", err)
	}
}

// broken allows, and says that it could not decide.
type broken struct{}

func (broken) Decide(context.Context, Question) Decision {
	return Decision{Allowed: true, Err: errors.New("no such attribute")}
}

func (broken) Filter(context.Context, Question, []Resource) ([]bool, error) {
	return []bool{true}, errors.New("no such attribute")
}

func (broken) Uniform(context.Context, Question, Resource, Kind) (allowed, known bool) {
	return false, false
}
