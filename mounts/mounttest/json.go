package mounttest

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// sameJSON compares two documents by meaning, with numbers digit by digit.
func sameJSON(a, b json.RawMessage) bool {
	left, errLeft := decode(a)
	right, errRight := decode(b)
	return errLeft == nil && errRight == nil && reflect.DeepEqual(left, right)
}

func decode(data json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
