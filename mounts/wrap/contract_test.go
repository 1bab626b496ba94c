package wrap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

func fixed(resp mounts.Response) mounts.Backend {
	return Contract(scripted(func(context.Context, mounts.Request) (mounts.Response, error) { return resp, nil }))
}

func TestRightAnswersPass(t *testing.T) {
	b := Contract(answering())
	for _, req := range everyRequest(mounts.Namespace{"a"}) {
		if err := ask(b, req); err != nil {
			t.Errorf("%s: %v", req.Op(), err)
		}
	}
}

func TestNoResponseAndNoErrorIsAFault(t *testing.T) {
	for _, req := range everyRequest(mounts.Namespace{"a"}) {
		if answersNothing(req) {
			continue
		}
		typedNil := scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
			switch req.(type) {
			case *mounts.ListNamespacesRequest:
				return (*pagination.Page[mounts.Namespace])(nil), nil
			case *mounts.ListTablesRequest, *mounts.ListViewsRequest, *mounts.ListFunctionsRequest:
				return (*pagination.Page[mounts.Identifier])(nil), nil
			case *mounts.LoadNamespaceRequest, *mounts.CreateNamespaceRequest:
				return (*mounts.NamespaceInfo)(nil), nil
			case *mounts.UpdateNamespacePropertiesRequest:
				return (*mounts.UpdatedProperties)(nil), nil
			case *mounts.LoadViewRequest, *mounts.CreateViewRequest, *mounts.RegisterViewRequest, *mounts.ReplaceViewRequest:
				return (*mounts.View)(nil), nil
			case *mounts.LoadCredentialsRequest:
				return (*mounts.Credentials)(nil), nil
			case *mounts.PlanScanRequest, *mounts.FetchPlanRequest, *mounts.FetchScanTasksRequest, *mounts.SignStorageRequest, *mounts.LoadFunctionRequest:
				return (*mounts.Document)(nil), nil
			}
			return (*mounts.Table)(nil), nil
		})
		if e := is(t, ask(Contract(typedNil), req), mounts.Internal); e.OutcomeUnknown != changes(req) {
			t.Errorf("%s: %+v", req.Op(), e)
		}
	}
}

func TestATableWithoutMetadataIsNotPassedOn(t *testing.T) {
	whole := mounts.Table{MetadataLocation: "l", Metadata: metadata}
	cases := []struct {
		name string
		req  mounts.Request
		resp mounts.Table
		ok   bool
	}{
		{"load without metadata", load, mounts.Table{MetadataLocation: "l"}, false},
		{"load without location", load, mounts.Table{Metadata: metadata}, false},
		{"commit without location", commit, mounts.Table{Metadata: metadata}, false},
		{"create without location", &mounts.CreateTableRequest{Name: "t"}, mounts.Table{Metadata: metadata}, false},
		{"staged create without location", &mounts.CreateTableRequest{Name: "t", StageCreate: true}, mounts.Table{Metadata: metadata}, true},
		{"staged create without metadata", &mounts.CreateTableRequest{Name: "t", StageCreate: true}, mounts.Table{}, false},
		{"not modified when asked with a tag", &mounts.LoadTableRequest{IfNoneMatch: `"x"`}, mounts.Table{NotModified: true}, true},
		{"not modified unasked", load, mounts.Table{NotModified: true, MetadataLocation: "l", Metadata: metadata}, false},
		{"not modified after a commit", commit, mounts.Table{NotModified: true, MetadataLocation: "l", Metadata: metadata}, false},
		{"whole", load, whole, true},
		{"unregistered with its location", &mounts.UnregisterTableRequest{}, mounts.Table{MetadataLocation: "l"}, true},
	}
	for _, c := range cases {
		err := ask(fixed(&c.resp), c.req)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && mounts.AsError(err).OutcomeUnknown != changes(c.req) {
			t.Errorf("%s: outcome unknown is %v", c.name, mounts.AsError(err).OutcomeUnknown)
		}
	}
	is(t, ask(fixed(&mounts.View{Metadata: metadata}), &mounts.LoadViewRequest{}), mounts.BadGateway)
}

