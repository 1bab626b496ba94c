package bolt

import (
	"fmt"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// format is the version of keys and records. A file with a higher one was
// written by a newer release, and one with a lower is brought up to date when it
// is opened.
//
//	1  namespaces, tables, views, commits
//	2  receipts and jobs with their indexes, and the index of pointers; commits
//	   end with an idempotency key
const format = 2

// The buckets of the file.
var (
	bucketMeta         = []byte("meta")
	bucketNamespaces   = []byte("namespaces")
	bucketTables       = []byte("tables")
	bucketViews        = []byte("views")
	bucketCommits      = []byte("commits")
	bucketPointers     = []byte("pointers")
	bucketReceipts     = []byte("receipts")
	bucketExpiry       = []byte("receipts-by-expiry")
	bucketJobs         = []byte("jobs")
	bucketJobsOpen     = []byte("jobs-open")
	bucketJobsFinished = []byte("jobs-finished-by-time")

	keyFormat = []byte("format")
)

func bucketsOfFormat1() [][]byte {
	return [][]byte{bucketMeta, bucketNamespaces, bucketTables, bucketViews, bucketCommits}
}

func bucketsOfFormat2() [][]byte {
	return [][]byte{bucketPointers, bucketReceipts, bucketExpiry, bucketJobs, bucketJobsOpen, bucketJobsFinished}
}

// prepare creates the buckets of a new file, flushes its name to disk, and
// brings an old one up to date, all in one transaction. An old file is flushed
// too: what a process that was killed left in the system's memory is read from
// now on.
func prepare(db *bbolt.DB, path string) error {
	fresh, changed := false, false
	err := db.View(func(tx *bbolt.Tx) (err error) {
		fresh, changed, err = look(tx, path)
		return err
	})
	if err != nil {
		return err
	}
	if changed {
		if err := db.Update(upgrade); err != nil {
			return fmt.Errorf("bolt: cannot bring the registry file %s up to date; it is as it was: %w", path, err)
		}
	}
	if fresh {
		return syncDir(filepath.Dir(path))
	}
	return db.Sync()
}

// look says whether the file is new, and whether it has to change.
func look(tx *bbolt.Tx, path string) (fresh, changed bool, err error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		if first, _ := tx.Cursor().First(); first != nil {
			return false, false, fmt.Errorf("bolt: %s is a bolt file of another program; name another file", path)
		}
		return true, true, nil
	}
	v := meta.Get(keyFormat)
	if len(v) != 1 || v[0] == 0 || v[0] > format {
		return false, false, fmt.Errorf("bolt: the registry file %s has format %v, this release knows up to %d; use the release that wrote it", path, v, format)
	}
	return false, v[0] < format, nil
}

// upgrade makes a file of the newest format out of an empty one or one of any
// older format.
func upgrade(tx *bbolt.Tx) error {
	if tx.Bucket(bucketMeta) == nil {
		if err := createBuckets(tx, bucketsOfFormat1()); err != nil {
			return err
		}
	}
	if err := createBuckets(tx, bucketsOfFormat2()); err != nil {
		return err
	}
	if err := indexPointers(tx); err != nil {
		return err
	}
	return tx.Bucket(bucketMeta).Put(keyFormat, []byte{format})
}

func createBuckets(tx *bbolt.Tx, names [][]byte) error {
	for _, name := range names {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return nil
}
