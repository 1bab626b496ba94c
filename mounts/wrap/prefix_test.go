package wrap

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

func TestThePrefixIsStrippedOnTheWayDownAndRestoredOnTheWayUp(t *testing.T) {
	for _, req := range everyRequest(mounts.Namespace{"prod", "a"}) {
		var inner mounts.Request
		b := Prefix(Contract(scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			inner = req
			return right(ctx, req)
		})), "prod")
		resp, err := mounts.Invoke(t.Context(), b, req)
		if err != nil {
			t.Errorf("%s: %v", req.Op(), err)
			continue
		}
		if got := inner.Object().Namespace; !got.Equal(mounts.Namespace{"a"}) {
			t.Errorf("%s: the backend was asked about %q", req.Op(), got)
		}
		if got := req.Object().Namespace; !got.Equal(mounts.Namespace{"prod", "a"}) {
			t.Errorf("%s: the request was changed to %q", req.Op(), got)
		}
		switch r := resp.(type) {
		case *pagination.Page[mounts.Namespace]:
			if !r.Items[0].Equal(mounts.Namespace{"prod", "a", "x"}) {
				t.Errorf("%s: lists %q", req.Op(), r.Items[0])
			}
		case *pagination.Page[mounts.Identifier]:
			if r.Items[0].String() != "prod.a.t" {
				t.Errorf("%s: lists %q", req.Op(), r.Items[0])
			}
		case *mounts.NamespaceInfo:
			if !r.Namespace.Equal(mounts.Namespace{"prod", "a"}) {
				t.Errorf("%s: answers %q", req.Op(), r.Namespace)
			}
		}
	}
}

func TestErrorsNameObjectsAsTheCallerKnowsThem(t *testing.T) {
	shared := &mounts.Error{Kind: mounts.AlreadyExists, Ident: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"},
		To: mounts.Identifier{Namespace: mounts.Namespace{"b"}, Name: "u"}}
	b := Prefix(failing(shared), "prod")
	e := mounts.AsError(ask(b, &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}}))
	if e.Ident.String() != "prod.a.t" || e.To.String() != "prod.b.u" || shared.Ident.String() != "a.t" {
		t.Errorf("got %v to %v, the backend's is now %v", e.Ident, e.To, shared.Ident)
	}
}

func TestReferencingViewsOfOtherMountsAreDropped(t *testing.T) {
	view := func(levels ...string) mounts.Identifier { return mounts.Identifier{Namespace: levels, Name: "v"} }
	chain := []mounts.Identifier{view("other", "x"), view("prod", "a"), view("prod")}
	table := mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}
	for _, req := range []mounts.Request{
		&mounts.LoadTableRequest{Table: table, ReferencedBy: chain},
		&mounts.LoadViewRequest{View: table, ReferencedBy: chain},
		&mounts.LoadCredentialsRequest{Table: table, ReferencedBy: chain},
	} {
		var got []mounts.Identifier
		b := Prefix(scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			switch r := req.(type) {
			case *mounts.LoadTableRequest:
				got = r.ReferencedBy
			case *mounts.LoadViewRequest:
				got = r.ReferencedBy
			case *mounts.LoadCredentialsRequest:
				got = r.ReferencedBy
			}
			return right(ctx, req)
		}), "prod")
		if err := ask(b, req); err != nil || len(got) != 1 || got[0].String() != "a.v" || len(chain) != 3 {
			t.Errorf("%s: %v, %v", req.Op(), got, err)
		}
	}
}

