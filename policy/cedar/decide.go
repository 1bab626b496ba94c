package cedar

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	cedar "github.com/cedar-policy/cedar-go"

	"github.com/icefield/icefield/policy"
)

// tally is what rules said.
type tally struct {
	permits, forbids []*rule
	failed           []failed
}

// failed is a policy that could not be evaluated.
type failed struct {
	id  string
	err error
}

func (t *tally) allowed() bool {
	return len(t.permits) > 0 && len(t.forbids) == 0 && len(t.failed) == 0
}

// count adds a rule that says yes to being in effect.
func (t *tally) count(r *rule) {
	if r.permit {
		t.permits = append(t.permits, r)
	} else {
		t.forbids = append(t.forbids, r)
	}
}

// candidates are rules whose conditions are to be evaluated.
type candidates []*rule

// All implements cedar.PolicyIterator.
func (c candidates) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for _, r := range c {
			if !yield(cedar.PolicyID(r.id), r.conditions) {
				return
			}
		}
	}
}

// read tells whether any of them reads the context, and what the resource has.
func (c candidates) read() (context, attributes bool) {
	for _, r := range c {
		context, attributes = context || r.reads.context, attributes || r.reads.attributes
	}
	return context, attributes
}

// evaluate evaluates the conditions of candidates, all of them: what an erring
// policy says counts, and so does each permit's restriction.
func (s *Set) evaluate(t *tally, c candidates, about *scene) {
	if len(c) == 0 {
		return
	}
	_, diagnostic := cedar.Authorize(c, about, about.asked(c.read()))
	for _, reason := range diagnostic.Reasons { // the forbids, or else the permits
		t.count(s.byID[string(reason.PolicyID)])
	}
	for _, e := range diagnostic.Errors {
		t.failed = append(t.failed, failed{string(e.PolicyID), errors.New(e.Message)})
	}
}

// errNoPrincipal is what a question without a principal comes to.
var errNoPrincipal = errors.New("the question has no principal")

// prepare checks a question and makes a scene of it.
func (s *Set) prepare(q *policy.Question, r policy.Resource) (*scene, error) {
	if q.Principal == nil {
		return nil, errNoPrincipal
	}
	a, ok := s.vocabulary.actions[q.Action]
	if !ok {
		return nil, fmt.Errorf("there is no action %q", q.Action)
	}
	kind, ok := kindNumber(r.Kind)
	if !ok || a.kinds&(1<<kind) == 0 {
		return nil, fmt.Errorf("action %q is none of resources of kind %q", q.Action, r.Kind)
	}
	return &scene{people: s.people, subject: newSubject(q.Principal), action: a, object: newObject(r, kind), context: q.Context}, nil
}

// Decide implements policy.Authorizer. An operator is allowed everything, by the
// word Operator in place of a policy. The list of policies is read only, the
// restrictions are the caller's own.
func (s *Set) Decide(_ context.Context, q policy.Question) policy.Decision {
	if q.Principal == nil {
		return policy.Decision{Err: errNoPrincipal}
	}
	place := s.decided.place(&q)
	if d, ok := s.decided.find(&q, place); ok {
		return d
	}
	return s.decide(&q, place)
}

// decide decides a question that nothing is remembered of.
func (s *Set) decide(q *policy.Question, place uint64) policy.Decision {
	about, err := s.prepare(q, q.Resource)
	if err != nil {
		return policy.Decision{Err: err}
	}
	if q.Principal.Operator {
		return policy.Decision{Allowed: true, Policies: []string{Operator}}
	}
	var t tally
	var room [16]*rule
	conditional := s.gather(&t, room[:0], about)
	s.evaluate(&t, conditional, about)
	d := s.decision(&t, about)
	if context, _ := conditional.read(); !context && d.Err == nil && d.Restrictions == nil {
		s.decided.keep(q, place, d)
	}
	return d
}

// gather collects the policies whose scope the scene is in: it counts those that
// have no conditions, and appends the others to conditional.
func (s *Set) gather(t *tally, conditional candidates, about *scene) candidates {
	found := func(r *rule) {
		if r.conditions == nil {
			t.count(r)
		} else {
			conditional = append(conditional, r)
		}
	}
	var people, places [24]int32
	for _, x := range s.indexes(about.object.resource.Tenant) {
		if x == nil {
			continue
		}
		who := x.principals(people[:0], &about.subject)
		x.within(who, x.ancestors(places[:0], &about.object), about.action, about.object.kind, found)
		x.on(who, x.numbers[kindTypes[about.object.kind]][about.object.id], about.action, about.object.kind, found)
	}
	return conditional
}

// indexes are those of the policies that are evaluated for a tenant's resources:
// the server's own and the tenant's, never those of another.
func (s *Set) indexes(tenant string) [2]*index {
	if tenant == "" {
		return [2]*index{s.server, nil}
	}
	return [2]*index{s.server, s.tenants[tenant]}
}

func (s *Set) decision(t *tally, about *scene) policy.Decision {
	var d policy.Decision
	switch {
	case len(t.forbids) > 0:
		d.Policies = ids(t.forbids)
	case len(t.failed) > 0:
		for _, f := range t.failed {
			d.Policies = append(d.Policies, f.id)
		}
		slices.Sort(d.Policies)
	case len(t.permits) > 0:
		d.Allowed, d.Policies = true, ids(t.permits)
		if about.object.kind == kindTable && s.vocabulary.readsTables.has(about.action.number) {
			d.Restrictions = combine(t.permits)
		}
	}
	if len(t.failed) > 0 {
		slices.SortFunc(t.failed, func(a, b failed) int { return strings.Compare(a.id, b.id) })
		var all []error
		for _, f := range t.failed {
			all = append(all, fmt.Errorf("policy %q: %w", f.id, f.err))
		}
		d.Err = errors.Join(all...)
	}
	return d
}

func ids(rules []*rule) []string {
	list := make([]string, len(rules))
	for i, r := range rules {
		list[i] = r.id
	}
	slices.Sort(list)
	return list
}
