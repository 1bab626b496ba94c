package cedar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The bounds of a row filter.
const (
	maxExpression      = 32 << 10
	maxExpressionDepth = 50
	maxExpressionNodes = 5000
)

// checkExpression reports whether a text is a predicate as the REST spec has them
// (schema Predicate): in its present form, with child, left and right, or the one
// before, with term and value. Columns have to be named: numbers of fields differ
// from table to table.
func checkExpression(text json.RawMessage) error {
	if len(text) > maxExpression {
		return fmt.Errorf("the expression is longer than %d KiB", maxExpression>>10)
	}
	value, err := readJSON(text)
	if err != nil {
		return err
	}
	return predicate(value, "the filter")
}

// member is one of an object, in the order that they stand in.
type member struct {
	name  string
	value any
}

type members []member

func (m members) get(name string) (any, bool) {
	for _, x := range m {
		if x.name == name {
			return x.value, true
		}
	}
	return nil, false
}

// only refuses members of other names: what is misspelt must not be overlooked.
func (m members) only(what string, names ...string) error {
	for _, x := range m {
		if !slices.Contains(names, x.name) {
			return fmt.Errorf("%s: there is no %q in it, but %s", what, x.name, strings.Join(names, ", "))
		}
	}
	return nil
}

// readJSON reads one value: objects as members, numbers as they stand.
func readJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	nodes := 0
	value, err := readValue(d, 0, &nodes)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the expression")
	}
	return value, nil
}

func readValue(d *json.Decoder, depth int, nodes *int) (any, error) {
	if depth > maxExpressionDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxExpressionDepth)
	}
	if *nodes++; *nodes > maxExpressionNodes {
		return nil, fmt.Errorf("it has more than %d parts", maxExpressionNodes)
	}
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d, depth+1, nodes)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, notJSON(err)
	case json.Delim('{'):
		object := members{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, notJSON(err)
			}
			name, _ := key.(string)
			if _, twice := object.get(name); twice {
				return nil, fmt.Errorf("%q stands twice in one object", name)
			}
			v, err := readValue(d, depth+1, nodes)
			if err != nil {
				return nil, err
			}
			object = append(object, member{name, v})
		}
		_, err := d.Token()
		return object, notJSON(err)
	}
	return token, nil
}

func notJSON(err error) error {
	if err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	return nil
}

// shape takes an object and its type apart.
func shape(v any, what string) (members, string, error) {
	object, ok := v.(members)
	if !ok {
		return nil, "", fmt.Errorf("%s is not an object", what)
	}
	t, _ := object.get("type")
	name, ok := t.(string)
	if !ok {
		return nil, "", fmt.Errorf(`%s has no "type"`, what)
	}
	return object, name, nil
}

func predicate(v any, what string) error {
	if _, ok := v.(bool); ok {
		return nil
	}
	object, kind, err := shape(v, what)
	if err != nil {
		return err
	}
	switch kind {
	case "true", "false":
		return object.only(what, "type")
	case "and", "or":
		if err := object.only(what, "type", "left", "right"); err != nil {
			return err
		}
		left, _ := object.get("left")
		right, _ := object.get("right")
		if err := predicate(left, "the left of an "+kind); err != nil {
			return err
		}
		return predicate(right, "the right of an "+kind)
	case "not":
		if err := object.only(what, "type", "child"); err != nil {
			return err
		}
		child, _ := object.get("child")
		return predicate(child, "what a not stands before")
	case "is-null", "not-null", "is-nan", "not-nan":
		if err := object.only(kind, "type", "child", "term"); err != nil {
			return err
		}
		return operand(object, kind, "child")
	case "in", "not-in":
		if err := object.only(kind, "type", "child", "term", "values"); err != nil {
			return err
		}
		if err := operand(object, kind, "child"); err != nil {
			return err
		}
		values, _ := object.get("values")
		return literals(values, kind)
	case "lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "starts-with", "not-starts-with":
		return comparison(object, kind)
	}
	return fmt.Errorf("%s: there is no predicate %q", what, kind)
}

func comparison(object members, kind string) error {
	if err := object.only(kind, "type", "left", "right", "term", "value"); err != nil {
		return err
	}
	if err := operand(object, kind, "left"); err != nil {
		return err
	}
	right, present := object.get("right")
	value, old := object.get("value")
	switch {
	case present == old:
		return fmt.Errorf(`%s needs either "right" or "value"`, kind)
	case old:
		return literal(value, kind)
	}
	return operandValue(right, kind)
}

