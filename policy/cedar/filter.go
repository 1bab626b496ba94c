package cedar

import (
	"context"
	"slices"

	"github.com/icefield/icefield/policy"
)

// checkEvery is after how many rows a listing looks whether it is still wanted.
const checkEvery = 1024

// Filter implements policy.Authorizer. What cannot tell rows of one parent and
// tenant apart is weighed once for all of them; policies that name a row are found
// by its id. Only conditions that look at names are evaluated row by row.
func (s *Set) Filter(ctx context.Context, q policy.Question, resources []policy.Resource) ([]bool, error) {
	allowed := make([]bool, len(resources))
	var b *batch
	batches := map[ownership]*batch{}
	for i := range resources {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		r := &resources[i]
		if b == nil || !b.holds(r) {
			b = batches[ownershipOf(r)]
		}
		if b == nil || !b.holds(r) {
			about, err := s.prepare(&q, *r)
			if err != nil {
				return nil, err
			}
			if q.Principal.Operator {
				for j := range resources {
					if _, err := s.prepare(&q, resources[j]); err != nil {
						return nil, err
					}
					allowed[j] = true
				}
				return allowed, nil
			}
			b = s.batch(about)
			batches[ownershipOf(r)] = b
		}
		allowed[i] = b.allows(r)
	}
	return allowed, nil
}

// ownership is what siblings can differ in besides their names.
type ownership struct{ mount, tenant string }

func ownershipOf(r *policy.Resource) ownership {
	if r.Kind == policy.KindMount {
		return ownership{"", r.Tenant}
	}
	return ownership{r.Mount, r.Tenant}
}

// batch decides one question for many resources of one kind, tenant and parent.
type batch struct {
	set   *Set
	scene *scene
	// first is one of the resources, path what they all are in.
	first  policy.Resource
	path   []string
	parent string
	prefix []byte
	sides  []side
	// common is what is the same for all rows, changing the rules to be evaluated
	// for each.
	common   tally
	changing candidates
	// plain tells that a row that no policy names is decided by common alone.
	plain bool
	row   []byte
	rules candidates
}

// side is one of the indexes, with those whom it knows the principal as.
type side struct {
	index   *index
	who     []int32
	numbers map[string]int32 // of the resources' kind
}

// batch weighs what is common to the siblings of a resource.
func (s *Set) batch(about *scene) *batch {
	o := &about.object
	b := &batch{set: s, scene: about, first: o.resource, path: pathAbove(&o.resource), parent: parentOf(o.kind, o.id)}
	if o.kind > kindMount && b.parent != parentOfTops {
		b.prefix = append([]byte(b.parent), '/')
	}
	var independent candidates
	found := func(r *rule) {
		switch {
		case r.conditions == nil:
			b.common.count(r)
		case r.reads.siblings(o.kind, b.parent):
			b.changing = append(b.changing, r)
		default:
			independent = append(independent, r)
		}
	}
	for _, x := range s.indexes(o.resource.Tenant) {
		if x == nil {
			continue
		}
		who := x.principals(nil, &about.subject)
		b.sides = append(b.sides, side{x, who, x.numbers[kindTypes[o.kind]]})
		x.within(who, x.ancestors(nil, o), about.action, o.kind, found)
	}
	s.evaluate(&b.common, independent, about)
	b.plain = len(b.changing) == 0
	return b
}

// pathAbove is what a resource is directly in.
func pathAbove(r *policy.Resource) []string {
	switch r.Kind {
	case policy.KindServer, policy.KindMount:
		return nil
	case policy.KindNamespace:
		return r.Path[:max(len(r.Path)-1, 0)]
	}
	return r.Path
}

// holds reports whether a resource is a sibling of those of the batch.
func (b *batch) holds(r *policy.Resource) bool {
	return r.Kind == b.first.Kind && r.Tenant == b.first.Tenant && (r.Mount == b.first.Mount || r.Kind == policy.KindMount) &&
		slices.Equal(pathAbove(r), b.path)
}

// allows decides for one of the siblings.
func (b *batch) allows(r *policy.Resource) bool {
	kind := b.scene.object.kind
	b.row = append(b.row[:0], b.prefix...)
	switch kind {
	case kindServer:
		b.row = append(b.row, "server"...)
	case kindMount:
		b.row = appendPart(b.row, r.Mount)
	case kindNamespace:
		if len(r.Path) > 0 {
			b.row = appendPart(b.row, r.Path[len(r.Path)-1])
		}
	default:
		b.row = appendPart(b.row, r.Name)
	}
	if len(b.common.forbids) > 0 || len(b.common.failed) > 0 {
		return false // nothing turns that into a permit
	}
	t := tally{permits: b.common.permits}
	b.rules = append(b.rules[:0], b.changing...)
	named := false
	for i := range b.sides {
		side := &b.sides[i]
		self := side.numbers[string(b.row)]
		if self == 0 {
			continue
		}
		side.index.on(side.who, self, b.scene.action, kind, func(r *rule) {
			named = true
			if r.conditions != nil {
				b.rules = append(b.rules, r)
				return
			}
			// The common list is shared with other rows.
			t.permits = slices.Clip(t.permits)
			t.count(r)
		})
	}
	if b.plain && !named || len(b.rules) == 0 {
		return t.allowed()
	}
	t.permits = slices.Clip(t.permits)
	o := object{resource: *r, kind: kind, id: string(b.row), tenant: b.scene.object.tenant}
	b.scene.about(o)
	b.set.evaluate(&t, b.rules, b.scene)
	return t.allowed()
}

// Uniform implements policy.Authorizer. It goes by the look of the policies: it
// knows nothing where one of them names a child, or looks at names, and could
// change the decision.
func (s *Set) Uniform(_ context.Context, q policy.Question, parent policy.Resource, kind policy.Kind) (allowed, known bool) {
	child := policy.Resource{Kind: kind, Mount: parent.Mount, Path: parent.Path, Name: anyName, Tenant: parent.Tenant}
	switch parent.Kind {
	case policy.KindMount:
		if parent.Tenant == "" {
			return s.forOperator(&q, child) // what is in it may belong to different tenants
		}
	case policy.KindNamespace:
	default:
		return false, false
	}
	if kind == policy.KindNamespace {
		child.Path, child.Name = parent.Path.Child(anyName), ""
	}
	if allowed, known = s.forOperator(&q, child); known {
		return allowed, true
	}
	about, err := s.prepare(&q, child)
	if err != nil || about.object.kind <= kindMount {
		return false, false
	}
	b := s.batch(about)
	if len(b.common.forbids) > 0 || len(b.common.failed) > 0 {
		return false, true // nothing turns that into a permit
	}
	allowed = len(b.common.permits) > 0
	known = true
	decisive := func(r *rule) bool {
		// Where all are permitted another permit changes nothing, if it cannot fail.
		known = allowed && r.permit && r.conditions == nil
		return known
	}
	for _, r := range b.changing {
		if !decisive(r) {
			return false, false
		}
	}
	for _, side := range b.sides {
		side.index.children(side.who, b.parent, about.action, about.object.kind, decisive)
		if !known {
			return false, false
		}
	}
	return allowed, true
}

// anyName stands for a child's name. No policy that depends on it is evaluated.
const anyName = "\x00"

func (s *Set) forOperator(q *policy.Question, r policy.Resource) (allowed, known bool) {
	if q.Principal == nil || !q.Principal.Operator {
		return false, false
	}
	_, err := s.prepare(q, r)
	return err == nil, err == nil
}
