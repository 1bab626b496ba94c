package mounttest

import (
	"context"
	"errors"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// contractChecks are about what holds for every operation. The watch around the
// backend checks the same at every call of the other subtests.
func contractChecks() []check {
	return []check{
		{name: "contract/capabilities are true", run: (*suite).contractCapabilities},
		{name: "contract/errors speak of the object", run: (*suite).contractErrors},
		{name: "contract/messages of refusals", needs: of(capabilities.CreateNamespace, capabilities.CreateTable, capabilities.DropNamespace,
			capabilities.RenameTable), run: (*suite).contractMessages},
		{name: "contract/messages between tables and views", needs: of(capabilities.CreateTable, capabilities.RenameTable, capabilities.CreateView),
			run: (*suite).contractViewMessages},
		{name: "contract/cancelled reads", run: (*suite).contractCancelledReads},
		{name: "contract/cancelled writes", needs: of(capabilities.CreateNamespace, capabilities.CreateTable), run: (*suite).contractCancelledWrites},
		{name: "contract/health", run: (*suite).contractHealth},
		{name: "contract/answers are the caller's own", run: (*suite).contractOwnAnswers},
	}
}

// below is a request of Requests, moved below the suite's own namespace.
func (s *suite) below(req mounts.Request) mounts.Request {
	s.Helper()
	moved, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) { return s.ns(n...), nil })
	s.must(err)
	return moved
}

// fixture creates what Requests speak of, as far as it can.
func (s *suite) fixture() {
	s.Helper()
	s.namespace("fixture")
	s.table(s.id("orders", "fixture"))
	if s.w.Capabilities().Has(capabilities.CreateView) {
		s.view(s.id("recent", "fixture"))
	}
}

// contractCapabilities: what is not in the set is refused as unsupported; what
// is in it is never. The watch reports it; each request is sent to content that
// is there, so that no absence hides a lack of ability.
func (s *suite) contractCapabilities() {
	s.fixture()
	able := methods(s.b.Capabilities())
	for _, req := range Requests() {
		if able.Has(req.Op()) {
			continue
		}
		moved := s.below(req)
		_, err := mounts.Invoke(s.ctx, s.b, moved)
		s.want(err, moved.Object(), mounts.UnsupportedOperation)
	}
	// Reads first, so that what they need is still there.
	for _, class := range []capabilities.Class{capabilities.Read, capabilities.Commit, capabilities.Write} {
		for _, req := range Requests() {
			if able.Has(req.Op()) && req.Op().Row().Class == class {
				_, err := mounts.Invoke(s.ctx, s.b, s.below(req))
				if errors.Is(err, mounts.UnsupportedOperation) || errors.Is(err, mounts.Internal) {
					s.Errorf("%s: %v", req.Op(), err)
				}
			}
		}
	}
	if again := methods(s.b.Capabilities()); again != able {
		s.Errorf("the capabilities changed from %v to %v", able.Endpoints(), again.Endpoints())
	}
}

// contractErrors: the message of an absence names what is absent, with the
// levels joined by dots, and says nothing else.
func (s *suite) contractErrors() {
	id, n := s.id("missing", "a b"), s.ns("a b")
	_, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id})
	s.want(err, id, mounts.NoSuchTable)
	if e := mounts.AsError(err); e != nil && e.Message() != "Table does not exist: "+id.String() {
		s.Errorf("message %q", e.Message())
	}
	_, err = s.b.LoadNamespace(s.ctx, &mounts.LoadNamespaceRequest{Namespace: n})
	s.want(err, space(n), mounts.NoSuchNamespace)
	if e := mounts.AsError(err); e != nil && (!strings.Contains(e.Message(), n.String()) || !strings.Contains(e.Message(), "does not exist")) {
		s.Errorf("message %q", e.Message())
	}
}

