package policy

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

const (
	// readRestrictions is the member of a load that binds the read (REST spec,
	// ReadRestrictions), rowFilter and projections its own.
	readRestrictions = "read-restrictions"
	rowFilter        = "required-row-filter"
	projections      = "required-column-projections"

	maxFilters      = 100
	maxMasks        = 1000
	maxRestrictions = 1 << 20
)

// noRows binds a read to nothing: what is left where a table was made and its
// maker's restriction does not fit it. read only
var noRows = stdjson.RawMessage(`{"required-row-filter":false}`)

// restrictTable puts the caller's restriction into a table's answer, beside what
// a remote catalog put there. A restriction that cannot be applied refuses the
// load; where the table was made by the call it hides every row.
func (c *call) restrictTable(t *mounts.Table, made bool) (*mounts.Table, error) {
	if c.restrictions.Empty() {
		return t, nil
	}
	bound, err := c.restrictions.bind(t)
	switch {
	case err == nil:
	case made:
		bound = noRows
	default:
		kind := mounts.Forbidden
		if errors.Is(err, errRemote) {
			kind = mounts.BadGateway
		}
		return nil, &mounts.Error{Kind: kind, Op: c.req.Op(), Ident: c.facts.object, Err: err,
			Msg: "what you may read of {object} is restricted in a way that does not fit the table, so that nothing of it can be read; an operator has to fix the policy (the server's log says what is wrong)"}
	}
	out := *t
	out.ETag = "" // it would not tell one restriction from another
	out.Extra = maps.Clone(t.Extra)
	if out.Extra == nil {
		out.Extra = map[string]stdjson.RawMessage{}
	}
	out.Extra[readRestrictions] = bound
	return &out, nil
}

// errRemote is a restriction of the catalog behind that cannot be read.
var errRemote = errors.New("the read restrictions of the catalog behind cannot be understood")

// projection is one column's action, ours or a remote's.
type projection struct {
	id     int
	action string
	raw    stdjson.RawMessage // a remote's own; nil for ours
}

// bind makes the member of the answer, by the table's current schema.
func (r *Restrictions) bind(t *mounts.Table) (stdjson.RawMessage, error) {
	if t.NotModified {
		return nil, errors.New("a restricted load was answered with not modified")
	}
	if len(r.Filters) > maxFilters || len(r.Masks) > maxMasks {
		return nil, fmt.Errorf("more than %d row filters or %d masks", maxFilters, maxMasks)
	}
	of, err := currentColumns(t.Metadata)
	if err != nil {
		return nil, err
	}
	filter, err := r.filter(of)
	if err != nil {
		return nil, err
	}
	own, err := r.projections(of)
	if err != nil {
		return nil, err
	}
	remote, err := readRemote(t.Extra[readRestrictions])
	if err != nil {
		return nil, err
	}
	all, err := merge(of, own, remote.projections)
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	if filter = conjoin(remote.filter, filter); filter != nil {
		out = append(append(out, `"`+rowFilter+`":`...), filter...)
	}
	if len(all) > 0 {
		out = appendProjections(comma(out), all)
	}
	for _, name := range slices.Sorted(maps.Keys(remote.others)) {
		out, _ = jsontext.AppendQuote(comma(out), name)
		out = append(append(out, ':'), remote.others[name]...)
	}
	if out = append(out, '}'); len(out) > maxRestrictions {
		return nil, fmt.Errorf("the restriction is longer than %d bytes", maxRestrictions)
	}
	return out, nil
}

func comma(b []byte) []byte {
	if len(b) > 1 {
		return append(b, ',')
	}
	return b
}

func appendProjections(b []byte, all []projection) []byte {
	b = append(b, `"`+projections+`":[`...)
	for i, p := range all {
		if i > 0 {
			b = append(b, ',')
		}
		if p.raw != nil {
			b = append(b, p.raw...)
			continue
		}
		b = strconv.AppendInt(append(b, `{"field-id":`...), int64(p.id), 10)
		b = append(b, `,"action":"`+p.action+`"}`...)
	}
	return append(b, ']')
}

// filter is the alternatives as one expression; nil for all rows.
func (r *Restrictions) filter(of *columns) ([]byte, error) {
	var all []byte
	for i, raw := range r.Filters {
		one, err := bindFilter(raw, of)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = one
			continue
		}
		all = pair("or", all, one)
	}
	return all, nil
}

