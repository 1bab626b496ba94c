package mounts

import (
	"slices"
	"strings"
)

// Namespace is a path of levels, outermost first. No levels is the root of
// whatever it is relative to. A level is never empty and holds no 0x1F.
type Namespace []string

// String joins the levels with dots, as error messages show them. It is not
// unique: a level may hold a dot.
func (n Namespace) String() string { return strings.Join(n, ".") }

// IsRoot reports whether there are no levels.
func (n Namespace) IsRoot() bool { return len(n) == 0 }

// Equal compares level by level.
func (n Namespace) Equal(other Namespace) bool { return slices.Equal(n, other) }

// Parent is the enclosing namespace; the root is its own parent.
func (n Namespace) Parent() Namespace {
	if len(n) == 0 {
		return n
	}
	return n[:len(n)-1]
}

// Child is the namespace of that name inside n. It shares no memory with n.
func (n Namespace) Child(level string) Namespace {
	return append(slices.Clip(slices.Clone(n)), level)
}

// Identifier names a table or view: its namespace and its own name. With an
// empty name it stands for the namespace itself.
type Identifier struct {
	Namespace Namespace `json:"namespace"`
	Name      string    `json:"name"`
}

// String joins namespace and name with dots, as error messages show them.
func (i Identifier) String() string {
	switch {
	case i.Name == "":
		return i.Namespace.String()
	case len(i.Namespace) == 0:
		return i.Name
	}
	return i.Namespace.String() + "." + i.Name
}

// Equal compares namespace and name.
func (i Identifier) Equal(other Identifier) bool {
	return i.Name == other.Name && i.Namespace.Equal(other.Namespace)
}

// IsZero reports whether the identifier names nothing.
func (i Identifier) IsZero() bool { return i.Name == "" && len(i.Namespace) == 0 }
