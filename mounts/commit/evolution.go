package commit

import "github.com/apache/iceberg-go"

// checkDefaults makes sure that the default spec and order still fit the
// current schema, as the reference implementation does when a commit ends: a
// column that one of them uses cannot be dropped. It is asked only if one of
// the three changed.
func (s *state) checkDefaults() error {
	if err := s.checkRequired(); err != nil {
		return err
	}
	for _, d := range []struct {
		of  section
		key string
	}{{specs, "default-spec-id"}, {sortOrders, "default-sort-order-id"}} {
		id, err := s.int(d.key, 0)
		if err != nil {
			return err
		}
		l, err := s.list(d.of)
		if err != nil {
			return err
		}
		e := l.find(id)
		if e == nil {
			continue
		}
		o, err := parseObject(e.raw)
		if err != nil {
			return broken(d.of.name, err)
		}
		fields, err := specFields(o, d.of.label)
		if err != nil {
			return broken(d.of.name, err)
		}
		if err := s.stillFits(fields, "default "+d.of.label); err != nil {
			return err
		}
	}
	return nil
}

// checkRequired holds a v3 table that keeps its rows to the rule for required
// columns. Before v3 there are no defaults, and clients that add such a column
// all the same have said that they know better.
func (s *state) checkRequired() error {
	if s.version < 3 || s.create {
		return nil
	}
	current, err := s.currentSnapshot()
	if err != nil || current == nil {
		return err
	}
	if _, fresh := s.history.added[*current]; fresh {
		return nil
	}
	in, err := s.current()
	if err != nil {
		return nil // not known here; stored by somebody who knows it
	}
	return in.columns.checkAdded(s.columns)
}

func (s *state) stillFits(fields []specField, label string) error {
	for _, f := range fields {
		transform, err := iceberg.ParseTransform(f.transform)
		if err != nil {
			continue // stored by somebody who knows it
		}
		if _, void := transform.(iceberg.VoidTransform); void {
			continue
		}
		in, err := s.current()
		if err != nil {
			return err
		}
		if err := f.bind(in, transform, label); err != nil {
			return err
		}
	}
	return nil
}
