package policy

import (
	"context"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// quick is a backend that answers loads at once.
func quick(b *testing.B) (mounts.Backend, *mounts.Map) {
	table := &mounts.Table{MetadataLocation: "s3://lake/a/metadata.json", Metadata: []byte(people), ETag: `"1"`,
		Config: map[string]string{"s3.region": "eu-central-1", "s3.endpoint": "https://s3.example.com"}}
	next := mounts.Dispatch(func(context.Context, mounts.Request) (mounts.Response, error) { return table, nil }, catalog())
	m, err := mounts.NewMap(mounts.Mount{Name: "prod", Owner: "acme", Tree: next, View: next})
	if err != nil {
		b.Fatal(err)
	}
	return next, m
}

// BenchmarkLoadTable is what the guard adds to the hottest call.
func BenchmarkLoadTable(b *testing.B) {
	next, table := quick(b)
	one := Decision{Allowed: true, Policies: []string{"reader"}}
	for _, c := range []struct {
		name  string
		who   *Principal
		rules Authorizer
		trail Trail
		ask   string
	}{
		{"operator", Anonymous(), nil, nil, ""},
		{"allow all", alice(), AllowAll(), nil, ""},
		{"a tenant", alice(), always(one), nil, ""},
		{"a tenant, on the trail", alice(), always(one), nowhereTrail{}, ""},
		{"a tenant, with credentials asked for", alice(), always(one), nil, "vended-credentials"},
		{"a restricted tenant", alice(), always(Decision{Allowed: true, Restrictions: &Restrictions{Masks: map[string]string{"name": "mask-alphanum"}}}), nil, ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := NewGuard(next, GuardOptions{Catalog: "icefield", Places: InTree(table), Authorizer: c.rules, Trail: c.trail, Ring: ring(b)})
			ctx := as(b, c.who)
			req := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: ns("prod", "a"), Name: "people"}, Delegation: c.ask}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.LoadTable(ctx, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("without a guard", func(b *testing.B) {
		req := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: ns("prod", "a"), Name: "people"}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := next.LoadTable(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// always decides alike.
type always Decision

func (a always) Decide(context.Context, Question) Decision { return Decision(a) }
func (a always) Filter(_ context.Context, _ Question, list []Resource) ([]bool, error) {
	return make([]bool, len(list)), nil
}
func (a always) Uniform(context.Context, Question, Resource, Kind) (allowed, known bool) {
	return a.Allowed, true
}

type nowhereTrail struct{}

func (nowhereTrail) Record(context.Context, Event, bool) error { return nil }
