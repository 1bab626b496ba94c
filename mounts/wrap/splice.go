package wrap

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// eachItem in a path stands for every item of an array.
const eachItem = "[]"

// splice replaces doc[from:to] by text.
type splice struct {
	from, to int
	text     string
}

// editArrays edits the arrays that lie at path in a JSON document and leaves
// every other byte of it as it is: fields that nobody here knows, big numbers,
// spelling of strings, blanks. What is at path but no array stays, and so does
// everything where the document has another shape. doc itself is not changed.
//
// edit is called behind an array's opening bracket.
func editArrays(doc []byte, path []string, edit func(doc []byte, dec *jsontext.Decoder) (splice, error)) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	w := &walk{doc: doc, dec: dec, edit: edit}
	if err := w.value(path); err != nil {
		return nil, err
	}
	if len(w.found) == 0 {
		return doc, nil
	}
	size := len(doc)
	for _, s := range w.found {
		size += len(s.text) - (s.to - s.from)
	}
	out, at := make([]byte, 0, size), 0
	for _, s := range w.found {
		out = append(append(out, doc[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, doc[at:]...), nil
}

type walk struct {
	doc   []byte
	dec   *jsontext.Decoder
	edit  func([]byte, *jsontext.Decoder) (splice, error)
	found []splice
}

func (w *walk) value(path []string) error {
	kind := w.dec.PeekKind()
	switch {
	case len(path) == 0 && kind == '[':
		return w.target()
	case len(path) > 0 && path[0] == eachItem && kind == '[':
		return w.within(']', func() error { return w.value(path[1:]) })
	case len(path) > 0 && path[0] != eachItem && kind == '{':
		return w.within('}', func() error {
			name, err := w.dec.ReadToken()
			if err != nil {
				return err
			}
			if name.String() == path[0] {
				return w.value(path[1:])
			}
			return w.dec.SkipValue()
		})
	}
	return w.dec.SkipValue()
}

// within reads one object or array, each member or item with f.
func (w *walk) within(end jsontext.Kind, f func() error) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	for w.dec.PeekKind() != end {
		if err := f(); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

func (w *walk) target() error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	s, err := w.edit(w.doc, w.dec)
	if err != nil {
		return err
	}
	w.found = append(w.found, s)
	for w.dec.PeekKind() != ']' {
		if err := w.dec.SkipValue(); err != nil {
			return err
		}
	}
	_, err = w.dec.ReadToken()
	return err
}

// insertFirst makes name, which needs no escaping, the first item of an array.
func insertFirst(name string) func([]byte, *jsontext.Decoder) (splice, error) {
	return func(_ []byte, dec *jsontext.Decoder) (splice, error) {
		at, text := int(dec.InputOffset()), `"`+name+`"`
		if dec.PeekKind() != ']' {
			text += ","
		}
		return splice{at, at, text}, nil
	}
}

// foreignLevel says that an array does not begin with the item to be removed.
type foreignLevel struct{ first string }

func (f *foreignLevel) Error() string { return f.says() }

func (f *foreignLevel) says() string {
	if f.first == "" {
		return "it names the root of all mounts"
	}
	return fmt.Sprintf("it begins with %s", f.first)
}

// removeFirst removes the first item of an array, which must be name, with the
// comma that follows it: the inverse of insertFirst.
func removeFirst(name string) func([]byte, *jsontext.Decoder) (splice, error) {
	return func(doc []byte, dec *jsontext.Decoder) (splice, error) {
		from := int(dec.InputOffset())
		if dec.PeekKind() == ']' {
			return splice{}, &foreignLevel{}
		}
		first, err := dec.ReadValue()
		if err != nil {
			return splice{}, err
		}
		if level, err := jsontext.AppendUnquote(nil, first); err != nil || string(level) != name {
			return splice{}, &foreignLevel{strings.ToValidUTF8(fmt.Sprintf("%.80s", first), "?")}
		}
		to := int(dec.InputOffset())
		if dec.PeekKind() != ']' {
			to += bytes.IndexByte(doc[to:], ',') + 1
		}
		return splice{from, to, ""}, nil
	}
}
