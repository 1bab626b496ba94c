package cedar

import (
	"context"
	"slices"
	"strings"

	"github.com/icefield/icefield/policy"
)

// Explanation is a decision with everything that had to do with it.
type Explanation struct {
	policy.Decision
	// Permits and Forbids are the policies that are in effect for the question, by
	// id: permits too where a forbid outweighs them.
	Permits, Forbids []Policy
	// Failed are those that cannot be evaluated.
	Failed []Policy
	// Unmet are those whose scope the question is in but whose conditions it does
	// not meet.
	Unmet []Policy
}

// Explain decides a question and says how that came about.
func (s *Set) Explain(ctx context.Context, q policy.Question) Explanation {
	e := Explanation{Decision: s.Decide(ctx, q)}
	about, err := s.prepare(&q, q.Resource)
	if err != nil || q.Principal.Operator {
		return e
	}
	var t tally
	for _, r := range s.gather(&t, nil, about) {
		var alone tally
		s.evaluate(&alone, candidates{r}, about)
		t.permits, t.forbids = append(t.permits, alone.permits...), append(t.forbids, alone.forbids...)
		switch {
		case len(alone.failed) > 0:
			e.Failed = append(e.Failed, r.describe())
		case len(alone.permits)+len(alone.forbids) == 0:
			e.Unmet = append(e.Unmet, r.describe())
		}
	}
	for _, r := range t.permits {
		e.Permits = append(e.Permits, r.describe())
	}
	for _, r := range t.forbids {
		e.Forbids = append(e.Forbids, r.describe())
	}
	for _, list := range [][]Policy{e.Permits, e.Forbids, e.Failed, e.Unmet} {
		slices.SortFunc(list, func(a, b Policy) int { return strings.Compare(a.ID, b.ID) })
	}
	return e
}

// Kinds are the kinds of resources that an action applies to; nil if there is no
// such action.
func (s *Set) Kinds(a policy.Action) []policy.Kind {
	known, ok := s.vocabulary.actions[a]
	if !ok {
		return nil
	}
	var all []policy.Kind
	for i, kind := range kinds {
		if known.kinds&(1<<i) != 0 {
			all = append(all, kind)
		}
	}
	return all
}