// operand is what a predicate looks at: under its present name, or as "term".
func operand(object members, kind, name string) error {
	present, ok := object.get(name)
	term, old := object.get("term")
	switch {
	case ok == old:
		return fmt.Errorf(`%s needs either %q or "term"`, kind, name)
	case ok:
		return operandValue(present, kind)
	}
	if column, ok := term.(string); ok {
		return checkColumn(column, kind)
	}
	transform, t, err := shape(term, "the term of "+kind)
	if err != nil {
		return err
	}
	if t == "reference" {
		return operandValue(term, kind)
	}
	if err := transform.only("the term of "+kind, "type", "transform", "term"); err != nil {
		return err
	}
	inner, _ := transform.get("term")
	column, ok := inner.(string)
	named, _ := transform.get("transform")
	if text, is := named.(string); t != "transform" || !ok || !is || text == "" {
		return fmt.Errorf("the term of %s is neither a column nor a transform of one", kind)
	}
	return checkColumn(column, kind)
}

func checkColumn(name, kind string) error {
	if name == "" || len(name) > maxColumn {
		return fmt.Errorf("%s: a column's name must be of 1 to %d bytes", kind, maxColumn)
	}
	return nil
}

// operandValue is a literal, a column or the result of a function.
func operandValue(v any, kind string) error {
	object, ok := v.(members)
	if !ok {
		return literal(v, kind)
	}
	_, t, err := shape(v, "an operand of "+kind)
	if err != nil {
		return err
	}
	switch t {
	case "reference":
		name, _ := object.get("name")
		column, ok := name.(string)
		if !ok {
			return fmt.Errorf(`%s: name the column, as in {"type": "reference", "name": "country"}: the numbers of fields differ from table to table`, kind)
		}
		if err := object.only("a reference", "type", "name"); err != nil {
			return err
		}
		return checkColumn(column, kind)
	case "apply":
		return apply(object)
	}
	return literal(v, kind)
}

func apply(object members) error {
	if err := object.only("an apply", "type", "function", "arguments"); err != nil {
		return err
	}
	function, _ := object.get("function")
	switch f := function.(type) {
	case string:
		if f == "" {
			return errors.New("an apply has no function")
		}
	case members:
		if err := f.only("the function of an apply", "catalog", "identifier", "namespace", "name"); err != nil {
			return err
		}
	default:
		return errors.New("an apply has no function")
	}
	arguments, _ := object.get("arguments")
	list, ok := arguments.([]any)
	if !ok {
		return errors.New("an apply has no list of arguments")
	}
	for _, a := range list {
		if operandValue(a, "apply") != nil {
			if err := predicate(a, "an argument of apply"); err != nil {
				return err
			}
		}
	}
	return nil
}

// literal is a bare value, or one with its type.
func literal(v any, kind string) error {
	switch v := v.(type) {
	case bool, string, json.Number:
		return nil
	case members:
		if _, t, err := shape(v, "a literal of "+kind); err != nil || t != "literal" {
			return fmt.Errorf("%s: what it compares with is no value", kind)
		}
		if err := v.only("a literal of "+kind, "type", "value", "data-type"); err != nil {
			return err
		}
		if err := dataType(v, false); err != nil {
			return err
		}
		value, _ := v.get("value")
		return primitive(value, kind)
	}
	return fmt.Errorf("%s: what it compares with is no value", kind)
}

func primitive(v any, kind string) error {
	switch v.(type) {
	case bool, string, json.Number:
		return nil
	}
	return fmt.Errorf("%s: what it compares with is no value", kind)
}

func dataType(object members, needed bool) error {
	t, ok := object.get("data-type")
	if text, is := t.(string); (ok || needed) && (!is || text == "") {
		return errors.New(`a literal's "data-type" is no type`)
	}
	return nil
}

func literals(v any, kind string) error {
	if list, ok := v.([]any); ok {
		for _, x := range list {
			if err := literal(x, kind); err != nil {
				return err
			}
		}
		return nil
	}
	object, t, err := shape(v, "the values of "+kind)
	if err != nil {
		return err
	}
	values, _ := object.get("values")
	list, ok := values.([]any)
	if t != "literals" || !ok {
		return fmt.Errorf(`%s: its "values" are no list`, kind)
	}
	if err := object.only("the values of "+kind, "type", "values", "data-type"); err != nil {
		return err
	}
	for _, x := range list {
		if err := primitive(x, kind); err != nil {
			return err
		}
	}
	return dataType(object, true)
}
