package audit

import (
	"unicode"
	"unicode/utf8"

	"github.com/icefield/icefield/policy"
)

const hexDigits = "0123456789abcdef"

// appendText appends s as it stands inside a JSON string, in at most room bytes.
// whole is false if it did not fit; then what fits is there, up to a character's
// end.
//
// Whatever is not seen when it is printed is written as an escape, not only what
// JSON demands: control characters, U+2028 and U+2029, at which some readers
// break lines, marks that turn the direction of text around, blanks of no width.
// Bytes that are not UTF-8 become U+FFFD.
func appendText(b []byte, s string, room int) (text []byte, whole bool) {
	limit := len(b) + room
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf && plain[c] {
			i++
			continue
		}
		if len(b)+i-start > limit {
			break
		}
		b = append(b, s[start:i]...)
		size := 1
		var escaped [12]byte
		var out []byte
		if c < utf8.RuneSelf {
			out = appendASCII(escaped[:0], c)
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			out = appendRune(escaped[:0], r)
		}
		if len(b)+len(out) > limit {
			return b, false
		}
		b = append(b, out...)
		i += size
		start = i
	}
	if rest := limit - len(b); len(s)-start > rest {
		return append(b, s[start:start+max(rest, 0)]...), false
	}
	return append(b, s[start:]...), true
}

// plain are the ASCII characters that stand for themselves in a JSON string.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func appendASCII(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	if plain[c] {
		return append(b, c)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

func appendRune(b []byte, r rune) []byte {
	if unicode.IsPrint(r) {
		return utf8.AppendRune(b, r)
	}
	if r >= 0x10000 {
		r -= 0x10000
		return appendUnit(appendUnit(b, 0xd800|r>>10), 0xdc00|r&0x3ff)
	}
	return appendUnit(b, r)
}

func appendUnit(b []byte, u rune) []byte {
	return append(b, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}

// appendEntity appends the text of a resource's entity as it stands inside a JSON
// string, as Table::"prod/a/t", in at most room bytes. Inside the quotes is
// Resource.ID, in which a Cedar string escapes quotes and backslashes; a byte that
// is not UTF-8 is written %XX there, which no other id is.
//
// It writes what ID returns without making that string: there is one for each
// request.
func appendEntity(b []byte, r *policy.Resource, room int) (text []byte, whole bool) {
	e := entity{b: b, limit: len(b) + room - len(`\"`)}
	e.raw(string(r.Kind))
	e.raw(`::\"`)
	switch r.Kind {
	case policy.KindServer:
		e.raw("server")
	case policy.KindMount:
		e.part(r.Mount)
	default:
		for i, level := range r.Path {
			if i > 0 {
				e.raw("/")
			}
			e.part(level)
		}
		if r.Kind != policy.KindNamespace {
			if len(r.Path) > 0 {
				e.raw("/")
			}
			e.part(r.Name)
		}
	}
	return append(e.b, `\"`...), !e.full
}

type entity struct {
	b     []byte
	limit int
	full  bool
}

func (e *entity) raw(s string) {
	if e.full || len(e.b)+len(s) > e.limit {
		e.full = true
		return
	}
	e.b = append(e.b, s...)
}

// part appends one part of an id, as policy.EntityID writes it.
func (e *entity) part(s string) {
	const upper = "0123456789ABCDEF"
	for i := 0; i < len(s) && !e.full; {
		start := i
		for i < len(s) && s[i] < utf8.RuneSelf && plain[s[i]] && s[i] != '/' && s[i] != '%' {
			i++
		}
		if i > start {
			run := s[start:i]
			if room := e.limit - len(e.b); len(run) > room {
				run, e.full = run[:max(room, 0)], true
			}
			e.b = append(e.b, run...)
			continue
		}
		var escaped [12]byte
		out, size := escaped[:0], 1
		switch c := s[i]; {
		case c == '/' || c == '%' || c < ' ' || c == 0x7f:
			out = append(out, '%', upper[c>>4], upper[c&15])
		case c == '"' || c == '\\':
			out = append(out, '\\', '\\', '\\', c)
		default: // the rest of ASCII is in the run above
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
				out = append(out, '%', upper[c>>4], upper[c&15])
			} else {
				out = appendRune(out, r)
			}
		}
		if len(e.b)+len(out) > e.limit {
			e.full = true
			return
		}
		e.b = append(e.b, out...)
		i += size
	}
}
