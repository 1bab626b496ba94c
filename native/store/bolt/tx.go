package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"go.etcd.io/bbolt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// tx is one closure's view of a transaction that it may share with others.
type tx struct {
	b *bbolt.Tx
	// wrote says that the closure changed something, so that a failure of it
	// cannot be ignored.
	wrote bool
}

var _ store.Tx = (*tx)(nil)

func newTx(b *bbolt.Tx) *tx { return &tx{b: b} }

var errReadOnly = errors.New("bolt: a View transaction cannot write")

func (t *tx) put(bucket, key, value []byte) error {
	if !t.b.Writable() {
		return errReadOnly
	}
	if len(key) > bbolt.MaxKeySize {
		return fmt.Errorf("bolt: a key of %d bytes is too long; shorten the name", len(key))
	}
	t.wrote = true
	return t.b.Bucket(bucket).Put(key, value)
}

func (t *tx) delete(bucket, key []byte) error {
	if !t.b.Writable() {
		return errReadOnly
	}
	t.wrote = true
	return t.b.Bucket(bucket).Delete(key)
}

func (t *tx) has(bucket, key []byte) bool { return t.b.Bucket(bucket).Get(key) != nil }

// hasPrefix reports whether any key begins so.
func (t *tx) hasPrefix(bucket, prefix []byte) bool {
	key, _ := t.b.Bucket(bucket).Cursor().Seek(prefix)
	return key != nil && bytes.HasPrefix(key, prefix)
}

// scan lists up to limit of the keys with that prefix, less the prefix, from
// prefix+after on but without it. after is in the key's encoding.
func (t *tx) scan(bucket, prefix, after []byte, limit int, each func(rest []byte)) {
	cursor := t.b.Bucket(bucket).Cursor()
	start := append(bytes.Clone(prefix), after...)
	key, _ := cursor.Seek(start)
	if len(after) > 0 && bytes.Equal(key, start) {
		key, _ = cursor.Next()
	}
	for ; limit > 0 && key != nil && bytes.HasPrefix(key, prefix); limit-- {
		each(key[len(prefix):])
		key, _ = cursor.Next()
	}
}

// Namespace implements store.Tx.
func (t *tx) Namespace(path mounts.Namespace) (store.Namespace, error) {
	record := t.b.Bucket(bucketNamespaces).Get(namespaceKey(path))
	if record == nil || len(path) == 0 {
		return store.Namespace{}, store.ErrNotFound
	}
	return decodeNamespace(path, record)
}

// Children implements store.Tx.
func (t *tx) Children(parent mounts.Namespace, after string, limit int) ([]string, error) {
	var position []byte
	if after != "" {
		position = append(appendEscaped(nil, after), 0, levelEnd)
	}
	names := []string{}
	t.scan(bucketNamespaces, childrenPrefix(parent), position, limit, func(rest []byte) {
		names = append(names, lastLevel(rest))
	})
	return names, nil
}

// Owners implements store.Tx.
func (t *tx) Owners(levels []string) (map[string]string, error) {
	owners := make(map[string]string, len(levels))
	for _, level := range levels {
		n, err := t.Namespace(mounts.Namespace{level})
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			owners[level] = n.Owner
		}
	}
	return owners, nil
}

func (t *tx) hasNamespace(path mounts.Namespace) bool {
	return len(path) > 0 && t.has(bucketNamespaces, namespaceKey(path))
}

// CreateNamespace implements store.Tx.
func (t *tx) CreateNamespace(n store.Namespace) error {
	switch parent := n.Path.Parent(); {
	case len(n.Path) == 0:
		return store.ErrExists
	case len(n.Path) > math.MaxUint16:
		return errors.New("bolt: too many levels")
	case len(parent) > 0 && !t.hasNamespace(parent):
		return store.ErrNoNamespace
	case t.hasNamespace(n.Path):
		return store.ErrExists
	}
	return t.put(bucketNamespaces, namespaceKey(n.Path), encodeNamespace(n))
}

// PutNamespace implements store.Tx.
func (t *tx) PutNamespace(n store.Namespace) error {
	if !t.hasNamespace(n.Path) {
		return store.ErrNotFound
	}
	return t.put(bucketNamespaces, namespaceKey(n.Path), encodeNamespace(n))
}

// DropNamespace implements store.Tx.
func (t *tx) DropNamespace(path mounts.Namespace) error {
	if !t.hasNamespace(path) {
		return store.ErrNotFound
	}
	key := namespaceKey(path)
	if t.hasPrefix(bucketNamespaces, childrenPrefix(path)) || t.hasPrefix(bucketTables, key) || t.hasPrefix(bucketViews, key) {
		return store.ErrNotEmpty
	}
	return t.delete(bucketNamespaces, key)
}
