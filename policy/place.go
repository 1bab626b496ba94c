package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/icefield/icefield/mounts"
)

// Places knows where the namespaces of one catalog lie: which mount answers for
// them, and what the whole tree calls them, as policies do.
type Places interface {
	// Place finds a namespace, given in the catalog's own names. It does no I/O.
	Place(n mounts.Namespace) Place
	// Root is the mount whose own root the catalog's root is; nil for the tree.
	Root() *mounts.Mount
}

// Place is where a namespace lies.
type Place struct {
	// Mount answers for it; nil for the root of the tree, and where no mount does.
	Mount *mounts.Mount
	// Path is the namespace in the tree's names; folded below a mount that takes
	// names that differ in case only for the same. Top is its first level, as it
	// was given.
	Path mounts.Namespace
	Top  string
	// Hidden tells of a namespace of the catalog underneath that a mount of the
	// tree has the name of: to everybody but operators it is not there.
	Hidden bool
}

// InTree is the places of the whole tree of a mount table.
func InTree(table *mounts.Map) Places { return inTree{table} }

// InMount is the places of one mount of the table as a catalog of its own.
func InMount(table *mounts.Map, m *mounts.Mount) Places { return inMount{table, m} }

type inTree struct{ table *mounts.Map }

func (t inTree) Root() *mounts.Mount { return nil }

func (t inTree) Place(n mounts.Namespace) Place {
	if len(n) == 0 {
		return Place{}
	}
	m := t.table.Resolve(n)
	p := Place{Mount: m, Path: n, Top: n[0]}
	if m != nil && m.FoldsCase {
		p.Path = folded(n, named(m))
	}
	return p
}

type inMount struct {
	table *mounts.Map
	mount *mounts.Mount
}

func (v inMount) Root() *mounts.Mount { return v.mount }

func (v inMount) Place(n mounts.Namespace) Place {
	p := Place{Mount: v.mount, Path: n}
	if len(n) > 0 {
		p.Top = n[0]
	}
	keep := named(v.mount)
	if keep == 0 {
		p.Hidden = len(n) > 0 && v.table.Mounted(n[0]) != nil
	} else {
		p.Top = v.mount.Name
		p.Path = make(mounts.Namespace, 0, len(n)+1)
		p.Path = append(append(p.Path, v.mount.Name), n...)
	}
	if v.mount.FoldsCase {
		p.Path = folded(p.Path, keep)
	}
	return p
}

// named is how many levels of a path are the mount's own name.
func named(m *mounts.Mount) int {
	if m == nil || m.Name == mounts.UnderName {
		return 0
	}
	return 1
}

// folded is n with the levels from keep on in one case.
func folded(n mounts.Namespace, keep int) mounts.Namespace {
	var out mounts.Namespace
	for i := keep; i < len(n); i++ {
		f := fold(n[i])
		if f == n[i] {
			continue
		}
		if out == nil {
			out = slices.Clone(n)
		}
		out[i] = f
	}
	if out == nil {
		return n
	}
	return out
}

// fold writes a name in lower case, so that no two names have different results
// that any catalog takes for one, whether it writes names in lower case, in upper
// case or compares them without: letters that only some consider the same, as the
// long s or an i with or without its dot, are the same here, and so is a letter
// and the two that stand for it, as in "ß" and "SS".
func fold(name string) string {
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			upper := cases.Upper(language.Und).String(strings.Map(foldRune, name))
			return strings.ReplaceAll(strings.Map(foldRune, upper), "i\u0307", "i")
		}
		if 'A' <= c && c <= 'Z' && isASCII(name[i:]) {
			return strings.ToLower(name)
		}
	}
	return name
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}

// spot is a Place with whom it belongs to.
type spot struct {
	Place
	tenant string
	// absent tells that its top-level namespace is not there; unclaimed that no
	// mount answers for it, which is the same.
	absent bool
}

// isRoot reports the root of a mount; isTree that of the tree.
func (s *spot) isRoot() bool { return s.Mount != nil && len(s.Path) == named(s.Mount) }
func (s *spot) isTree() bool { return s.Mount == nil && len(s.Path) == 0 }

func (s *spot) mountName() string {
	if s.Mount == nil {
		return mounts.UnderName
	}
	return s.Mount.Name
}

// resource is the namespace itself.
func (s *spot) resource() Resource {
	switch {
	case s.isTree():
		return Resource{Kind: KindServer}
	case s.isRoot():
		return Resource{Kind: KindMount, Mount: s.Mount.Name, Path: s.Path, Tenant: s.tenant}
	}
	return Resource{Kind: KindNamespace, Mount: s.mountName(), Path: s.Path, Tenant: s.tenant}
}

// object is a table, view or function in it, or the namespace itself.
func (s *spot) object(kind Kind, name string) Resource {
	if kind == KindNamespace {
		return s.resource()
	}
	if s.Mount != nil && s.Mount.FoldsCase {
		name = fold(name)
	}
	return Resource{Kind: kind, Mount: s.mountName(), Path: s.Path, Name: name, Tenant: s.tenant}
}

// parent is the enclosing namespace; ok is false if that is a catalog's root,
// which is always there.
func (s *spot) parent() (up spot, ok bool) {
	if len(s.Path) <= max(1, named(s.Mount)) {
		return spot{}, false
	}
	up = *s
	up.Path = s.Path[:len(s.Path)-1]
	return up, true
}

// locate finds the spots of namespaces, with one question for the tenants of
// those that only their catalog knows. That a tenant cannot be told is an error,
// never "nobody's".
func (g *Guard) locate(ctx context.Context, c *call, spots []spot, names ...mounts.Namespace) error {
	var asked []string
	var owners func(context.Context, []string) (map[string]string, error)
	for i, n := range names {
		s := &spots[i]
		s.Place = g.places.Place(n)
		switch {
		case s.isTree():
		case s.Mount == nil || s.Hidden:
			s.absent = true
		case s.Mount.Owner != "":
			s.tenant = s.Mount.Owner
		case s.isRoot():
			// Shared by all tenants, as the root of the tree is: each sees its own.
			s.tenant = c.principal.Tenant
		case s.Mount.Owners != nil:
			owners = s.Mount.Owners
			if len(names) > fewNames || !slices.Contains(asked, s.Top) {
				asked = append(asked, s.Top)
			}
		}
	}
	if owners == nil {
		return nil
	}
	of, err := tenants(ctx, owners, asked)
	if err != nil {
		return err
	}
	for i := range names {
		s := &spots[i]
		if s.Mount == nil || s.Hidden || s.Mount.Owner != "" || s.isRoot() {
			continue
		}
		tenant, there := of[s.Top]
		s.tenant, s.absent = tenant, !there
	}
	return nil
}

// fewNames is how many names are searched for the same one twice: the rows of a
// listing are all different.
const fewNames = 64

// tenants asks a catalog whom top-level namespaces belong to.
func tenants(ctx context.Context, owners func(context.Context, []string) (map[string]string, error), levels []string) (map[string]string, error) {
	of, err := owners(ctx, levels)
	if err == nil {
		return of, nil
	}
	e := *mounts.AsError(err)
	switch e.Kind {
	case mounts.Unavailable, mounts.Timeout, mounts.RateLimited, mounts.BadGateway:
	default: // whatever it says, it is no answer about what was asked for
		e = mounts.Error{Kind: mounts.Internal, Err: fmt.Errorf("tell the owners of namespaces: %w", err)}
	}
	e.Ident, e.To, e.OutcomeUnknown = mounts.Identifier{}, mounts.Identifier{}, false
	return nil, &e
}
