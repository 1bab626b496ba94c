package cedar

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/icefield/icefield/policy"
)

// Set is a set of policies, ready to decide. It is immutable and safe for
// concurrent use.
type Set struct {
	vocabulary *vocabulary
	people     *people
	decided    *decisions
	server     *index
	tenants    map[string]*index
	byID       map[string]*rule
	source     Source
	read       fingerprint
}

var _ policy.Authorizer = (*Set)(nil)

// builtinFile is what findings and listings name as the built-in policies' file.
const builtinFile = "builtin"

// Load reads, checks and compiles the policies of a source: all of them, or none.
// If anything is wrong the error is *Problems, which names the places.
func Load(src Source) (*Set, error) {
	v, err := learn()
	if err != nil {
		return nil, err
	}
	src = src.Clone()
	files := src.read()
	return compile(v, src, files)
}

func compile(v *vocabulary, src Source, files []file) (*Set, error) {
	s := &Set{vocabulary: v, people: newPeople(), decided: newDecisions(maxDecisions), tenants: map[string]*index{}, byID: map[string]*rule{}, source: src, read: fingerprintOf(files)}
	if src.Builtin {
		files = append([]file{{path: builtinFile, text: []byte(builtinText)}}, files...)
	}
	var problems Problems
	rules := map[string][]*rule{}
	for _, f := range files {
		for _, st := range parse(f, &problems) {
			if earlier, ok := s.byID[st.id]; ok {
				at := st.at
				at.Problem = fmt.Sprintf("its id is that of the policy at %s:%d:%d too: give each its own @id", earlier.at.File, earlier.at.Line, earlier.at.Column)
				problems.add(at)
				continue
			}
			if len(s.byID) >= maxPolicies {
				at := st.at
				at.Problem = fmt.Sprintf("there are more than %d policies", maxPolicies)
				problems.add(at)
				return nil, problems.err()
			}
			r := v.check(st, &problems)
			s.byID[st.id] = r
			rules[f.tenant] = append(rules[f.tenant], r)
		}
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	s.server = newIndex(rules[""])
	for tenant, own := range rules {
		if tenant != "" {
			s.tenants[tenant] = newIndex(own)
		}
	}
	return s, nil
}

// check makes a rule of a policy, and says what is wrong with it.
func (v *vocabulary) check(st statement, problems *Problems) *rule {
	wrong := func(problem string) {
		at := st.at
		at.Problem = problem
		problems.add(at)
	}
	if err := v.validator.Policy("", (*ast.Policy)(st.policy.AST())); err != nil {
		text := err.Error()
		for line := range strings.SplitSeq(text, "\n") {
			if strings.Contains(text, "unrecognized") && strings.HasPrefix(line, "unable to find an applicable action") {
				continue // of course
			}
			wrong(line)
		}
	}
	r := newRule(st, v)
	if r.reads.spelled {
		wrong("its conditions ask something of an entity that is spelled out: only of principal, resource, action and context, and of what they hold, can anything be asked")
	}
	var err error
	if r.restricts, err = restrictionOf(st.policy); err != nil {
		wrong(err.Error())
	} else if r.restricts != nil {
		switch load := v.actions["loadTable"]; {
		case !r.permit:
			wrong("a forbid cannot restrict: put @row_filter and @mask on the permits")
		case !r.covers(load, kindTable) || !mayHoldTables(r):
			wrong("@row_filter and @mask stand on a policy that does not permit loadTable of anything")
		}
	}
	return r
}

// mayHoldTables reports whether the resource of a scope can be, or be above, a
// table.
func mayHoldTables(r *rule) bool {
	kind, resource := kindOfType(r.resource.Type)
	return !resource || kind == kindMount || kind == kindNamespace || kind == kindTable
}

// annotations are those that mean something. Others are refused, since one that
// is misspelt would leave a read unrestricted.
var annotations = regexp.MustCompile(`^(id|description|row_filter|mask)$`)

// Policy is what is known of one policy of a set.
type Policy struct {
	ID string `json:"id"`
	// Effect is "permit" or "forbid".
	Effect string `json:"effect"`
	// Tenant is whose resources it is evaluated for; empty for all.
	Tenant string `json:"tenant,omitempty"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Description is its @description.
	Description string `json:"description,omitempty"`
	// Restricts tells that it binds reads.
	Restricts bool `json:"restricts,omitempty"`
}

// Policies lists the policies of the set, by id.
func (s *Set) Policies() []Policy {
	list := make([]Policy, 0, len(s.byID))
	for _, id := range slices.Sorted(maps.Keys(s.byID)) {
		list = append(list, s.byID[id].describe())
	}
	return list
}

// Policy finds a policy by its id.
func (s *Set) Policy(id string) (Policy, bool) {
	r, ok := s.byID[id]
	if !ok {
		return Policy{}, false
	}
	return r.describe(), true
}

func (r *rule) describe() Policy {
	p := Policy{ID: r.id, Effect: "forbid", Tenant: r.tenant, File: r.at.File, Line: r.at.Line, Column: r.at.Column,
		Description: r.description, Restricts: r.restricts != nil}
	if r.permit {
		p.Effect = "permit"
	}
	return p
}

// Len is how many policies there are.
func (s *Set) Len() int { return len(s.byID) }
