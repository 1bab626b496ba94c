package policy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxColumns and maxNesting bound a schema.
	maxColumns = 100_000
	maxNesting = 64
)

// column is one field of a schema, nested ones too.
type column struct {
	id       int
	path     string // dotted, as Iceberg names nested fields
	kind     string // the type's name without parameters: "string", "decimal", "struct", "list", "map"
	required bool
	up       *column
	// inKey: it is, or is inside, a map's key. repeated: it is inside a list or map.
	inKey, repeated bool
}

// columns are a schema's fields. Names need not be unique: a column may have dots
// in its name, so that it looks like a nested one.
type columns struct {
	byPath map[string][]*column
	byID   map[int]*column
}

// named finds the one column of a name.
func (c *columns) named(path string) (*column, error) {
	switch found := c.byPath[path]; len(found) {
	case 0:
		return nil, fmt.Errorf("there is no column %q", path)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("more than one column is called %q", path)
}

// inside reports whether c is nested in other, at any depth.
func (c *column) inside(other *column) bool {
	for up := c.up; up != nil; up = up.up {
		if up == other {
			return true
		}
	}
	return false
}

type jsonSchema struct {
	ID     *int        `json:"schema-id"`
	Fields []jsonField `json:"fields"`
}

type jsonField struct {
	ID       *int           `json:"id"`
	Name     string         `json:"name"`
	Required bool           `json:"required"`
	Type     jsontext.Value `json:"type"`
}

type jsonNested struct {
	Type            string         `json:"type"`
	Fields          []jsonField    `json:"fields"`
	ElementID       *int           `json:"element-id"`
	Element         jsontext.Value `json:"element"`
	ElementRequired bool           `json:"element-required"`
	KeyID           *int           `json:"key-id"`
	Key             jsontext.Value `json:"key"`
	ValueID         *int           `json:"value-id"`
	Value           jsontext.Value `json:"value"`
	ValueRequired   bool           `json:"value-required"`
}

var errNoSchema = errors.New("the metadata has no current schema")

// currentColumns reads the current schema out of a table's metadata. Nothing else
// of it is decoded.
func currentColumns(metadata []byte) (*columns, error) {
	var current *int
	var schemas, only jsontext.Value
	dec := jsontext.NewDecoder(bytes.NewBuffer(metadata[:len(metadata):len(metadata)]))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, errors.New("the metadata is no JSON object")
	}
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		var into any
		switch tok.String() {
		case "current-schema-id":
			into = &current
		case "schemas":
			into = &schemas
		case "schema":
			into = &only
		default:
			if err := dec.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		if err := json.UnmarshalDecode(dec, into); err != nil {
			return nil, err
		}
	}
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '}' {
		return nil, errors.New("the metadata is cut off")
	}
	schema, err := chooseSchema(current, schemas, only)
	if err != nil {
		return nil, err
	}
	c := &columns{byPath: map[string][]*column{}, byID: map[int]*column{}}
	return c, c.fields(schema.Fields, nil, 0)
}

// chooseSchema is the current one; tables of format 1 may have only one, without
// an id.
func chooseSchema(current *int, schemas, only jsontext.Value) (*jsonSchema, error) {
	if len(schemas) == 0 || current == nil {
		if len(only) == 0 || len(schemas) != 0 {
			return nil, errNoSchema
		}
		var s jsonSchema
		return &s, json.Unmarshal(only, &s)
	}
	var list []jsonSchema
	if err := json.Unmarshal(schemas, &list); err != nil {
		return nil, err
	}
	var found *jsonSchema
	for i := range list {
		if list[i].ID == nil || *list[i].ID != *current {
			continue
		}
		if found != nil {
			return nil, errors.New("two schemas of the metadata have the id of the current one")
		}
		found = &list[i]
	}
	if found == nil {
		return nil, errNoSchema
	}
	return found, nil
}

func (c *columns) fields(list []jsonField, up *column, depth int) error {
	for _, f := range list {
		path := f.Name
		if up != nil {
			path = up.path + "." + f.Name
		}
		if err := c.add(f.ID, path, f.Required, f.Type, up, false, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *columns) add(id *int, path string, required bool, kind jsontext.Value, up *column, key bool, depth int) error {
	switch {
	case id == nil:
		return fmt.Errorf("column %q has no id", path)
	case c.byID[*id] != nil:
		return fmt.Errorf("two columns have the id %d", *id)
	case len(c.byID) == maxColumns:
		return fmt.Errorf("the schema has more than %d columns", maxColumns)
	case depth > maxNesting:
		return fmt.Errorf("column %q is nested more than %d deep", path, maxNesting)
	}
	f := &column{id: *id, path: path, required: required, up: up, inKey: key}
	if up != nil {
		f.inKey = key || up.inKey
		f.repeated = up.repeated || up.kind == "list" || up.kind == "map"
	}
	c.byID[f.id] = f
	c.byPath[path] = append(c.byPath[path], f)
	if kind.Kind() == '"' {
		var name string
		if err := json.Unmarshal(kind, &name); err != nil {
			return err
		}
		f.kind, _, _ = strings.Cut(name, "(")
		f.kind, _, _ = strings.Cut(f.kind, "[")
		f.kind = strings.TrimSpace(f.kind)
		return nil
	}
	var n jsonNested
	if err := json.Unmarshal(kind, &n); err != nil {
		return fmt.Errorf("the type of column %q cannot be read: %w", path, err)
	}
	f.kind = n.Type
	switch n.Type {
	case "struct":
		return c.fields(n.Fields, f, depth+1)
	case "list":
		return c.add(n.ElementID, path+".element", n.ElementRequired, n.Element, f, false, depth+1)
	case "map":
		if err := c.add(n.KeyID, path+".key", true, n.Key, f, true, depth+1); err != nil {
			return err
		}
		return c.add(n.ValueID, path+".value", n.ValueRequired, n.Value, f, false, depth+1)
	}
	return fmt.Errorf("column %q is of the type %q, which is not known here", path, n.Type)
}
