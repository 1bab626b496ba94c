package policy

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of one row filter: its bytes, how deep it is nested, and of how many
// parts it is made.
const (
	maxFilter      = 64 << 10
	maxFilterDepth = 64
	maxFilterParts = 5000
)

// CheckFilter says why a row filter cannot be one, or nil: an Iceberg expression
// in JSON (REST spec, Predicate) that names columns. Whether a table has those
// columns is seen when it is loaded.
func CheckFilter(raw stdjson.RawMessage) error {
	_, err := bindFilter(raw, nil)
	return err
}

// bindFilter rewrites a filter so that it names columns by their ids, which is how
// a restriction has them: it then holds whatever a column is called later. Without
// columns it only checks. It takes the deprecated spellings of the spec too, and
// writes the preferred ones.
func bindFilter(raw stdjson.RawMessage, of *columns) ([]byte, error) {
	if len(raw) > maxFilter {
		return nil, fmt.Errorf("the row filter is longer than %d bytes", maxFilter)
	}
	if !jsontext.Value(raw).IsValid() {
		return nil, errFilterShape
	}
	b := &binder{of: of}
	return b.predicate(nil, jsontext.Value(raw), 0)
}

type binder struct {
	of    *columns // nil: any name will do
	parts int
}

var (
	errFilterSize  = errors.New("the row filter is too large or nested too deep")
	errFilterShape = errors.New("the row filter is not an expression as the REST spec has it")
)

type members map[string]jsontext.Value

// object reads an object, and refuses it if it has members beside those of one
// of the shapes.
func (b *binder) object(raw jsontext.Value, depth int) (kind string, m members, err error) {
	if b.parts++; b.parts > maxFilterParts || depth > maxFilterDepth {
		return "", nil, errFilterSize
	}
	if raw.Kind() != '{' {
		return "", nil, errFilterShape
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return "", nil, errFilterShape
	}
	if err := json.Unmarshal(m["type"], &kind); err != nil {
		return "", nil, fmt.Errorf("a part of the row filter has no type: %w", errFilterShape)
	}
	return kind, m, nil
}

func (m members) only(kind string, names ...string) error {
	for name := range m {
		if name != "type" && !slices.Contains(names, name) {
			return fmt.Errorf("%q of the row filter has a member %q, which it cannot have", kind, name)
		}
	}
	if len(m) != len(names)+1 {
		return fmt.Errorf("%q of the row filter needs %q", kind, names)
	}
	return nil
}

func (b *binder) predicate(out []byte, raw jsontext.Value, depth int) ([]byte, error) {
	if k := raw.Kind(); k == 't' || k == 'f' {
		return append(out, raw...), nil
	}
	kind, m, err := b.object(raw, depth)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "true", "false":
		return append(out, kind...), m.only(kind)
	case "and", "or":
		if err := m.only(kind, "left", "right"); err != nil {
			return nil, err
		}
		if out, err = b.predicate(append(out, `{"type":"`+kind+`","left":`...), m["left"], depth+1); err != nil {
			return nil, err
		}
		if out, err = b.predicate(append(out, `,"right":`...), m["right"], depth+1); err != nil {
			return nil, err
		}
	case "not":
		if err := m.only(kind, "child"); err != nil {
			return nil, err
		}
		if out, err = b.predicate(append(out, `{"type":"not","child":`...), m["child"], depth+1); err != nil {
			return nil, err
		}
	case "is-null", "not-null", "is-nan", "not-nan":
		if out, err = b.operand(append(out, `{"type":"`+kind+`","child":`...), kind, m, "child", depth); err != nil {
			return nil, err
		}
	case "lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "starts-with", "not-starts-with":
		if out, err = b.comparison(append(out, `{"type":"`+kind+`","left":`...), kind, m, depth); err != nil {
			return nil, err
		}
	case "in", "not-in":
		if out, err = b.operand(append(out, `{"type":"`+kind+`","child":`...), kind, m, "child", depth, "values"); err != nil {
			return nil, err
		}
		if out, err = b.literals(append(out, `,"values":`...), m["values"], depth+1); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("the row filter has a part of the type %.40q, which is not known", kind)
	}
	return append(out, '}'), nil
}

// operand writes what a predicate is about, in its preferred spelling or as the
// deprecated term. It has to name a column.
func (b *binder) operand(out []byte, kind string, m members, preferred string, depth int, others ...string) ([]byte, error) {
	name, term := preferred, false
	if m["term"] != nil {
		name, term = "term", true
	}
	if err := m.only(kind, append(others, name)...); err != nil {
		return nil, err
	}
	out, columns, err := b.value(out, m[name], depth+1, term, kind == "is-null" || kind == "not-null")
	if err == nil && columns == 0 {
		err = fmt.Errorf("%q of the row filter names no column", kind)
	}
	return out, err
}

func (b *binder) comparison(out []byte, kind string, m members, depth int) ([]byte, error) {
	left, right, term := "left", "right", false
	if m["term"] != nil {
		left, right, term = "term", "value", true
	}
	if err := m.only(kind, left, right); err != nil {
		return nil, err
	}
	out, columns, err := b.value(out, m[left], depth+1, term, false)
	if err != nil {
		return nil, err
	}
	out, more, err := b.value(append(out, `,"right":`...), m[right], depth+1, false, false)
	if err == nil && columns+more == 0 {
		err = fmt.Errorf("%q of the row filter names no column", kind)
	}
	return out, err
}

