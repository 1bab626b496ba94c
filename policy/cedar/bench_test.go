package cedar

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/policy"
)

// shapes are sets of n policies as people write them. The question is always that
// of corp/u7 with the roles r0 to r19 about prod/n7/t7.
var shapes = []struct {
	name   string
	policy func(i int) string
}{
	{"groups", func(i int) string {
		return fmt.Sprintf(`permit (principal in Icefield::Group::"acme/r%d", action in Icefield::Action::"read", resource in Icefield::Namespace::"prod/n%d");`, i, i)
	}},
	{"users", func(i int) string {
		return fmt.Sprintf(`permit (principal == Icefield::User::"corp/u%d", action, resource == Icefield::Table::"prod/n7/t%d");`, i, i)
	}},
	{"resources", func(i int) string {
		return fmt.Sprintf(`permit (principal, action == Icefield::Action::"loadTable", resource == Icefield::Table::"prod/n7/t%d");`, i)
	}},
	{"conditions", func(i int) string {
		return fmt.Sprintf(`permit (principal in Icefield::Group::"acme/r%d", action in [Icefield::Action::"read", Icefield::Action::"list"], resource in Icefield::Mount::"prod")
			when { context.time < datetime("2040-01-01") && resource.name like "t%d*" };`, i, i)
	}},
	// What no index helps with.
	{"unscoped", func(i int) string {
		return fmt.Sprintf(`permit (principal, action in Icefield::Action::"read", resource) when { principal.roles.contains("r%d") && resource.name like "t%d*" };`, i, i)
	}},
}

func manyPolicies(t testing.TB, n int, policy func(int) string) Source {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintln(&text, policy(i))
	}
	src := written(t, map[string]string{"": text.String()})
	src.Builtin = true
	return src
}

func asker() *policy.Principal {
	p := user("acme", "u7")
	for i := range 20 {
		p.Roles = append(p.Roles, fmt.Sprintf("r%d", i))
	}
	return p
}

func BenchmarkDecide(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range []int{10, 100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				s, err := Load(manyPolicies(b, n, shape.policy))
				if err != nil {
					b.Fatal(err)
				}
				q := policy.Question{Principal: asker(), Action: "loadTable", Resource: table("acme", "prod", "n7", "t7"), Context: policy.Context{Time: time.Now(), Client: addrOf(b, "10.0.0.1")}}
				if d := s.Decide(b.Context(), q); !d.Allowed || d.Err != nil {
					b.Fatalf("%+v", d)
				}
				b.ReportAllocs()
				for b.Loop() {
					s.decide(&q, 0)
				}
			})
		}
	}
}

// BenchmarkDecideAgain is a question that was asked before.
func BenchmarkDecideAgain(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("groups/%d", n), func(b *testing.B) {
			s, err := Load(manyPolicies(b, n, shapes[0].policy))
			if err != nil {
				b.Fatal(err)
			}
			q := policy.Question{Principal: asker(), Action: "loadTable", Resource: table("acme", "prod", "n7", "t7"), Context: policy.Context{Time: time.Now()}}
			b.ReportAllocs()
			for b.Loop() {
				s.Decide(b.Context(), q)
			}
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	for _, c := range []struct {
		name     string
		policies int
		policy   func(int) string
	}{
		{"seven named of 10 policies", 10, func(i int) string {
			return fmt.Sprintf(`permit (principal == Icefield::User::"corp/u%d", action, resource == Icefield::Namespace::"prod/n%d");`, 7*(i/7), 11*i)
		}},
		{"seven named of 10000 policies", 10_000, func(i int) string {
			return fmt.Sprintf(`permit (principal == Icefield::User::"corp/u%d", action, resource == Icefield::Namespace::"prod/n%d");`, i/7, i)
		}},
		{"one condition on names", 1, func(i int) string {
			return `permit (principal in Icefield::Group::"acme/r1", action in Icefield::Action::"list", resource in Icefield::Mount::"prod") when { resource.name like "n7*" };`
		}},
		{"ten conditions on names", 10, func(i int) string {
			return fmt.Sprintf(`permit (principal in Icefield::Group::"acme/r1", action in Icefield::Action::"list", resource in Icefield::Mount::"prod") when { resource.name like "n7%d*" };`, i)
		}},
	} {
		s, err := Load(manyPolicies(b, c.policies, c.policy))
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1000, 10_000} {
			rows := make([]policy.Resource, n)
			for i := range rows {
				rows[i] = namespaceOf("acme", "prod", fmt.Sprintf("n%d", i))
			}
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				q := policy.Question{Principal: asker(), Action: "namespaceExists", Context: policy.Context{Time: time.Now()}}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Filter(b.Context(), q, rows); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkUniform(b *testing.B) {
	s, err := Load(manyPolicies(b, 10_000, shapes[1].policy))
	if err != nil {
		b.Fatal(err)
	}
	q := policy.Question{Principal: asker(), Action: "tableExists"}
	for b.Loop() {
		s.Uniform(b.Context(), q, namespaceOf("acme", "prod", "n7"), policy.KindTable)
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name+"/10000", func(b *testing.B) {
			src := manyPolicies(b, 10_000, shape.policy)
			for b.Loop() {
				if _, err := Load(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
