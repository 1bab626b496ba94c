package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// What a transaction can say. Implementations wrap these; test with errors.Is.
var (
	// ErrNotFound is a namespace or object that is certainly not there.
	ErrNotFound = errors.New("not found")
	// ErrNoNamespace is a missing parent of what was to be created.
	ErrNoNamespace = errors.New("no such namespace")
	// ErrExists is a name that is taken.
	ErrExists = errors.New("already exists")
	// ErrNotEmpty refuses the drop of a namespace that holds something.
	ErrNotEmpty = errors.New("not empty")
	// ErrMoved is a pointer that no longer holds the expected value.
	ErrMoved = errors.New("the pointer moved")
	// ErrClosed is a store that was closed; nothing was done.
	ErrClosed = errors.New("the store is closed")
	// ErrStopped is a store that could not make a change durable and has done
	// nothing since. It has to be opened again.
	ErrStopped = errors.New("the store stopped after a failed write")
	// ErrOutcomeUnknown is an Update that may have been applied.
	ErrOutcomeUnknown = errors.New("the outcome of the transaction is unknown")
	// ErrUnavailable is a database that cannot be reached or has no room for
	// another transaction right now; nothing was done.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrFenced is a registry that is being copied, or was copied, into another
	// store; nothing was done. The error is a *FencedError.
	ErrFenced = errors.New("the registry is fenced")
)

// Store is a transactional, durable registry. All methods are safe for
// concurrent use. A transaction must not be started inside another one.
type Store interface {
	// View runs f on one consistent state. The Tx's writing methods fail.
	View(ctx context.Context, f func(Tx) error) error
	// Update runs f in a serializable transaction. If f returns an error nothing
	// that it wrote remains, and the error is returned as it is. When Update
	// returns nil everything is durable. Any other error means that nothing was
	// done, unless it is ErrOutcomeUnknown. A context that ends before f ran
	// leaves everything as it was.
	Update(ctx context.Context, f func(Tx) error) error
	// Close waits for running transactions; later ones fail with ErrClosed.
	Close() error
}

// Tx is one transaction. It is used by one goroutine and not after its closure
// returned; what its methods return stays valid. Any bytes are legal in names
// and values and come back exactly.
type Tx interface {
	// Namespace returns one namespace. ErrNotFound.
	Namespace(path mounts.Namespace) (Namespace, error)
	// Children lists the last levels of the namespaces directly inside parent
	// (the root if empty) that sort after the given name, in bytewise order, at
	// most limit of them. A parent that does not exist has none.
	Children(parent mounts.Namespace, after string, limit int) ([]string, error)
	// Owners returns the owners of those of the given top-level namespaces that
	// exist, also the empty ones.
	Owners(levels []string) (map[string]string, error)
	// CreateNamespace. ErrExists; ErrNoNamespace if the parent is absent.
	CreateNamespace(n Namespace) error
	// PutNamespace replaces the record of an existing namespace. ErrNotFound.
	PutNamespace(n Namespace) error
	// DropNamespace. ErrNotFound; ErrNotEmpty while it holds anything.
	DropNamespace(path mounts.Namespace) error

	// Object returns the table or view of that name. ErrNotFound.
	Object(id mounts.Identifier) (Object, error)
	// Names lists the objects of one kind in a namespace, as Children does.
	Names(namespace mounts.Namespace, kind Kind, after string, limit int) ([]string, error)
	// Create adds an object with its first pointer and generation 1, and logs
	// it. Of o only Namespace, Name, Kind, ID and Location count. ErrExists also
	// for an object of the other kind; ErrNoNamespace.
	Create(o Object, by By) (Object, error)
	// Swap replaces the pointer if it still is from, and logs the change.
	// ErrNotFound; ErrMoved.
	Swap(id mounts.Identifier, from, to string, by By) (Object, error)
	// Rename moves an object; its ID and log stay. ErrNotFound of the source;
	// ErrNoNamespace and ErrExists of the destination.
	Rename(from, to mounts.Identifier, by By) error
	// Drop forgets an object and logs it as a change to no pointer. Its log
	// stays. ErrNotFound.
	Drop(id mounts.Identifier, by By) (Object, error)

	// Holders lists the objects whose current pointer begins with the given text,
	// in bytewise order of the pointers (objects with the same one by ID), at most
	// limit of them. The text is compared as it is, byte for byte: schemes that
	// mean the same are the caller's affair.
	Holders(pointerPrefix string, limit int) ([]Object, error)

	// Receipt returns what is remembered of a request under its key, whether it
	// expired or not. ErrNotFound.
	Receipt(key ReceiptKey) (Receipt, error)
	// PutReceipt remembers the outcome of a request in the transaction that made
	// it. ErrExists, with nothing done, if there is one that has not Expired at
	// now, written by whichever replica; one that has is replaced. An outcome over
	// MaxOutcome is refused.
	PutReceipt(r Receipt, now time.Time) error
	// PruneReceipts forgets at most limit receipts that have Expired at now, and
	// says how many.
	PruneReceipts(now time.Time, limit int) (int, error)

	// CreateJob records work to be done after this transaction. ErrExists.
	// Progress over MaxProgress is refused, here and in PutJob.
	CreateJob(j Job) error
	// PutJob replaces the record of a job, every field of it. ErrNotFound.
	PutJob(j Job) error
	// Job returns one job. ErrNotFound.
	Job(id uuid.UUID) (Job, error)
	// DueJob returns the oldest job, that is the one with the smallest ID, of those
	// that are Due at now. In an Update no other replica gets the same one before
	// this transaction ended. ErrNotFound.
	DueJob(now time.Time) (Job, error)
	// Jobs lists jobs by ID, in descending order (the newest first), from before
	// the given ID on (uuid.Nil: from the newest), at most limit of them.
	Jobs(before uuid.UUID, limit int) ([]Job, error)
	// PruneJobs forgets at most limit finished jobs that were Updated before the
	// given time, that instant excluded, and says how many.
	PruneJobs(before time.Time, limit int) (int, error)

	// Commits lists an object's log after the given generation, in order, at
	// most limit rows. An ID that never was has none.
	Commits(object uuid.UUID, after uint64, limit int) ([]Commit, error)
}
