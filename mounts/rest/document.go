package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

var errWrongType = errors.New("wrong type")

// maxMembers bounds the members of one object: their names are kept, and cost
// several times what they cost the remote to send.
const maxMembers = 1 << 16

// members visits the members of a JSON object without looking into their
// values, which alias body. The body must be one object and nothing else; a
// member that stands twice is an error, and so are more than maxMembers. Nesting is bounded by jsontext (10,000
// levels); what stands inside the values is not checked for duplicates.
func members(body []byte, visit func(name string, value jsontext.Value) error) error {
	dec := decoder(body)
	open, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if open.Kind() != '{' {
		return fmt.Errorf("not a JSON object: %w", errWrongType)
	}
	seen := make(map[string]struct{}, 8)
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if len(seen) == maxMembers {
			return errors.New("too many members in one object")
		}
		name := token.String()
		if _, twice := seen[name]; twice {
			return fmt.Errorf("the member %.40q stands twice", name)
		}
		seen[name] = struct{}{}
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		end := int(dec.InputOffset())
		if err := visit(name, jsontext.Value(body[end-len(value):end:end])); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return errors.New("there is more after the JSON object")
	}
	return nil
}

// elements visits the elements of a JSON array.
func elements(value jsontext.Value, visit func(element jsontext.Value) error) error {
	if value.Kind() != '[' {
		return errWrongType
	}
	dec := decoder(value)
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		element, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := visit(element); err != nil {
			return err
		}
	}
	return nil
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
