package postgres

import (
	"bytes"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// reads are the reading methods of a transaction, whichever kind it is.
type reads struct {
	sql *statements
	ask func(reading, ...[]byte) ([][][]byte, error)
}

// one expects a row, or none: ErrNotFound.
func one[A any](rows [][][]byte, err error, decode func(*columns) A) (A, error) {
	var zero A
	if err != nil {
		return zero, err
	}
	if len(rows) == 0 {
		return zero, store.ErrNotFound
	}
	c := columns{rest: rows[0]}
	value := decode(&c)
	if c.err != nil {
		return zero, c.err
	}
	return value, nil
}

// many decodes all rows; never nil.
func many[A any](rows [][][]byte, err error, decode func(*columns) A) ([]A, error) {
	if err != nil {
		return nil, err
	}
	list := make([]A, 0, len(rows))
	for _, row := range rows {
		c := columns{rest: row}
		value := decode(&c)
		if c.err != nil {
			return nil, c.err
		}
		list = append(list, value)
	}
	return list, nil
}

// Namespace implements store.Tx.
func (r *reads) Namespace(path mounts.Namespace) (store.Namespace, error) {
	if len(path) == 0 {
		return store.Namespace{}, store.ErrNotFound
	}
	rows, err := r.ask(r.sql.namespace, keyOf(path))
	return one(rows, err, func(c *columns) store.Namespace { return decodeNamespace(c, slices.Clone(path)) })
}

func decodeNamespace(c *columns, path mounts.Namespace) store.Namespace {
	return store.Namespace{Path: path, ID: c.id(), Owner: c.text(), Properties: c.properties(), Created: c.moment(), Updated: c.moment()}
}

// Children implements store.Tx.
func (r *reads) Children(parent mounts.Namespace, after string, limit int) ([]string, error) {
	if limit <= 0 {
		return []string{}, nil
	}
	rows, err := r.ask(r.sql.children, keyOf(parent), text(after), count(limit))
	return many(rows, err, (*columns).text)
}

// Owners implements store.Tx.
func (r *reads) Owners(levels []string) (map[string]string, error) {
	owners := make(map[string]string, len(levels))
	if len(levels) == 0 {
		return owners, nil
	}
	keys := make([]string, len(levels))
	for i, level := range levels {
		keys[i] = string(keyOf(mounts.Namespace{level}))
	}
	rows, err := r.ask(r.sql.owners, texts(keys))
	pairs, err := many(rows, err, func(c *columns) [2]string { return [2]string{c.text(), c.text()} })
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		owners[pair[0]] = pair[1]
	}
	return owners, nil
}

// Object implements store.Tx.
func (r *reads) Object(ident mounts.Identifier) (store.Object, error) {
	rows, err := r.ask(r.sql.object, keyOf(ident.Namespace), text(ident.Name))
	return one(rows, err, func(c *columns) store.Object {
		return decodeObject(c, mounts.Identifier{Namespace: slices.Clone(ident.Namespace), Name: ident.Name})
	})
}

func decodeObject(c *columns, ident mounts.Identifier) store.Object {
	return store.Object{Namespace: ident.Namespace, Name: ident.Name, Kind: store.Kind(c.short()), ID: c.id(), Location: c.text(), Previous: c.text(),
		Generation: c.generation(), Created: c.moment(), Updated: c.moment()}
}

// Names implements store.Tx.
func (r *reads) Names(namespace mounts.Namespace, kind store.Kind, after string, limit int) ([]string, error) {
	if limit <= 0 {
		return []string{}, nil
	}
	rows, err := r.ask(r.sql.names, keyOf(namespace), short(uint8(kind)), text(after), count(limit))
	return many(rows, err, (*columns).text)
}

// Holders implements store.Tx.
func (r *reads) Holders(prefix string, limit int) ([]store.Object, error) {
	if limit <= 0 {
		return []store.Object{}, nil
	}
	// The folder of such a pointer begins with the prefix, or is the prefix's own.
	from := []byte(prefix)[:min(len(prefix), maxFolder)]
	to := after(from)
	if to == nil {
		to = bytes.Repeat([]byte{0xff}, maxFolder+1) // above every folder
	}
	rows, err := r.ask(r.sql.holders, from, to, folderOf(prefix), count(len(prefix)), text(prefix), count(limit))
	return many(rows, err, decodePlaced)
}

// decodePlaced reads an object with its path and name before it.
func decodePlaced(c *columns) store.Object {
	path, err := decodePath(c.blob())
	if err != nil {
		c.err = err
	}
	return decodeObject(c, mounts.Identifier{Namespace: path, Name: c.text()})
}

// Receipt implements store.Tx.
func (r *reads) Receipt(key store.ReceiptKey) (store.Receipt, error) {
	rows, err := r.ask(r.sql.receipt, key[:])
	return one(rows, err, func(c *columns) store.Receipt { return decodeReceipt(c, key) })
}

func decodeReceipt(c *columns, key store.ReceiptKey) store.Receipt {
	return store.Receipt{Key: key, Fingerprint: c.digest(), Outcome: c.blob(), Created: c.moment(), Expires: c.moment()}
}

// Job implements store.Tx.
func (r *reads) Job(job uuid.UUID) (store.Job, error) {
	rows, err := r.ask(r.sql.job, id(job))
	return one(rows, err, decodeJob)
}

func decodeJob(c *columns) store.Job {
	return store.Job{ID: c.id(), Kind: c.text(), Object: c.id(), Ident: mounts.Identifier{Namespace: c.texts(), Name: c.text()},
		ObjectKind: store.Kind(c.short()), Location: c.text(), State: store.JobState(c.short()), Progress: c.blob(), Attempts: int(c.number()),
		LastError: c.text(), Lease: c.text(), LeasedUntil: c.moment(), NotBefore: c.moment(), Created: c.moment(), Updated: c.moment(), By: c.by()}
}

// DueJob implements store.Tx.
func (r *reads) DueJob(now time.Time) (store.Job, error) {
	rows, err := r.ask(r.sql.dueJob, moment(now))
	return one(rows, err, decodeJob)
}

// Jobs implements store.Tx.
func (r *reads) Jobs(before uuid.UUID, limit int) ([]store.Job, error) {
	if limit <= 0 {
		return []store.Job{}, nil
	}
	if before == uuid.Nil {
		before = uuid.Max
	}
	rows, err := r.ask(r.sql.jobs, id(before), count(limit))
	return many(rows, err, decodeJob)
}

// Commits implements store.Tx.
func (r *reads) Commits(object uuid.UUID, after uint64, limit int) ([]store.Commit, error) {
	if limit <= 0 {
		return []store.Commit{}, nil
	}
	rows, err := r.ask(r.sql.commits, id(object), generation(after), count(limit))
	return many(rows, err, func(c *columns) store.Commit { return decodeCommit(c, object) })
}

func decodeCommit(c *columns, object uuid.UUID) store.Commit {
	return store.Commit{Object: object, Generation: c.generation(), From: c.text(), To: c.text(), By: c.by()}
}
