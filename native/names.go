package native

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// The bounds of new names. Each level and name may have 255 characters of four
// bytes.
const (
	maxName   = 1020
	maxLevels = 64
	maxPath   = 16 << 10
)

// checkNamespace refuses a namespace that cannot be created.
func checkNamespace(path mounts.Namespace) error {
	ident := mounts.Identifier{Namespace: path}
	total := 0
	for _, level := range path {
		if problem := nameProblem(level); problem != "" {
			return refuse(mounts.BadRequest, ident, "a namespace level "+problem)
		}
		total += len(level)
	}
	switch {
	case path.IsRoot():
		return refuse(mounts.BadRequest, ident, namespaceIsRoot)
	case len(path) > maxLevels || total > maxPath:
		return refuse(mounts.BadRequest, ident, fmt.Sprintf("a namespace may have %d levels and %d bytes; this one has %d and %d",
			maxLevels, maxPath, len(path), total))
	}
	return nil
}

// checkObject refuses a name of a table or view that cannot be created.
func checkObject(id mounts.Identifier, kind store.Kind) error {
	if id.Namespace.IsRoot() {
		return refuse(mounts.BadRequest, id, "a "+kind.String()+" needs a namespace")
	}
	if problem := nameProblem(id.Name); problem != "" {
		return refuse(mounts.BadRequest, id, "a "+kind.String()+" name "+problem)
	}
	return nil
}

// nameProblem says why a name cannot be created, or "". U+001F separates levels
// in the protocol; U+0000 cannot be stored everywhere.
func nameProblem(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case len(name) > maxName:
		return fmt.Sprintf("may have %d bytes; this one has %d", maxName, len(name))
	case !utf8.ValidString(name):
		return "must be valid UTF-8"
	case strings.ContainsAny(name, "\x00\x1f"):
		return "must not hold the characters U+0000 and U+001F"
	}
	return ""
}
