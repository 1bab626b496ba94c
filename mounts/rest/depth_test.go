package rest_test

import (
	"context"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/pagination"
)

var deep = mounts.Namespace{"shared", "orders"}

// deepReads are reads of what lies too deep for a remote of one level, with the
// kind of its absence.
func deepReads() map[mounts.Request]mounts.Kind {
	id := mounts.Identifier{Namespace: deep, Name: "files"}
	return map[mounts.Request]mounts.Kind{
		&mounts.LoadTableRequest{Table: id}:           mounts.NoSuchTable,
		&mounts.TableExistsRequest{Table: id}:         mounts.NoSuchTable,
		&mounts.LoadViewRequest{View: id}:             mounts.NoSuchView,
		&mounts.LoadNamespaceRequest{Namespace: deep}: mounts.NoSuchNamespace,
		&mounts.ListTablesRequest{Namespace: deep}:    mounts.NoSuchNamespace,
		&mounts.ListViewsRequest{Namespace: deep}:     mounts.NoSuchNamespace,
		&mounts.ListNamespacesRequest{Parent: deep}:   mounts.NoSuchNamespace,
	}
}

func oneLevel(c *rest.Config) { c.Profile.Levels = 1 }

func children(b mounts.Backend, n mounts.Namespace) (*pagination.Page[mounts.Namespace], error) {
	return b.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{Parent: n})
}

func TestNothingIsSentForWhatIsTooDeepToExist(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) {
		q.OneLevel, q.NoEndpoints, q.Defaults = 400, true, map[string]string{"view-endpoints-supported": "true"}
	})
	b := open(t, srv, oneLevel, func(c *rest.Config) { c.Writable = true })
	for req, kind := range deepReads() {
		if e := wantKind(t, invoke(b, req), kind); !e.Ident.Equal(req.Object()) || e.Msg != "" {
			t.Errorf("%s: %+v", req.Op(), e)
		}
	}
	id := mounts.Identifier{Namespace: deep, Name: "t"}
	bottom := mounts.Namespace{"shared", "a", "b"}
	for name, c := range map[string]struct {
		req   mounts.Request
		kind  mounts.Kind
		about mounts.Identifier
	}{
		"create a child":        {&mounts.CreateNamespaceRequest{Namespace: deep}, mounts.BadRequest, mounts.Identifier{Namespace: deep}},
		"create a grandchild":   {&mounts.CreateNamespaceRequest{Namespace: bottom}, mounts.NoSuchNamespace, mounts.Identifier{Namespace: bottom.Parent()}},
		"drop a child":          {&mounts.DropNamespaceRequest{Namespace: deep}, mounts.NoSuchNamespace, mounts.Identifier{Namespace: deep}},
		"properties of a child": {&mounts.UpdateNamespacePropertiesRequest{Namespace: deep}, mounts.NoSuchNamespace, mounts.Identifier{Namespace: deep}},
		"create a table":        {&mounts.CreateTableRequest{Namespace: deep, Name: "t"}, mounts.NoSuchNamespace, mounts.Identifier{Namespace: deep}},
		"commit":                {&mounts.CommitTableRequest{Table: id}, mounts.NoSuchTable, id},
		"drop a table":          {&mounts.DropTableRequest{Table: id}, mounts.NoSuchTable, id},
		"rename from":           {&mounts.RenameTableRequest{Source: id, Destination: orders}, mounts.NoSuchTable, id},
		"rename to":             {&mounts.RenameTableRequest{Source: orders, Destination: id}, mounts.NoSuchNamespace, mounts.Identifier{Namespace: deep}},
		"transaction":           {&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: orders}, {Table: id}}}, mounts.NoSuchTable, id},
	} {
		if e := wantKind(t, invoke(b, c.req), c.kind); !e.Ident.Equal(c.about) || e.OutcomeUnknown {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if n := srv.Count(remote.AnyOp); n != 0 {
		t.Errorf("%d calls were made: %+v", n, srv.Requests())
	}
}

func TestChildrenOfAOneLevelNamespaceAreAnEmptyListing(t *testing.T) {
	for name, tune := range map[string]func(*rest.Config){"by profile": oneLevel, "learnt": func(*rest.Config) {}} {
		srv := serve(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.OneLevel = 400 })
		b := open(t, srv, tune)
		for range 2 {
			if page, err := children(b, shared); err != nil || page.Items == nil || len(page.Items) != 0 || page.Next != "" {
				t.Errorf("%s: %+v, %v", name, page, err)
			}
		}
		_, err := children(b, mounts.Namespace{"absent"})
		if e := wantKind(t, err, mounts.NoSuchNamespace); !e.Ident.Namespace.Equal(mounts.Namespace{"absent"}) || e.Op.String() != "listNamespaces" {
			t.Errorf("%s: %+v", name, e)
		}
		if page, err := children(b, nil); err != nil || len(page.Items) != 1 {
			t.Errorf("%s: the root: %+v, %v", name, page, err)
		}
		srv.Fail("loadNamespace", remote.Fault{Status: 500})
		_, err = children(b, shared)
		wantKind(t, err, mounts.BadGateway) // an error is no empty listing
	}
}

