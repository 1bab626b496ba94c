package postgres

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A connection that breaks after COMMIT was sent leaves open whether the
// transaction was committed. It is found out on another connection. Each
// transaction holds an advisory lock of its own from its first round trip to its
// end, so whoever gets that lock knows that it ended. And each that was committed
// left a row with its ID: in the commit log or, where it logged nothing, a mark.
//
// The number that the database gives a transaction would not do: one that was
// never flushed can be given again after a crash.

// proof is a row of the commit log.
type proof struct {
	object     uuid.UUID
	generation uint64
}

// fateOfCommit is what became of a transaction.
type fateOfCommit uint8

const (
	unknown fateOfCommit = iota
	committed
	aborted
)

// transactionKey is the advisory lock of a transaction.
func transactionKey(transaction uuid.UUID) int64 {
	return int64(binary.BigEndian.Uint64(transaction[:8])) // #nosec G115 -- a lock's key is any 64 bits; PostgreSQL takes them as a bigint
}

// lockKey is the advisory lock for one purpose of one registry.
func lockKey(purpose, schema string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("icefield " + purpose + " " + schema))
	return int64(h.Sum64()) // #nosec G115 -- a lock's key is any 64 bits; PostgreSQL takes them as a bigint
}

// markLife is how long a mark is kept.
const markLife = 24 * time.Hour

// mark are the calls that leave a mark, and now and then remove old ones.
func (s *Store) mark(transaction uuid.UUID) []call {
	now := time.Now()
	calls := []call{s.sql.mark.with(id(transaction), moment(now))}
	if s.marks.Add(1)%256 == 0 {
		calls = append(calls, s.sql.pruneMarks.with(moment(now.Add(-markLife))))
	}
	return calls
}

// resolve finds out what became of a transaction whose COMMIT was sent.
func (s *Store) resolve(ctx context.Context, transaction uuid.UUID, p *proof) fateOfCommit {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.resolve)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		if fate := s.look(ctx, transaction, p); fate != unknown {
			return fate
		}
		if sleep(ctx, pause) != nil {
			return unknown
		}
	}
}

// look asks once; unknown if there was no answer.
func (s *Store) look(ctx context.Context, transaction uuid.UUID, p *proof) fateOfCommit {
	conn, err := s.acquire(ctx)
	if err != nil {
		return unknown
	}
	defer s.release(ctx, conn)
	key := number(transactionKey(transaction))
	found := s.sql.marked.with(id(transaction))
	if p != nil {
		found = s.sql.logged.with(id(p.object), generation(p.generation), id(transaction))
	}
	// What still holds the lock is a session without a client. It is ended, if it
	// does not end in time by itself; a COMMIT that it has begun it will finish.
	bounds := s.settings()
	bounds[1] = []byte("1000")
	for _, end := range []bool{false, true} {
		if end {
			if _, err := s.roundTrip(ctx, conn.PgConn, s.sql.terminate.with(key)); err != nil {
				return unknown
			}
		}
		// The look must see what was committed when the lock was had: a statement of
		// its own in READ COMMITTED does.
		answers, err := s.roundTrip(ctx, conn.PgConn, s.sql.begin.with(), s.sql.exclusive.with(append(slices.Clip(bounds), key)...), found, s.sql.commit.with())
		switch {
		case err == nil && len(answers[2].rows) > 0:
			return committed
		case err == nil && s.advisory:
			return aborted
		case err == nil || !isCode(err, "55P03"):
			if err != nil && fateOf(err) == renamed {
				s.unnamed.Store(true)
			}
			return unknown
		}
		s.finish(ctx, conn)
	}
	return unknown
}

// finish ends what is open on a connection.
func (s *Store) finish(ctx context.Context, conn session) {
	if !conn.IsClosed() && conn.TxStatus() != 'I' {
		_, _ = s.roundTrip(ctx, conn.PgConn, s.sql.rollback.with())
	}
}