// conjoin is both filters; nil for all rows.
func conjoin(a, b []byte) []byte {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return pair("and", a, b)
}

func pair(kind string, left, right []byte) []byte {
	out := append(append([]byte(`{"type":"`+kind+`","left":`), left...), `,"right":`...)
	return append(append(out, right...), '}')
}

// projections are the masks by the ids of their columns, in the order of ids.
// What is nested in a column of which nothing is left needs none of its own, and
// may have none.
func (r *Restrictions) projections(of *columns) ([]projection, error) {
	byID := map[int]string{}
	for name, action := range r.Masks {
		_, m, ok := maskOf(action)
		if !ok {
			return nil, CheckMask(action)
		}
		c, err := of.named(name)
		if err != nil {
			return nil, err
		}
		if err := m.fits(c); err != nil {
			return nil, err
		}
		byID[c.id] = action
	}
	var list []projection
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if !covered(of.byID[id], byID) {
			list = append(list, projection{id: id, action: byID[id]})
		}
	}
	return list, nil
}

// covered reports whether something that a column is nested in is masked too.
func covered(c *column, byID map[int]string) bool {
	for up := c.up; up != nil; up = up.up {
		if byID[up.id] != "" {
			return true
		}
	}
	return false
}

// remoteRestrictions is what a remote catalog restricted, with what of it nobody
// here knows.
type remoteRestrictions struct {
	filter      []byte
	projections []projection
	others      map[string]jsontext.Value
}

func readRemote(raw stdjson.RawMessage) (*remoteRestrictions, error) {
	out := &remoteRestrictions{}
	if len(raw) == 0 || jsontext.Value(raw).Kind() == 'n' {
		return out, nil
	}
	if len(raw) > maxRestrictions || json.Unmarshal(raw, &out.others) != nil {
		return nil, errRemote
	}
	if f := out.others[rowFilter]; f != nil && f.Kind() != 'n' {
		out.filter = f
	}
	if list := out.others[projections]; list != nil && list.Kind() != 'n' {
		var each []jsontext.Value
		if json.Unmarshal(list, &each) != nil {
			return nil, errRemote
		}
		seen := map[int]bool{}
		for _, one := range each {
			var p struct {
				ID     *int   `json:"field-id"`
				Action string `json:"action"`
			}
			if json.Unmarshal(one, &p) != nil || p.ID == nil || seen[*p.ID] {
				return nil, errRemote
			}
			seen[*p.ID] = true
			out.projections = append(out.projections, projection{id: *p.ID, action: p.Action, raw: stdjson.RawMessage(one)})
		}
	}
	delete(out.others, rowFilter)
	delete(out.others, projections)
	return out, nil
}

// merge is both lists, of each column the stricter action. A column may be in it
// once, and none that is nested in another: then the outer one must leave nothing.
func merge(of *columns, own, remote []projection) ([]projection, error) {
	drop := map[int]bool{} // of the remote's
	var kept []projection
	for _, p := range own {
		c, keep := of.byID[p.id], true
		for _, q := range remote {
			other := of.byID[q.id]
			switch {
			case other == nil || drop[q.id]:
			case other == c:
				winner, err := sharper(p.action, q)
				if err != nil {
					return nil, err
				}
				if winner == q.action {
					keep = false
				} else {
					p.action, drop[q.id] = winner, true
				}
			case other.inside(c): // ours, on what it is nested in, leaves nothing of it
				drop[q.id] = true
			case c.inside(other):
				if _, m, ok := maskOf(q.action); !ok || !m.hides {
					return nil, fmt.Errorf("column %q is masked here, and %q, which it is nested in, by the catalog behind with %.40q", c.path, other.path, q.action)
				}
				keep = false
			}
		}
		if keep {
			kept = append(kept, p)
		}
	}
	for _, q := range remote {
		if !drop[q.id] {
			kept = append(kept, q)
		}
	}
	slices.SortStableFunc(kept, func(a, b projection) int { return a.id - b.id })
	return kept, nil
}

// sharper is the stricter of our action and a remote's. An action that is not
// known here stays only where ours leaves nothing anyway.
func sharper(own string, remote projection) (string, error) {
	if _, _, ok := maskOf(remote.action); ok {
		return Stricter(own, remote.action), nil
	}
	if _, m, _ := maskOf(own); m.hides {
		return own, nil
	}
	return "", fmt.Errorf("column %d is masked here with %s and by the catalog behind with %.40q, which is not known", remote.id, own, remote.action)
}
