package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// Jobs have two indexes. That of open ones is by ID, and its value is when the
// job is due: the oldest due one is found without reading records of jobs that
// wait. That of finished ones is by time, for pruning.

// dueAt is the first microsecond at which a job is due.
func dueAt(j store.Job) int64 {
	at := j.NotBefore.UnixMicro()
	if j.Lease != "" {
		at = max(at, j.LeasedUntil.UnixMicro())
	}
	return at
}

func finishedKey(j store.Job) []byte { return append(timeKey(j.Updated), j.ID[:]...) }

// CreateJob implements store.Tx.
func (t *tx) CreateJob(j store.Job) error {
	if t.has(bucketJobs, j.ID[:]) {
		return store.ErrExists
	}
	return t.putJob(j)
}

// PutJob implements store.Tx.
func (t *tx) PutJob(j store.Job) error {
	if !t.has(bucketJobs, j.ID[:]) {
		return store.ErrNotFound
	}
	return t.putJob(j)
}

// putJob writes a job over one that may be there.
func (t *tx) putJob(j store.Job) error {
	if len(j.Progress) > store.MaxProgress {
		return fmt.Errorf("bolt: the progress of a job of %d bytes is too long; at most %d", len(j.Progress), store.MaxProgress)
	}
	if err := t.deleteJob(j.ID); err != nil {
		return err
	}
	var err error
	if j.State.Finished() {
		err = t.put(bucketJobsFinished, finishedKey(j), []byte{})
	} else {
		err = t.put(bucketJobsOpen, j.ID[:], binary.BigEndian.AppendUint64(nil, uint64(dueAt(j)))) // #nosec G115 -- the same 64 bits, which DueJob reads back as an int64
	}
	if err != nil {
		return err
	}
	return t.put(bucketJobs, j.ID[:], encodeJob(j))
}

// deleteJob forgets a job, if there is one, and its index entry.
func (t *tx) deleteJob(id uuid.UUID) error {
	before, err := t.Job(id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case before.State.Finished():
		err = t.delete(bucketJobsFinished, finishedKey(before))
	default:
		err = t.delete(bucketJobsOpen, id[:])
	}
	if err != nil {
		return err
	}
	return t.delete(bucketJobs, id[:])
}

// Job implements store.Tx.
func (t *tx) Job(id uuid.UUID) (store.Job, error) {
	record := t.b.Bucket(bucketJobs).Get(id[:])
	if record == nil {
		return store.Job{}, store.ErrNotFound
	}
	return decodeJob(id, record)
}

// DueJob implements store.Tx. There is one process and one writer at a time, so
// nothing has to be locked.
func (t *tx) DueJob(now time.Time) (store.Job, error) {
	at := now.UnixMicro()
	cursor := t.b.Bucket(bucketJobsOpen).Cursor()
	for key, due := cursor.First(); key != nil; key, due = cursor.Next() {
		if len(key) != 16 || len(due) != 8 {
			return store.Job{}, errRecord
		}
		if int64(binary.BigEndian.Uint64(due)) <= at { // #nosec G115 -- the same 64 bits, which putJob wrote from an int64
			return t.Job(uuid.UUID(key))
		}
	}
	return store.Job{}, store.ErrNotFound
}

// Jobs implements store.Tx.
func (t *tx) Jobs(before uuid.UUID, limit int) ([]store.Job, error) {
	jobs := []store.Job{}
	cursor := t.b.Bucket(bucketJobs).Cursor()
	key, record := cursor.Last()
	if before != uuid.Nil {
		// Seek stops at or after the ID, or past the end; what is wanted is before.
		if at, _ := cursor.Seek(before[:]); at != nil {
			key, record = cursor.Prev()
		} else {
			key, record = cursor.Last()
		}
	}
	for ; len(jobs) < limit && key != nil; key, record = cursor.Prev() {
		if len(key) != 16 {
			return nil, errRecord
		}
		j, err := decodeJob(uuid.UUID(key), record)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// PruneJobs implements store.Tx.
func (t *tx) PruneJobs(before time.Time, limit int) (int, error) {
	// The time alone sorts before the keys of its own microsecond.
	pruned := t.keysUntil(bucketJobsFinished, timeKey(before), limit)
	for _, entry := range pruned {
		if err := t.deleteJob(uuid.UUID(entry[8:])); err != nil {
			return 0, err
		}
	}
	return len(pruned), nil
}
