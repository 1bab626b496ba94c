package cedar

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/icefield/icefield/policy"
)

const (
	// maxDecisions is how many decisions a set remembers.
	maxDecisions = 4096
	// maxNames is how long the names of a resource may be, in bytes, whose decision
	// is remembered; engines ask for shorter ones.
	maxNames = 1 << 10
)

// decisions remembers what was decided last, for the same principal: engines ask
// for the same tables again and again. It holds no decision for which a policy
// looked at the context, and none with restrictions, which are the caller's own. So
// one depends on nothing but the set, which is immutable and keeps them, and on
// what is compared here. It is safe for concurrent use.
type decisions struct {
	seed maphash.Seed
	made []atomic.Pointer[decided]
}

// decided is one decision and its question.
type decided struct {
	principal *policy.Principal
	action    policy.Action
	resource  policy.Resource
	decision  policy.Decision
}

// newDecisions remembers n of them, an even number.
func newDecisions(n int) *decisions {
	return &decisions{seed: maphash.MakeSeed(), made: make([]atomic.Pointer[decided], n)}
}

// place is where a question is looked for; its neighbour, place^1, is the other.
func (d *decisions) place(q *policy.Question) uint64 {
	const mix = 0x9e3779b97f4a7c15
	h := maphash.String(d.seed, q.Principal.ID)
	add := func(s string) { h = (h ^ maphash.String(d.seed, s)) * mix }
	add(string(q.Action))
	for _, level := range q.Resource.Path {
		add(level)
	}
	add(q.Resource.Name)
	return (h ^ h>>32) % uint64(len(d.made))
}

// find returns the decision on a question, if it is remembered.
func (d *decisions) find(q *policy.Question, place uint64) (policy.Decision, bool) {
	for _, at := range [...]uint64{place, place ^ 1} {
		if known := d.made[at].Load(); known != nil && known.answers(q) {
			return known.decision, true
		}
	}
	return policy.Decision{}, false
}

func (k *decided) answers(q *policy.Question) bool {
	a, b := &k.resource, &q.Resource
	return k.principal == q.Principal && k.action == q.Action && a.Kind == b.Kind && a.Name == b.Name &&
		a.Mount == b.Mount && a.Tenant == b.Tenant && slices.Equal(a.Path, b.Path)
}

// keep remembers a decision. It holds nothing of the request that asked: neither
// the memory that its names are parts of nor its slices.
func (d *decisions) keep(q *policy.Question, place uint64, decision policy.Decision) {
	r := q.Resource
	length := len(r.Name) + len(r.Tenant)
	for _, level := range r.Path {
		length += len(level)
	}
	if length > maxNames {
		return
	}
	r.Name, r.Mount, r.Tenant, r.Path = strings.Clone(r.Name), strings.Clone(r.Mount), strings.Clone(r.Tenant), slices.Clone(r.Path)
	for i := range r.Path {
		r.Path[i] = strings.Clone(r.Path[i])
	}
	before := d.made[place].Swap(&decided{q.Principal, q.Action, r, decision})
	if before != nil && !before.answers(q) {
		d.made[place^1].Store(before)
	}
}
