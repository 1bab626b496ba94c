package router

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxExtra bounds the members of one object that nobody here knows. They are
// kept for a remote catalog that may know them.
const maxExtra = 64

// extra returns the members of a JSON object that are neither fields of the
// struct that v points to nor among the names that are ignored on purpose, in
// their own bytes, which alias data. It is nil if there are none. data was
// decoded into v before, so that it is known to be an object without duplicates.
//
// A name that differs from one of those in its case only is refused: it is another
// catalog that reads these members in the end, and some take it for that one. Then
// it would do something else than what was decided about.
func extra(data []byte, v any, ignored ...string) (map[string]stdjson.RawMessage, error) {
	known := append(fieldNames(reflect.TypeOf(v).Elem(), nil), ignored...)
	var out map[string]stdjson.RawMessage
	err := eachMember(data, func(name string, dec *jsontext.Decoder) error {
		if slices.Contains(known, name) {
			return dec.SkipValue()
		}
		for _, one := range known {
			if strings.EqualFold(one, name) {
				return badBody(fmt.Sprintf("has a member %s; it is called %q", quoted(name), one))
			}
		}
		if len(out) == maxExtra {
			return badBody(fmt.Sprintf("has more than %d members that are not known here", maxExtra))
		}
		value, err := rawValue(dec, data)
		if err != nil {
			return err
		}
		if out == nil {
			out = map[string]stdjson.RawMessage{}
		}
		out[name] = value
		return nil
	})
	return out, err
}

// fieldNames lists the names that a struct's fields have in JSON.
func fieldNames(t reflect.Type, names []string) []string {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			names = fieldNames(f.Type, names)
		case tag != "" && tag != "-":
			names = append(names, tag)
		}
	}
	return names
}

// eachMember visits the members of a JSON object; visit reads the value.
func eachMember(data []byte, visit func(name string, dec *jsontext.Decoder) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data[:len(data):len(data)]), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := visit(name.String(), dec); err != nil {
			return err
		}
	}
	return nil
}

// rawValue reads the next value as a part of data, which dec reads from.
func rawValue(dec *jsontext.Decoder, data []byte) (stdjson.RawMessage, error) {
	value, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(dec.InputOffset())
	return stdjson.RawMessage(data[end-len(value) : end : end]), nil
}
