package commit

import (
	"encoding/json"

	"github.com/apache/iceberg-go/table"
)

// checkOrder validates a new sort order against the current schema.
func (s *state) checkOrder(raw []byte, fields []specField) error {
	var typed table.UnboundSortOrder
	if err := json.Unmarshal(raw, &typed); err != nil {
		return invalid("the sort order is not valid: %s", library(err))
	}
	if len(fields) == 0 {
		return nil
	}
	in, err := s.current()
	if err != nil {
		return err
	}
	for i, f := range fields {
		if err := f.checkSource(s.version, "sort order"); err != nil {
			return err
		}
		if err := f.bind(in, typed.Field(i).Transform, "sort order"); err != nil {
			return err
		}
		if err := f.outsideLists(in, "sort order"); err != nil {
			return err
		}
	}
	return nil
}

// addSortOrder adds a sort order or finds the one that says the same. An order
// without fields is always order 0, one with fields never.
func (s *state) addSortOrder(raw []byte) error {
	o, err := parseObject(raw)
	if err != nil {
		return badRequest("add-sort-order: the sort order is not an object")
	}
	fields, err := specFields(o, "sort order")
	if err != nil {
		return err
	}
	list, err := s.list(sortOrders)
	if err != nil {
		return err
	}
	id, found, err := list.repeated(raw)
	if err != nil {
		return badRequest("add-sort-order: the sort order is not an object")
	}
	if !found && len(fields) == 0 && list.find(0) != nil {
		id, found = 0, true
	}
	if found {
		s.lastAdded[sortOrders] = &id
		return nil
	}
	if len(fields) > 0 {
		if id, err = list.nextID(o.get(sortOrders.id), 1); err != nil {
			return err
		}
	}
	o.set("fields", encodeFields(fields))
	o.setInt(sortOrders.id, id)
	stored := o.encode()
	if err := s.checkOrder(stored, fields); err != nil {
		return err
	}
	list.add(entry{id, stored})
	s.lastAdded[sortOrders] = &id
	s.changed = true
	return nil
}

// setDefaultSortOrder: -1 is the last added one.
func (s *state) setDefaultSortOrder(id int64) error {
	if id == 0 {
		// Every table can be unsorted, also one whose metadata never said so.
		if l, err := s.list(sortOrders); err == nil && l.find(0) == nil {
			l.add(entry{0, []byte(`{"order-id":0,"fields":[]}`)})
		}
	}
	changed, err := s.choose(sortOrders, "default-sort-order-id", id)
	s.rebind = s.rebind || changed
	return err
}
