package policy

import (
	"context"
	"fmt"

	"github.com/icefield/icefield/mounts"
)

// uniform asks whether all rows of a listing are decided alike. Those whose
// tenants differ are not, whatever the policies say.
func (g *Guard) uniform(ctx context.Context, c *call) (allowed, known bool) {
	if c.object.isTree() || g.shared(&c.object) {
		return false, false
	}
	q := Question{Principal: c.principal, Action: Exists(c.rule.rows), Context: c.context}
	return c.by.Uniform(ctx, q, c.object.resource(), c.rule.rows)
}

// shared reports the root of a catalog underneath: its namespaces can belong to
// several tenants, or be hidden by mounts of the tree.
func (g *Guard) shared(s *spot) bool {
	return s.isRoot() && s.Mount.Name == mounts.UnderName
}

// seeObjects tells which tables, views or functions of one namespace may be seen.
func (g *Guard) seeObjects(ctx context.Context, c *call, rows []mounts.Identifier) ([]bool, error) {
	parent := c.facts.object.Namespace
	list := make([]Resource, len(rows))
	for i, row := range rows {
		if row.Name == "" || !row.Namespace.Equal(parent) {
			return nil, misplaced(c, row)
		}
		list[i] = c.object.object(c.rule.rows, row.Name)
	}
	return g.filter(ctx, c, c.rule.rows, list)
}

// misplaced is a row that is not of the listing that it is in: what it is called
// cannot be trusted, so neither can a decision about it.
func misplaced(c *call, row mounts.Identifier) error {
	return &mounts.Error{Kind: mounts.BadGateway, Op: c.req.Op(), Ident: c.facts.object,
		Msg: "its listing holds what does not belong to it", Err: fmt.Errorf("%q listed in %q", row, c.facts.object)}
}

// seeNamespaces tells which namespaces of one parent may be seen. Directly below
// the root of the tree they are of several mounts, and mounts themselves.
func (g *Guard) seeNamespaces(ctx context.Context, c *call, rows []mounts.Namespace) ([]bool, error) {
	parent := c.facts.object.Namespace
	for _, row := range rows {
		if len(row) != len(parent)+1 || !row.Parent().Equal(parent) || row[len(parent)] == "" {
			return nil, misplaced(c, mounts.Identifier{Namespace: row})
		}
	}
	if !c.object.isTree() && !g.shared(&c.object) {
		list, inner := make([]Resource, len(rows)), c.object
		path := c.object.Path
		paths := make([]string, 0, len(rows)*(len(path)+1)) // one piece of memory for all of them
		for i, row := range rows {
			from := len(paths)
			name := row[len(row)-1]
			if c.object.Mount.FoldsCase {
				name = fold(name)
			}
			paths = append(append(paths, path...), name)
			inner.Path = paths[from:len(paths):len(paths)]
			list[i] = inner.resource()
		}
		return g.filter(ctx, c, KindNamespace, list)
	}
	spots := make([]spot, len(rows))
	if err := g.locate(ctx, c, spots, rows...); err != nil {
		return nil, err
	}
	// One question for each kind of row.
	visible := make([]bool, len(rows))
	for _, kind := range [...]Kind{KindMount, KindNamespace} {
		var list []Resource
		var where []int
		for i := range spots {
			if s := &spots[i]; !s.Hidden && (kind == KindMount) == s.isRoot() {
				list, where = append(list, s.resource()), append(where, i)
			}
		}
		some, err := g.filter(ctx, c, kind, list)
		if err != nil {
			return nil, err
		}
		for j, i := range where {
			visible[i] = some[j]
		}
	}
	return visible, nil
}

// filter asks one question about many resources. Where it cannot be answered the
// listing fails: to leave rows out would say that they are not there.
func (g *Guard) filter(ctx context.Context, c *call, kind Kind, list []Resource) ([]bool, error) {
	if len(list) == 0 {
		return nil, nil
	}
	q := Question{Principal: c.principal, Action: Exists(kind), Context: c.context}
	allowed, err := c.by.Filter(ctx, q, list)
	if err == nil && len(allowed) != len(list) {
		err = fmt.Errorf("%d decisions on %d resources", len(allowed), len(list))
	}
	if err != nil {
		g.log.ErrorContext(ctx, "a listing could not be filtered", "action", string(q.Action), "principal", c.principal.ID, "err", err)
		return nil, &mounts.Error{Kind: mounts.Internal, Op: c.req.Op(), Ident: c.facts.object, Err: err}
	}
	return allowed, nil
}
