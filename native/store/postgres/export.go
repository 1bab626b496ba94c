package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// The parts of an export, in order. A position is the part and then the identity
// of the last record of it; nothing more for its start.
const (
	partNamespaces = iota
	partObjects
	partCommits
	partReceipts
	partJobs
	parts
)

// Pages of records that may be large are short.
const (
	maxRows  = 10_000
	maxLarge = 16
)

var errPosition = errors.New("postgres: not a position of an export")

// Export implements store.Portable.
func (s *Store) Export(ctx context.Context, after []byte, limit int) (entries []store.Entry, next []byte, err error) {
	part, key := 0, []byte(nil)
	if after != nil {
		if len(after) == 0 || int(after[0]) >= parts {
			return nil, nil, errPosition
		}
		if part = int(after[0]); len(after) > 1 {
			key = after[1:]
		}
	}
	limit = min(max(limit, 1), maxRows)
	for ; part < parts; part, key = part+1, nil {
		rows, want, err := s.page(ctx, part, key, limit)
		if err != nil {
			return nil, nil, err
		}
		for _, row := range rows {
			entry, position, err := decodeEntry(part, row)
			if err != nil {
				return nil, nil, err
			}
			entries, key = append(entries, entry), position
		}
		if len(rows) == want {
			return entries, append([]byte{byte(part)}, key...), nil
		}
		if len(entries) > 0 {
			break
		}
	}
	if part+1 >= parts {
		return entries, nil, nil
	}
	return entries, []byte{byte(part + 1)}, nil
}

// page reads the rows of a part after a key, and says how many it asked for.
func (s *Store) page(ctx context.Context, part int, key []byte, limit int) (rows [][][]byte, want int, err error) {
	var calls []call
	want = limit
	switch part {
	case partNamespaces:
		if key == nil {
			key = encodePath(nil) // the root is no record
		}
		calls = []call{s.sql.namespacesFrom.with(key, count(want))}
	case partObjects:
		path, name := encodePath(nil), []byte(nil)
		if key != nil {
			size, n := binary.Uvarint(key)
			if n <= 0 || size > uint64(len(key)-n) { // #nosec G115 -- Uvarint read n bytes of key, so the difference is not negative
				return nil, 0, errPosition
			}
			path, name = key[n:n+int(size)], key[n+int(size):] // #nosec G115 -- size is at most len(key)-n, as was just checked
			levels, err := decodePath(path)
			if err != nil {
				return nil, 0, errPosition
			}
			calls = append(calls, s.sql.objectsIn.with(keyOf(levels), blob(name), count(want)))
		}
		calls = append(calls, s.sql.objectsFrom.with(path, count(want)))
	case partCommits:
		if key == nil {
			key = make([]byte, 24)
		}
		if len(key) != 24 {
			return nil, 0, errPosition
		}
		calls = []call{s.sql.commitsFrom.with(key[:16], key[16:], count(want))}
	case partReceipts:
		want = min(want, maxLarge)
		calls = []call{s.sql.receiptsFrom.with(blob(key), count(want))}
	case partJobs:
		want = min(want, maxLarge)
		first := key == nil
		if first {
			key = make([]byte, 16)
		}
		if len(key) != 16 {
			return nil, 0, errPosition
		}
		past := 1
		if first {
			past = 0
		}
		calls = []call{s.sql.jobsFrom.with(key, count(past), count(want))}
	}
	before := []call{s.sql.beginView.with()}
	if s.advisory {
		before = append(before, s.sql.plain.with())
	}
	err = s.with(ctx, func(conn session, _ bool) (bool, error) {
		answers, err := s.roundTrip(ctx, conn.PgConn, slices.Concat(before, calls, []call{s.sql.commit.with()})...)
		if err != nil {
			return false, err
		}
		rows = nil
		for _, a := range answers[len(before) : len(before)+len(calls)] {
			rows = append(rows, a.rows...)
		}
		rows = rows[:min(len(rows), want)]
		return true, nil
	})
	return rows, want, err
}

