package mounttest

import "strings"

// Name is a name that something between a client and a catalog is known to
// spoil. Label is how subtests call it.
type Name struct{ Label, Text string }

// Names returns the name matrix: every level and name in it is legal in the
// protocol, and no two are the same name.
func Names() []Name {
	return []Name{
		{"plain", "plain"},
		{"blank", " "}, {"blank-inside", "a b"}, {"blank-around", " a "},
		{"plus", "+"}, {"plus-inside", "a+b"},
		{"percent", "%"}, {"percent-inside", "a%b"}, {"percent-encoded", "a%20b"}, {"percent-slash", "%2F"},
		{"slash", "/"}, {"slash-inside", "a/b"}, {"slash-around", "/a/"},
		{"question", "?"}, {"question-inside", "a?b"},
		{"hash", "#"}, {"hash-inside", "a#b"},
		{"dot", "."}, {"dot-inside", "a.b"}, {"dotdot", ".."}, {"dotdot-inside", "a..b"}, {"dot-first", ".a"},
		{"quote", `"`}, {"quote-inside", `a"b`}, {"apostrophe", "'"}, {"backslash", `a\b`},
		{"ampersand", "a&b=c"}, {"semicolon", "a;b,c"}, {"colon", "a:b@c"}, {"brace", "{a}"},
		{"accent", "é"}, {"accent-combined", "e\u0301"}, {"emoji", "🧊"}, {"emoji-inside", "a🧊b"},
		{"case-upper", "Twin"}, {"case-lower", "twin"},
		{"path-word", "namespaces"},
		{"long", strings.Repeat("x", 255)}, {"long-accents", strings.Repeat("é", 255)},
	}
}
