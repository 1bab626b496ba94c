package commit

import (
	"bytes"
	"slices"
)

// canonical writes a JSON value in a form in which two values are equal bytes
// exactly when they say the same: names sorted, no blanks, absent for null, one
// spelling of strings. Numbers keep their text, so that none passes through a
// float. Members of the outermost object that are in drop are left out. The
// value must be valid JSON with bounded depth.
func canonical(dst, raw []byte, drop ...string) ([]byte, error) {
	switch {
	case len(raw) == 0:
		return nil, errNotJSON
	case raw[0] == '{':
		o, err := parseObject(raw)
		if err != nil {
			return nil, err
		}
		keys := o.keys()
		slices.Sort(keys)
		dst = append(dst, '{')
		first := true
		for _, key := range keys {
			if slices.Contains(drop, key) || !o.has(key) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(append(dst, quote(key)...), ':')
			if value := o.get(key); isDecimal(key, value) {
				// Writers disagree on the blank in decimal(9, 2).
				dst = append(dst, bytes.ReplaceAll(value, []byte(" "), nil)...)
				continue
			}
			if dst, err = canonical(dst, o.get(key)); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	case raw[0] == '[':
		values, err := elements(raw)
		if err != nil {
			return nil, err
		}
		dst = append(dst, '[')
		for i, v := range values {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = canonical(dst, v); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0:
		s, err := unquote(raw)
		return append(dst, quote(s)...), err
	}
	return append(dst, raw...), nil
}

func isDecimal(key string, value []byte) bool {
	switch key {
	case "type", "element", "key", "value":
		return bytes.HasPrefix(value, []byte(`"decimal(`))
	}
	return false
}

// sameSchema is the form of a schema without its id, in which repeated schemas
// are found. The order of identifier fields does not matter.
func sameSchema(raw []byte) (string, error) {
	o, err := parseObject(raw)
	if err != nil {
		return "", err
	}
	ids, err := elements(o.get("identifier-field-ids"))
	if err != nil {
		return "", err
	}
	if len(ids) == 0 {
		o.remove("identifier-field-ids")
	} else {
		slices.SortFunc(ids, bytes.Compare)
		o.set("identifier-field-ids", encodeArray(ids))
	}
	form, err := canonical(nil, o.encode(), "schema-id")
	return string(form), err
}

// sameFields is the form of a partition spec or sort order without its id and
// the ids of its fields.
func sameFields(raw []byte) (string, error) {
	o, err := parseObject(raw)
	if err != nil {
		return "", err
	}
	fields, err := elements(o.get("fields"))
	if err != nil {
		return "", err
	}
	for i, field := range fields {
		f, err := parseObject(field)
		if err != nil {
			return "", err
		}
		if ids, err := elements(f.get("source-ids")); err == nil && len(ids) == 1 {
			f.remove("source-ids")
			f.set("source-id", ids[0])
		}
		if fields[i], err = canonical(nil, f.encode(), "field-id"); err != nil {
			return "", err
		}
	}
	o.set("fields", encodeArray(fields))
	form, err := canonical(nil, o.encode(), "spec-id", "order-id")
	return string(form), err
}
