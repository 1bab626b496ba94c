package bolt

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

var errPending = errors.New("bolt: not built")

// Holders implements store.Tx.
func (t *tx) Holders(string, int) ([]store.Object, error) { return nil, errPending }

// Receipt implements store.Tx.
func (t *tx) Receipt(store.ReceiptKey) (store.Receipt, error) { return store.Receipt{}, errPending }

// PutReceipt implements store.Tx.
func (t *tx) PutReceipt(store.Receipt, time.Time) error { return errPending }

// PruneReceipts implements store.Tx.
func (t *tx) PruneReceipts(time.Time, int) (int, error) { return 0, errPending }

// CreateJob implements store.Tx.
func (t *tx) CreateJob(store.Job) error { return errPending }

// PutJob implements store.Tx.
func (t *tx) PutJob(store.Job) error { return errPending }

// Job implements store.Tx.
func (t *tx) Job(uuid.UUID) (store.Job, error) { return store.Job{}, errPending }

// DueJob implements store.Tx.
func (t *tx) DueJob(time.Time) (store.Job, error) { return store.Job{}, errPending }

// Jobs implements store.Tx.
func (t *tx) Jobs(uuid.UUID, int) ([]store.Job, error) { return nil, errPending }

// PruneJobs implements store.Tx.
func (t *tx) PruneJobs(time.Time, int) (int, error) { return 0, errPending }
