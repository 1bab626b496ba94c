package rest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

var errWrongType = errors.New("wrong type")

// maxMembers bounds the members of one object: their names are kept, and cost
// several times what they cost the remote to send.
const maxMembers = 1 << 16

// members visits the members of a JSON object without looking into their
// values, which alias body. The body must be one object and nothing else; a
// member that stands twice is an error, and so are more than maxMembers. Nesting
// is bounded; what stands inside the values is not checked for duplicates.
func members(body []byte, visit func(name string, value jsontext.Value) error) error {
	return knowing(body, nil, visit)
}

// knowing is members for a body of which a value may be known already: a value
// that begins with the bytes of known, which must be a whole JSON object, is
// known, and not scanned again.
func knowing(body, known []byte, visit func(name string, value jsontext.Value) error) error {
	var seen names
	end, err := visitMembers(body, known, func(name string, value jsontext.Value) error {
		if err := seen.add(name); err != nil {
			return err
		}
		return visit(name, value)
	})
	if err == nil && skipSpace(body, end) != len(body) {
		err = errors.New("there is more after the JSON object")
	}
	return err
}

// visitMembers visits the members of the object that data begins with, each as
// often as it stands there, and returns the end of the object.
func visitMembers(data, known []byte, visit func(name string, value jsontext.Value) error) (int, error) {
	i := skipSpace(data, 0)
	if i >= len(data) {
		return i, errTruncated
	}
	if data[i] != '{' {
		if _, err := skipValue(data, i, 0); err != nil {
			return i, err
		}
		return i, fmt.Errorf("not a JSON object: %w", errWrongType)
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(data) {
			return i, errTruncated
		}
		if data[i] != '"' {
			return i, errSyntax
		}
		end, err := skipString(data, i)
		if err != nil {
			return i, err
		}
		name := memberName(data[i:end])
		if i = skipSpace(data, end); i >= len(data) {
			return i, errTruncated
		}
		if data[i] != ':' {
			return i, errSyntax
		}
		i = skipSpace(data, i+1)
		value := jsontext.Value(known)
		if len(known) > 0 && bytes.HasPrefix(data[min(i, len(data)):], known) {
			end = i + len(known)
		} else {
			if end, err = skipValue(data, i, 1); err != nil {
				return i, err
			}
			value = jsontext.Value(data[i:end:end])
		}
		if err := visit(name, value); err != nil {
			return i, err
		}
		more := false
		if i, more, err = skipComma(data, end, '}'); err != nil || !more {
			return i, err
		}
	}
}

// memberName decodes a name. Those that every load has cost nothing.
func memberName(quoted []byte) string {
	switch string(quoted) {
	case `"metadata"`:
		return "metadata"
	case `"metadata-location"`:
		return "metadata-location"
	case `"config"`:
		return "config"
	case `"storage-credentials"`:
		return "storage-credentials"
	case `"namespace"`:
		return "namespace"
	case `"name"`:
		return "name"
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	name, _ := jsontext.AppendUnquote(nil, quoted)
	return string(name)
}

// names tells whether a name was there before. A few cost no map.
type names struct {
	few  [8]string
	n    int
	many map[string]struct{}
}

func (s *names) add(name string) error {
	for _, was := range s.few[:min(s.n, len(s.few))] {
		if was == name {
			return fmt.Errorf("the member %.40q stands twice", name)
		}
	}
	switch {
	case s.n < len(s.few):
		s.few[s.n] = name
	case s.n == maxMembers:
		return errors.New("too many members in one object")
	default:
		if _, twice := s.many[name]; twice {
			return fmt.Errorf("the member %.40q stands twice", name)
		}
		if s.many == nil {
			s.many = map[string]struct{}{}
		}
		s.many[name] = struct{}{}
	}
	s.n++
	return nil
}

// elements visits the elements of a JSON array, which is known to be JSON.
func elements(value jsontext.Value, visit func(element jsontext.Value) error) error {
	i := skipSpace(value, 0)
	if i >= len(value) || value[i] != '[' {
		return errWrongType
	}
	i = skipSpace(value, i+1)
	if i < len(value) && value[i] == ']' {
		return nil
	}
	for {
		end, err := skipValue(value, i, 1)
		if err != nil {
			return err
		}
		i = skipSpace(value, i)
		if err := visit(jsontext.Value(value[i:end:end])); err != nil {
			return err
		}
		more := false
		if i, more, err = skipComma(value, end, ']'); err != nil || !more {
			return err
		}
	}
}

// decoder reads data in place: jsontext does not copy what it reads from a
// bytes.Buffer.
func decoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data[:len(data):len(data)]), jsontext.AllowDuplicateNames(true))
}

// stringValue decodes a JSON string.
func stringValue(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err == nil
}

// stringMap decodes an object of strings; null is an empty one. Numbers and
// booleans, which sloppy servers send, become their text; null members are
// dropped.
func stringMap(value jsontext.Value) (map[string]string, error) {
	if value.Kind() == 'n' {
		return nil, nil
	}
	out := map[string]string{}
	err := members(value, func(name string, v jsontext.Value) error {
		switch v.Kind() {
		case '"':
			out[name], _ = stringValue(v)
		case '0', 't', 'f':
			out[name] = string(v)
		case 'n':
		default:
			return fmt.Errorf("%.40q: %w", name, errWrongType)
		}
		return nil
	})
	return out, err
}

// stringList decodes an array of at most so many strings.
func stringList(value jsontext.Value, most int) ([]string, error) {
	var out []string
	err := elements(value, func(element jsontext.Value) error {
		if len(out) == most {
			return errors.New("the list is too long")
		}
		text, ok := stringValue(element)
		if !ok {
			return errWrongType
		}
		out = append(out, text)
		return nil
	})
	return out, err
}
