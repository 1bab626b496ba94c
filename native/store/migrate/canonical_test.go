package migrate

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// TestEveryFieldOfARecordCounts changes each field of each kind of record, also
// those that are added later, and wants another form.
func TestEveryFieldOfARecordCounts(t *testing.T) {
	fresh := func() []store.Entry {
		return []store.Entry{
			{Namespace: &store.Namespace{Properties: map[string]string{}}}, {Object: &store.Object{}}, {Commit: &store.Commit{}},
			{Receipt: &store.Receipt{}}, {Job: &store.Job{}},
		}
	}
	fields := 0
	for i, e := range fresh() {
		plain := canonical(nil, e)
		for j, other := range fresh() {
			if i != j && bytes.Equal(plain, canonical(nil, other)) {
				t.Errorf("kinds %d and %d look alike", i, j)
			}
		}
		record := func(e store.Entry) reflect.Value {
			v := reflect.ValueOf(e).Field(i).Elem()
			if v.Kind() != reflect.Struct {
				t.Fatalf("entry %d holds a %s", i, v.Kind())
			}
			return v
		}
		var walk func(v reflect.Value, path []int)
		walk = func(v reflect.Value, path []int) {
			for n := range v.NumField() {
				at := append(append([]int{}, path...), n)
				kind := v.Type().Field(n)
				if kind.Type == reflect.TypeFor[store.By]() || kind.Type == reflect.TypeFor[mounts.Identifier]() {
					walk(v.Field(n), at)
					continue
				}
				changed := fresh()[i]
				change(t, record(changed).FieldByIndex(at))
				fields++
				if bytes.Equal(plain, canonical(nil, changed)) {
					t.Errorf("%s.%s makes no difference", record(changed).Type(), kind.Name)
				}
			}
		}
		walk(record(e), nil)
	}
	if fields < 40 {
		t.Errorf("only %d fields were tried", fields)
	}
}

// change gives a field another value than zero.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMicro(1)))
		return
	case mounts.Namespace:
		v.Set(reflect.ValueOf(mounts.Namespace{"x"}))
		return
	case map[string]string:
		v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Slice:
		v.SetBytes([]byte{1})
	case reflect.Array:
		v.Index(v.Len() - 1).SetUint(1)
	default:
		t.Fatalf("a field of the kind %s is new to this test", v.Kind())
	}
}

func TestFormsDoNotRunIntoEachOther(t *testing.T) {
	for _, pair := range [][2]store.Entry{
		{{Namespace: &store.Namespace{Path: mounts.Namespace{"a", "b"}}}, {Namespace: &store.Namespace{Path: mounts.Namespace{"ab"}}}},
		{{Object: &store.Object{Location: "ab"}}, {Object: &store.Object{Location: "a", Previous: "b"}}},
		{{Namespace: &store.Namespace{Properties: map[string]string{"a": "b"}}}, {Namespace: &store.Namespace{Properties: map[string]string{"ab": ""}}}},
	} {
		if bytes.Equal(canonical(nil, pair[0]), canonical(nil, pair[1])) {
			t.Errorf("%s and %s look alike", name(pair[0]), name(pair[1]))
		}
	}
	// What a store may read either way is the same.
	if !bytes.Equal(canonical(nil, store.Entry{Job: &store.Job{Progress: []byte{}, Created: time.UnixMicro(5)}}), canonical(nil, store.Entry{Job: &store.Job{Created: time.UnixMicro(5).UTC()}})) {
		t.Error("an empty and an absent progress differ")
	}
}