// decodeEntry reads one record and its identity.
func decodeEntry(part int, row [][]byte) (entry store.Entry, key []byte, err error) {
	c := columns{rest: row}
	switch part {
	case partNamespaces:
		path, err := decodePath(row[0])
		if err != nil {
			return entry, nil, err
		}
		c.rest = row[1:]
		n := decodeNamespace(&c, path)
		entry.Namespace, key = &n, row[0]
	case partObjects:
		o := decodePlaced(&c)
		entry.Object = &o
		key = append(append(binary.AppendUvarint(nil, uint64(len(row[0]))), row[0]...), row[1]...)
	case partCommits:
		commit := decodeCommit(&c, c.id())
		entry.Commit, key = &commit, append(blob(row[0]), row[1]...)
	case partReceipts:
		r := decodeReceipt(&c, c.digest())
		entry.Receipt, key = &r, row[0]
	case partJobs:
		j := decodeJob(&c)
		entry.Job, key = &j, row[0]
	}
	return entry, key, c.err
}

// Counts implements store.Portable.
func (s *Store) Counts(ctx context.Context) (counts store.Counts, err error) {
	err = s.with(ctx, func(conn session, _ bool) (bool, error) {
		answers, err := s.roundTrip(ctx, conn.PgConn, s.sql.counts.with())
		if err != nil {
			return false, err
		}
		c := columns{rest: answers[0].rows[0]}
		counts = store.Counts{Namespaces: c.number(), Objects: c.number(), Commits: c.number(), Receipts: c.number(), Jobs: c.number()}
		return true, c.err
	})
	return counts, err
}

// importCall writes one record, over one of the same identity.
func (s *Store) importCall(e store.Entry) (call, error) {
	switch {
	case e.Namespace != nil:
		n := e.Namespace
		if len(n.Path) == 0 {
			return call{}, errors.New("postgres: the root is no namespace to import")
		}
		parent := n.Path.Parent()
		names, values := properties(n.Properties)
		return s.sql.importNamespace.with(keyOf(n.Path), encodePath(n.Path), keyOf(parent), text(n.Path[len(parent)]), id(n.ID), text(n.Owner),
			names, values, moment(n.Created), moment(n.Updated)), nil
	case e.Object != nil:
		if len(e.Object.Namespace) == 0 {
			return call{}, store.ErrNoNamespace
		}
		return s.sql.importObject.with(objectArgs(*e.Object)...), nil
	case e.Commit != nil:
		c := e.Commit
		args := append([][]byte{id(c.Object), generation(c.Generation), text(c.From), text(c.To)}, byArgs(c.By)...)
		return s.sql.importCommit.with(append(args, id(uuid.Nil))...), nil
	case e.Receipt != nil:
		return s.sql.importReceipt.with(receiptArgs(*e.Receipt)...), nil
	case e.Job != nil:
		return s.sql.importJob.with(jobArgs(*e.Job)...), nil
	}
	return call{}, errors.New("postgres: an entry without a record")
}

// Import implements store.Portable.
func (s *Store) Import(ctx context.Context, migration uuid.UUID, entries []store.Entry) error {
	calls := make([]call, 0, len(entries)+1)
	for _, e := range entries {
		c, err := s.importCall(e)
		if err != nil {
			return err
		}
		calls = append(calls, c)
	}
	return s.with(ctx, func(conn session, _ bool) (bool, error) {
		u := s.newUpdate(ctx, conn, true)
		answers, err := s.roundTrip(ctx, conn.PgConn, u.start()...)
		if err != nil {
			return false, err
		}
		if final, err := s.destination(answers[2].rows, migration); err != nil {
			return final, err
		}
		final, err := s.commitAll(ctx, conn, calls)
		if isCode(err, "23503") {
			return true, store.ErrNoNamespace
		}
		return final, err
	})
}

// destination is nil if the fence is that of the destination of a migration.
func (s *Store) destination(fence [][][]byte, migration uuid.UUID) (bool, error) {
	f, err := decodeFence(fence)
	if err != nil {
		return false, err
	}
	if !f.Same(&store.Fence{Role: store.FenceDestination, Migration: migration}) {
		return true, store.ErrNotDestination
	}
	return false, nil
}

// Clear implements store.Portable.
func (s *Store) Clear(ctx context.Context, migration uuid.UUID) error {
	return s.with(ctx, func(conn session, _ bool) (bool, error) {
		f, err := s.alone(ctx, conn)
		if err != nil {
			return false, err
		}
		if !f.Same(&store.Fence{Role: store.FenceDestination, Migration: migration}) {
			return true, store.ErrNotDestination
		}
		return s.commitAll(ctx, conn, []call{s.sql.clear.with(), s.root()})
	})
}
