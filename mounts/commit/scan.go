package commit

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The scanner finds where JSON values begin and end without decoding them. It
// is for documents that are known to be JSON: it follows strings and brackets
// and does not prove the rest. It never reads outside the bytes it is given.

var errNotJSON = errors.New("not valid JSON")

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skipString returns the index after the string whose quote stands at i.
func skipString(b []byte, i int) (int, error) {
	for i++; ; i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return 0, errNotJSON
		}
		i += j
		back := i - 1
		for b[back] == '\\' {
			back--
		}
		if (i-back)%2 == 1 {
			return i + 1, nil
		}
	}
}

// skipValue returns the index after the value that begins at i.
func skipValue(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, errNotJSON
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				end, err := skipString(b, i)
				if err != nil {
					return 0, err
				}
				i = end
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1, nil
				}
			}
			i++
		}
		return 0, errNotJSON
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != ':' && b[i] != '"' && !isSpace(b[i]) {
		i++
	}
	if i == start {
		return 0, errNotJSON
	}
	return i, nil
}

// eachMember calls f with every member of the object raw, in order: the quoted
// name and the value. It stops without error when f returns false.
func eachMember(raw []byte, f func(name, value []byte) bool) error {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return errNotJSON
	}
	if i = skipSpace(raw, i+1); i < len(raw) && raw[i] == '}' {
		return atEnd(raw, i+1)
	}
	for {
		if i >= len(raw) || raw[i] != '"' {
			return errNotJSON
		}
		end, err := skipString(raw, i)
		if err != nil {
			return err
		}
		name := raw[i:end]
		if i = skipSpace(raw, end); i >= len(raw) || raw[i] != ':' {
			return errNotJSON
		}
		i = skipSpace(raw, i+1)
		if end, err = skipValue(raw, i); err != nil {
			return err
		}
		if !f(name, raw[i:end:end]) {
			return nil
		}
		if i = skipSpace(raw, end); i >= len(raw) {
			return errNotJSON
		}
		switch raw[i] {
		case '}':
			return atEnd(raw, i+1)
		case ',':
			i = skipSpace(raw, i+1)
		default:
			return errNotJSON
		}
	}
}

// eachElement calls f with every element of the array raw, in order. It stops
// without error when f returns false.
func eachElement(raw []byte, f func(value []byte) bool) error {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return errNotJSON
	}
	if i = skipSpace(raw, i+1); i < len(raw) && raw[i] == ']' {
		return atEnd(raw, i+1)
	}
	for {
		end, err := skipValue(raw, i)
		if err != nil {
			return err
		}
		if !f(raw[i:end:end]) {
			return nil
		}
		if i = skipSpace(raw, end); i >= len(raw) {
			return errNotJSON
		}
		switch raw[i] {
		case ']':
			return atEnd(raw, i+1)
		case ',':
			i = skipSpace(raw, i+1)
		default:
			return errNotJSON
		}
	}
}

func atEnd(raw []byte, i int) error {
	if skipSpace(raw, i) != len(raw) {
		return errNotJSON
	}
	return nil
}

// elements splits an array. Absent and null are an empty one.
func elements(raw []byte) ([][]byte, error) {
	if isNull(raw) {
		return nil, nil
	}
	var all [][]byte
	err := eachElement(raw, func(value []byte) bool {
		all = append(all, value)
		return true
	})
	return all, err
}

// memberOf returns one member of the object raw, or nil.
func memberOf(raw []byte, key string) ([]byte, error) {
	var found []byte
	err := eachMember(raw, func(name, value []byte) bool {
		if keyIs(name, key) {
			found = value
		}
		return found == nil
	})
	return found, err
}

// keyIs compares a quoted name with a plain key.
func keyIs(quoted []byte, key string) bool {
	if len(quoted) == len(key)+2 && string(quoted[1:len(quoted)-1]) == key {
		return true
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return false
	}
	name, err := unquote(quoted)
	return err == nil && name == key
}

// jsonDepth is how deeply objects and arrays are nested.
func jsonDepth(raw []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			end, err := skipString(raw, i)
			if err != nil {
				return deepest
			}
			i = end - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

func unquote(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errNotJSON
	}
	plain, err := jsontext.AppendUnquote(nil, raw)
	return string(plain), err
}

// quote encodes a string as JSON, without the escapes that HTML wants. What is
// not valid UTF-8 is replaced.
func quote(s string) []byte {
	quoted, _ := jsontext.AppendQuote(nil, s)
	return quoted
}

func parseInt(raw []byte) (int64, error) { return strconv.ParseInt(string(raw), 10, 64) }

func formatInt(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
