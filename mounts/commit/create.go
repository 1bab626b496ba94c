package commit

import (
	"encoding/json"
	"strconv"

	"github.com/icefield/icefield/mounts"
)

// defaultFormatVersion is that of a table whose creator names none.
const defaultFormatVersion = 2

// Create builds the first metadata document of a createTable request, also of a
// staged one, at a location that the caller chose. Field ids are assigned anew
// from 1 in the reference implementation's order, and what refers to them
// follows; partition field ids begin at 1000. The format version comes from the
// property format-version, which is not stored. What is not known of a field,
// spec or order is kept.
//
// Errors are *mounts.Error about the table: BadRequest and ValidationFailed as
// in Table.
func Create(req *mounts.CreateTableRequest, location string, opt Options) (json.RawMessage, error) {
	s, err := create(req, location, opt.withDefaults())
	if err != nil {
		return nil, about(err, mounts.Identifier{Namespace: req.Namespace, Name: req.Name})
	}
	return s, nil
}

func create(req *mounts.CreateTableRequest, location string, opt Options) (json.RawMessage, error) {
	version := defaultFormatVersion
	if text, ok := req.Properties["format-version"]; ok {
		var err error
		if version, err = strconv.Atoi(text); err != nil || version < 1 || version > maxFormatVersion {
			return nil, badRequest("the property format-version is %q; the versions are 1 to %d", clip(text), maxFormatVersion)
		}
	}
	schema, fresh, err := freshSchema(req.Schema)
	if err != nil {
		return nil, err
	}
	spec, err := freshFields(req.PartitionSpec, "partition-spec", specs, fresh)
	if err != nil {
		return nil, err
	}
	order, err := freshFields(req.WriteOrder, "write-order", sortOrders, fresh)
	if err != nil {
		return nil, err
	}
	s := empty(version, opt)
	for _, step := range []func() error{
		func() error { return s.addSchema(schema) },
		func() error { return s.setCurrentSchema(-1) },
		func() error { return s.addSpec(spec) },
		func() error { return s.setDefaultSpec(-1) },
		func() error { return s.addSortOrder(order) },
		func() error { return s.setDefaultSortOrder(-1) },
		func() error { return s.setLocation(location) },
		func() error { return s.setProperties(req.Properties, reserved) },
		s.complete,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	res, err := s.finish("")
	if err != nil {
		return nil, err
	}
	return res.Metadata, nil
}

// freshSchema returns the request's schema with new ids, as schema 0, and how
// old ids became new ones.
func freshSchema(raw json.RawMessage) ([]byte, *columns, error) {
	if isNull(raw) {
		return nil, nil, badRequest("a table needs a \"schema\"")
	}
	value, err := compact(raw)
	if err != nil || value.Kind() != '{' {
		return nil, nil, notJSON("\"schema\"", err)
	}
	cols, out, err := schemaColumns(value, true, leastInTable)
	if err != nil {
		return nil, nil, err
	}
	o, err := parseObject(out)
	if err != nil {
		return nil, nil, notJSON("\"schema\"", err)
	}
	ids, err := elements(o.get("identifier-field-ids"))
	if err != nil {
		return nil, nil, badRequest("schema: \"identifier-field-ids\" is not a list")
	}
	for i, id := range ids {
		if ids[i], err = cols.renumber(id, "identifier-field-ids"); err != nil {
			return nil, nil, err
		}
	}
	if o.has("identifier-field-ids") {
		o.set("identifier-field-ids", encodeArray(ids))
	}
	o.setInt(schemas.id, 0)
	return o.encode(), cols, nil
}

// renumber translates one id of the request.
func (c *columns) renumber(raw []byte, where string) ([]byte, error) {
	old, err := parseInt(raw)
	if err != nil {
		return nil, badRequest("%q holds something that is not a column id", where)
	}
	id, ok := c.renumbered[int(old)]
	switch {
	case !ok:
		return nil, invalid("%q names the column id %d, which the schema does not have", where, old)
	case id == 0:
		return nil, invalid("%q names the column id %d, which stands more than once in the schema", where, old)
	}
	return formatInt(int64(id)), nil
}

// freshFields returns the request's partition spec or sort order over the new
// ids; one without fields if the request has none.
func freshFields(raw json.RawMessage, where string, of section, cols *columns) ([]byte, error) {
	if isNull(raw) {
		raw = json.RawMessage(`{"` + of.id + `":0,"fields":[]}`)
	}
	value, err := compact(raw)
	if err != nil || value.Kind() != '{' {
		return nil, notJSON(strconv.Quote(where), err)
	}
	o, err := parseObject(value)
	if err != nil {
		return nil, notJSON(strconv.Quote(where), err)
	}
	fields, err := specFields(o, where)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		// Ids of a request mean nothing yet: partition fields are numbered from
		// 1000, in order.
		f.object.remove("field-id")
		if one := f.object.get("source-id"); !isNull(one) {
			id, err := cols.renumber(one, where)
			if err != nil {
				return nil, err
			}
			f.object.set("source-id", id)
		}
		if !f.object.has("source-ids") {
			continue
		}
		many, err := elements(f.object.get("source-ids"))
		if err != nil {
			return nil, badRequest("%q: \"source-ids\" is not a list", where)
		}
		for i := range many {
			if many[i], err = cols.renumber(many[i], where); err != nil {
				return nil, err
			}
		}
		f.object.set("source-ids", encodeArray(many))
	}
	o.set("fields", encodeFields(fields))
	o.setInt(of.id, of.first)
	return o.encode(), nil
}
