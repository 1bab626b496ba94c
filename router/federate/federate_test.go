package federate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

func sorted(in []string) []string { out := slices.Clone(in); slices.Sort(out); return out }

func TestEveryPageSizeListsTheRootAndEachMountExactlyOnce(t *testing.T) {
	s := newScene(t)
	want := []string{"prod", "partner"}
	for _, n := range names {
		create(t, s.under, n)
		create(t, s.prod, n)
		create(t, s.partner, n)
		want = append(want, n)
	}
	for size := range 8 {
		if got := walk(t, s.tree, size); !slices.Equal(sorted(got), sorted(want)) {
			t.Errorf("size %d lists the root as %q", size, got)
		}
		for _, mount := range []string{"prod", "partner"} {
			var inside []string
			for _, n := range names {
				inside = append(inside, mount+"\x1f"+n)
			}
			if got := walk(t, s.tree, size, mount); !slices.Equal(sorted(got), sorted(inside)) {
				t.Errorf("size %d lists %s as %q", size, mount, got)
			}
		}
	}
}

func TestEachPageCostsOneCallAndTheMountsNamesNone(t *testing.T) {
	s := newScene(t)
	for _, n := range names {
		create(t, s.under, n)
	}
	s.calls.take()
	walk(t, s.tree, 0)
	if got := s.calls.take(); len(got) != 1 || got["/ listNamespaces"] == 0 {
		t.Errorf("a walk of the root called %v", got)
	}
	walk(t, s.tree, 2) // the mounts fill the first page; 11 names underneath make 6 more
	if got := s.calls.take(); len(got) != 1 || got["/ listNamespaces"] != 6 {
		t.Errorf("a walk of the root by two called %v", got)
	}
}

func TestForeignAndAlteredTokensRestartTheListing(t *testing.T) {
	s := newScene(t)
	for _, n := range names {
		create(t, s.under, n)
		create(t, s.prod, n)
		create(t, s.partner, n)
	}
	first := func(b mounts.Backend, token string, parent ...string) *pagination.Page[mounts.Namespace] {
		page, err := b.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{Parent: parent,
			Page: pagination.Request{Token: token, Size: 3}})
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	root, prod, partner := first(s.tree, ""), first(s.tree, "", "prod"), first(s.tree, "", "partner")
	for what, token := range map[string]string{"garbage": "garbage", "altered": root.Next[:len(root.Next)-1] + "!", "prod's": prod.Next} {
		if got := first(s.tree, token); !slices.EqualFunc(got.Items, root.Items, mounts.Namespace.Equal) {
			t.Errorf("with a token that is %s the root goes on at %v", what, got.Items)
		}
	}
	for what, token := range map[string]string{"garbage": "garbage", "the root's": root.Next, "partner's": partner.Next} {
		if got := first(s.tree, token, "prod"); !slices.EqualFunc(got.Items, prod.Items, mounts.Namespace.Equal) {
			t.Errorf("with a token that is %s prod goes on at %v", what, got.Items)
		}
	}
	if got := first(s.tree, prod.Next, "prod"); got.Items[0].Equal(prod.Items[0]) {
		t.Error("prod's own token restarts the listing")
	}
	other := New(s.table, ring(t, "prod", "partner", "/"), Options{Name: "another tree"})
	if got := first(other, root.Next); !slices.EqualFunc(got.Items, root.Items, mounts.Namespace.Equal) {
		t.Errorf("the token of another tree goes on at %v", got.Items)
	}
	replica := New(s.table, ring(t, "prod", "partner", "/"), Options{Name: "icefield"})
	if got := first(replica, root.Next); got.Items[0].Equal(root.Items[0]) {
		t.Error("a replica does not understand the token")
	}
}

func TestAFailingSourceFailsThePageAndIsNeverAnEmptyList(t *testing.T) {
	down := mounts.Dispatch(func(context.Context, mounts.Request) (mounts.Response, error) {
		return nil, &mounts.Error{Kind: mounts.Timeout}
	}, mounts.Unsupported{})
	table, err := mounts.NewMap(mounts.Mount{Name: "prod", Tree: down}, mounts.Mount{Name: "/", ViewName: "root", Tree: down})
	if err != nil {
		t.Fatal(err)
	}
	tree := New(table, ring(t, "prod", "/"), Options{Name: "icefield"})
	for _, parent := range []mounts.Namespace{nil, {"prod"}, {"other"}} {
		if _, err := tree.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{Parent: parent}); !errors.Is(err, mounts.Timeout) {
			t.Errorf("listing %v: %v", parent, err)
		}
	}
}