func TestARemoteThatSaysItDoesNotNestIsBelieved(t *testing.T) {
	for req, kind := range deepReads() {
		srv := serve(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.OneLevel = 400 })
		b := open(t, srv)
		if e := wantKind(t, invoke(b, req), kind); !e.Ident.Equal(req.Object()) {
			t.Errorf("%s: %+v", req.Op(), e)
		}
		srv.Forget()
		for again, kind := range deepReads() {
			wantKind(t, invoke(b, again), kind)
		}
		// The listing of children of a name of two levels teaches that there are
		// two at most: names of two are still asked for.
		if n := srv.Count(remote.AnyOp); n != 0 && req.Op().String() != "listNamespaces" {
			t.Errorf("after %s, %d calls for what cannot exist", req.Op(), n)
		}
		if err := invoke(b, reads()["loadTable"]); err != nil {
			t.Error(err)
		}
	}
}

// TestOnlyAPlainStatementAboutNestingIsAnAbsence has answers to reads of deep
// names that are errors, and must stay errors.
func TestOnlyAPlainStatementAboutNestingIsAnAbsence(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	for name, c := range map[string]struct {
		fault  remote.Fault
		absent bool
	}{
		"nested namespaces":        {remote.Fault{Status: 400, Message: "Nested namespaces are not supported"}, true},
		"hierarchical":             {remote.Fault{Status: 400, Message: "hierarchical namespace is not supported"}, true},
		"multi-level":              {remote.Fault{Status: 400, Message: "Multi-level namespaces are not supported: shared.orders"}, true},
		"a single level":           {remote.Fault{Status: 400, Type: "InvalidInputException", Message: "Namespace must be a single level"}, true},
		"more than one level":      {remote.Fault{Status: 400, Message: "Cannot have more than 1 level in a namespace"}, true},
		"unsupported depth":        {remote.Fault{Status: 400, Message: "Unsupported namespace depth 2"}, true},
		"a name it does not like":  {remote.Fault{Status: 400, Message: "Invalid namespace name: shared.orders"}, false},
		"a rate":                   {remote.Fault{Status: 400, Message: "Rate exceeded"}, false},
		"a malformed request":      {remote.Fault{Status: 400, Message: "Malformed request"}, false},
		"nesting of JSON, as page": {remote.Fault{Status: 400, HTML: true}, false},
		"another shape":            {remote.Fault{Status: 400, Body: []byte(`{"message":"nested namespaces are not supported"}`)}, false},
		"a server's error":         {remote.Fault{Status: 500, Message: "Nested namespaces are not supported"}, false},
		"a refusal":                {remote.Fault{Status: 403, Message: "Nested namespaces are not allowed"}, false},
	} {
		srv.Fail(remote.AnyOp, c.fault)
		load := &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{"shared", "orders", "x"}}
		invoke(b, load) // what it learns shows in the next answer
		err := invoke(b, load)
		if got := mounts.AsError(err).Kind == mounts.NoSuchNamespace; got != c.absent {
			t.Errorf("%s: %v", name, err)
		}
		// The same words about a name of one level are no absence.
		if err := invoke(b, reads()["loadTable"]); mounts.AsError(err).Kind == mounts.NoSuchTable {
			t.Errorf("%s, one level: %v", name, err)
		}
		b = open(t, srv) // forget what it learnt
	}
	if err := invoke(open(t, srv, func(c *rest.Config) { c.Writable = true }), &mounts.DropTableRequest{Table: mounts.Identifier{Namespace: deep, Name: "t"}}); mounts.AsError(err).Kind == mounts.NoSuchTable {
		t.Errorf("a change: %v", err)
	}
}

func TestARemoteThatLearnsToNestIsBelievedAgain(t *testing.T) {
	srv, calls := serve(t, remote.Options{}), make(asked, 1)
	srv.AddTable(deep, "files")
	srv.Tune(func(q *remote.Quirks) { q.OneLevel = 400 })
	b := open(t, srv, eager(calls))
	load := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: deep, Name: "files"}}
	wantKind(t, invoke(b, load), mounts.NoSuchTable)
	srv.Tune(func(q *remote.Quirks) { q.OneLevel = 0 })
	calls.until(t, "the table is there", func() bool { return invoke(b, load) == nil })
}

func TestHEADIsNotSentWhereItIsNotHad(t *testing.T) {
	for name, c := range map[string]struct {
		tune  func(*remote.Quirks)
		with  func(*rest.Config)
		heads int
	}{
		"offered":           {func(*remote.Quirks) {}, func(*rest.Config) {}, 3},
		"not offered":       {func(q *remote.Quirks) { q.NoEndpoints = true }, func(*rest.Config) {}, 0},
		"not by profile":    {func(*remote.Quirks) {}, func(c *rest.Config) { c.Profile.NoHEAD = true }, 0},
		"offered, not had":  {func(q *remote.Quirks) { q.NoHEAD = true }, func(*rest.Config) {}, 1},
		"offered, a 501 it": {func(q *remote.Quirks) { q.HEADStatus = 501 }, func(*rest.Config) {}, 1},
	} {
		srv := serve(t, remote.Options{})
		srv.Tune(c.tune)
		b := open(t, srv, c.with)
		for range 3 {
			if err := invoke(b, reads()["tableExists"]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		heads := 0
		for _, r := range srv.Requests() {
			if r.Method == "HEAD" {
				heads++
			}
		}
		if heads != c.heads {
			t.Errorf("%s: %d HEADs, want %d", name, heads, c.heads)
		}
	}
}
