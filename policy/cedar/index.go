package cedar

import (
	"github.com/cedar-policy/cedar-go/types"
)

// index finds the rules whose scope lets in a principal and a resource. Every
// entity that a scope names has a number; rules lie in buckets by the numbers of
// their two entities, 0 for any. A question looks into the bucket of each pair of
// an entity that the principal is in and one that the resource is in, of those
// that policies name at all: its cost does not grow with other people's policies.
// An index is immutable.
type index struct {
	numbers map[types.EntityType]map[string]int32
	last    int32
	// buckets are by pair, exact those of rules that name the resource itself.
	buckets, exact map[pair][]*rule
	// below are the rules whose resource is directly under a parent, by principal
	// and by number of the parent.
	below   map[pair][]*rule
	parents map[string]int32
	count   int
}

type pair struct{ principal, other int32 }

func newIndex(rules []*rule) *index {
	x := &index{numbers: map[types.EntityType]map[string]int32{}, buckets: map[pair][]*rule{}, exact: map[pair][]*rule{},
		below: map[pair][]*rule{}, parents: map[string]int32{}}
	for _, r := range rules {
		x.count++
		if r.never {
			continue
		}
		at := pair{x.number(r.principal), x.number(r.resource)}
		if r.exact {
			x.exact[at] = append(x.exact[at], r)
		} else {
			x.buckets[at] = append(x.buckets[at], r)
		}
		if kind, ok := kindOfType(r.resource.Type); ok {
			parent := parentOf(kind, string(r.resource.ID))
			if x.parents[parent] == 0 {
				x.parents[parent] = int32(len(x.parents) + 1) // #nosec G115 -- at most one for each policy, of which an owner has no more than maxPolicies
			}
			at.other = x.parents[parent]
			x.below[at] = append(x.below[at], r)
		}
	}
	return x
}

func (x *index) number(e types.EntityUID) int32 {
	if e.IsZero() {
		return 0
	}
	ids := x.numbers[e.Type]
	if ids == nil {
		ids = map[string]int32{}
		x.numbers[e.Type] = ids
	}
	if ids[string(e.ID)] == 0 {
		x.last++
		ids[string(e.ID)] = x.last
	}
	return ids[string(e.ID)]
}

// principals appends the numbers of what the subject is in, itself and anything
// (0) included.
func (x *index) principals(to []int32, s *subject) []int32 {
	to = append(to, 0)
	to = x.known(to, typeUser, s.principal.ID)
	if s.tenant == "" {
		return to
	}
	to = x.known(to, typeTenant, s.tenant)
	if groups := x.numbers[typeGroup]; len(groups) > 0 {
		var room [128]byte
		for _, role := range s.principal.Roles {
			if n := groups[string(appendGroup(room[:0], s.tenant, role))]; n != 0 {
				to = append(to, n)
			}
		}
	}
	return to
}

// ancestors appends the numbers of what the object is in, anything (0) included,
// itself not.
func (x *index) ancestors(to []int32, o *object) []int32 {
	to = append(to, 0)
	o.above(func(t types.EntityType, id string) { to = x.known(to, t, id) })
	return to
}

func (x *index) known(to []int32, t types.EntityType, id string) []int32 {
	if n := x.numbers[t][id]; n != 0 {
		return append(to, n)
	}
	return to
}

// within calls found with the rules that let in an action by somebody on what is
// in the given places; but for those that name the resource itself.
func (x *index) within(principals, places []int32, a *action, kind int, found func(*rule)) {
	for _, p := range principals {
		for _, at := range places {
			for _, r := range x.buckets[pair{p, at}] {
				if r.covers(a, kind) {
					found(r)
				}
			}
		}
	}
}

// on calls found with the rules that name the resource itself, by its number.
func (x *index) on(principals []int32, self int32, a *action, kind int, found func(*rule)) {
	if self == 0 {
		return
	}
	for _, p := range principals {
		for _, r := range x.buckets[pair{p, self}] {
			if r.covers(a, kind) {
				found(r)
			}
		}
		for _, r := range x.exact[pair{p, self}] {
			if r.covers(a, kind) {
				found(r)
			}
		}
	}
}

// children calls found with the rules that name a resource of that kind directly
// under parent, until it says false.
func (x *index) children(principals []int32, parent string, a *action, kind int, found func(*rule) bool) {
	n := x.parents[parent]
	if n == 0 {
		return
	}
	for _, p := range principals {
		for _, r := range x.below[pair{p, n}] {
			if r.resource.Type == kindTypes[kind] && r.covers(a, kind) && !found(r) {
				return
			}
		}
	}
}
