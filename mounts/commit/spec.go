package commit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/apache/iceberg-go"
)

// firstPartitionID is the lowest id of a partition field (table spec,
// "Partition Evolution").
const firstPartitionID = 1000

// maxFields bounds the fields of one partition spec or sort order.
const maxFields = 1000

// specField is what the engine reads of a partition or sort field.
type specField struct {
	object  *object
	sources []int
	// transform is empty if the field has none.
	transform string
	name      string
	id        int64 // 0: not given
}

// specFields reads the fields of a partition spec or sort order.
func specFields(o *object, label string) ([]specField, error) {
	values, err := elements(o.get("fields"))
	if err != nil || !o.has("fields") {
		return nil, badRequest("%s: \"fields\" is not a list", label)
	}
	if len(values) > maxFields {
		return nil, invalid("the %s has more than %d fields", label, maxFields)
	}
	fields := make([]specField, len(values))
	for i, raw := range values {
		f := &fields[i]
		if f.object, err = parseObject(raw); err != nil {
			return nil, badRequest("%s: field %d is not an object", label, i)
		}
		for _, key := range [...]string{"source-id", "source-ids"} {
			if !f.object.has(key) {
				f.object.remove(key) // a null, which means the same
			}
		}
		sources := [][]byte{f.object.get("source-id")}
		if f.object.has("source-ids") {
			if sources, err = elements(f.object.get("source-ids")); err != nil || len(sources) > maxFields {
				return nil, badRequest("%s: \"source-ids\" of field %d is not a list of ids", label, i)
			}
			if slices.ContainsFunc(sources, isNull) {
				return nil, badRequest("%s: \"source-ids\" of field %d holds a null", label, i)
			}
			if len(sources) == 1 {
				// One source is written the way that every reader knows.
				f.object.set("source-id", sources[0])
				f.object.remove("source-ids")
			}
		}
		for _, source := range sources {
			if isNull(source) {
				continue
			}
			id, err := parseInt(source)
			if err != nil || id < math.MinInt32 || id > math.MaxInt32 {
				return nil, badRequest("%s: a source id of field %d is not an id", label, i)
			}
			f.sources = append(f.sources, int(id))
		}
		f.transform, _ = unquote(f.object.get("transform"))
		f.name, _ = unquote(f.object.get("name"))
		if len(f.name) > maxName {
			return nil, invalid("the %s has a field name over %d bytes", label, maxName)
		}
		if raw := f.object.get("field-id"); !isNull(raw) {
			if f.id, err = parseInt(raw); err != nil || f.id < math.MinInt32 || f.id > math.MaxInt32 {
				return nil, badRequest("%s: \"field-id\" of field %d is not an id", label, i)
			}
		} else {
			f.object.remove("field-id")
		}
	}
	return fields, nil
}

func encodeFields(fields []specField) []byte {
	values := make([][]byte, len(fields))
	for i, f := range fields {
		values[i] = f.object.encode()
	}
	return encodeArray(values)
}

// bind checks that a field's sources are columns that its transform takes. The
// library's own binding looks at the first source only.
func (f specField) bind(in *schema, transform iceberg.Transform, label string) error {
	for _, id := range f.sources {
		col, ok := in.columns.byID(id)
		typed, found := in.typed.FindTypeByID(id)
		if !ok || !found {
			return invalid("the %s uses column %d, which the current schema of {object} does not have", label, id)
		}
		if _, primitive := typed.(iceberg.PrimitiveType); !primitive {
			return invalid("the %s uses %q, which is a %s; only primitive columns can be used", label, clip(col.path), col.kind)
		}
		if !transform.CanTransform(typed) {
			return invalid("the %s applies %s to %q, which is a %s", label, clip(f.transform), clip(col.path), col.kind)
		}
	}
	return nil
}

// checkSource checks that a new field names a column, and as many as the format
// version knows. Readers that miss one cannot read the whole table.
func (f specField) checkSource(version int, label string) error {
	switch {
	case len(f.sources) == 0:
		return badRequest("%s: the field %q has no \"source-id\"", label, clip(f.name))
	case len(f.sources) > 1 && version < 3:
		return invalid("the %s field %q has %d sources; a transform of several columns is not supported until v3", label, clip(f.name), len(f.sources))
	}
	return nil
}

// outsideLists checks that a new field's sources have one value a row.
func (f specField) outsideLists(in *schema, label string) error {
	for _, id := range f.sources {
		if col, ok := in.columns.byID(id); ok && col.inList {
			return invalid("the %s uses %q, which lies inside a list or map", label, clip(col.path))
		}
	}
	return nil
}

