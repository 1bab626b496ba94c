package cedar

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/icefield/icefield/policy"
)

// people remembers the entities of those who asked last: principals are immutable,
// and whoever verified them hands out the same again and again. It is safe for
// concurrent use.
type people struct {
	seed  maphash.Seed
	known [256]atomic.Pointer[person]
}

type person struct {
	principal *policy.Principal
	entity    types.Entity
}

func newPeople() *people { return &people{seed: maphash.MakeSeed()} }

func (p *people) entity(s *subject) *types.Entity {
	place := &p.known[maphash.String(p.seed, s.principal.ID)%uint64(len(p.known))]
	known := place.Load()
	if known == nil || known.principal != s.principal {
		known = &person{s.principal, s.entity()}
		place.Store(known)
	}
	return &known.entity
}

// scene is what the conditions of policies see: the subject, the action and the
// object, each with all it is in at once. It is built as far as it is looked at.
type scene struct {
	people  *people
	subject subject
	action  *action
	object  object
	context policy.Context

	principal  *types.Entity
	parents    types.EntityUIDSet // of the object and its siblings
	hasParents bool
	resource   types.Entity
	hasObject  bool
	attributes bool // the resource is to have its attributes
	request    cedar.Request
	hasContext bool
}

// Get implements the lookup of entities. Others than these three are not asked
// for: policies that would are refused.
func (s *scene) Get(uid types.EntityUID) (types.Entity, bool) {
	switch {
	case uid.Type == typeUser && uid == s.subject.uid:
		if s.principal == nil {
			s.principal = s.people.entity(&s.subject)
		}
		return *s.principal, true
	case uid.Type == typeAction && uid == s.action.uid:
		if s.object.kind == kindServer {
			return s.action.onServer, true
		}
		return s.action.entity, true
	case uid.Type == kindTypes[s.object.kind] && string(uid.ID) == s.object.id:
		if !s.hasParents {
			s.parents, s.hasParents = s.object.parents(), true
		}
		if !s.hasObject {
			s.resource, s.hasObject = s.object.entity(s.parents, s.attributes), true
		}
		return s.resource, true
	}
	return types.Entity{}, false
}

// about turns to a sibling of the object.
func (s *scene) about(o object) {
	s.object, s.hasObject = o, false
}

// asked is the question in Cedar's form, with as much of the context and of the
// resource as the policies read.
func (s *scene) asked(withContext, withAttributes bool) cedar.Request {
	if withAttributes && !s.attributes {
		s.attributes, s.hasObject = true, false
	}
	s.request.Principal, s.request.Action, s.request.Resource = s.subject.uid, s.action.uid, s.object.uid()
	if withContext && !s.hasContext {
		s.request.Context, s.hasContext = contextOf(&s.context), true
	}
	return s.request
}

func contextOf(c *policy.Context) types.Record {
	views := make([]types.Value, 0, len(c.ReferencedBy))
	for _, v := range c.ReferencedBy {
		views = append(views, types.NewEntityUID(typeView, types.String(v.ID())))
	}
	m := types.RecordMap{"time": types.NewDatetime(c.Time), "write": types.Boolean(c.Write), "referencedBy": types.NewSet(views...)}
	if c.Client.IsValid() {
		addr := c.Client.Unmap().WithZone("")
		m["client"] = types.IPAddr(netip.PrefixFrom(addr, addr.BitLen()))
	}
	return types.NewRecord(m)
}
