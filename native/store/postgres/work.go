package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// Receipt implements store.Tx.
func (u *update) Receipt(key store.ReceiptKey) (store.Receipt, error) {
	k, ok := u.known.receipts[key]
	if !ok {
		r, err := u.reads.Receipt(key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return r, err
		}
		k = knownReceipt{found: err == nil, record: r}
		u.known.receipts[key] = k
	}
	if !k.found {
		return store.Receipt{}, store.ErrNotFound
	}
	r := k.record
	r.Outcome = bytes.Clone(r.Outcome)
	return r, nil
}

// PutReceipt implements store.Tx.
func (u *update) PutReceipt(r store.Receipt, now time.Time) error {
	if len(r.Outcome) > store.MaxOutcome {
		return fmt.Errorf("postgres: a receipt's outcome of %d bytes; the most is %d", len(r.Outcome), store.MaxOutcome)
	}
	if u.failure != nil {
		return u.failure
	}
	if _, ok := u.known.receipts[r.Key]; ok || u.careful {
		there, err := u.Receipt(r.Key)
		switch {
		case err == nil && !there.Expired(kept(now)):
			return store.ErrExists
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
	} else {
		u.assumed = true
	}
	u.write(u.sql.deleteExpired.with(r.Key[:], moment(now)))
	u.write(u.sql.insertReceipt.with(receiptArgs(r)...))
	r.Outcome = blob(r.Outcome)
	r.Created, r.Expires = kept(r.Created), kept(r.Expires)
	u.known.receipts[r.Key] = knownReceipt{found: true, record: r}
	return nil
}

// receiptArgs are the columns of a receipt's row.
func receiptArgs(r store.Receipt) [][]byte {
	return [][]byte{r.Key[:], r.Fingerprint[:], blob(r.Outcome), moment(r.Created), moment(r.Expires)}
}

// PruneReceipts implements store.Tx.
func (u *update) PruneReceipts(now time.Time, limit int) (int, error) {
	clear(u.known.receipts)
	return u.run(u.sql.pruneReceipts.with(moment(now), count(max(limit, 0))))
}

// Job implements store.Tx.
func (u *update) Job(job uuid.UUID) (store.Job, error) {
	j, err := u.reads.Job(job)
	if err == nil || errors.Is(err, store.ErrNotFound) {
		u.known.jobs[job] = err == nil
	}
	return j, err
}

// DueJob implements store.Tx.
func (u *update) DueJob(now time.Time) (store.Job, error) {
	j, err := u.reads.DueJob(now)
	if err == nil {
		u.known.jobs[j.ID] = true
	}
	return j, err
}

// hasJob says whether a job is there, and locks it.
func (u *update) hasJob(job uuid.UUID) (bool, error) {
	if there, ok := u.known.jobs[job]; ok {
		return there, nil
	}
	_, err := u.Job(job)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// CreateJob implements store.Tx.
func (u *update) CreateJob(j store.Job) error {
	if err := checkJob(j); err != nil {
		return err
	}
	if u.failure != nil {
		return u.failure
	}
	if _, ok := u.known.jobs[j.ID]; ok || u.careful {
		if there, err := u.hasJob(j.ID); err != nil || there {
			return errors.Join(err, ifNil(err, store.ErrExists))
		}
	} else {
		u.assumed = true
	}
	u.write(u.sql.insertJob.with(jobArgs(j)...))
	u.known.jobs[j.ID] = true
	return nil
}

// PutJob implements store.Tx.
func (u *update) PutJob(j store.Job) error {
	if err := checkJob(j); err != nil {
		return err
	}
	there, err := u.hasJob(j.ID)
	if err != nil {
		return err
	}
	if !there {
		return store.ErrNotFound
	}
	u.write(u.sql.putJob.with(jobArgs(j)...))
	return nil
}

func checkJob(j store.Job) error {
	if len(j.Progress) > store.MaxProgress {
		return fmt.Errorf("postgres: a job's progress of %d bytes; the most is %d", len(j.Progress), store.MaxProgress)
	}
	return nil
}

// jobArgs are the columns of a job's row.
func jobArgs(j store.Job) [][]byte {
	return append([][]byte{id(j.ID), text(j.Kind), id(j.Object), texts(j.Ident.Namespace), text(j.Ident.Name), short(uint8(j.ObjectKind)),
		text(j.Location), short(uint8(j.State)), blob(j.Progress), number(int64(j.Attempts)), text(j.LastError), text(j.Lease),
		moment(j.LeasedUntil), moment(j.NotBefore), moment(j.Created), moment(j.Updated)}, byArgs(j.By)...)
}

// PruneJobs implements store.Tx.
func (u *update) PruneJobs(before time.Time, limit int) (int, error) {
	clear(u.known.jobs)
	return u.run(u.sql.pruneJobs.with(moment(before), count(max(limit, 0))))
}