// checkSpec validates a new spec whose field ids are filled in against the current
// schema.
func (s *state) checkSpec(raw []byte, fields []specField) error {
	var typed iceberg.UnboundPartitionSpec
	if err := json.Unmarshal(raw, &typed); err != nil {
		return invalid("the partition spec is not valid: %s", library(err))
	}
	if len(fields) == 0 {
		return nil
	}
	in, err := s.current()
	if err != nil {
		return err
	}
	for i, f := range fields {
		if err := f.checkSource(s.version, "partition spec"); err != nil {
			return err
		}
		transform := typed.Field(i).Transform
		// The source of a void field may be gone: that is how format v1 drops one.
		if _, void := transform.(iceberg.VoidTransform); void {
			continue
		}
		if err := f.bind(in, transform, "partition spec"); err != nil {
			return err
		}
		if err := f.outsideLists(in, "partition spec"); err != nil {
			return err
		}
		if col, ok := in.typed.FindFieldByName(f.name); ok && !slices.Contains(f.sources, col.ID) {
			return invalid("the partition field %q has the name of another column", clip(f.name))
		}
	}
	return nil
}

// addSpec adds a partition spec or finds the one that says the same. Fields
// without an id get one: that of the same source and transform in an older
// spec, or the next free one.
func (s *state) addSpec(raw []byte) error {
	o, err := parseObject(raw)
	if err != nil {
		return badRequest("add-spec: the spec is not an object")
	}
	fields, err := specFields(o, "partition spec")
	if err != nil {
		return err
	}
	list, err := s.list(specs)
	if err != nil {
		return err
	}
	id, found, err := list.repeated(raw)
	if err != nil {
		return badRequest("add-spec: the spec is not an object")
	}
	if found {
		s.lastAdded[specs] = &id
		return nil
	}
	last, err := s.int("last-partition-id", firstPartitionID-1)
	if err != nil {
		return err
	}
	if last, err = s.fillFieldIDs(fields, list, max(last, firstPartitionID-1)); err != nil {
		return err
	}
	if id, err = list.nextID(o.get(specs.id), 0); err != nil {
		return err
	}
	o.set("fields", encodeFields(fields))
	o.setInt(specs.id, id)
	stored := o.encode()
	if err := s.checkSpec(stored, fields); err != nil {
		return err
	}
	list.add(entry{id, stored})
	s.lastAdded[specs] = &id
	s.doc.setInt("last-partition-id", last)
	s.changed = true
	return nil
}

// fillFieldIDs gives every field an id and returns the highest ever used.
func (s *state) fillFieldIDs(fields []specField, specs *list, last int64) (int64, error) {
	taken := map[int64]bool{}
	for i, f := range fields {
		if f.id == 0 {
			continue
		}
		if taken[f.id] || f.id < 0 {
			return 0, invalid("the partition spec gives the field id %d twice, or it is none", f.id)
		}
		taken[f.id] = true
		last = max(last, f.id)
		if s.version == 1 && f.id != int64(firstPartitionID+i) {
			return 0, invalid("a v1 table numbers its partition fields from %d without gaps; field %d has the id %d", firstPartitionID, i, f.id)
		}
	}
	older, err := s.partitionFields(specs)
	if err != nil {
		return 0, err
	}
	for i := range fields {
		f := &fields[i]
		if f.id != 0 {
			continue
		}
		if s.version == 1 {
			f.id = int64(firstPartitionID + i)
		}
		if f.id == 0 {
			// A field that was there before has the id that it had.
			if id := slices.IndexFunc(older[f.says()], func(id int64) bool { return !taken[id] }); id >= 0 {
				f.id = older[f.says()][id]
			}
		}
		if f.id == 0 {
			last++
			f.id = last
		}
		taken[f.id] = true
		last = max(last, f.id)
		f.object.setInt("field-id", f.id)
	}
	if last < math.MinInt32 || last > math.MaxInt32 {
		return 0, invalid("{object} has no partition field ids left")
	}
	return last, nil
}

// says is what a field does, whatever its name and id.
func (f specField) says() string { return fmt.Sprint(f.transform, f.sources) }

// partitionFields returns the ids of all fields of all specs, by what they say.
func (s *state) partitionFields(specs *list) (map[string][]int64, error) {
	if s.fieldIDs == nil {
		s.fieldIDs = map[string][]int64{}
		s.fieldsOf = 0
	}
	for ; s.fieldsOf < len(specs.entries); s.fieldsOf++ {
		o, err := parseObject(specs.entries[s.fieldsOf].raw)
		if err != nil {
			return nil, broken(specs.of.name, err)
		}
		fields, err := specFields(o, "partition spec")
		if err != nil {
			return nil, broken(specs.of.name, err)
		}
		for _, f := range fields {
			if says := f.says(); f.id != 0 && !slices.Contains(s.fieldIDs[says], f.id) {
				s.fieldIDs[says] = append(s.fieldIDs[says], f.id)
			}
		}
	}
	return s.fieldIDs, nil
}

// setDefaultSpec: -1 is the last added one.
func (s *state) setDefaultSpec(id int64) error {
	changed, err := s.choose(specs, "default-spec-id", id)
	s.rebind = s.rebind || changed
	return err
}

// removeSpecs forgets partition specs other than the default one.
func (s *state) removeSpecs(ids []int64) error {
	s.fieldIDs = nil
	return s.drop(specs, "default-spec-id", "default", ids)
}
