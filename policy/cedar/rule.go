package cedar

import (
	cedar "github.com/cedar-policy/cedar-go"
	policyast "github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// rule is a policy in the form that it is found and evaluated in. Its scope is
// matched by the index, exactly; what is left for Cedar are its conditions.
type rule struct {
	id     string
	tenant string
	// description is its @description.
	description string
	permit      bool
	// actions are those that its scope names, onServer those that it names
	// otherwise than by a group: see policy.Inspect.
	actions, onServer mask
	// kinds are those of the resources that its scope allows, as bits.
	kinds uint8
	// principal and resource are the entities of the scopes; zero for any.
	principal, resource types.EntityUID
	// exact tells that the resource has to be that entity, rather than be in it.
	exact bool
	// never tells that the scope can match nobody.
	never bool
	// conditions is the policy without its scope; nil if it has none. Its id as a
	// Cedar policy is id.
	conditions *cedar.Policy
	reads      reads
	// restricts is what a permit says of reads; nil for nothing.
	restricts *restriction
	at        Finding
}

// newRule compiles a policy that the schema allows.
func newRule(s statement, v *vocabulary) *rule {
	p := (*ast.Policy)(s.policy.AST())
	r := &rule{id: s.id, tenant: s.tenant, description: string(s.policy.Annotations()["description"]), permit: s.policy.Effect() == cedar.Permit, kinds: 1<<len(kinds) - 1, at: s.at}
	switch scope := p.Principal.(type) {
	case ast.ScopeTypeAll:
	case ast.ScopeTypeEq:
		r.principal, r.never = scope.Entity, scope.Entity.Type != typeUser
	case ast.ScopeTypeIn:
		r.principal = scope.Entity
	case ast.ScopeTypeIs:
		r.never = scope.Type != typeUser
	case ast.ScopeTypeIsIn:
		r.principal, r.never = scope.Entity, scope.Type != typeUser
	default:
		r.never = true
	}
	switch scope := p.Resource.(type) {
	case ast.ScopeTypeAll:
	case ast.ScopeTypeEq:
		r.resource, r.exact = scope.Entity, true
		r.only(scope.Entity.Type)
	case ast.ScopeTypeIn:
		r.resource = scope.Entity
	case ast.ScopeTypeIs:
		r.only(scope.Type)
	case ast.ScopeTypeIsIn:
		r.resource = scope.Entity
		r.only(scope.Type)
	default:
		r.never = true
	}
	switch scope := p.Action.(type) {
	case ast.ScopeTypeAll:
		r.actions, r.onServer = ^mask(0), ^mask(0)
	case ast.ScopeTypeEq:
		r.act(scope.Entity, v, false)
	case ast.ScopeTypeIn:
		r.act(scope.Entity, v, true)
	case ast.ScopeTypeInSet:
		for _, e := range scope.Entities {
			r.act(e, v, true)
		}
	default:
		r.never = true
	}
	if len(p.Conditions) > 0 {
		bare := ast.Policy{Effect: p.Effect, Principal: ast.ScopeTypeAll{}, Action: ast.ScopeTypeAll{}, Resource: ast.ScopeTypeAll{},
			Conditions: p.Conditions, Position: p.Position}
		r.conditions = cedar.NewPolicyFromAST((*policyast.Policy)(&bare))
		r.reads = readsOf(p.Conditions)
	}
	return r
}

func (r *rule) only(t types.EntityType) {
	k, ok := kindOfType(t)
	if !ok {
		r.never = true
		return
	}
	r.kinds = 1 << k
}

// act adds an action or, if it may be one, a group.
func (r *rule) act(e types.EntityUID, v *vocabulary, group bool) {
	for _, a := range v.actions {
		if a.uid == e {
			r.actions |= 1 << a.number
			r.onServer |= 1 << a.number
		}
	}
	if group && e.Type == typeAction {
		r.actions |= v.groups[e.ID]
	}
}

// covers reports whether the scope of the rule lets in an action on a kind.
func (r *rule) covers(a *action, kind int) bool {
	if kind == kindServer {
		return r.onServer.has(a.number) && r.kinds&(1<<kind) != 0
	}
	return r.actions.has(a.number) && r.kinds&(1<<kind) != 0
}