func TestListingsHoldOnlyWhatWasAskedFor(t *testing.T) {
	ids := func(next string, rows ...mounts.Identifier) mounts.Response {
		return &pagination.Page[mounts.Identifier]{Items: rows, Next: next}
	}
	spaces := func(rows ...mounts.Namespace) mounts.Response { return &pagination.Page[mounts.Namespace]{Items: rows} }
	in := func(levels ...string) mounts.Namespace { return levels }
	tables := &mounts.ListTablesRequest{Namespace: in("a"), Page: pagination.Request{Size: 2, Token: "here"}}
	row := mounts.Identifier{Namespace: in("a"), Name: "t"}
	cases := []struct {
		name string
		req  mounts.Request
		resp mounts.Response
		ok   bool
	}{
		{"full page", tables, ids("next", row, row), true},
		{"empty page with more to come", tables, ids("next"), true},
		{"over the size", tables, ids("", row, row, row), false},
		{"leads back to itself", tables, ids("here", row), false},
		{"another namespace", tables, ids("", mounts.Identifier{Namespace: in("b"), Name: "t"}), false},
		{"below the namespace", tables, ids("", mounts.Identifier{Namespace: in("a", "b"), Name: "t"}), false},
		{"no name", tables, ids("", mounts.Identifier{Namespace: in("a")}), false},
		{"children", &mounts.ListNamespacesRequest{Parent: in("a")}, spaces(in("a", "b"), in("a", "c")), true},
		{"the parent itself", &mounts.ListNamespacesRequest{Parent: in("a")}, spaces(in("a")), false},
		{"a grandchild", &mounts.ListNamespacesRequest{Parent: in("a")}, spaces(in("a", "b", "c")), false},
		{"another's child", &mounts.ListNamespacesRequest{Parent: in("a")}, spaces(in("b", "b")), false},
		{"an empty level", &mounts.ListNamespacesRequest{}, spaces(in("")), false},
		{"nothing", &mounts.ListNamespacesRequest{}, spaces(in()), false},
	}
	for _, c := range cases {
		err := ask(fixed(c.resp), c.req)
		if c.ok && err != nil || !c.ok && !errors.Is(err, mounts.BadGateway) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestNilCollectionsBecomeEmptyOnes(t *testing.T) {
	page, err := fixed(&pagination.Page[mounts.Identifier]{}).ListTables(t.Context(), &mounts.ListTablesRequest{})
	if err != nil || page.Items == nil {
		t.Errorf("page: %+v, %v", page, err)
	}
	info, err := fixed(&mounts.NamespaceInfo{Namespace: mounts.Namespace{"a"}}).LoadNamespace(t.Context(), &mounts.LoadNamespaceRequest{})
	if err != nil || info.Properties == nil || len(info.Namespace) != 1 {
		t.Errorf("namespace: %+v, %v", info, err)
	}
	updated, err := fixed(&mounts.UpdatedProperties{Removed: []string{"k"}}).UpdateNamespaceProperties(t.Context(), &mounts.UpdateNamespacePropertiesRequest{})
	if err != nil || updated.Updated == nil || updated.Missing == nil || len(updated.Removed) != 1 {
		t.Errorf("properties: %+v, %v", updated, err)
	}
	creds, err := fixed(&mounts.Credentials{}).LoadCredentials(t.Context(), &mounts.LoadCredentialsRequest{})
	if err != nil || creds.StorageCredentials == nil {
		t.Errorf("credentials: %+v, %v", creds, err)
	}
}

func TestAnAbsenceOfAnotherKindOfObjectIsNotPassedOn(t *testing.T) {
	for _, c := range []struct {
		req  mounts.Request
		kind mounts.Kind
		ok   bool
	}{
		{load, mounts.NoSuchTable, true},
		{load, mounts.NoSuchNamespace, false},
		{load, mounts.NoSuchView, false},
		{load, mounts.NoSuchWarehouse, false},
		{load, mounts.NoSuchRoute, false},
		{&mounts.TableExistsRequest{}, mounts.NoSuchNamespace, false},
		{&mounts.ListTablesRequest{}, mounts.NoSuchNamespace, true},
		{&mounts.ListTablesRequest{}, mounts.NoSuchTable, false},
		{&mounts.LoadNamespaceRequest{}, mounts.NoSuchNamespace, true},
		{&mounts.LoadNamespaceRequest{}, mounts.NoSuchTable, false},
		{&mounts.LoadViewRequest{}, mounts.NoSuchView, true},
		{&mounts.LoadViewRequest{}, mounts.NoSuchTable, false},
		{&mounts.CreateTableRequest{}, mounts.NoSuchNamespace, true},
		{commit, mounts.NoSuchTable, true},
		{commit, mounts.NoSuchView, false},
		{&mounts.RenameTableRequest{}, mounts.NoSuchNamespace, true},
		{&mounts.FetchPlanRequest{}, mounts.NoSuchPlan, true},
		{load, mounts.NoSuchPlan, false},
		{&mounts.LoadFunctionRequest{}, mounts.NoSuchFunction, true},
		{&mounts.LoadFunctionRequest{}, mounts.NoSuchTable, false},
		{&mounts.ListFunctionsRequest{}, mounts.NoSuchNamespace, true},
		{load, mounts.NoSuchFunction, false},
		{&mounts.FetchScanTasksRequest{}, mounts.NoSuchPlanTask, true},
	} {
		err := ask(Contract(failing(&mounts.Error{Kind: c.kind})), c.req)
		if c.ok && !errors.Is(err, c.kind) {
			t.Errorf("%s may say %v, got %v", c.req.Op(), c.kind, err)
		}
		if !c.ok && (mounts.AsError(err).Kind != mounts.Internal || mounts.AsError(err).OutcomeUnknown != changes(c.req) || errors.Is(err, c.kind)) {
			t.Errorf("%s must not say %v, got %v", c.req.Op(), c.kind, err)
		}
	}
}

func TestErrorsOfOtherTypesAreInternalAndUnknownAfterAWrite(t *testing.T) {
	for _, req := range []mounts.Request{load, drop, commit} {
		cause := errors.New("disk on fire")
		e := is(t, ask(Contract(failing(cause)), req), mounts.Internal)
		if e.OutcomeUnknown != changes(req) || !errors.Is(e, cause) || strings.Contains(e.Message(), "fire") {
			t.Errorf("%s: %+v", req.Op(), e)
		}
	}
	wrappedErr := fmt.Errorf("outer: %w", &mounts.Error{Kind: mounts.CommitConflict})
	if err := ask(Contract(failing(wrappedErr)), commit); err != wrappedErr {
		t.Errorf("a wrapped *Error became %v", err)
	}
}

func TestAReadHasNoOutcomeToBeUnknownAndARefusalNeither(t *testing.T) {
	sent := &mounts.Error{Kind: mounts.BadGateway, OutcomeUnknown: true}
	if e := is(t, ask(Contract(failing(sent)), load), mounts.BadGateway); e.OutcomeUnknown || !sent.OutcomeUnknown {
		t.Errorf("got %+v from %+v", e, sent)
	}
	contradiction := &mounts.Error{Kind: mounts.CommitConflict, OutcomeUnknown: true}
	if e := mounts.AsError(ask(Contract(failing(contradiction)), commit)); e.Kind != mounts.Internal || !e.OutcomeUnknown || errors.Is(e, mounts.CommitConflict) {
		t.Errorf("a conflict of unknown outcome passes as %+v", e)
	}
}

func TestAPanicIsAnErrorWithTheStackForTheLogOnly(t *testing.T) {
	for _, req := range []mounts.Request{load, commit} {
		b := Contract(scripted(func(context.Context, mounts.Request) (mounts.Response, error) { panic("secret detail") }))
		e := is(t, ask(b, req), mounts.Internal)
		if e.OutcomeUnknown != changes(req) || strings.Contains(e.Message(), "secret") {
			t.Errorf("%s: %+v", req.Op(), e)
		}
		if !strings.Contains(e.Err.Error(), "secret detail") || !strings.Contains(e.Err.Error(), "contract_test.go") {
			t.Errorf("the log does not see where: %v", e.Err)
		}
	}
}
