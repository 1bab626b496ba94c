package cedar

import (
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// subject is who asks.
type subject struct {
	principal *policy.Principal
	tenant    string // the id of its entity; empty for none
	uid       types.EntityUID
}

func newSubject(p *policy.Principal) subject {
	s := subject{principal: p, uid: types.NewEntityUID(typeUser, types.String(p.ID))}
	if p.Tenant != "" {
		s.tenant = policy.EntityID(p.Tenant)
	}
	return s
}

// entity is the subject with everything that it is in.
func (s *subject) entity() types.Entity {
	p := s.principal
	roles := make([]types.Value, len(p.Roles))
	for i, role := range p.Roles {
		roles[i] = types.String(role)
	}
	attributes := types.RecordMap{"name": types.String(p.Name), "roles": types.NewSet(roles...), "operator": types.Boolean(p.Operator), "login": types.String(p.Login)}
	var parents []types.EntityUID
	if s.tenant != "" {
		parents = make([]types.EntityUID, 0, len(p.Roles)+1)
		parents = append(parents, types.NewEntityUID(typeTenant, types.String(s.tenant)))
		attributes["tenant"] = parents[0]
		for _, role := range p.Roles {
			parents = append(parents, types.NewEntityUID(typeGroup, types.String(policy.EntityID(p.Tenant, role))))
		}
	}
	return types.Entity{UID: s.uid, Parents: types.NewEntityUIDSet(parents...), Attributes: types.NewRecord(attributes)}
}

// appendGroup is policy.EntityID of a tenant, whose id is given, and a role.
func appendGroup(to []byte, tenant, role string) []byte {
	to = append(append(to, tenant...), '/')
	return appendPart(to, role)
}

// appendPart appends a part of an id as policy.EntityID writes it.
func appendPart(to []byte, part string) []byte {
	for i := range len(part) {
		if c := part[i]; c == '/' || c == '%' || c < ' ' || c == 0x7f {
			return append(to, policy.EntityID(part)...)
		}
	}
	return append(to, part...)
}

// object is what is asked about.
type object struct {
	resource policy.Resource
	kind     int
	id       string
	tenant   string // the id of its entity; empty for none
}

func newObject(r policy.Resource, kind int) object {
	if kind == kindServer {
		r.Tenant = "" // nobody owns the server
	}
	o := object{resource: r, kind: kind, id: r.ID()}
	if r.Tenant != "" {
		o.tenant = policy.EntityID(r.Tenant)
	}
	return o
}

func (o *object) uid() types.EntityUID {
	return types.NewEntityUID(kindTypes[o.kind], types.String(o.id))
}

// name is what the object is called where it is.
func (o *object) name() string {
	r := &o.resource
	switch o.kind {
	case kindServer:
		return "server"
	case kindMount:
		return r.Mount
	case kindNamespace:
		if len(r.Path) == 0 {
			return ""
		}
		return r.Path[len(r.Path)-1]
	}
	return r.Name
}

// above calls found with everything that the object is in, the nearest first. The
// ids of namespaces are the beginnings of its own.
func (o *object) above(found func(t types.EntityType, id string)) {
	if o.kind > kindMount {
		id := o.id
		for {
			i := strings.LastIndexByte(id, '/')
			if i < 0 {
				break
			}
			id = id[:i]
			if o.resource.Mount != mounts.UnderName && strings.IndexByte(id, '/') < 0 {
				break // the mount's own root is the mount
			}
			found(kindTypes[kindNamespace], id)
		}
		found(kindTypes[kindMount], policy.EntityID(o.resource.Mount))
	}
	if o.tenant != "" {
		found(typeTenant, o.tenant)
	}
}

// parents is everything that the object is in.
func (o *object) parents() types.EntityUIDSet {
	var all []types.EntityUID
	o.above(func(t types.EntityType, id string) { all = append(all, types.NewEntityUID(t, types.String(id))) })
	return types.NewEntityUIDSet(all...)
}

// entity is the object, which is in all of parents, with or without what it has:
// most conditions do not look at that, and it is dear to write down.
func (o *object) entity(parents types.EntityUIDSet, withAttributes bool) types.Entity {
	if !withAttributes {
		return types.Entity{UID: o.uid(), Parents: parents}
	}
	attributes := types.RecordMap{"name": types.String(o.name())}
	if o.tenant != "" {
		attributes["tenant"] = types.NewEntityUID(typeTenant, types.String(o.tenant))
	}
	return types.Entity{UID: o.uid(), Parents: parents, Attributes: types.NewRecord(attributes)}
}
