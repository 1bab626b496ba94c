package policy

import (
	"strings"

	"github.com/icefield/icefield/mounts"
)

// Kind is a kind of object that policies speak of: the name of its entity type.
type Kind string

// The kinds. A mount's own root, as a namespace, is the Mount.
const (
	KindServer    Kind = "Server"
	KindMount     Kind = "Mount"
	KindNamespace Kind = "Namespace"
	KindTable     Kind = "Table"
	KindView      Kind = "View"
	KindFunction  Kind = "Function"
)

// Resource is an object as policies name it, whatever catalog it was asked for
// in. Objects need not exist: policies speak of names.
type Resource struct {
	Kind Kind
	// Mount is the name of the mount responsible, mounts.UnderName for the
	// catalog underneath; empty for the server.
	Mount string
	// Path holds the levels of the namespace, or of the one that the object is in,
	// in the tree's names: the first is the mount's name, unless the mount is the
	// catalog underneath.
	Path mounts.Namespace
	// Name is a table's, view's or function's own name.
	Name string
	// Tenant owns it; empty for nobody, as the server.
	Tenant string
}

// ID is the id of the resource's entity: "server", the mount's name, or the
// levels and the name as EntityID writes them. Two objects of one kind never have
// the same.
func (r Resource) ID() string {
	switch r.Kind {
	case KindServer:
		return "server"
	case KindMount:
		return EntityID(r.Mount)
	case KindNamespace:
		return EntityID(r.Path...)
	}
	return EntityID(r.Path.Child(r.Name)...)
}

// EntityID joins the parts of a name with slashes. "/" and "%" inside a part are
// written %2F and %25, and so are control characters, so that no two lists of
// parts have the same id; everything else stands as it is, byte for byte: names
// that differ in case or in their Unicode form are different names. The catalog
// underneath, whose name is the one part "/", has the id "%2F".
func EntityID(parts ...string) string {
	if len(parts) == 1 && !strings.ContainsAny(parts[0], "/%") && !hasControl(parts[0]) {
		return parts[0]
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte('/')
		}
		for j := range len(part) {
			if c := part[j]; c == '/' || c == '%' || c < ' ' || c == 0x7f {
				b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			} else {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return true
		}
	}
	return false
}
