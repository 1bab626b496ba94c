package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/icefield/icefield/native/store"
)

// maxBatch is about how many bytes of records one Export returns.
const maxBatch = 16 << 20

// section is one part of an export: the buckets whose records it lists, merged
// by key, and how a record is read. Buckets sort by themselves as an export
// does.
type section struct {
	buckets [][]byte
	entry   func(bucket, key, record []byte) (store.Entry, error)
}

// sections is the order of an export. A position is the index of one and the
// last key that was listed.
func sections() []section {
	return []section{
		{[][]byte{bucketNamespaces}, func(_, key, record []byte) (store.Entry, error) {
			path, rest, ok := parseLevels(key)
			if !ok || len(rest) > 0 {
				return store.Entry{}, errRecord
			}
			n, err := decodeNamespace(path, record)
			return store.Entry{Namespace: &n}, err
		}},
		{[][]byte{bucketTables, bucketViews}, func(bucket, key, record []byte) (store.Entry, error) {
			ident, ok := parseObjectKey(key)
			if !ok {
				return store.Entry{}, errRecord
			}
			kind := store.Table
			if bytes.Equal(bucket, bucketViews) {
				kind = store.View
			}
			o, err := decodeObject(ident, kind, record)
			return store.Entry{Object: &o}, err
		}},
		{[][]byte{bucketCommits}, func(_, key, record []byte) (store.Entry, error) {
			c, err := decodeCommit(key, record)
			return store.Entry{Commit: &c}, err
		}},
		{[][]byte{bucketReceipts}, func(_, key, record []byte) (store.Entry, error) {
			if len(key) != len(store.ReceiptKey{}) {
				return store.Entry{}, errRecord
			}
			r, err := decodeReceipt(store.ReceiptKey(key), record)
			return store.Entry{Receipt: &r}, err
		}},
		{[][]byte{bucketJobs}, func(_, key, record []byte) (store.Entry, error) {
			if len(key) != len(uuid.UUID{}) {
				return store.Entry{}, errRecord
			}
			j, err := decodeJob(uuid.UUID(key), record)
			return store.Entry{Job: &j}, err
		}},
	}
}

// Export implements store.Portable.
func (s *Store) Export(ctx context.Context, after []byte, limit int) (entries []store.Entry, next []byte, err error) {
	if limit < 1 {
		return nil, nil, fmt.Errorf("bolt: an export of %d records makes no sense", limit)
	}
	all, at, last := sections(), 0, []byte(nil)
	if len(after) > 0 {
		if at, last = int(after[0]), after[1:]; at >= len(all) {
			return nil, nil, errors.New("bolt: that is no position of an export")
		}
	}
	err = s.read(ctx, func(t *tx) error {
		size := 0
		for ; at < len(all); at, last = at+1, nil {
			cursor := merge(t.b, all[at].buckets, last)
			for bucket, key, record := cursor.next(); key != nil; bucket, key, record = cursor.next() {
				if len(entries) == limit || size >= maxBatch {
					next = append([]byte{byte(at)}, last...) // #nosec G115 -- an index of sections(), of which there are a handful
					return nil
				}
				entry, err := all[at].entry(bucket, key, record)
				if err != nil {
					return err
				}
				entries = append(entries, entry)
				size += len(key) + len(record)
				last = key
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return entries, next, nil
}

// merged walks several buckets in the order of their keys.
type merged struct {
	buckets [][]byte
	cursors []*bbolt.Cursor
	keys    [][]byte
	records [][]byte
}

// merge begins after the given key, or at the start for nil.
func merge(b *bbolt.Tx, buckets [][]byte, after []byte) *merged {
	m := &merged{buckets: buckets}
	for _, bucket := range buckets {
		cursor := b.Bucket(bucket).Cursor()
		key, record := cursor.Seek(after)
		if key != nil && after != nil && bytes.Equal(key, after) {
			key, record = cursor.Next()
		}
		m.cursors, m.keys, m.records = append(m.cursors, cursor), append(m.keys, key), append(m.records, record)
	}
	return m
}

// next returns the smallest key that is left; nil after the last.
func (m *merged) next() (bucket, key, record []byte) {
	first := -1
	for i, key := range m.keys {
		if key != nil && (first < 0 || bytes.Compare(key, m.keys[first]) < 0) {
			first = i
		}
	}
	if first < 0 {
		return nil, nil, nil
	}
	bucket, key, record = m.buckets[first], m.keys[first], m.records[first]
	m.keys[first], m.records[first] = m.cursors[first].Next()
	return bucket, key, record
}

// Counts implements store.Portable by a walk over the pages of the file.
func (s *Store) Counts(ctx context.Context) (c store.Counts, err error) {
	err = s.read(ctx, func(t *tx) error {
		count := func(buckets ...[]byte) (n int64) {
			for _, bucket := range buckets {
				n += int64(t.b.Bucket(bucket).Stats().KeyN)
			}
			return n
		}
		c = store.Counts{Namespaces: count(bucketNamespaces), Objects: count(bucketTables, bucketViews), Commits: count(bucketCommits),
			Receipts: count(bucketReceipts), Jobs: count(bucketJobs)}
		return nil
	})
	return c, err
}
