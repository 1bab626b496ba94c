package cedar

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/policy"
)

// The same few people ask for the same few things again and again, at other times
// and from other places: what is remembered is what Cedar says each time.
func TestWhatIsRememberedIsWhatWouldBeDecided(t *testing.T) {
	v, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	asked, remembered, looked := 0, 0, 0
	for seed := range uint64(60) {
		w := world{rand.New(rand.NewPCG(seed, 2))}
		s, originals := w.set(t, v, 1+w.IntN(60))
		s.decided = newDecisions(8) // so that they drive each other out
		people := []*policy.Principal{w.principal(), w.principal(), w.principal()}
		var things []policy.Resource
		for range 4 {
			things = append(things, w.resource())
		}
		for range 200 {
			q := policy.Question{Principal: people[w.IntN(3)], Resource: things[w.IntN(4)], Context: w.context()}
			q.Action = w.action(v, q.Resource)
			if q.Principal != nil {
				if _, ok := s.decided.find(&q, s.decided.place(&q)); ok {
					remembered++
				}
			}
			got := s.Decide(t.Context(), q)
			want, policies := oracle(s, originals, q)
			if got.Allowed != want || !slices.Equal(got.Policies, policies) {
				t.Fatalf("seed %d: %+v\n%v says %v by %v, Cedar %v by %v", seed, q, got.Err, got.Allowed, got.Policies, want, policies)
			}
			if asked++; got.Err != nil {
				looked++
			}
		}
	}
	if remembered < asked/50 || looked == 0 {
		t.Errorf("%d questions, %d remembered, %d in error: too few to tell", asked, remembered, looked)
	}
}

// What a policy says of the time or the client is asked each time, also where it
// was not in the way before.
func TestDecisionsByTheContextAreNotRemembered(t *testing.T) {
	s := load(t, map[string]string{"": `
		permit (principal, action, resource in Icefield::Mount::"prod");
		@id("from inside") forbid (principal, action, resource in Icefield::Namespace::"prod/hr") unless { context has client && context.client.isInRange(ip("10.0.0.0/8")) };
	`})
	who := user("acme", "u")
	for _, at := range []string{"10.0.0.1", "192.0.2.1", "10.0.0.1", "192.0.2.1"} {
		q := policy.Question{Principal: who, Action: "loadTable", Context: policy.Context{Client: addrOf(t, at)}}
		for _, r := range []policy.Resource{table("acme", "prod", "hr", "pay"), table("acme", "prod", "shop", "orders")} {
			q.Resource = r
			want := r.Path[1] != "hr" || strings.HasPrefix(at, "10.")
			if d := s.Decide(t.Context(), q); d.Allowed != want {
				t.Errorf("%s from %s: %v by %v", r.ID(), at, d.Allowed, d.Policies)
			}
			if _, kept := s.decided.find(&q, s.decided.place(&q)); kept != (r.Path[1] != "hr") {
				t.Errorf("%s from %s: remembered %v", r.ID(), at, kept)
			}
		}
	}
}

// A principal is who was vouched for, not what it is called: another with the same
// name has roles of its own.
func TestDecisionsAreRememberedForThePrincipalNotForItsName(t *testing.T) {
	s := load(t, map[string]string{"": `permit (principal in Icefield::Group::"acme/reader", action, resource);`})
	q := policy.Question{Action: "loadTable", Resource: table("acme", "prod", "shop", "orders")}
	for _, c := range []struct {
		who  *policy.Principal
		want bool
	}{{user("acme", "u", "reader"), true}, {user("acme", "u"), false}, {user("globex", "u", "reader"), false}, {user("acme", "u", "reader"), true}} {
		q.Principal = c.who
		for range 2 {
			if d := s.Decide(t.Context(), q); d.Allowed != c.want {
				t.Errorf("%+v: %v", c.who, d.Allowed)
			}
		}
	}
}

func TestWhatIsRememberedHoldsNothingOfTheRequest(t *testing.T) {
	s := load(t, map[string]string{"": `permit (principal, action, resource == Icefield::Table::"prod/shop/orders");`})
	q := policy.Question{Principal: user("acme", "u"), Action: "loadTable", Resource: table("acme", "prod", "shop", "orders")}
	if !s.Decide(t.Context(), q).Allowed {
		t.Fatal("denied")
	}
	q.Resource.Path[1] = "else" // as a caller may, whose slice it is
	if s.Decide(t.Context(), q).Allowed {
		t.Error("another namespace has what that one had")
	}
	long := q
	long.Resource.Name = strings.Repeat("n", maxNames)
	s.Decide(t.Context(), long)
	if _, kept := s.decided.find(&long, s.decided.place(&long)); kept {
		t.Error("however long its names are, it is remembered")
	}
}
