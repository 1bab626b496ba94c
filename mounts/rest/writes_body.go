package rest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// Bodies of changes. Parts that came raw go out as the bytes they were, and
// nothing passes through a number type. Equal requests have equal bodies: a
// remote that honours an Idempotency-Key compares them.

// object builds a JSON object.
type object struct {
	b     []byte
	names []string
}

func (o *object) name(name string) *object {
	if len(o.names) == 0 {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.names = append(o.names, name)
	o.b = append(appendString(o.b, name), ':')
	return o
}

func (o *object) text(name, value string) *object {
	o.name(name)
	o.b = appendString(o.b, value)
	return o
}

// some adds a text that is not empty.
func (o *object) some(name, value string) *object {
	if value == "" {
		return o
	}
	return o.text(name, value)
}

// yes adds a truth value that is true.
func (o *object) yes(name string, value bool) *object {
	if !value {
		return o
	}
	return o.truth(name, true)
}

// truth adds a truth value.
func (o *object) truth(name string, value bool) *object {
	o.name(name)
	o.b = strconv.AppendBool(o.b, value)
	return o
}

func (o *object) list(name string, values []string) *object {
	o.name(name)
	o.b = appendStrings(o.b, values)
	return o
}

// texts adds a map with its keys in order.
func (o *object) texts(name string, values map[string]string) *object {
	o.name(name)
	inner := object{b: o.b}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		inner.text(key, values[key])
	}
	o.b = inner.end()
	return o
}

// raw adds a value as it is; nothing for an empty one.
func (o *object) raw(name string, value json.RawMessage) *object {
	if len(value) == 0 {
		return o
	}
	o.name(name)
	o.b = append(o.b, value...)
	return o
}

func (o *object) raws(name string, values []json.RawMessage) *object {
	o.name(name)
	o.b = append(o.b, '[')
	for i, value := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		if len(value) == 0 {
			o.b = append(o.b, "null"...)
		}
		o.b = append(o.b, value...)
	}
	o.b = append(o.b, ']')
	return o
}

func (o *object) identifier(name string, id mounts.Identifier) *object {
	o.name(name)
	inner := object{b: o.b}
	o.b = inner.list("namespace", id.Namespace).text("name", id.Name).end()
	return o
}

// rest adds the members that nobody here knows, in order of their names.
func (o *object) rest(extra map[string]json.RawMessage) *object {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !slices.Contains(o.names, name) {
			o.raw(name, extra[name])
		}
	}
	return o
}

func (o *object) end() []byte {
	if len(o.names) == 0 {
		o.b = append(o.b, '{')
	}
	return append(o.b, '}')
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // what is no UTF-8 becomes U+FFFD; names with it are refused (check)
	return b
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

func newBody(room int) *object { return &object{b: make([]byte, 0, room+256)} }

// commitBody is the body of one commit. The identifier is the remote's own: the
// client's, which is in another catalog's names, does not get this far.
func commitBody(id mounts.Identifier, requirements, updates []json.RawMessage, extra map[string]json.RawMessage) []byte {
	return newBody(sizeOf(requirements)+sizeOf(updates)).commit(id, requirements, updates, extra).end()
}

func (o *object) commit(id mounts.Identifier, requirements, updates []json.RawMessage, extra map[string]json.RawMessage) *object {
	return o.identifier("identifier", id).raws("requirements", requirements).raws("updates", updates).rest(extra)
}

func transactionBody(req *mounts.CommitTransactionRequest) []byte {
	size := 0
	for _, change := range req.Changes {
		size += sizeOf(change.Requirements) + sizeOf(change.Updates) + 256
	}
	body := newBody(size).name("table-changes")
	body.b = append(body.b, '[')
	for i, change := range req.Changes {
		if i > 0 {
			body.b = append(body.b, ',')
		}
		one := object{b: body.b}
		body.b = one.commit(change.Table, change.Requirements, change.Updates, change.Extra).end()
	}
	body.b = append(body.b, ']')
	return body.rest(req.Extra).end()
}

func sizeOf(raws []json.RawMessage) int {
	n := 0
	for _, raw := range raws {
		n += len(raw) + 1
	}
	return n
}
