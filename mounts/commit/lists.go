package commit

import (
	"bytes"
	"math"
)

// section names a list of the document whose entries have ids of their own.
type section struct {
	name  string // of the section
	id    string // of an entry's id
	label string // in messages
	first int64  // id of a table's first entry
}

var (
	schemas    = section{"schemas", "schema-id", "schema", 0}
	specs      = section{"partition-specs", "spec-id", "partition spec", 0}
	sortOrders = section{"sort-orders", "order-id", "sort order", 1}
	versions   = section{"versions", "version-id", "view version", 1}
)

// form is what two entries that say the same have in common.
func (of section) form(raw []byte) (string, error) {
	switch of {
	case schemas:
		return sameSchema(raw)
	case versions:
		return sameVersion(raw)
	}
	return sameFields(raw)
}

type entry struct {
	id  int64
	raw []byte
}

// list is a decoded section: ids, and entries in their own bytes.
type list struct {
	of      section
	entries []entry
	forms   map[string]int64 // first id by form, once asked for
	fresh   bool             // of a table that is being created
	changed bool
}

// list decodes a section once.
func (s *state) list(of section) (*list, error) {
	if l := s.lists[of]; l != nil {
		return l, nil
	}
	values, err := elements(s.doc.get(of.name))
	if err != nil {
		return nil, broken(of.name, err)
	}
	l := &list{of: of, fresh: s.create}
	for _, raw := range values {
		value, err := memberOf(raw, of.id)
		if err != nil {
			return nil, broken(of.name, err)
		}
		// A first-generation v1 schema has no id; it counts as 0.
		var id int64
		if !isNull(value) {
			if id, err = parseInt(value); err != nil {
				return nil, broken(of.name, err)
			}
		}
		l.entries = append(l.entries, entry{id, raw})
	}
	s.lists[of] = l
	return l, nil
}

func (l *list) find(id int64) *entry {
	for i := range l.entries {
		if l.entries[i].id == id {
			return &l.entries[i]
		}
	}
	return nil
}

// repeated returns the id of the first entry that says the same as raw. Every
// entry's form is made once, however many are added.
func (l *list) repeated(raw []byte) (id int64, found bool, err error) {
	form, err := l.of.form(raw)
	if err != nil {
		return 0, false, err
	}
	if l.forms == nil {
		l.forms = make(map[string]int64, len(l.entries))
		for _, e := range l.entries {
			l.learn(e)
		}
	}
	id, found = l.forms[form]
	return id, found, nil
}

func (l *list) learn(e entry) {
	// What has no form was stored by somebody else and is like nothing.
	if form, err := l.of.form(e.raw); err == nil {
		if _, there := l.forms[form]; !there {
			l.forms[form] = e.id
		}
	}
}

func (l *list) add(e entry) {
	l.entries = append(l.entries, e)
	l.changed = true
	if l.forms != nil {
		l.learn(e)
	}
}

// nextID is the highest id and one. The first entry of a table that is being
// created keeps the id that it was staged with: files that were written since
// carry it.
func (l *list) nextID(staged []byte, least int64) (int64, error) {
	next := max(l.of.first, least)
	if l.fresh && len(l.entries) == 0 && !isNull(staged) {
		if id, err := parseInt(bytes.TrimSpace(staged)); err == nil && id >= next && id <= math.MaxInt32 {
			return id, nil
		}
	}
	for _, e := range l.entries {
		next = max(next, e.id+1)
	}
	if next > math.MaxInt32 {
		return 0, invalid("{object} has no %s ids left", l.of.label)
	}
	return next, nil
}

func (l *list) encode() []byte {
	values := make([][]byte, len(l.entries))
	for i, e := range l.entries {
		values[i] = e.raw
	}
	return encodeArray(values)
}

// choose sets a current or default id, -1 being the last added entry, and
// reports whether that is a change.
func (s *state) choose(of section, key string, id int64) (bool, error) {
	if id == -1 {
		last := s.lastAdded[of]
		if last == nil {
			return false, invalid("-1 stands for the last %s added by this commit, but none was added", of.label)
		}
		id = *last
	}
	l, err := s.list(of)
	if err != nil {
		return false, err
	}
	if l.find(id) == nil {
		return false, invalid("{object} has no %s with the id %d", of.label, id)
	}
	before, err := s.int(key, -1)
	if err != nil || before == id {
		return false, err
	}
	s.doc.setInt(key, id)
	s.changed = true
	return true, nil
}

// drop removes entries by id, except the one that key points to.
func (s *state) drop(of section, key, role string, ids []int64) error {
	l, err := s.list(of)
	if err != nil {
		return err
	}
	keep, err := s.int(key, -1)
	if err != nil {
		return err
	}
	gone := make(map[int64]bool, len(ids))
	for _, id := range ids {
		if id == keep {
			return invalid("the %s %s (%d) of {object} cannot be removed; choose another one first", role, of.label, id)
		}
		gone[id] = true
	}
	kept := l.entries[:0:0]
	for _, e := range l.entries {
		if !gone[e.id] {
			kept = append(kept, e)
		}
	}
	if len(kept) == len(l.entries) {
		return nil
	}
	if last := s.lastAdded[of]; last != nil && gone[*last] {
		s.lastAdded[of] = nil
	}
	l.entries, l.forms, l.changed, s.changed = kept, nil, true, true
	if of == schemas {
		s.bound = nil // an id that is free may be given again
	}
	return nil
}
