package commit

import (
	"fmt"
	"strings"

	"github.com/apache/iceberg-go"
)

// Bounds of what one schema may hold. They are far above real tables and keep a
// hostile one from costing seconds.
const (
	maxTypeDepth  = 100
	maxColumns    = 100_000
	maxName       = 4096
	maxSchemaWork = 96 << 20 // bytes times levels of JSON: nested types are scanned once a level
)

// column is one field of a schema, at any depth.
type column struct {
	id       int
	path     string
	kind     string // the type's text; struct, list or map for a nested one
	required bool
	inList   bool // below a list or map
	loose    bool // below an optional struct
	defaults bool // has an initial or write default that is not null
	initial  bool // has an initial default that is not null
	parent   int  // id of the struct, list or map that holds it; -1 at the top
}

// columns walks the fields of a schema document. With fresh set, it also gives
// every field a new id, in the reference implementation's order: all fields of
// a struct before their children, key before value, and the ids of a list or
// map before those inside it.
type columns struct {
	all   []column
	fresh bool
	least int64 // id
	next  int
	// renumbered maps the document's ids to fresh ones. An id that stood more
	// than once maps to 0.
	renumbered map[int]int
	positions  map[int]int // in all, by id
}

// Field ids begin at 1 in a table, since it assigns them. A view keeps those of
// its creator, and Spark counts from 0.
const leastInTable, leastInView = 1, 0

// schemaColumns walks a schema and returns it, rewritten if fresh is set.
func schemaColumns(raw []byte, fresh bool, least int64) (*columns, []byte, error) {
	if levels := jsonDepth(raw); len(raw)*levels > maxSchemaWork {
		return nil, nil, invalid("the schema is too large: %d bytes in %d levels", len(raw), levels)
	}
	c := &columns{fresh: fresh, least: least, renumbered: map[int]int{}, positions: map[int]int{}}
	out, err := c.structType(raw, column{id: -1}, 1)
	return c, out, err
}

// id reads a field's id and, for a fresh walk, replaces it.
func (c *columns) id(o *object, key, where string) (int, error) {
	if len(c.all) >= maxColumns {
		return 0, invalid("the schema has more than %d columns", maxColumns)
	}
	var old int64
	if raw := o.get(key); !isNull(raw) {
		n, err := parseInt(raw)
		if err != nil {
			return 0, badRequest("schema: %q of %q is not a whole number", key, clip(where))
		}
		old = n
	} else if !c.fresh {
		return 0, badRequest("schema: %q of %q is missing", key, clip(where))
	}
	if !c.fresh {
		if old < c.least || old > iceberg.MaxStructFieldID {
			return 0, invalid("schema: column %q has the id %d; ids are %d to %d", clip(where), old, c.least, iceberg.MaxStructFieldID)
		}
		return int(old), nil
	}
	c.next++
	o.setInt(key, int64(c.next))
	if old >= 0 && old <= iceberg.MaxStructFieldID {
		if _, twice := c.renumbered[int(old)]; twice {
			c.renumbered[int(old)] = 0
		} else {
			c.renumbered[int(old)] = c.next
		}
	}
	return c.next, nil
}

func (c *columns) structType(raw []byte, in column, depth int) ([]byte, error) {
	if depth > maxTypeDepth {
		return nil, invalid("schema: types are nested deeper than %d levels", maxTypeDepth)
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, badRequest("schema: %q is not an object", clip(in.path))
	}
	fields, err := elements(o.get("fields"))
	if err != nil {
		return nil, badRequest("schema: the fields of %q are not a list", clip(in.path))
	}
	objects := make([]*object, len(fields))
	found := make([]column, len(fields))
	for i, field := range fields {
		f, err := parseObject(field)
		if err != nil {
			return nil, badRequest("schema: a field of %q is not an object", clip(in.path))
		}
		name, err := unquote(f.get("name"))
		if err != nil || name == "" || len(name) > maxName {
			return nil, badRequest("schema: a field of %q has no name, or one over %d bytes", clip(in.path), maxName)
		}
		here := column{path: name, parent: in.id, inList: in.inList, loose: in.loose, required: string(f.get("required")) == "true",
			defaults: f.has("initial-default") || f.has("write-default"), initial: f.has("initial-default")}
		if in.path != "" {
			here.path = in.path + "." + name
		}
		if here.id, err = c.id(f, "id", here.path); err != nil {
			return nil, err
		}
		objects[i], found[i] = f, here
	}
	for i, f := range objects {
		if err := c.typeOf(f, "type", found[i], depth); err != nil {
			return nil, err
		}
		if c.fresh {
			fields[i] = f.encode()
		}
	}
	if !c.fresh {
		return raw, nil
	}
	if o.has("fields") {
		o.set("fields", encodeArray(fields))
	}
	return o.encode(), nil
}

