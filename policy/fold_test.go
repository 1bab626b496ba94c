package policy

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Catalogs write names in upper or in lower case, letter by letter as Go does or
// with all that Unicode says as Java does. Names that any of them takes for one
// have one result.
func TestNoCatalogTakesForOneWhatFoldTellsApart(t *testing.T) {
	check := func(name string) {
		t.Helper()
		want := fold(name)
		for way, other := range map[string]string{
			"again":      want,
			"upper":      strings.ToUpper(name),
			"lower":      strings.ToLower(name),
			"full upper": cases.Upper(language.Und).String(name),
			"full lower": cases.Lower(language.Und).String(name),
			"full fold":  cases.Fold().String(name),
		} {
			if got := fold(other); got != want {
				t.Errorf("%q is %q, and %s, %q, is %q", name, want, way, other, got)
			}
		}
	}
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r) || r < 0x300) {
			check(string(r))
			check("a" + string(r) + "I")
		}
	}
	for _, same := range [][]string{
		{"ID", "id", "ıd", "İd", "i\u0307d", "I\u0307D"}, {"straße", "STRASSE", "strasse", "STRAẞE", "ſtraſſe"},
		{"KEY", "\u212aey"}, {"ﬁnance", "FINANCE", "finance"}, {"ΣΑΣ", "σας", "σασ"},
	} {
		for _, name := range same {
			if fold(name) != fold(same[0]) {
				t.Errorf("%q is %q, and %q is %q", name, fold(name), same[0], fold(same[0]))
			}
		}
	}
	if fold("é") == fold("e") || fold("a") == fold("b") || fold("orders") != "orders" || fold("Orders") != "orders" {
		t.Error("different names are one")
	}
}
