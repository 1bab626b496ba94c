package cedar

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// reads is what the conditions of a policy depend on, as far as it matters.
type reads struct {
	context bool
	// attributes tells that they look at what the resource has, rather than only at
	// what it is and is in.
	attributes bool
	// itself tells that they can tell apart any two resources of one kind, tenant
	// and parent: they look at the name, or use the resource as a value.
	itself bool
	// named are the resources that they compare the resource with: they can tell
	// those apart from their siblings, and no others.
	named []relative
	// spelled tells that something is asked of an entity that is spelled out, as
	// of Icefield::Group::"acme/x" in principal.tenant: nothing is known of it.
	spelled bool
}

// relative is a kind of resource under a parent, see parentOf.
type relative struct {
	kind   int
	parent string
}

// siblings reports whether the conditions can tell apart the resources of that
// kind directly under that parent.
func (r *reads) siblings(kind int, parent string) bool {
	if r.itself {
		return true
	}
	for _, n := range r.named {
		if n.kind == kind && n.parent == parent {
			return true
		}
	}
	return false
}

const (
	// parentOfMounts and parentOfTops stand for what mounts are in, and for what a
	// namespace is in that has one level: the catalog underneath. They are no ids
	// of namespaces.
	parentOfMounts = "\x00"
	parentOfTops   = "%2F"
)

// parentOf is the id of what a resource is directly in, by its own id.
func parentOf(kind int, id string) string {
	if kind <= kindMount {
		return parentOfMounts
	}
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		return id[:i]
	}
	return parentOfTops
}

func readsOf(conditions []ast.ConditionType) reads {
	var r reads
	for _, c := range conditions {
		r.walk(c.Body)
	}
	slices.SortFunc(r.named, func(a, b relative) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.parent, b.parent))
	})
	r.named = slices.Compact(r.named)
	return r
}

// walk looks at an expression. What it does not know the meaning of counts as
// telling everything apart.
func (r *reads) walk(n ast.IsNode) {
	ast.Inspect(ast.NewNode(n), func(n ast.IsNode) bool {
		switch n := n.(type) {
		case ast.NodeTypeVariable:
			switch n.Name {
			case "context":
				r.context = true
			case "resource":
				r.itself, r.attributes = true, true
			}
		case ast.NodeTypeAccess:
			r.ask(n.Arg)
			if isResource(n.Arg) && n.Value == "tenant" {
				r.attributes = true
				return false
			}
		case ast.NodeTypeHas:
			r.ask(n.Arg)
			if isResource(n.Arg) {
				r.attributes = true
				return false
			}
		case ast.NodeTypeIs:
			return !isResource(n.Left)
		case ast.NodeTypeIn:
			r.ask(n.Left)
			if isResource(n.Left) {
				r.compare(n.Right)
				return false
			}
		case ast.NodeTypeIsIn:
			r.ask(n.Left)
			if isResource(n.Left) {
				r.compare(n.Entity)
				return false
			}
		case ast.NodeTypeEquals:
			return r.equal(n.Left, n.Right)
		case ast.NodeTypeNotEquals:
			return r.equal(n.Left, n.Right)
		case ast.NodeTypeContains:
			if isResource(n.Right) {
				r.compare(n.Left)
				return false
			}
		}
		return true
	})
}

func (r *reads) equal(left, right ast.IsNode) (descend bool) {
	switch {
	case isResource(left):
		r.compare(right)
	case isResource(right):
		r.compare(left)
	default:
		return true
	}
	return false
}

// compare takes note of what the resource is compared with: an entity, or a set
// of them.
func (r *reads) compare(n ast.IsNode) {
	switch n := n.(type) {
	case ast.NodeValue:
		r.name(n.Value)
	case ast.NodeTypeSet:
		for _, e := range n.Elements {
			r.compare(e)
		}
	case ast.NodeTypeAccess:
		// A tenant: no resource is one.
		if n.Value == "tenant" && (isResource(n.Arg) || isVariable(n.Arg, "principal")) {
			r.attributes = r.attributes || isResource(n.Arg)
			return
		}
		r.itself = true
		r.walk(n)
	default:
		r.itself = true
		r.walk(n)
	}
}

func (r *reads) name(v types.Value) {
	switch v := v.(type) {
	case types.EntityUID:
		if kind, ok := kindOfType(v.Type); ok {
			r.named = append(r.named, relative{kind, parentOf(kind, string(v.ID))})
		}
	case types.Set:
		for e := range v.All() {
			r.name(e)
		}
	}
}

// ask takes note if something is asked of an entity that is spelled out.
func (r *reads) ask(of ast.IsNode) {
	ast.Inspect(ast.NewNode(of), func(n ast.IsNode) bool {
		switch n := n.(type) {
		case ast.NodeValue:
			_, entity := n.Value.(types.EntityUID)
			r.spelled = r.spelled || entity
		case ast.NodeTypeIfThenElse:
			r.ask(n.Then)
			r.ask(n.Else)
			return false
		}
		return true
	})
}

func isResource(n ast.IsNode) bool { return isVariable(n, "resource") }

func isVariable(n ast.IsNode, name types.String) bool {
	v, ok := n.(ast.NodeTypeVariable)
	return ok && v.Name == name
}