func TestCallsReachOnlyTheMountThatTheFirstLevelNames(t *testing.T) {
	s := newScene(t)
	create(t, s.tree, "prod", "a")
	create(t, s.tree, "partner", "a")
	create(t, s.tree, "scratch")
	if err := createTable(t, s.tree, "orders", "prod", "a"); err != nil {
		t.Fatal(err)
	}
	for b, want := range map[mounts.Backend]bool{s.prod: true, s.partner: false} {
		err := b.TableExists(context.Background(), &mounts.TableExistsRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "orders"}})
		if (err == nil) != want {
			t.Errorf("the table is where it should not be, or is not where it should: %v", err)
		}
	}
	page, err := s.tree.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: mounts.Namespace{"prod", "a"}})
	if err != nil || len(page.Items) != 1 || page.Items[0].String() != "prod.a.orders" {
		t.Errorf("listed as %v, %v", page, err)
	}
	_, err = s.tree.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"partner", "a"}, Name: "orders"}})
	if got := mounts.AsError(err); got == nil || got.Kind != mounts.NoSuchTable || got.Message() != "Table does not exist: partner.a.orders" {
		t.Errorf("got %v", err)
	}
}

func table(levels ...string) mounts.Identifier {
	return mounts.Identifier{Namespace: levels[:len(levels)-1], Name: levels[len(levels)-1]}
}

func TestAMountRootHoldsNamespacesAndNoTables(t *testing.T) {
	s := newScene(t)
	ctx := context.Background()
	if info, err := s.tree.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{"prod"}}); err != nil || info.Properties == nil {
		t.Errorf("a mount root cannot be loaded: %v, %v", info, err)
	}
	for _, list := range []func() (*pagination.Page[mounts.Identifier], error){
		func() (*pagination.Page[mounts.Identifier], error) {
			return s.tree.ListTables(ctx, &mounts.ListTablesRequest{Namespace: mounts.Namespace{"prod"}})
		},
		func() (*pagination.Page[mounts.Identifier], error) {
			return s.tree.ListViews(ctx, &mounts.ListViewsRequest{Namespace: mounts.Namespace{"prod"}})
		},
	} {
		if page, err := list(); err != nil || page.Items == nil || len(page.Items) != 0 || page.Next != "" {
			t.Errorf("a mount root lists %v, %v", page, err)
		}
	}
	create(t, s.tree, "prod", "a")
	if err := createTable(t, s.tree, "orders", "prod", "a"); err != nil {
		t.Fatal(err)
	}
	s.calls.take()
	creating := []json.RawMessage{[]byte(`{"type":"assert-create"}`)}
	refusals := map[string]struct {
		err  error
		kind mounts.Kind
		says string
	}{
		"create it":          {third(s.tree.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"prod"}})), mounts.AlreadyExists, "prod"},
		"drop it":            {s.tree.DropNamespace(ctx, &mounts.DropNamespaceRequest{Namespace: mounts.Namespace{"prod"}}), mounts.UnsupportedOperation, "prod is a mount"},
		"set properties":     {third(s.tree.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"prod"}})), mounts.UnsupportedOperation, "prod is a mount"},
		"create a table":     {createTable(t, s.tree, "orders", "prod"), mounts.BadRequest, `prod.orders cannot be made: the mount "prod" holds namespaces`},
		"register one":       {third(s.tree.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"prod"}, Name: "x"})), mounts.BadRequest, "prod.x"},
		"create a view":      {third(s.tree.CreateView(ctx, &mounts.CreateViewRequest{Namespace: mounts.Namespace{"prod"}, Name: "x"})), mounts.BadRequest, "prod.x"},
		"rename into it":     {s.tree.RenameTable(ctx, &mounts.RenameTableRequest{Source: table("prod", "a", "orders"), Destination: table("prod", "x")}), mounts.BadRequest, "prod.x"},
		"load a table":       {third(s.tree.LoadTable(ctx, &mounts.LoadTableRequest{Table: table("prod", "orders")})), mounts.NoSuchTable, "prod.orders"},
		"exists":             {s.tree.TableExists(ctx, &mounts.TableExistsRequest{Table: table("prod", "orders")}), mounts.NoSuchTable, "prod.orders"},
		"load a view":        {third(s.tree.LoadView(ctx, &mounts.LoadViewRequest{View: table("prod", "v")})), mounts.NoSuchView, "prod.v"},
		"drop a table":       {s.tree.DropTable(ctx, &mounts.DropTableRequest{Table: table("prod", "orders")}), mounts.NoSuchTable, "prod.orders"},
		"commit to one":      {third(s.tree.CommitTable(ctx, &mounts.CommitTableRequest{Table: table("prod", "orders")})), mounts.NoSuchTable, "prod.orders"},
		"create by a commit": {third(s.tree.CommitTable(ctx, &mounts.CommitTableRequest{Table: table("prod", "orders"), Requirements: creating})), mounts.BadRequest, `prod.orders cannot be made: the mount "prod" holds namespaces`},
		"create in a transaction": {s.tree.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{
			{Table: table("prod", "a", "orders")}, {Table: table("prod", "orders"), Requirements: creating}}}), mounts.BadRequest, `prod.orders cannot be made: the mount "prod" holds namespaces`},
		"change in a transaction": {s.tree.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: table("prod", "orders")}}}), mounts.NoSuchTable, "prod.orders"},
		"rename from it":          {s.tree.RenameTable(ctx, &mounts.RenameTableRequest{Source: table("prod", "x"), Destination: table("prod", "a", "x")}), mounts.NoSuchTable, "prod.x"},
		"without a table":         {third(s.tree.LoadTable(ctx, &mounts.LoadTableRequest{Table: mounts.Identifier{Name: "nyc"}})), mounts.NoSuchTable, "nyc"},
	}
	for what, r := range refusals {
		got := mounts.AsError(r.err)
		if got == nil || got.Kind != r.kind || !strings.Contains(got.Message(), r.says) {
			t.Errorf("%s: %v", what, r.err)
		}
	}
	if got := s.calls.take(); len(got) != 0 {
		t.Errorf("the mounts were asked: %v", got)
	}
}

