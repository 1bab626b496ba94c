package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/cedar"
)

// stopwatch adds up the time that decisions take. It is for one caller at a time.
type stopwatch struct {
	policy.Authorizer
	took time.Duration
}

func (s *stopwatch) since(began time.Time) { s.took += time.Since(began) }

func (s *stopwatch) Decide(ctx context.Context, q policy.Question) policy.Decision {
	defer s.since(time.Now())
	return s.Authorizer.Decide(ctx, q)
}

func (s *stopwatch) Filter(ctx context.Context, q policy.Question, list []policy.Resource) ([]bool, error) {
	defer s.since(time.Now())
	return s.Authorizer.Filter(ctx, q, list)
}

func (s *stopwatch) Uniform(ctx context.Context, q policy.Question, parent policy.Resource, kind policy.Kind) (allowed, known bool) {
	defer s.since(time.Now())
	return s.Authorizer.Uniform(ctx, q, parent, kind)
}

// BenchmarkListingPolicyTime lists 10,000 namespaces of which 7 may be seen, which
// policies name, or tell by what they are called; the metric is the time that
// decisions take of it.
func BenchmarkListingPolicyTime(b *testing.B) {
	backend := memory.New(memory.Options{})
	backend.PutNamespace(mounts.Namespace{"big"}, nil)
	for i := range crowdSize {
		backend.PutNamespace(mounts.Namespace{"big", crowdName(i)}, nil)
	}
	table, err := mounts.NewMap(mounts.Mount{Name: "prod", Owner: "acme", Tree: backend, View: backend})
	require.NoError(b, err)
	ring, err := pagination.NewKeyring(nil, map[string][]byte{policy.GuardSource: []byte("x")})
	require.NoError(b, err)
	var others strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&others, "permit(principal in Icefield::Group::\"t%d/reader\", action, resource in Icefield::Namespace::\"prod/x%d\");\n", i%500, i)
	}
	byName := `permit(principal in Icefield::Group::"acme/reader", action in Icefield::Action::"list", resource in Icefield::Mount::"prod") when { !(resource.name like "*hidden*") };`
	reader := &policy.Principal{ID: "corp/r", Name: "r", Tenant: "acme", Roles: []string{"reader"}, Login: "oidc"}
	ctx := policy.WithPrincipal(mounts.WithCaller(b.Context(), mounts.Caller{Principal: "corp/r", Tenant: "acme"}), reader, policy.Client{})
	for name, text := range map[string]string{"7 named": crowdPolicies("prod"), "7 named of 10,000 policies": crowdPolicies("prod") + others.String(), "told by a condition": byName} {
		file := filepath.Join(b.TempDir(), "p.cedar")
		require.NoError(b, os.WriteFile(file, []byte(text), 0o600))
		set, err := cedar.Load(cedar.Source{Files: []string{file}})
		require.NoError(b, err)
		for _, size := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s, pages of %d", name, size), func(b *testing.B) {
				watch := &stopwatch{Authorizer: set}
				guard := policy.NewGuard(backend, policy.GuardOptions{Catalog: "prod", Places: policy.InMount(table, table.Mounted("prod")), Authorizer: watch, Ring: ring})
				rows := 0
				for b.Loop() {
					for token := ""; ; {
						page, err := guard.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Parent: mounts.Namespace{"big"}, Page: pagination.Request{Token: token, Size: size}})
						require.NoError(b, err)
						rows += len(page.Items)
						if token = page.Next; token == "" {
							break
						}
					}
				}
				require.Equal(b, len(seven)*b.N, rows)
				b.ReportMetric(float64(watch.took.Microseconds())/1000/float64(b.N), "policy-ms/op")
			})
		}
	}
}
