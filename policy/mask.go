package policy

import (
	"fmt"
	"slices"
)

// mask is one action of the REST spec that replaces the values of a column.
type mask struct {
	action string
	// kinds are the types of column that it applies to; nil for all.
	kinds []string
	// optional: it does not apply to a required column.
	optional bool
	// hides: nothing of a value is left, nor of what is nested in it.
	hides bool
}

var (
	textKinds = []string{"string"}
	hashKinds = []string{"string", "int", "long", "binary"}
	dateKinds = []string{"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"}
)

// masks is every action, the strictest first; read only. This is the order that
// decides which one stays where several are to be applied to one column.
var masks = [...]mask{
	{action: replaceWithNull, optional: true, hides: true},
	{action: "mask-to-fixed-value", hides: true},
	{action: "sha-256-query-local", kinds: hashKinds},
	{action: "sha-256-global", kinds: hashKinds},
	{action: maskAlphanum, kinds: textKinds},
	{action: showFirst, kinds: textKinds},
	{action: showLast, kinds: textKinds},
	{action: "truncate-to-year", kinds: dateKinds},
	{action: "truncate-to-month", kinds: dateKinds},
}

const (
	replaceWithNull = "replace-with-null"
	maskAlphanum    = "mask-alphanum"
	showFirst       = "show-first-4"
	showLast        = "show-last-4"
)

func maskOf(action string) (rank int, m mask, ok bool) {
	for i, m := range masks {
		if m.action == action {
			return i, m, true
		}
	}
	return 0, mask{}, false
}

// CheckMask says why an action is none of the REST spec, or nil.
func CheckMask(action string) error {
	if _, _, ok := maskOf(action); ok {
		return nil
	}
	names := make([]string, len(masks))
	for i, m := range masks {
		names[i] = m.action
	}
	slices.Sort(names)
	return fmt.Errorf("%q is no column action; there are %q", action, names)
}

// Stricter is the action that leaves no more of a value than either of two. Of an
// action that is not known nothing can be said, so that then everything goes.
func Stricter(a, b string) string {
	i, _, known := maskOf(a)
	j, _, knownToo := maskOf(b)
	switch {
	case !known || !knownToo:
		return replaceWithNull
	case a == showFirst && b == showLast, a == showLast && b == showFirst:
		return maskAlphanum // neither leaves less than the other
	case i < j:
		return a
	}
	return b
}

// fits says why the action does not apply to a column, or nil.
func (m mask) fits(c *column) error {
	switch {
	case c.inKey:
		return fmt.Errorf("column %q is a key of a map, which no action applies to; mask the map", c.path)
	case m.optional && c.required:
		return fmt.Errorf("%s does not apply to the required column %q; use mask-to-fixed-value", m.action, c.path)
	case m.kinds != nil && !slices.Contains(m.kinds, c.kind):
		return fmt.Errorf("%s does not apply to column %q, which is of type %s", m.action, c.path, c.kind)
	}
	return nil
}