// value writes a value expression and counts the columns that it names. A bare
// string is a name in a term and a literal everywhere else.
func (b *binder) value(out []byte, raw jsontext.Value, depth int, term, whole bool) (_ []byte, columns int, err error) {
	switch raw.Kind() {
	case '"':
		if term {
			var name string
			if err := json.Unmarshal(raw, &name); err != nil {
				return nil, 0, errFilterShape
			}
			out, err = b.reference(out, name, nil, whole)
			return out, 1, err
		}
		return b.literal(out, raw), 0, nil
	case '0', 't', 'f':
		return b.literal(out, raw), 0, nil
	}
	kind, m, err := b.object(raw, depth)
	if err != nil {
		return nil, 0, err
	}
	switch kind {
	case "reference":
		return b.referenced(out, m, whole)
	case "literal":
		if k := m["value"].Kind(); k != '"' && k != '0' && k != 't' && k != 'f' {
			return nil, 0, errFilterShape
		}
		if m["data-type"] == nil {
			err = m.only(kind, "value")
		} else {
			err = m.only(kind, "value", "data-type")
		}
		return append(out, raw...), 0, err
	case "apply":
		return b.apply(out, m, depth)
	case "transform":
		return b.transform(out, m)
	}
	return nil, 0, fmt.Errorf("the row filter has a value of the type %.40q, which is not known here", kind)
}

func (b *binder) literal(out []byte, raw jsontext.Value) []byte {
	return append(append(append(out, `{"type":"literal","value":`...), raw...), '}')
}

func (b *binder) literals(out []byte, raw jsontext.Value, depth int) ([]byte, error) {
	list := raw
	if raw.Kind() == '{' {
		kind, m, err := b.object(raw, depth)
		if err != nil {
			return nil, err
		}
		if kind != "literals" {
			return nil, errFilterShape
		}
		if err := m.only(kind, "values", "data-type"); err != nil {
			return nil, err
		}
		list = m["values"]
	}
	var values []jsontext.Value
	if list.Kind() != '[' || json.Unmarshal(list, &values) != nil {
		return nil, errFilterShape
	}
	for _, v := range values {
		if b.parts++; b.parts > maxFilterParts {
			return nil, errFilterSize
		}
		switch v.Kind() {
		case '"', '0', 't', 'f':
			continue
		}
		if raw.Kind() == '{' {
			return nil, errFilterShape
		}
		if kind, _, err := b.object(v, depth+1); err != nil || kind != "literal" {
			return nil, errFilterShape
		}
	}
	return append(out, raw...), nil
}

func (b *binder) apply(out []byte, m members, depth int) (_ []byte, columns int, err error) {
	if err := m.only("apply", "function", "arguments"); err != nil {
		return nil, 0, err
	}
	var arguments []jsontext.Value
	if json.Unmarshal(m["arguments"], &arguments) != nil || len(m["function"]) == 0 {
		return nil, 0, errFilterShape
	}
	out = append(append(append(out, `{"type":"apply","function":`...), m["function"]...), `,"arguments":[`...)
	for i, argument := range arguments {
		if i > 0 {
			out = append(out, ',')
		}
		var n int
		if out, n, err = b.value(out, argument, depth+1, false, false); err != nil {
			return nil, 0, err
		}
		columns += n
	}
	return append(out, "]}"...), columns, nil
}

// transform writes a transform of a term as the function that it is. Those with
// a parameter have no spelling there that the spec fixes.
func (b *binder) transform(out []byte, m members) (_ []byte, columns int, err error) {
	var name, column string
	if m.only("transform", "transform", "term") != nil || json.Unmarshal(m["transform"], &name) != nil || json.Unmarshal(m["term"], &column) != nil {
		return nil, 0, errFilterShape
	}
	switch name {
	case "identity":
		out, err = b.reference(out, column, nil, false)
		return out, 1, err
	case "year", "month", "day", "hour":
	default:
		return nil, 0, fmt.Errorf("the row filter has the transform %.40q; write what it means with year, month, day, hour or a comparison", name)
	}
	if out, err = b.reference(append(out, `{"type":"apply","function":"`+name+`","arguments":[`...), column, nil, false); err != nil {
		return nil, 0, err
	}
	return append(out, "]}"...), 1, nil
}

func (b *binder) referenced(out []byte, m members, whole bool) ([]byte, int, error) {
	var name string
	var id *int
	if m["id"] != nil {
		if m.only("reference", "id") != nil || json.Unmarshal(m["id"], &id) != nil || id == nil {
			return nil, 0, errFilterShape
		}
	} else if m.only("reference", "name") != nil || json.Unmarshal(m["name"], &name) != nil {
		return nil, 0, errFilterShape
	}
	out, err := b.reference(out, name, id, whole)
	return out, 1, err
}

// reference writes the column of a name, or of an id. It must be one that has one
// value in each row; a whole struct can only be tested for null.
func (b *binder) reference(out []byte, name string, id *int, whole bool) ([]byte, error) {
	n := 0
	if b.of != nil {
		var c *column
		var err error
		if id != nil {
			if c = b.of.byID[*id]; c == nil {
				err = fmt.Errorf("there is no column with the id %d", *id)
			}
		} else {
			c, err = b.of.named(name)
		}
		switch {
		case err != nil:
			return nil, err
		case c.repeated:
			return nil, fmt.Errorf("column %q is inside a list or map, where a row has many values of it", c.path)
		case !whole && (c.kind == "struct" || c.kind == "list" || c.kind == "map"):
			return nil, fmt.Errorf("column %q is a %s, which has no value to compare", c.path, c.kind)
		}
		n = c.id
	} else if name == "" && id == nil {
		return nil, errFilterShape
	}
	return append(strconv.AppendInt(append(out, `{"type":"reference","id":`...), int64(n), 10), '}'), nil
}
