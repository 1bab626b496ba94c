package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/cedar"
)

// sevenOf permits one user to see seven of ten thousand namespaces, beside what
// is built in, and to list the mount.
func sevenOf(t testing.TB) *cedar.Set {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, `permit (principal == Icefield::User::"corp/alice", action == Icefield::Action::"listNamespaces", resource == Icefield::Mount::"prod");`)
	for i := range 7 {
		fmt.Fprintf(&text, "permit (principal == Icefield::User::\"corp/alice\", action, resource == Icefield::Namespace::\"prod/n%05d\");\n", 1400*i+3)
	}
	file := filepath.Join(t.TempDir(), "policies.cedar")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := cedar.Load(cedar.Source{Files: []string{file}, Builtin: true})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func guarded(t testing.TB, namespaces int, a policy.Authorizer) *policy.Guard {
	t.Helper()
	b := memory.New(memory.Options{Files: map[string]json.RawMessage{}})
	for i := range namespaces {
		if _, err := b.CreateNamespace(t.Context(), &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{fmt.Sprintf("n%05d", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	table, err := mounts.NewMap(mounts.Mount{Name: "prod", Owner: "acme", Tree: b, View: b})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := pagination.NewKeyring([]byte("a secret of tests"), map[string][]byte{policy.GuardSource: nil})
	if err != nil {
		t.Fatal(err)
	}
	return policy.NewGuard(b, policy.GuardOptions{Catalog: "prod", Places: policy.InMount(table, table.Mounted("prod")), Authorizer: a, Ring: ring})
}

func caller(t testing.TB, roles ...string) context.Context {
	return policy.WithPrincipal(t.Context(), &policy.Principal{ID: "corp/alice", Name: "alice", Tenant: "acme", Login: "oidc", Roles: roles}, policy.Client{})
}

func TestSevenOfTenThousandByTheRulesOfCedar(t *testing.T) {
	g := guarded(t, 10_000, sevenOf(t))
	var rows []string
	for token, pages := "", 1; ; pages++ {
		page, err := g.ListNamespaces(caller(t), &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 3, Token: token}})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) != 3 && page.Next != "" {
			t.Errorf("page %d holds %d rows", pages, len(page.Items))
		}
		for _, n := range page.Items {
			rows = append(rows, n.String())
		}
		if token = page.Next; token == "" {
			break
		}
	}
	if want := []string{"n00003", "n01403", "n02803", "n04203", "n05603", "n07003", "n08403"}; !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
}

// The built-in roles pass the conformance suite as far as they go: all of it for
// an admin.
func TestSuiteForAnAdminByTheBuiltInPolicies(t *testing.T) {
	set, err := cedar.Load(cedar.Source{Builtin: true})
	if err != nil {
		t.Fatal(err)
	}
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		g := guarded(t, 0, set)
		return mounts.Around(g, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			return next(policy.WithPrincipal(ctx, &policy.Principal{ID: "corp/alice", Name: "alice", Tenant: "acme", Login: "oidc", Roles: []string{"admin"}}, policy.Client{}), req)
		})
	}})
}

func BenchmarkSevenOfTenThousandByCedar(b *testing.B) {
	g := guarded(b, 10_000, sevenOf(b))
	ctx := caller(b)
	for b.Loop() {
		page, err := g.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 100}})
		if err != nil || len(page.Items) != 7 {
			b.Fatal(page, err)
		}
	}
}

func BenchmarkLoadTableByCedar(b *testing.B) {
	set, err := cedar.Load(cedar.Source{Builtin: true})
	if err != nil {
		b.Fatal(err)
	}
	g := guarded(b, 1, set)
	ctx := caller(b, "writer")
	if _, err := g.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: mounts.Namespace{"n00000"}, Name: "t", Schema: mounttest.Schema()}); err != nil {
		b.Fatal(err)
	}
	req := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"n00000"}, Name: "t"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.LoadTable(ctx, req); err != nil {
			b.Fatal(err)
		}
	}
}