func (s *suite) says(err error, want string) {
	s.Helper()
	var e *mounts.Error
	if !errors.As(err, &e) {
		s.Errorf("want the message %q, got %v", want, err)
	} else if !strings.Contains(e.Message(), want) {
		s.Errorf("message %q, want %q in it", e.Message(), want)
	}
}

// contractMessages: the wording that Java clients and the REST compatibility
// kit match on.
func (s *suite) contractMessages() {
	id, _ := s.fresh()
	other := s.id("returns", "shop")
	s.table(other)
	_, err := s.b.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: id.Namespace})
	s.says(err, "Namespace already exists: "+id.Namespace.String())
	s.says(s.b.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: id.Namespace}), "is not empty")
	_, err = s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()})
	s.says(err, "Table already exists: "+id.String())
	s.says(s.rename(id, other), "Cannot rename "+id.String()+" to "+other.String()+". Table already exists")
	s.says(s.rename(id, s.id("orders", "missing")), "Namespace does not exist: "+s.ns("missing").String())
}

func (s *suite) contractViewMessages() {
	table, _ := s.fresh()
	view := s.id("recent", "shop")
	s.view(view)
	_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: view.Namespace, Name: view.Name, Schema: Schema()})
	s.says(err, "View with same name already exists: "+view.String())
	s.says(s.createView(table), "Table with same name already exists: "+table.String())
	s.says(s.createView(view), "View already exists: "+view.String())
	s.says(s.rename(table, view), "Cannot rename "+table.String()+" to "+view.String()+". View already exists")
	other := s.id("other", "shop")
	s.view(other)
	if s.can(capabilities.RenameView) {
		s.says(s.renameView(view, table), "Cannot rename "+view.String()+" to "+table.String()+". Table already exists")
		s.says(s.renameView(view, other), "Cannot rename "+view.String()+" to "+other.String()+". View already exists")
		s.says(s.renameView(view, s.id("v", "missing")), "Namespace does not exist: "+s.ns("missing").String())
		s.says(s.renameView(s.id("v", "shop"), other), "View does not exist: "+s.id("v", "shop").String())
	}
	if s.can(capabilities.CommitTable) {
		staged := s.stage(s.id("staged", "shop"))
		_, err = s.b.CommitTable(s.ctx, s.finish(view, staged))
		s.says(err, "View with same name already exists: "+view.String())
	}
	if s.can(capabilities.RegisterTable) {
		_, err = s.register(view, s.doc(s.load(table).Metadata).text("location")+"/x.metadata.json", true)
		s.says(err, "View with same name already exists: "+view.String())
	}
	if s.can(capabilities.ReplaceView) {
		missing := s.id("missing", "shop")
		_, err = s.replace(missing, nil, raw(touch))
		s.says(err, "View does not exist: "+missing.String())
	}
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// lost checks the error of a call whose caller had already left.
func (s *suite) lost(req mounts.Request, err error) {
	s.Helper()
	var e *mounts.Error
	if !errors.As(err, &e) {
		s.Errorf("%s: the error is a %T, not a *mounts.Error: %v", req.Op(), err, err)
		return
	}
	switch e.Kind {
	case mounts.Timeout, mounts.Unavailable:
	default:
		s.Errorf("%s: kind %v for a caller who left: %v", req.Op(), e.Kind, err)
	}
}

// contractCancelledReads: a call that was given up is a timeout or an answer,
// never an absence, a conflict or a fault of the server.
func (s *suite) contractCancelledReads() {
	s.fixture()
	able := methods(s.b.Capabilities()).Intersect(of(capabilities.ListNamespaces, capabilities.LoadNamespace,
		capabilities.ListTables, capabilities.LoadTable, capabilities.TableExists))
	if s.w.Capabilities().Has(capabilities.CreateView) {
		able = able.Union(methods(s.b.Capabilities()).Intersect(of(capabilities.ListViews, capabilities.LoadView)))
	}
	for _, req := range Requests() {
		if !able.Has(req.Op()) {
			continue
		}
		if _, err := mounts.Invoke(cancelled(), s.b, s.below(req)); err != nil {
			s.lost(req, err)
		}
	}
}

