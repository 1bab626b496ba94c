package bolt

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// Import implements store.Portable.
func (s *Store) Import(ctx context.Context, migration uuid.UUID, entries []store.Entry) error {
	return s.queue.do(ctx, exclusive(func(t *tx) error {
		if err := t.destination(migration); err != nil {
			return err
		}
		for _, entry := range entries {
			if err := t.importEntry(entry); err != nil {
				return err
			}
		}
		return nil
	}))
}

// importEntry writes one record over the one of its identity.
func (t *tx) importEntry(entry store.Entry) error {
	switch {
	case entry.Namespace != nil:
		n := *entry.Namespace
		if parent := n.Path.Parent(); len(parent) > 0 && !t.hasNamespace(parent) {
			return store.ErrNoNamespace
		}
		return t.put(bucketNamespaces, namespaceKey(n.Path), encodeNamespace(n))
	case entry.Object != nil:
		return t.importObject(*entry.Object)
	case entry.Commit != nil:
		c := *entry.Commit
		return t.put(bucketCommits, commitKey(c.Object, c.Generation), encodeCommit(c))
	case entry.Receipt != nil:
		return t.putReceipt(*entry.Receipt)
	case entry.Job != nil:
		return t.putJob(*entry.Job)
	}
	return errors.New("bolt: an entry without a record")
}

func (t *tx) importObject(o store.Object) error {
	if !t.hasNamespace(o.Namespace) {
		return store.ErrNoNamespace
	}
	key := objectKey(o.Identifier())
	before, err := t.object(key, o.Identifier())
	if err == nil {
		err = t.deleteObject(key, before)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return t.putObject(key, o, nil)
}

// Clear implements store.Portable.
func (s *Store) Clear(ctx context.Context, migration uuid.UUID) error {
	return s.queue.do(ctx, exclusive(func(t *tx) error {
		if err := t.destination(migration); err != nil {
			return err
		}
		t.wrote = true
		for _, buckets := range [][][]byte{bucketsOfFormat1(), bucketsOfFormat2()} {
			for _, bucket := range buckets {
				if string(bucket) == string(bucketMeta) {
					continue
				}
				if err := t.b.DeleteBucket(bucket); err != nil {
					return err
				}
				if _, err := t.b.CreateBucket(bucket); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}
