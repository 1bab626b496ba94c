package rest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/icefield/icefield/mounts"
)

// ours is the remote's message in our names: where it says the object of the
// call, or a rename's destination, in the way the remote spells it, the
// placeholder stands, which whoever knows the mount's name fills in.
func (s said) ours(c call) string {
	text := s.message
	if text == "" {
		return ""
	}
	type name struct {
		levels []string
		mark   string
	}
	names := []name{{levels(c.object), "{object}"}, {levels(c.to), "{to}"}}
	if !c.to.IsZero() && len(names[1].levels) > len(names[0].levels) {
		slices.Reverse(names) // the longer one first: it may begin with the other
	}
	for _, n := range names {
		text = replaceName(text, n.levels, c.called(), n.mark)
	}
	if c.object.Name != "" {
		text = replaceName(text, c.object.Namespace, c.called(), "the namespace of {object}")
	}
	return text
}

func levels(id mounts.Identifier) []string {
	if id.Name == "" {
		return id.Namespace
	}
	return append(slices.Clone([]string(id.Namespace)), id.Name)
}

// called is what the remote calls itself, which may stand in front of a name.
func (c call) called() []string {
	if c.at == nil {
		return nil
	}
	return c.at.called
}

// mentions reports whether a text holds a namespace's dotted name.
func mentions(text string, n mounts.Namespace) bool {
	return replaceName(text, n, nil, "\x00") != text
}

// replaceName puts a mark where a text holds a dotted name: its levels joined by
// ".", "/", or "%1F", each perhaps quoted, after one of the remote's names for
// itself or not, in any case of letters (some catalogs fold it). A name of one
// level may be an ordinary word, so it counts only where it is quoted, or where
// a sentence puts a name.
func replaceName(text string, levels, called []string, mark string) string {
	if len(levels) == 0 || len(text) > 8*maxMessage {
		return text
	}
	quoted := make([]string, len(levels))
	for i, level := range levels {
		quoted[i] = regexp.QuoteMeta(level)
	}
	const quote = "[\"'`]?"
	pattern := strings.Join(quoted, quote+`(?:\.|/|%1[fF]|,\s*)`+quote)
	if len(called) > 0 {
		own := make([]string, len(called))
		for i, name := range called {
			own[i] = regexp.QuoteMeta(name)
		}
		prefixed := `(?:(?:` + strings.Join(own, "|") + `)` + quote + `[./]` + quote + `)`
		if len(levels) > 1 {
			prefixed += "?"
		} else {
			prefixed = "(" + prefixed + ")?"
		}
		pattern = prefixed + pattern
	} else if len(levels) == 1 {
		pattern = "()" + pattern
	}
	find, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return text // a name that is too long to look for
	}
	var b strings.Builder
	from := 0
	for _, at := range find.FindAllStringSubmatchIndex(text, -1) {
		before, after := text[:at[0]], text[at[1]:]
		if inWord(before, after) {
			continue
		}
		if len(levels) == 1 && at[2] == at[3] && !placed(before, after) {
			continue
		}
		b.WriteString(text[from:at[0]])
		b.WriteString(mark)
		from = at[1]
	}
	b.WriteString(text[from:])
	return b.String()
}

// inWord reports that what was found goes on to the left or to the right: it is
// part of a longer name.
func inWord(before, after string) bool {
	left, _ := utf8.DecodeLastRuneInString(before)
	right, size := utf8.DecodeRuneInString(after)
	if before != "" && (partOfName(left) || left == '.' || left == '/') {
		return true
	}
	if after == "" {
		return false
	}
	if right == '.' || right == '/' {
		next, _ := utf8.DecodeRuneInString(after[size:])
		return len(after) > size && partOfName(next)
	}
	return partOfName(right)
}

func partOfName(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

var nameComes = regexp.MustCompile(`(?i)(?:\b(?:namespace|schema|database|table|view|named)|\bdoes not exist|\balready exists|\bnot found|:)\s*:?\s*$`)

// placed reports that a word stands where a name does: in quotes or brackets, or
// after a word that announces one, not followed by more of a sentence that would
// make it an ordinary word.
func placed(before, after string) bool {
	if before != "" && after != "" && strings.ContainsRune("\"'`[(<", rune(before[len(before)-1])) && strings.ContainsRune("\"'`])>", rune(after[0])) {
		return true
	}
	return nameComes.MatchString(before)
}