// contractCancelledWrites: whatever a write of a caller who left answers, it
// is the truth.
func (s *suite) contractCancelledWrites() {
	id, _ := s.fresh()
	create := &mounts.CreateTableRequest{Namespace: id.Namespace, Name: "late", Schema: Schema()}
	_, err := s.b.CreateTable(cancelled(), create)
	there := s.exists(create.Object())
	if err != nil {
		s.lost(create, err)
	}
	s.truth(err, there)

	namespace := &mounts.CreateNamespaceRequest{Namespace: s.ns("late"), Properties: map[string]string{}}
	_, err = s.b.CreateNamespace(cancelled(), namespace)
	_, loaded := s.b.LoadNamespace(s.ctx, &mounts.LoadNamespaceRequest{Namespace: namespace.Namespace})
	if err != nil {
		s.lost(namespace, err)
	}
	s.truth(err, loaded == nil)

	if s.can(capabilities.CommitTable) {
		before := s.load(id)
		commit := Append(id, before.Metadata, 11)
		_, err = s.b.CommitTable(cancelled(), commit)
		if err != nil {
			s.lost(commit, err)
		}
		s.truth(err, s.load(id).MetadataLocation != before.MetadataLocation)
	}
	if s.can(capabilities.CreateView, capabilities.ReplaceView, capabilities.LoadView) {
		view := s.id("recent", "shop")
		before := s.view(view)
		replace := &mounts.ReplaceViewRequest{View: view, Updates: redefinition(view.Namespace, Schema(), spark("SELECT 1"))}
		_, err = s.b.ReplaceView(cancelled(), replace)
		if err != nil {
			s.lost(replace, err)
		}
		s.truth(err, s.loadView(view).MetadataLocation != before.MetadataLocation)
	}
}

func (s *suite) exists(id mounts.Identifier) bool {
	s.Helper()
	_, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id})
	if err != nil && !errors.Is(err, mounts.NoSuchTable) {
		s.Fatal(err)
	}
	return err == nil
}

// truth compares what a write said with what it did.
func (s *suite) truth(err error, happened bool) {
	s.Helper()
	switch {
	case err == nil && !happened:
		s.Error("reported as done, and nothing happened")
	case err != nil && happened && !errors.Is(err, mounts.ErrOutcomeUnknown):
		s.Errorf("it happened, and the error means that it did not: %v", err)
	}
}

func (s *suite) contractHealth() {
	if err := s.b.Health(s.ctx); err != nil {
		s.Errorf("an open backend is not healthy: %v", err)
	}
}

// contractOwnAnswers: what a caller does to an answer must not reach the
// catalog, metadata bytes excepted.
func (s *suite) contractOwnAnswers() {
	id, _ := s.fresh()
	info := s.loadNamespace(id.Namespace)
	info.Properties["scribble"] = "x"
	if n := len(info.Namespace); n > 0 {
		info.Namespace[n-1] = "scribble"
	}
	if again := s.loadNamespace(id.Namespace); again.Properties["scribble"] != "" || !again.Namespace.Equal(id.Namespace) {
		s.Errorf("the caller's changes reached the catalog: %+v", again)
	}
	page, err := s.b.ListTables(s.ctx, &mounts.ListTablesRequest{Namespace: s.ns("shop")})
	s.must(err)
	page.Items[0].Name, page.Items[0].Namespace[len(s.under)] = "scribble", "scribble"
	s.load(s.id("orders", "shop"))
	if got := s.tables(s.ns("shop"), 0); len(got) != 1 || got[0] != "orders" {
		s.Errorf("the caller's changes reached the listing: %q", got)
	}
	loaded := s.load(s.id("orders", "shop"))
	if loaded.Config != nil {
		loaded.Config["scribble"] = "x"
	}
	if again := s.load(s.id("orders", "shop")); again.Config["scribble"] != "" {
		s.Error("the caller's changes reached the configuration of a table")
	}
}
