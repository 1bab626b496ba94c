package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"
)

// value evaluates an attribute as a type. It reports at most the first cause:
// what follows from a function that failed is noise. ok is false for an absent
// or null attribute too.
func (l *loader) value(attr *hcl.Attribute, want cty.Type) (v cty.Value, ok bool) {
	if attr == nil {
		return cty.NilVal, false
	}
	v, diags := attr.Expr.Value(l.scope(attr))
	if diags.HasErrors() {
		l.add(evaluation(diags[0]))
		return cty.NilVal, false
	}
	if v.IsNull() {
		return cty.NilVal, false
	}
	converted, err := convert.Convert(v, want)
	if err != nil || !converted.IsWhollyKnown() {
		l.refuse(attr, "Wrong type", fmt.Sprintf("%s must be %s, not %s.", attr.Name, typeWords(want), typeWords(v.Type())))
		return cty.NilVal, false
	}
	return converted, true
}

// evaluation adds to a diagnostic of the library what to do about it.
func evaluation(d *hcl.Diagnostic) *hcl.Diagnostic {
	out := *d
	switch d.Summary {
	case "Error in function call":
		// The library's text names the function, which the caret points at.
		if _, cause, ok := strings.Cut(d.Detail, " failed: "); ok {
			out.Detail = capital(cause)
		}
	case "Variables not allowed", "Unknown variable":
		out.Detail = `There are no variables here. Put text into quotes; for an environment variable write env("NAME").`
	}
	return &out
}

func typeWords(t cty.Type) string {
	switch {
	case t == cty.String:
		return "a string"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "true or false"
	case t.IsMapType() || t.IsObjectType():
		return "a map of strings, { key = \"value\" }"
	case t.IsListType() || t.IsTupleType() || t.IsSetType():
		return "a list"
	}
	return "a " + t.FriendlyName()
}

// text reads a string; def for an absent one. An empty string is refused where
// the key is written at all: leaving the key out says the same more clearly.
func (l *loader) text(attr *hcl.Attribute, def string) string {
	v, ok := l.value(attr, cty.String)
	if !ok {
		return def
	}
	s := v.AsString()
	switch {
	case s == "":
		l.refuse(attr, "Empty value", fmt.Sprintf("%s is empty. Give it a value or leave it out.", attr.Name))
		return def
	case len(s) > 4096:
		l.refuse(attr, "Value too long", fmt.Sprintf("%s is longer than 4096 bytes.", attr.Name))
		return def
	case hasControl(s):
		l.refuse(attr, "Control character", fmt.Sprintf("%s holds a line break or another control character.", attr.Name))
		return def
	}
	return s
}

func (l *loader) boolean(attr *hcl.Attribute, def bool) bool {
	v, ok := l.value(attr, cty.Bool)
	if !ok {
		return def
	}
	return v.True()
}

func (l *loader) integer(attr *hcl.Attribute, def, low, high int) int {
	v, ok := l.value(attr, cty.Number)
	if !ok {
		return def
	}
	var n int
	if err := gocty.FromCtyValue(v, &n); err != nil || n < low || n > high {
		l.refuse(attr, "Out of bounds", fmt.Sprintf("%s must be a whole number from %d to %d.", attr.Name, low, high))
		return def
	}
	return n
}

func (l *loader) duration(attr *hcl.Attribute, def, low, high time.Duration) time.Duration {
	s := l.text(attr, "")
	if s == "" {
		return def
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		l.refuse(attr, "Not a duration", fmt.Sprintf(`%s is %s, which is not a duration. Write a number with its unit, such as "500ms", "10s" or "2m".`, attr.Name, l.show(attr, s)))
		return def
	case d < low || d > high:
		l.refuse(attr, "Out of bounds", fmt.Sprintf("%s must be from %s to %s.", attr.Name, durationText(low), durationText(high)))
		return def
	}
	return d
}

func (l *loader) size(attr *hcl.Attribute, def, low, high int64) int64 {
	s := l.text(attr, "")
	if s == "" {
		return def
	}
	n, ok := parseSize(s)
	switch {
	case !ok:
		l.refuse(attr, "Not a size", fmt.Sprintf(`%s is %s, which is not a size. Write a number with its unit, such as "512KiB", "64MiB" or "1GiB".`, attr.Name, l.show(attr, s)))
		return def
	case n < low || n > high:
		l.refuse(attr, "Out of bounds", fmt.Sprintf("%s must be from %s to %s.", attr.Name, sizeText(low), sizeText(high)))
		return def
	}
	return n
}

var units = []struct {
	suffix string
	bytes  int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// parseSize reads a number of bytes with a unit. "0" needs none.
func parseSize(s string) (int64, bool) {
	if s == "0" {
		return 0, true
	}
	for _, unit := range units {
		digits, ok := strings.CutSuffix(s, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit.bytes {
			return 0, false
		}
		return n * unit.bytes, true
	}
	return 0, false
}

func sizeText(n int64) string {
	for _, unit := range units[:4] {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

func durationText(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7F })
}
