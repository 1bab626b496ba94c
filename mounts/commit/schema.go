package commit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/icefield/icefield/mounts"
)

// schema is one that has been checked: its columns, and iceberg-go's view of it.
type schema struct {
	raw     []byte
	columns *columns
	typed   *iceberg.Schema
}

// checkedSchema validates a schema for a format version. The bytes stay what
// they are.
func checkedSchema(raw []byte, version int, least int64) (*schema, error) {
	cols, _, err := schemaColumns(raw, false, least)
	if err != nil {
		return nil, err
	}
	if err := cols.check(version); err != nil {
		return nil, err
	}
	s := &schema{raw: raw, columns: cols, typed: new(iceberg.Schema)}
	if err := json.Unmarshal(raw, s.typed); err != nil {
		return nil, invalid("the schema is not valid: %s", library(err))
	}
	if err := typedRules(raw); err != nil {
		return nil, invalid("the schema is not valid: %s", library(err))
	}
	return s, s.checkIdentifiers()
}

// typedRules runs the checks that iceberg-go makes when a schema is added:
// repeated names, defaults that do not go with their types. They hold for every
// version that has those types, so the newest is asked. It works on a copy of
// its own, since adding a schema changes it.
func typedRules(raw []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	typed := new(iceberg.Schema)
	if err := json.Unmarshal(raw, typed); err != nil {
		return err
	}
	b, err := table.NewMetadataBuilder(maxFormatVersion)
	if err != nil {
		return err
	}
	return b.AddSchema(typed)
}

// checkIdentifiers: identifier fields are required columns of a primitive type
// other than float and double, reached through required structs only (table
// spec, "Identifier Field IDs").
func (s *schema) checkIdentifiers() error {
	for _, id := range s.typed.IdentifierFieldIDs {
		col, ok := s.columns.byID(id)
		switch {
		case !ok:
			return invalid("the schema names %d as identifier field, which it does not have", id)
		case !col.required:
			return invalid("the identifier field %q is optional; identifier fields are required columns", clip(col.path))
		case col.inList || col.loose:
			return invalid("the identifier field %q lies inside a list, map or optional struct", clip(col.path))
		}
		switch col.kind {
		case "struct", "list", "map", "float", "double", "variant", "unknown":
			return invalid("the identifier field %q has the type %s, which cannot identify rows", clip(col.path), col.kind)
		}
	}
	return nil
}

// addSchema adds a schema or finds the one that says the same.
func (s *state) addSchema(raw []byte) error {
	added, err := s.keepSchema(raw, s.version, leastInTable)
	if err != nil || added == nil {
		return err
	}
	last, err := s.int("last-column-id", 0)
	if err != nil {
		return err
	}
	s.doc.setInt("last-column-id", max(last, int64(added.columns.highest())))
	return nil
}

// keepSchema adds a schema under an id of its own and returns it; nil if an
// older one says the same.
func (s *state) keepSchema(raw []byte, version int, least int64) (*schema, error) {
	raw = bytes.TrimSpace(raw)
	o, err := parseObject(raw)
	if err != nil {
		return nil, badRequest("add-schema: the schema is not an object")
	}
	added, err := checkedSchema(raw, version, least)
	if err != nil {
		return nil, err
	}
	list, err := s.list(schemas)
	if err != nil {
		return nil, err
	}
	id, found, err := list.repeated(raw)
	if err != nil {
		return nil, badRequest("add-schema: the schema is not an object")
	}
	if found {
		s.lastAdded[schemas] = &id
		return nil, nil
	}
	if id, err = list.nextID(o.get(schemas.id), 0); err != nil {
		return nil, err
	}
	if !o.has("identifier-field-ids") {
		o.remove("identifier-field-ids") // a null: PyIceberg cannot read what has one
	}
	o.setInt(schemas.id, id)
	list.add(entry{id: id, raw: o.encode()})
	s.lastAdded[schemas] = &id
	s.changed = true
	return added, nil
}

// setCurrentSchema makes a schema current; -1 is the last added one.
func (s *state) setCurrentSchema(id int64) error {
	changed, err := s.choose(schemas, "current-schema-id", id)
	s.rebind = s.rebind || changed
	return err
}

// removeSchemas forgets schemas that are not current. Unknown ids are ignored:
// somebody else removed them first.
func (s *state) removeSchemas(ids []int64) error {
	return s.drop(schemas, "current-schema-id", "current", ids)
}

// current returns the schema that specs and orders are bound to: the current
// one or, while a create has not chosen one yet, the last added.
func (s *state) current() (*schema, error) {
	id, err := s.int("current-schema-id", -1)
	if err != nil {
		return nil, err
	}
	if last := s.lastAdded[schemas]; id < 0 && last != nil {
		id = *last
	}
	list, err := s.list(schemas)
	if err != nil {
		return nil, err
	}
	if bound := s.bound[id]; bound != nil {
		return bound, nil
	}
	e := list.find(id)
	if e == nil {
		return nil, invalid("there is no schema yet to bind partition specs and sort orders to; send add-schema first")
	}
	cols, _, err := schemaColumns(e.raw, false, leastInTable)
	bound := &schema{raw: e.raw, columns: cols, typed: new(iceberg.Schema)}
	if err == nil {
		err = json.Unmarshal(e.raw, bound.typed)
	}
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.ValidationFailed, Err: err,
			Msg: "the current schema of {object} holds what is not known here, so partition specs and sort orders cannot be checked against it"}
	}
	if s.bound == nil {
		s.bound = map[int64]*schema{}
	}
	s.bound[id] = bound
	return bound, nil
}
