package bolt

import (
	"bytes"
	"fmt"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/icefield/icefield/native/store"
)

// The index of pointers has one entry an object: its location, escaped and
// ended as a level is, and its ID; the value is the kind and the key of the
// object. So entries sort by location, and the escaped form of a prefix begins
// exactly the entries of the locations that it begins.
func pointerKey(location string, object uuid.UUID) []byte {
	key := append(appendEscaped(make([]byte, 0, len(location)+2+len(object)), location), 0, levelEnd)
	return append(key, object[:]...)
}

// putObject writes an object and its index entry. before is the location that
// the index holds of it, nil if it holds none.
func (t *tx) putObject(key []byte, o store.Object, before *string) error {
	if before != nil && *before != o.Location {
		if err := t.delete(bucketPointers, pointerKey(*before, o.ID)); err != nil {
			return err
		}
	}
	if len(o.Location) > store.MaxLocation {
		return fmt.Errorf("bolt: a location of %d bytes is too long; at most %d", len(o.Location), store.MaxLocation)
	}
	if err := t.put(bucketPointers, pointerKey(o.Location, o.ID), indexed(o.Kind, key)); err != nil {
		return err
	}
	return t.put(bucketOf(o.Kind), key, encodeObject(o))
}

func (t *tx) deleteObject(key []byte, o store.Object) error {
	if err := t.delete(bucketPointers, pointerKey(o.Location, o.ID)); err != nil {
		return err
	}
	return t.delete(bucketOf(o.Kind), key)
}

func indexed(kind store.Kind, key []byte) []byte {
	return append([]byte{byte(kind)}, key...)
}

// Holders implements store.Tx.
func (t *tx) Holders(pointerPrefix string, limit int) ([]store.Object, error) {
	found := []store.Object{}
	prefix := appendEscaped(nil, pointerPrefix)
	cursor := t.b.Bucket(bucketPointers).Cursor()
	for key, value := cursor.Seek(prefix); len(found) < limit && key != nil && bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		if len(value) == 0 {
			return nil, errRecord
		}
		kind := store.Kind(value[0])
		record := t.b.Bucket(bucketOf(kind)).Get(value[1:])
		ident, ok := parseObjectKey(value[1:])
		if record == nil || !ok {
			return nil, errRecord
		}
		o, err := decodeObject(ident, kind, record)
		if err != nil {
			return nil, err
		}
		found = append(found, o)
	}
	return found, nil
}

// indexPointers fills the index of a file that had none.
func indexPointers(b *bbolt.Tx) error {
	pointers := b.Bucket(bucketPointers)
	for _, kind := range [...]store.Kind{store.Table, store.View} {
		err := b.Bucket(bucketOf(kind)).ForEach(func(key, record []byte) error {
			ident, ok := parseObjectKey(key)
			if !ok {
				return errRecord
			}
			o, err := decodeObject(ident, kind, record)
			if err != nil {
				return err
			}
			return pointers.Put(pointerKey(o.Location, o.ID), indexed(kind, key))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