// typeOf records the column and walks the type in its member key.
func (c *columns) typeOf(o *object, key string, here column, depth int) error {
	raw := o.get(key)
	if len(raw) == 0 || raw[0] != '{' {
		name, err := unquote(raw)
		if err != nil {
			return badRequest("schema: column %q has no type", clip(here.path))
		}
		here.kind = name
		c.add(here)
		return nil
	}
	if depth+1 > maxTypeDepth {
		return invalid("schema: types are nested deeper than %d levels", maxTypeDepth)
	}
	nested, err := parseObject(raw)
	if err != nil {
		return badRequest("schema: the type of %q is not an object", clip(here.path))
	}
	kind, _ := unquote(nested.get("type"))
	here.kind = kind
	c.add(here)
	switch kind {
	case "struct":
		here.loose = here.loose || !here.required
		out, err := c.structType(raw, here, depth+1)
		if err == nil && c.fresh {
			o.set(key, out)
		}
		return err
	case "list":
		err = c.inside(nested, here, depth, "element")
	case "map":
		err = c.inside(nested, here, depth, "key", "value")
	default:
		return badRequest("schema: column %q has the unknown type %q", clip(here.path), clip(kind))
	}
	if err == nil && c.fresh {
		o.set(key, nested.encode())
	}
	return err
}

// inside walks the parts of a list or map.
func (c *columns) inside(nested *object, here column, depth int, parts ...string) error {
	found := make([]column, len(parts))
	for i, part := range parts {
		found[i] = column{path: here.path + "." + part, parent: here.id, inList: true, loose: here.loose,
			required: part == "key" || string(nested.get(part+"-required")) == "true"}
		var err error
		if found[i].id, err = c.id(nested, part+"-id", found[i].path); err != nil {
			return err
		}
	}
	for i, part := range parts {
		if err := c.typeOf(nested, part, found[i], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// check applies the rules that do not need iceberg-go: what the format version
// can hold, and unique ids.
func (c *columns) check(version int) error {
	seen := make(map[int]bool, len(c.all))
	var problems []string
	for _, col := range c.all {
		if seen[col.id] {
			return invalid("schema: the column id %d stands twice, the second time at %q", col.id, clip(col.path))
		}
		seen[col.id] = true
		if version < 3 && needsV3(col.kind) {
			problems = append(problems, fmt.Sprintf("invalid type for %s: %s is not supported until v3", clip(col.path), col.kind))
		}
		if version < 3 && col.defaults {
			problems = append(problems, fmt.Sprintf("invalid default for %s: non-null default is not supported until v3", clip(col.path)))
		}
	}
	if len(problems) > 10 {
		problems = append(problems[:10], "…")
	}
	if len(problems) > 0 {
		return invalid("the schema does not fit a v%d table: %s", version, strings.Join(problems, "; "))
	}
	return nil
}

func needsV3(kind string) bool {
	switch kind {
	case "timestamp_ns", "timestamptz_ns", "unknown", "variant":
		return true
	}
	kind = strings.ToLower(kind)
	return strings.HasPrefix(kind, "geometry") || strings.HasPrefix(kind, "geography")
}

// checkAdded refuses a required column that is new, that is with an id above
// last, and has no value for the rows that are there: no initial default, and
// no holder that is new itself.
func (c *columns) checkAdded(last int64) error {
	for _, col := range c.all {
		if col.required && !col.initial && int64(col.id) > last && int64(col.parent) <= last {
			return invalid("the new column %q is required and has no \"initial-default\", so the rows of {object} would have no value for it", clip(col.path))
		}
	}
	return nil
}

// highest is the largest id in use.
func (c *columns) highest() int {
	n := 0
	for _, col := range c.all {
		n = max(n, col.id)
	}
	return n
}

// byID finds a column.
func (c *columns) byID(id int) (column, bool) {
	i, ok := c.positions[id]
	if !ok {
		return column{}, false
	}
	return c.all[i], true
}

func (c *columns) add(col column) {
	c.positions[col.id] = len(c.all)
	c.all = append(c.all, col)
}
