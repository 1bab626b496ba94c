package commit

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Lists and maps of an update hold values and no nulls. A Go decoder takes a null
// for zero, and here zero is an id and "" a text: the schema 0 would be removed,
// or a property emptied, where nothing of the kind was asked.
type (
	ids   []int64
	short []int32 // ids of columns
	names []string
	texts map[string]string
)

var errNull = errors.New("a null stands in place of a value")

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *ids) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = listOf[int64](d)
	return err
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *short) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = listOf[int32](d)
	return err
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *names) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = listOf[string](d)
	return err
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *texts) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return errors.ErrUnsupported // the ordinary decoding, which refuses it
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*m = texts{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if (*m)[key], err = valueOf[string](d); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func listOf[T any](d *jsontext.Decoder) ([]T, error) {
	if d.PeekKind() != '[' {
		return nil, errors.ErrUnsupported // as above
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	list := []T{}
	for d.PeekKind() != ']' {
		value, err := valueOf[T](d)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := d.ReadToken()
	return list, err
}

func valueOf[T any](d *jsontext.Decoder) (value T, err error) {
	if d.PeekKind() == 'n' {
		if _, err := d.ReadToken(); err != nil {
			return value, err
		}
		return value, &json.SemanticError{JSONPointer: d.StackPointer(), JSONKind: 'n', Err: errNull}
	}
	return value, json.UnmarshalDecode(d, &value)
}