func third[T any](_ T, err error) error { return err }

func TestRenamesAndTransactionsDoNotCrossMountsAndTouchNeitherSide(t *testing.T) {
	s := newScene(t)
	ctx := context.Background()
	for _, ns := range [][]string{{"prod", "a"}, {"partner", "a"}, {"scratch"}} {
		create(t, s.tree, ns...)
		if err := createTable(t, s.tree, "orders", ns...); err != nil {
			t.Fatal(err)
		}
	}
	s.calls.take()
	pairs := [][2]mounts.Identifier{
		{table("prod", "a", "orders"), table("partner", "a", "moved")},
		{table("prod", "a", "orders"), table("scratch", "moved")},
		{table("scratch", "orders"), table("partner", "a", "moved")},
	}
	for _, p := range pairs {
		for what, err := range map[string]error{
			"rename":      s.tree.RenameTable(ctx, &mounts.RenameTableRequest{Source: p[0], Destination: p[1]}),
			"rename view": s.tree.RenameView(ctx, &mounts.RenameViewRequest{Source: p[0], Destination: p[1]}),
			"transaction": s.tree.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: p[0]}, {Table: p[1]}}}),
		} {
			got := mounts.AsError(err)
			if got == nil || got.Kind != mounts.UnsupportedOperation {
				t.Fatalf("%s %v -> %v: %v", what, p[0], p[1], err)
			}
			for _, side := range p {
				name := s.table.Resolve(side.Namespace).ViewName
				if !strings.Contains(got.Message(), side.String()) || !strings.Contains(got.Message(), name) {
					t.Errorf("%s: %q does not name %v in %s", what, got.Message(), side, name)
				}
			}
		}
	}
	if got := s.calls.take(); len(got) != 0 {
		t.Errorf("a side was touched: %v", got)
	}
	if err := s.tree.RenameTable(ctx, &mounts.RenameTableRequest{Source: table("prod", "a", "orders"), Destination: table("prod", "a", "renamed")}); err != nil {
		t.Errorf("a rename within a mount: %v", err)
	}
	if err := s.tree.CommitTransaction(ctx, &mounts.CommitTransactionRequest{}); !errors.Is(err, mounts.BadRequest) {
		t.Errorf("an empty transaction: %v", err)
	}
	if err := s.tree.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{}}}); !errors.Is(err, mounts.BadRequest) {
		t.Errorf("a transaction without a table: %v", err)
	}
}
