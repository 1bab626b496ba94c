package policy

import (
	"context"
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// decide asks everything that the call needs. It returns the error that the
// caller gets where something is denied, after which nothing may be done.
func (g *Guard) decide(ctx context.Context, c *call) error {
	switch {
	case c.op == capabilities.CommitTransaction:
		return g.decideTransaction(ctx, c)
	case c.facts.rename:
		return g.decideRename(ctx, c)
	}
	resource := c.object.object(c.rule.kind, c.facts.object.Name)
	allowed := g.allowed(ctx, c, resource, c.when, false)
	if allowed && c.object.absent {
		return absent(c, c.facts.object)
	}
	if allowed {
		if err := g.storage(ctx, c, resource); err != nil {
			return err
		}
		return g.bind(ctx, c, resource)
	}
	switch {
	case c.rule.hides:
		return absent(c, c.facts.object)
	case c.rule.makes || c.facts.make && c.rule.kind == KindTable && !g.seen(ctx, c, resource):
		if !g.seesParent(ctx, c, &c.object) {
			return absentParent(c, c.facts.object)
		}
	case !g.seen(ctx, c, resource):
		return absent(c, c.facts.object)
	}
	return forbidden(c, "")
}

// allowed asks the needs of one side of a call, but for those that grant storage.
func (g *Guard) allowed(ctx context.Context, c *call, r Resource, w when, to bool) bool {
	for _, n := range c.rule.needs {
		if n.when&^w != 0 || n.To != to || n.Grants != mounts.NoStorage {
			continue
		}
		d := g.ask(ctx, c, n.Action, r, n.asksWrite(w&write != 0))
		if !d.Allowed {
			c.policies = d.Policies
			return false
		}
		if n.Action == loadTable {
			c.restrictions = d.Restrictions
		} else if c.rule.opens && !d.Restrictions.Empty() && c.restrictions.Empty() {
			c.restrictions = d.Restrictions
		}
		g.note(c, d)
	}
	return true
}

var loadTable = ActionOf(capabilities.LoadTable) // read only

// seesParent reports whether the caller may see the namespace that something is,
// or would be, in. The root of a catalog is seen by all.
func (g *Guard) seesParent(ctx context.Context, c *call, s *spot) bool {
	if c.rule.kind != KindNamespace {
		return s.isTree() || g.seen(ctx, c, s.resource())
	}
	up, ok := s.parent()
	return !ok || g.seen(ctx, c, up.resource())
}

// decideRename asks for both sides. One that may not be seen is not there,
// whatever the other is.
func (g *Guard) decideRename(ctx context.Context, c *call) error {
	source := c.object.object(c.rule.kind, c.facts.object.Name)
	destination := c.to.object(c.rule.kind, c.facts.to.Name)
	from := g.allowed(ctx, c, source, c.when, false)
	deniedBy := c.policies
	if c.object.absent || !from && !g.seen(ctx, c, source) {
		return absent(c, c.facts.object)
	}
	into := g.allowed(ctx, c, destination, c.when, true)
	if c.to.absent || !into && !g.seen(ctx, c, c.to.resource()) {
		return absentParent(c, c.facts.to)
	}
	if !from {
		c.policies = deniedBy
	}
	if !from || !into {
		return forbidden(c, "")
	}
	return g.bind(ctx, c, source)
}

// decideTransaction asks for every table. One that may not be seen is not there,
// whatever the others are.
func (g *Guard) decideTransaction(ctx context.Context, c *call) error {
	denied := len(c.changes) == 0
	var deniedBy []string
	for i := range c.changes {
		change, s := &c.facts.changes[i], &c.changes[i]
		if s.isTree() {
			return nowhere(c)
		}
		w := c.when
		if change.Creates() {
			w |= creates
		}
		resource := s.object(KindTable, change.Table.Name)
		ok := g.allowed(ctx, c, resource, w, false)
		seen := ok || g.seen(ctx, c, resource)
		switch {
		case w&creates != 0 && (s.absent || !seen && !g.seen(ctx, c, s.resource())):
			return absentParent(c, change.Table)
		case w&creates == 0 && (s.absent || !seen):
			return absent(c, change.Table)
		case !ok && !denied:
			denied, deniedBy = true, c.policies
		}
		if ok && reshapes(change.Updates) && g.restricted(ctx, c, resource) {
			denied, deniedBy = true, c.policies
		}
	}
	if denied {
		c.policies = deniedBy
		return forbidden(c, "")
	}
	return nil
}

// restricted reports whether the caller's reads of r are bound.
func (g *Guard) restricted(ctx context.Context, c *call, r Resource) bool {
	d := g.ask(ctx, c, loadTable, r, false)
	return d.Allowed && !d.Restrictions.Empty()
}

// bind refuses what would lead a restricted caller around its restriction: what
// policies bind is a name and its columns, so that whoever moves the one or
// replaces the others would be free of it.
func (g *Guard) bind(ctx context.Context, c *call, r Resource) error {
	var escapes bool
	switch c.op {
	case capabilities.RenameTable, capabilities.RenameView:
		if g.uncovers(ctx, c, r) {
			return forbidden(c, "you may not load {object}, so that you may not move it to where you could")
		}
		escapes = c.op == capabilities.RenameTable
	case capabilities.UnregisterTable:
		escapes = true
	case capabilities.RegisterTable:
		escapes = c.facts.overwrite
	case capabilities.CommitTable:
		escapes = c.facts.schema
	}
	if escapes && g.restricted(ctx, c, r) {
		return forbidden(c, "what you may read of {object} is restricted, so that you may not move it, make the catalog forget it or change its columns")
	}
	return nil
}

// uncovers reports a rename by which the caller could load what it may not load as
// long as it has the name that it has.
func (g *Guard) uncovers(ctx context.Context, c *call, r Resource) bool {
	load := loadTable
	if c.rule.kind == KindView {
		load = ActionOf(capabilities.LoadView)
	}
	return !g.ask(ctx, c, load, r, false).Allowed &&
		g.ask(ctx, c, load, c.to.object(c.rule.kind, c.facts.to.Name), false).Allowed
}

// absent is the ordinary "not there" of what a call is about, exactly as a
// backend says it.
func absent(c *call, object mounts.Identifier) *mounts.Error {
	if c.rule.makes || c.facts.make {
		return absentParent(c, object)
	}
	return &mounts.Error{Kind: c.rule.absent, Op: c.req.Op(), Ident: object}
}

// absentParent says that the namespace is not there which something would go
// into.
func absentParent(c *call, object mounts.Identifier) *mounts.Error {
	n := object.Namespace
	if c.rule.kind == KindNamespace {
		n = n.Parent()
	}
	return &mounts.Error{Kind: mounts.NoSuchNamespace, Op: c.req.Op(), Ident: mounts.Identifier{Namespace: n}}
}

// nowhere answers what is asked of the root of the tree itself, which is no
// namespace. Reads of it are absences, since clients probe with empty names.
func nowhere(c *call) *mounts.Error {
	if c.req.Op().Row().Class == capabilities.Read && !c.rule.makes {
		return absent(c, c.facts.object)
	}
	return &mounts.Error{Kind: mounts.BadRequest, Op: c.req.Op(), Ident: c.facts.object, Msg: "the request names no namespace"}
}

func forbidden(c *call, msg string) *mounts.Error {
	if msg == "" {
		msg = "you may not do this with {object}; whoever writes the policies can let you (" + c.op.String() + ")"
		switch {
		case c.op == capabilities.CreateNamespace && len(c.object.Path) == 1 && c.object.tenant != c.principal.Tenant:
			// No policy can let a tenant have what is another's.
			msg = "the name {object} is not to be had here; choose another"
		case c.facts.rename:
			msg = "you may not make {to} of {object}; it takes the right to rename the one and to create the other"
		}
	}
	e := &mounts.Error{Kind: mounts.Forbidden, Op: c.req.Op(), Ident: c.facts.object, Msg: msg}
	if c.facts.rename {
		e.To = c.facts.to
	}
	return e
}

// joined is both lists, sorted, with nothing twice.
func joined(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
