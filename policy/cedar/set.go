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
	// own are the rules of each tenant, those of the server under "". kept is what
	// is wrong with the files of tenants whose rules are those of a set before; nil
	// if there are none.
	own  map[string][]*rule
	kept *Problems
}

var _ policy.Authorizer = (*Set)(nil)

// builtinFile is what findings and listings name as the built-in policies' file.
const builtinFile = "builtin"

// Load reads, checks and compiles the policies of a source: all of them, or none.
// If anything is wrong the error is *Problems, which names the places.
func Load(src Source) (*Set, error) { return Reload(src, nil) }

// Reload is Load, but for tenants whose own files are at fault and who have
// policies in the set before: theirs stay, and the set is loaded with those. So no
// tenant can keep the server's policies, or another tenant's, from being changed.
// Problems says what is wrong then.
func Reload(src Source, before *Set) (*Set, error) {
	v, err := learn()
	if err != nil {
		return nil, err
	}
	src = src.Clone()
	files := src.read()
	return compile(v, src, files, before)
}

// Problems are why some tenants' policies are those of a set before; nil if all
// are as the files say.
func (s *Set) Problems() *Problems { return s.kept }

func compile(v *vocabulary, src Source, files []file, before *Set) (*Set, error) {
	s := &Set{vocabulary: v, people: newPeople(), decided: newDecisions(maxDecisions), tenants: map[string]*index{}, byID: map[string]*rule{},
		own: map[string][]*rule{}, source: src, read: fingerprintOf(files)}
	if src.Builtin {
		files = append([]file{{path: builtinFile, text: []byte(builtinText)}}, files...)
	}
	// One owner after the other, the server first.
	var all Problems
	for len(files) > 0 {
		tenant, n := files[0].tenant, 0
		for n < len(files) && files[n].tenant == tenant {
			n++
		}
		var wrong Problems
		rules := s.compile(files[:n], &wrong)
		files = files[n:]
		if wrong.err() == nil {
			s.adopt(tenant, rules)
			continue
		}
		all.join(&wrong)
		if tenant == "" || !before.has(tenant) {
			all.fatal = true
			continue
		}
		if clash := s.adopt(tenant, before.own[tenant]); clash != nil {
			all.fatal = true
			all.add(*clash)
		}
	}
	if all.err() != nil {
		if all.fatal {
			return nil, &all
		}
		s.kept = &all
	}
	for tenant, own := range s.own {
		if tenant == "" {
			s.server = newIndex(own)
		} else {
			s.tenants[tenant] = newIndex(own)
		}
	}
	if s.server == nil {
		s.server = newIndex(nil)
	}
	return s, nil
}

// has reports whether a tenant had files of its own in the set.
func (s *Set) has(tenant string) bool {
	if s == nil {
		return false
	}
	_, had := s.source.Tenants[tenant]
	return had
}

// adopt takes over the rules of an owner. It finds one whose id is taken.
func (s *Set) adopt(tenant string, rules []*rule) *Finding {
	for _, r := range rules {
		if earlier, ok := s.byID[r.id]; ok {
			at := r.at
			at.Problem = sameID(earlier)
			return &at
		}
		s.byID[r.id] = r
	}
	s.own[tenant] = rules
	return nil
}

func sameID(earlier *rule) string {
	return fmt.Sprintf("its id is that of the policy at %s:%d:%d too: give each its own @id", earlier.at.File, earlier.at.Line, earlier.at.Column)
}

// compile makes rules of the files of one owner.
func (s *Set) compile(files []file, problems *Problems) (rules []*rule) {
	most := maxTenantPolicies
	if files[0].tenant == "" {
		most = maxPolicies
	}
	ids := map[string]*rule{}
	for _, f := range files {
		for _, st := range parse(f, problems) {
			earlier, ok := s.byID[st.id]
			if !ok {
				earlier, ok = ids[st.id]
			}
			if ok {
				at := st.at
				at.Problem = sameID(earlier)
				problems.add(at)
				continue
			}
			if len(rules) >= most {
				at := st.at
				at.Problem = fmt.Sprintf("there are more than %d policies", most)
				problems.add(at)
				return nil
			}
			r := s.vocabulary.check(st, problems)
			ids[st.id] = r
			rules = append(rules, r)
		}
	}
	return rules
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
			wrong(v.advise(line))
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
