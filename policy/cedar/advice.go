package cedar

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/cedar-policy/cedar-go/types"
)

// unknown is how the validator begins what it says of a name that it does not
// know; the name stands behind it in backquotes.
const (
	unknownAction = "unrecognized action `"
	unknownType   = "unrecognized entity type `"
)

// advise adds to what the validator says what was probably meant.
func (v *vocabulary) advise(problem string) string {
	if name, ok := strings.CutPrefix(problem, unknownAction); ok {
		return problem + v.meantAction(strings.TrimSuffix(name, "`"))
	}
	if name, ok := strings.CutPrefix(problem, unknownType); ok {
		return problem + meantType(strings.TrimSuffix(name, "`"))
	}
	return problem
}

func (v *vocabulary) meantAction(name string) string {
	kind, id, _ := strings.Cut(strings.TrimSuffix(name, `"`), `::"`)
	var known []string
	for action := range v.actions {
		known = append(known, string(action))
	}
	for group := range v.groups {
		known = append(known, string(group))
	}
	if near := nearest(id, known); near != "" && string(typeAction)+near != kind+id {
		return fmt.Sprintf(": did you mean %s::%q?", typeAction, near)
	}
	return fmt.Sprintf(`: actions are written %s::"loadTable"; they are those of the operations, and the groups list, read, write and manage`, typeAction)
}

func meantType(name string) string {
	var known []string
	for _, t := range append([]types.EntityType{typeUser, typeGroup, typeTenant}, kindTypes[:]...) {
		known = append(known, string(t))
	}
	full := name
	if !strings.Contains(name, "::") {
		full = "Icefield::" + name
	}
	if near := nearest(full, known); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ": there are " + strings.Join(known, ", ")
}

// nearest is what name is probably a misspelling of, or "".
func nearest(name string, known []string) string {
	best, limit := "", max(1, min(3, len(name)/2))
	for _, candidate := range known {
		d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(candidate), nil)
		if d < limit || d == limit && (best == "" || candidate < best) {
			best, limit = candidate, d
		}
	}
	return best
}