func TestTheMountRootIsAnsweredHereAndHoldsNoTables(t *testing.T) {
	want := map[string]mounts.Kind{
		"createNamespace": mounts.AlreadyExists, "updateNamespaceProperties": mounts.UnsupportedOperation, "dropNamespace": mounts.UnsupportedOperation,
		"loadTable": mounts.NoSuchTable, "tableExists": mounts.NoSuchTable, "createTable": mounts.BadRequest, "registerTable": mounts.BadRequest,
		"unregisterTable": mounts.NoSuchTable, "commitTable": mounts.NoSuchTable, "commitTransaction": mounts.NoSuchTable,
		"renameTable": mounts.NoSuchTable, "dropTable": mounts.NoSuchTable, "reportMetrics": mounts.NoSuchTable,
		"loadView": mounts.NoSuchView, "createView": mounts.BadRequest, "registerView": mounts.BadRequest,
		"replaceView": mounts.NoSuchView, "renameView": mounts.NoSuchView, "dropView": mounts.NoSuchView,
		"planScan": mounts.NoSuchTable, "fetchPlan": mounts.NoSuchTable, "cancelPlan": mounts.NoSuchTable, "fetchScanTasks": mounts.NoSuchTable,
		"loadCredentials": mounts.NoSuchTable, "signRequest": mounts.NoSuchTable, "loadFunction": mounts.NoSuchFunction,
	}
	for _, req := range everyRequest(mounts.Namespace{"prod"}) {
		s := answering()
		resp, err := mounts.Invoke(t.Context(), Prefix(s, "prod"), req)
		name := req.Op().String()
		if kind, fails := want[name]; fails {
			e := is(t, err, kind)
			if !e.Ident.Equal(req.Object()) {
				t.Errorf("%s: the error is about %v", name, e.Ident)
			}
			if kind == mounts.BadRequest && (!strings.Contains(e.Message(), `mount "prod"`) || !strings.Contains(e.Message(), "prod.t")) {
				t.Errorf("%s: %s", name, e.Message())
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		switch name {
		case "listNamespaces":
			if s.calls.Load() != 1 {
				t.Errorf("the namespaces of the mount were not asked for")
			}
			continue
		case "listTables", "listViews", "listFunctions":
			if page := resp.(*pagination.Page[mounts.Identifier]); page.Items == nil || len(page.Items) != 0 || page.Next != "" {
				t.Errorf("%s: %+v", name, page)
			}
		case "loadNamespace":
			if info := resp.(*mounts.NamespaceInfo); !info.Namespace.Equal(mounts.Namespace{"prod"}) || info.Properties == nil {
				t.Errorf("%s: %+v", name, info)
			}
		}
		if s.calls.Load() != 0 {
			t.Errorf("%s reached the backend", name)
		}
	}
}

func TestNothingIsCreatedInTheMountRootByACommitOrARename(t *testing.T) {
	s := answering()
	b := Prefix(s, "prod")
	inRoot := mounts.Identifier{Namespace: mounts.Namespace{"prod"}, Name: "t"}
	inside := mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}
	create := mounts.CommitTableRequest{Table: inRoot, Requirements: []json.RawMessage{[]byte(`{"type":"assert-create"}`)}}
	for _, req := range []mounts.Request{
		&create, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: inside}, create}},
		&mounts.RenameTableRequest{Source: inside, Destination: inRoot}, &mounts.RenameViewRequest{Source: inside, Destination: inRoot},
	} {
		if e := is(t, ask(b, req), mounts.BadRequest); s.calls.Load() != 0 || !strings.Contains(e.Message(), "prod.t cannot be made") {
			t.Errorf("%s: %s", req.Op(), e.Message())
		}
	}
}

func TestWhatCrossesTheMountIsRefusedAndNothingIsSent(t *testing.T) {
	s := answering()
	b := Prefix(s, "prod")
	inside := mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}
	outside := mounts.Identifier{Namespace: mounts.Namespace{"other", "a"}, Name: "t"}
	for _, req := range []mounts.Request{
		&mounts.RenameTableRequest{Source: inside, Destination: outside},
		&mounts.RenameViewRequest{Source: inside, Destination: outside},
		&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: inside}, {Table: outside}}},
	} {
		is(t, ask(b, req), mounts.UnsupportedOperation)
	}
	err := ask(b, &mounts.LoadTableRequest{Table: outside})
	if !errors.Is(err, mounts.Internal) || s.calls.Load() != 0 {
		t.Errorf("a table of another mount: %v after %d calls", err, s.calls.Load())
	}
}

func TestRowsShareNoMemoryThatAnAppendCouldReach(t *testing.T) {
	b := Prefix(scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		n := req.Object().Namespace
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{{Namespace: n, Name: "x"}, {Namespace: n, Name: "y"}}}, nil
	}), "prod")
	// As many levels as make a copy with room to spare.
	asked := append(make(mounts.Namespace, 0, 32), "prod")
	for len(asked) < 17 {
		asked = append(asked, "a")
	}
	page, err := b.ListTables(t.Context(), &mounts.ListTablesRequest{Namespace: asked})
	if err != nil {
		t.Fatal(err)
	}
	first, second := append(page.Items[0].Namespace, "first"), append(page.Items[1].Namespace, "second")
	if first[17] != "first" || second[17] != "second" || asked[:18][17] != "" {
		t.Errorf("%v, %v, %v", first, second, asked[:18])
	}
}
