package federate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/wrap"
)

func TestCapabilitiesAreTheIntersectionAndNeverBelowTheFloor(t *testing.T) {
	has := func(set capabilities.Set) mounts.Backend {
		return mounts.Dispatch(nil, fixed{set: set})
	}
	for _, c := range []struct{ a, b, want capabilities.Set }{
		{capabilities.All(), capabilities.Default(), capabilities.Default().Emulated()},
		{capabilities.All(), capabilities.Reads(), capabilities.Reads()},
		{capabilities.Of(capabilities.LoadTable), 0, capabilities.Floor()},
	} {
		table, err := mounts.NewMap(mounts.Mount{Name: "a", Tree: has(c.a)}, mounts.Mount{Name: "/", ViewName: "root", Tree: has(c.b)})
		if err != nil {
			t.Fatal(err)
		}
		if got := New(table, ring(t, "a", "/"), Options{}).Capabilities(); got != c.want.Union(capabilities.Floor()) {
			t.Errorf("got %v", got.Endpoints())
		}
	}
}

type fixed struct {
	mounts.Unsupported
	set  capabilities.Set
	keys time.Duration
}

func (f fixed) KeyLifetime() time.Duration { return f.keys }

func (f fixed) Capabilities() capabilities.Set { return f.set }

// The tree promises no more than the weakest mount that can change something.
func TestKeysAreHonouredAsLongAsByEveryWritableMount(t *testing.T) {
	reads := capabilities.Reads().Union(capabilities.Of(capabilities.ReportMetrics))
	for name, c := range map[string]struct {
		mounts []fixed
		want   time.Duration
	}{
		"the shortest":                    {[]fixed{{set: capabilities.All(), keys: time.Hour}, {set: capabilities.All(), keys: time.Minute}}, time.Minute},
		"one that honours none":           {[]fixed{{set: capabilities.All(), keys: time.Hour}, {set: capabilities.All()}}, 0},
		"one that does, after it":         {[]fixed{{set: capabilities.All()}, {set: capabilities.All(), keys: time.Hour}}, 0},
		"a mount that only reads":         {[]fixed{{set: reads}, {set: capabilities.All(), keys: time.Hour}}, time.Hour},
		"its own lifetime does not count": {[]fixed{{set: reads, keys: time.Second}, {set: capabilities.All(), keys: time.Hour}}, time.Hour},
		"one that can only drop":          {[]fixed{{set: capabilities.Of(capabilities.DropView)}, {set: capabilities.All(), keys: time.Hour}}, 0},
		"only mounts that read":           {[]fixed{{set: reads, keys: time.Hour}}, 0},
	} {
		var rows []mounts.Mount
		var names []string
		for i, m := range c.mounts {
			names = append(names, fmt.Sprint("m", i))
			rows = append(rows, mounts.Mount{Name: names[i], Tree: mounts.Dispatch(nil, m)})
		}
		table, err := mounts.NewMap(rows...)
		if err != nil {
			t.Fatal(err)
		}
		if got := New(table, ring(t, names...), Options{}).KeyLifetime(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAMountThatWouldHideANamespaceIsRefused(t *testing.T) {
	s := newScene(t)
	ctx := context.Background()
	if err := CheckShadows(ctx, s.table); err != nil {
		t.Fatalf("nothing is hidden yet: %v", err)
	}
	create(t, s.under, "prod") // behind the tree's back, as another writer would
	err := CheckShadows(ctx, s.table)
	if err == nil || !strings.Contains(err.Error(), `mount "prod"`) || strings.Contains(err.Error(), "partner") {
		t.Errorf("got %v", err)
	}
	if got := walk(t, s.tree, 1); !slices.Equal(sorted(got), []string{"partner", "prod"}) {
		t.Errorf("a hidden namespace makes the root list %q", got)
	}
	view := Underneath(s.under, s.table)
	if _, err := view.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"partner"}}); !errors.Is(err, mounts.AlreadyExists) {
		t.Errorf("the catalog underneath creates a hidden namespace: %v", err)
	}
	create(t, view, "free")

	unreachable := mounts.Dispatch(func(context.Context, mounts.Request) (mounts.Response, error) {
		return nil, &mounts.Error{Kind: mounts.Unavailable}
	}, mounts.Unsupported{})
	for _, required := range []bool{true, false} {
		table, err := mounts.NewMap(mounts.Mount{Name: "prod"}, mounts.Mount{Name: "/", ViewName: "root", Tree: unreachable, Required: required})
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckShadows(ctx, table); (err != nil) != required {
			t.Errorf("required = %v, and the check says %v", required, err)
		}
	}
}

func TestWithoutACatalogUnderneathUnclaimedNamesAreAbsent(t *testing.T) {
	ctx := context.Background()
	m := memory.New(memory.Options{})
	table1, err := mounts.NewMap(mounts.Mount{Name: "prod", Tree: wrap.Prefix(m, "prod")})
	if err != nil {
		t.Fatal(err)
	}
	tree := New(table1, ring(t, "prod"), Options{})
	for what, c := range map[string]struct {
		err  error
		kind mounts.Kind
	}{
		"load":         {third(tree.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{"x"}})), mounts.NoSuchNamespace},
		"list":         {third(tree.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Parent: mounts.Namespace{"x"}})), mounts.NoSuchNamespace},
		"list tables":  {third(tree.ListTables(ctx, &mounts.ListTablesRequest{Namespace: mounts.Namespace{"x"}})), mounts.NoSuchNamespace},
		"load table":   {third(tree.LoadTable(ctx, &mounts.LoadTableRequest{Table: table("x", "t")})), mounts.NoSuchTable},
		"create table": {createTable(t, tree, "t", "x"), mounts.NoSuchNamespace},
		"create":       {third(tree.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"x"}})), mounts.UnsupportedOperation},
		"create child": {third(tree.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"x", "y"}})), mounts.NoSuchNamespace},
		"no name":      {third(tree.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{})), mounts.BadRequest},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v", what, c.err)
		}
	}
	if got := walk(t, tree, 1); !slices.Equal(got, []string{"prod"}) {
		t.Errorf("the root lists %q", got)
	}
}

func TestReferencingViewsOfOtherMountsAreNotPassedOn(t *testing.T) {
	var seen []mounts.Identifier
	record := mounts.Dispatch(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		seen = req.(*mounts.LoadTableRequest).ReferencedBy
		return &mounts.Table{}, nil
	}, mounts.Unsupported{})
	m, err := mounts.NewMap(mounts.Mount{Name: "prod", Tree: record}, mounts.Mount{Name: "/", ViewName: "root", Tree: record})
	if err != nil {
		t.Fatal(err)
	}
	tree := New(m, ring(t, "prod", "/"), Options{})
	chain := []mounts.Identifier{table("prod", "a", "v"), table("scratch", "v"), table("prod", "v")}
	for ns, want := range map[string]mounts.Identifier{"prod": chain[0], "scratch": chain[1]} {
		if _, err := tree.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: table(ns, "b", "t"), ReferencedBy: chain}); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 1 || !seen[0].Equal(want) {
			t.Errorf("%s was told of %v", ns, seen)
		}
	}
}
