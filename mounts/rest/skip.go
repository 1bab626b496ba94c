package rest

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf8"
)

// The scanner finds where a JSON value ends and makes sure that it is one (RFC
// 8259, valid UTF-8, paired surrogates). It decodes nothing and allocates
// nothing: metadata passes as the bytes it is, and most of what it costs to pass
// it is this. It accepts what jsontext accepts with duplicate names allowed.

var (
	errTruncated = errors.New("the JSON text ends too early")
	errSyntax    = errors.New("not JSON")
	errUTF8      = errors.New("a JSON string is not valid UTF-8")
	errDeep      = errors.New("the JSON text is nested too deeply")
)

// maxDepth bounds nesting, as jsontext does.
const maxDepth = 10_000

// skipSpace is the index of the first byte from i on that is no white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipValue is the end of the value that begins at i, white space allowed before
// it.
func skipValue(data []byte, i, depth int) (int, error) {
	i = skipSpace(data, i)
	if i >= len(data) {
		return i, errTruncated
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{':
		return skipObject(data, i, depth)
	case '[':
		return skipArray(data, i, depth)
	case 't':
		return skipWord(data, i, "true")
	case 'f':
		return skipWord(data, i, "false")
	case 'n':
		return skipWord(data, i, "null")
	}
	return skipNumber(data, i)
}

func skipObject(data []byte, i, depth int) (int, error) {
	if depth >= maxDepth {
		return i, errDeep
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		var err error
		if i >= len(data) {
			return i, errTruncated
		}
		if data[i] != '"' {
			return i, errSyntax
		}
		if i, err = skipString(data, i); err != nil {
			return i, err
		}
		if i >= len(data) || data[i] != ':' {
			if i = skipSpace(data, i); i >= len(data) {
				return i, errTruncated
			}
			if data[i] != ':' {
				return i, errSyntax
			}
		}
		if i, err = skipValue(data, i+1, depth+1); err != nil {
			return i, err
		}
		more := false
		if i, more, err = skipComma(data, i, '}'); err != nil || !more {
			return i, err
		}
	}
}

func skipArray(data []byte, i, depth int) (int, error) {
	if depth >= maxDepth {
		return i, errDeep
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = skipValue(data, i, depth+1); err != nil {
			return i, err
		}
		more := false
		if i, more, err = skipComma(data, i, ']'); err != nil || !more {
			return i, err
		}
	}
}

// skipComma goes over what follows a member or an element: a comma, and what
// comes next is there, or the end.
func skipComma(data []byte, i int, end byte) (next int, more bool, err error) {
	if i = skipSpace(data, i); i >= len(data) {
		return i, false, errTruncated
	}
	switch data[i] {
	case ',':
		return skipSpace(data, i+1), true, nil
	case end:
		return i + 1, false, nil
	}
	return i, false, errSyntax
}

func skipWord(data []byte, i int, word string) (int, error) {
	if len(data)-i < len(word) {
		return i, errTruncated
	}
	if string(data[i:i+len(word)]) != word {
		return i, errSyntax
	}
	return i + len(word), nil
}

func skipNumber(data []byte, i int) (int, error) {
	if data[i] == '-' {
		i++
	}
	from := i
	if i = skipDigits(data, i); i == from || data[from] == '0' && i > from+1 {
		return i, errSyntax
	}
	if i < len(data) && data[i] == '.' {
		from = i + 1
		if i = skipDigits(data, from); i == from {
			return i, errSyntax
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from = i
		if i = skipDigits(data, from); i == from {
			return i, errSyntax
		}
	}
	return i, nil
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// skipString is the end of the string whose opening quote is at i.
func skipString(data []byte, i int) (int, error) {
	i++
	for {
		// Eight bytes at a time: the lowest byte that is marked is one that is not
		// plain (a control, a quote, a backslash, or not ASCII); above it marks may
		// be wrong, so only that one is looked at.
		for i+8 <= len(data) {
			x := binary.LittleEndian.Uint64(data[i:])
			quote, slash := x^ones*'"', x^ones*'\\'
			marks := (x - ones*' ') | (quote - ones) | (slash - ones) | x
			if marks &= high; marks == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(marks) / 8
			break
		}
		if i >= len(data) {
			return i, errTruncated
		}
		switch c := data[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			var err error
			if i, err = skipEscape(data, i); err != nil {
				return i, err
			}
		case c < ' ':
			return i, errSyntax
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && size <= 1 {
				return i, errUTF8
			}
			i += size
		}
	}
}

// skipEscape is the end of the escape whose backslash is at i; a surrogate must
// come with its other half.
func skipEscape(data []byte, i int) (int, error) {
	if i+1 >= len(data) {
		return i, errTruncated
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
	default:
		return i, errSyntax
	}
	first, err := hex4(data, i+2)
	if err != nil || first < 0xd800 || first > 0xdfff {
		return i + 6, err
	}
	i += 6
	if first > 0xdbff || i+2 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return i, errUTF8
	}
	second, err := hex4(data, i+2)
	if err == nil && (second < 0xdc00 || second > 0xdfff) {
		err = errUTF8
	}
	return i + 6, err
}

func hex4(data []byte, i int) (rune, error) {
	if len(data)-i < 4 {
		return 0, errTruncated
	}
	var r rune
	for _, c := range data[i : i+4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, errSyntax
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}
