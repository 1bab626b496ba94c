package bolt

import (
	"bytes"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func bucketOf(kind store.Kind) []byte {
	if kind == store.View {
		return bucketViews
	}
	return bucketTables
}

// Object implements store.Tx.
func (t *tx) Object(id mounts.Identifier) (store.Object, error) {
	return t.object(objectKey(id), id)
}

func (t *tx) object(key []byte, id mounts.Identifier) (store.Object, error) {
	for _, kind := range [...]store.Kind{store.Table, store.View} {
		if record := t.b.Bucket(bucketOf(kind)).Get(key); record != nil {
			return decodeObject(id, kind, record)
		}
	}
	return store.Object{}, store.ErrNotFound
}

// Names implements store.Tx.
func (t *tx) Names(namespace mounts.Namespace, kind store.Kind, after string, limit int) ([]string, error) {
	names := []string{}
	t.scan(bucketOf(kind), namespaceKey(namespace), []byte(after), limit, func(rest []byte) {
		names = append(names, string(rest))
	})
	return names, nil
}

// Create implements store.Tx.
func (t *tx) Create(o store.Object, by store.By) (store.Object, error) {
	key := objectKey(o.Identifier())
	if !t.hasNamespace(o.Namespace) {
		return store.Object{}, store.ErrNoNamespace
	}
	if t.has(bucketTables, key) || t.has(bucketViews, key) {
		return store.Object{}, store.ErrExists
	}
	o.Previous, o.Generation, o.Created = "", 0, by.Time
	to := o.Location
	o.Location = ""
	return t.move(key, o, to, by, nil)
}

// Swap implements store.Tx.
func (t *tx) Swap(id mounts.Identifier, from, to string, by store.By) (store.Object, error) {
	key := objectKey(id)
	o, err := t.object(key, id)
	if err != nil {
		return store.Object{}, err
	}
	if o.Location != from {
		return store.Object{}, store.ErrMoved
	}
	return t.move(key, o, to, by, &from)
}

// move gives an object its next pointer and logs it.
func (t *tx) move(key []byte, o store.Object, to string, by store.By, before *string) (store.Object, error) {
	o.Previous, o.Location = o.Location, to
	o.Generation++
	o.Updated = by.Time
	if err := t.putObject(key, o, before); err != nil {
		return store.Object{}, err
	}
	return o, t.log(o, o.Previous, to, by)
}

func (t *tx) log(o store.Object, from, to string, by store.By) error {
	return t.put(bucketCommits, commitKey(o.ID, o.Generation), encodeCommit(store.Commit{From: from, To: to, By: by}))
}

// Rename implements store.Tx.
func (t *tx) Rename(from, to mounts.Identifier, by store.By) error {
	source, target := objectKey(from), objectKey(to)
	o, err := t.object(source, from)
	switch {
	case err != nil:
		return err
	case !t.hasNamespace(to.Namespace):
		return store.ErrNoNamespace
	case t.has(bucketTables, target) || t.has(bucketViews, target):
		return store.ErrExists
	}
	o.Updated = by.Time
	if err := t.delete(bucketOf(o.Kind), source); err != nil {
		return err
	}
	return t.putObject(target, o, &o.Location)
}

// Drop implements store.Tx.
func (t *tx) Drop(id mounts.Identifier, by store.By) (store.Object, error) {
	key := objectKey(id)
	o, err := t.object(key, id)
	if err != nil {
		return store.Object{}, err
	}
	if err := t.deleteObject(key, o); err != nil {
		return store.Object{}, err
	}
	last := o
	last.Generation++
	return o, t.log(last, o.Location, "", by)
}

// Commits implements store.Tx.
func (t *tx) Commits(object uuid.UUID, after uint64, limit int) ([]store.Commit, error) {
	commits := []store.Commit{}
	cursor := t.b.Bucket(bucketCommits).Cursor()
	for key, record := cursor.Seek(commitKey(object, after+1)); len(commits) < limit && key != nil && bytes.HasPrefix(key, object[:]); key, record = cursor.Next() {
		c, err := decodeCommit(key, record)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}
