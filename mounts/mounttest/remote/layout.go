package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Layout is how a remote writes JSON. The value stays the same.
type Layout int

// The layouts.
const (
	// Compact is as encoding/json writes it.
	Compact Layout = iota
	// Indented has line breaks and blanks, before and after the value too.
	Indented
	// ASCII writes what is not ASCII, and some of what is, as \u escapes.
	ASCII
	// Backwards has the members of the outermost object in reverse order, and one
	// that nobody knows first.
	Backwards
)

// lay writes a JSON document in a layout. What is no JSON stays as it is.
func lay(body []byte, how Layout) []byte {
	if how == Compact || !json.Valid(body) {
		return body
	}
	switch how {
	case Indented:
		var b bytes.Buffer
		b.WriteString("\r\n ")
		if json.Indent(&b, body, "\t", "    ") != nil {
			return body
		}
		b.WriteString("\n\n")
		return b.Bytes()
	case ASCII:
		return escaped(body)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	out := []byte(`{"@vendor":{"trace":[1,2,{"metadata":null}]}`)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(members))) {
		quoted, err := json.Marshal(name)
		if err != nil {
			return body
		}
		out = append(append(append(append(out, ','), quoted...), ':'), members[name]...)
	}
	return append(out, '}')
}

// escaped writes letters that may be escaped as \u escapes. Outside of strings
// JSON has none but in true, false and null.
func escaped(body []byte) []byte {
	var b strings.Builder
	inside := false
	for i := 0; i < len(body); {
		c := body[i]
		switch {
		case c == '"':
			inside = !inside
		case inside && c == '\\':
			b.Write(body[i : i+2])
			i += 2
			continue
		case inside && (c >= utf8.RuneSelf || c == 'e' || c == '/'):
			r, n := utf8.DecodeRune(body[i:])
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
			} else {
				fmt.Fprintf(&b, `\u%04X`, r)
			}
			i += n
			continue
		}
		b.WriteByte(c)
		i++
	}
	return []byte(b.String())
}
