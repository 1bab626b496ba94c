package commit

import (
	"bytes"
	"fmt"
)

// object is a JSON object as an ordered list of members in their own bytes:
// what is not set stays as it was written, and where it stood.
type object struct {
	members []member
	index   map[string]int
}

// member is one name, quoted as it was written, with its value. A nil value is
// a removed member.
type member struct{ name, value []byte }

func newObject() *object { return &object{index: map[string]int{}} }

// parseObject splits raw, which it neither copies nor changes. A repeated name
// is an error: readers would disagree about which one counts.
func parseObject(raw []byte) (*object, error) {
	o := newObject()
	var bad error
	err := eachMember(raw, func(name, value []byte) bool {
		var key string
		if bytes.IndexByte(name, '\\') < 0 {
			key = string(name[1 : len(name)-1])
		} else if key, bad = unquote(name); bad != nil {
			return false
		}
		if _, twice := o.index[key]; twice {
			bad = fmt.Errorf("the name %.100q stands twice in one object", key)
			return false
		}
		o.index[key] = len(o.members)
		o.members = append(o.members, member{name, value})
		return true
	})
	if err == nil {
		err = bad
	}
	return o, err
}

// get returns a member's value; nil if absent.
func (o *object) get(key string) []byte {
	if i, ok := o.index[key]; ok {
		return o.members[i].value
	}
	return nil
}

// has reports whether the member is there and not null.
func (o *object) has(key string) bool { return !isNull(o.get(key)) }

// set replaces a member where it stands, or appends it.
func (o *object) set(key string, value []byte) {
	if i, ok := o.index[key]; ok {
		o.members[i].value = value
		return
	}
	o.index[key] = len(o.members)
	o.members = append(o.members, member{quote(key), value})
}

// setInt is set with a number.
func (o *object) setInt(key string, n int64) { o.set(key, formatInt(n)) }

// remove takes a member out and reports whether it was there.
func (o *object) remove(key string) bool {
	i, ok := o.index[key]
	if !ok {
		return false
	}
	o.members[i].value = nil
	delete(o.index, key)
	return true
}

// keys returns the names, in order.
func (o *object) keys() []string {
	all := make([]string, len(o.members))
	for key, i := range o.index {
		all[i] = key
	}
	kept := all[:0]
	for i, m := range o.members {
		if m.value != nil {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// encode writes the object.
func (o *object) encode() []byte {
	size := 2
	for _, m := range o.members {
		size += len(m.name) + len(m.value) + 2
	}
	out := append(make([]byte, 0, size), '{')
	for _, m := range o.members {
		if m.value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	return append(out, '}')
}

// encodeArray writes values as an array.
func encodeArray(values [][]byte) []byte {
	size := 2
	for _, v := range values {
		size += len(v) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// appendElements returns the array raw with more elements, in fresh memory: the
// old elements are copied, not looked at.
func appendElements(raw []byte, more ...[]byte) []byte {
	if isNull(raw) {
		return encodeArray(more)
	}
	inner := bytes.TrimRight(raw[:len(raw)-1], " \t\r\n")
	if len(bytes.TrimLeft(inner[1:], " \t\r\n")) == 0 {
		return encodeArray(more)
	}
	size := len(raw)
	for _, v := range more {
		size += len(v) + 1
	}
	out := append(make([]byte, 0, size), inner...)
	for _, v := range more {
		out = append(append(out, ','), v...)
	}
	return append(out, ']')
}
