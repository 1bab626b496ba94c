package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/icefield/icefield/native/store"
)

// Config says which database, and how long to wait for it. Zero durations are
// defaults.
type Config struct {
	// URL is postgres://user:password@host:port/database?parameters, with the
	// parameters of libpq and of pgx and, beside them, schema (the schema that
	// holds the registry, "icefield" if absent). See the package documentation.
	URL string
	// Acquire is how long a transaction waits for a free connection; 5 seconds.
	Acquire time.Duration
	// Patience is for how long a database that cannot be reached is tried again; 5
	// seconds.
	Patience time.Duration
	// Statement and Lock bound one statement and its wait for a lock, in the
	// database; 10 and 5 seconds.
	Statement, Lock time.Duration
	// Resolve is how long a broken connection's commit is looked for before its
	// outcome counts as unknown; 10 seconds.
	Resolve time.Duration
}

type limits struct{ acquire, patience, statement, lock, resolve, grace time.Duration }

func (c Config) limits() limits {
	or := func(d, def time.Duration) time.Duration {
		if d <= 0 {
			return def
		}
		return d
	}
	return limits{or(c.Acquire, 5*time.Second), or(c.Patience, 5*time.Second), or(c.Statement, 10*time.Second), or(c.Lock, 5*time.Second),
		or(c.Resolve, 10*time.Second), 5 * time.Second}
}

// roundTrip is longer than anything that the server itself would end.
func (l limits) roundTrip() time.Duration { return l.statement + l.lock + l.grace }

// Store is a registry in one schema of a database. It implements store.Portable.
type Store struct {
	pool   *pgxpool.Pool
	place  string
	schema string
	sql    *statements
	limits limits
	// fenceKey is the advisory lock of the registry's fence.
	fenceKey int64
	// advisory: the database has advisory locks that hold something.
	advisory bool
	// unnamed: prepared statements do not work here.
	unnamed atomic.Bool
	// trips counts round trips, marks the transactions that left a mark.
	trips, marks atomic.Int64
	outage       outage

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

var _ store.Portable = (*Store)(nil)

// Open connects to the database and brings the registry's schema up to date, or
// makes it. It fails when the database cannot be reached, when the user may not
// do that, and when a newer release wrote the schema; no error holds a secret.
func Open(ctx context.Context, config Config) (store.Portable, error) {
	target, err := parse(config.URL)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, target.pool)
	if err != nil {
		return nil, fmt.Errorf("postgres: %s: %w", target.place, err)
	}
	s := &Store{pool: pool, place: target.place, schema: target.schema, sql: newStatements(target.schema), limits: config.limits(),
		fenceKey: lockKey("fence", target.schema)}
	s.unnamed.Store(target.unnamed)
	if err := s.prepare(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	s.pool.Close()
	return nil
}

// enter begins a transaction, which Close waits for.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("postgres: %s: %w", s.place, store.ErrClosed)
	}
	s.running.Add(1)
	return nil
}

var errNoRoom = errors.New("no connection of the pool became free in time")

// session is a connection that is held for a transaction.
type session struct {
	pooled *pgxpool.Conn
	*pgconn.PgConn
}

func (s *Store) acquire(ctx context.Context) (session, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, s.limits.acquire, errNoRoom)
	defer cancel()
	conn, err := s.pool.Acquire(waiting)
	if err != nil {
		if context.Cause(waiting) == errNoRoom {
			// It may have been a new connection that took so long.
			if s.pool.Stat().AcquiredConns() < s.pool.Config().MaxConns {
				return session{}, fmt.Errorf("%w: %w", errSilent, err)
			}
			return session{}, fmt.Errorf("%w: %w", errNoRoom, err)
		}
		return session{}, err
	}
	return session{conn, conn.Conn().PgConn()}, nil
}

// release gives a connection back after ending what is open on it. One that is
// broken is thrown away.
func (s *Store) release(ctx context.Context, conn session) {
	if !conn.IsClosed() && conn.TxStatus() != 'I' {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_, _ = s.roundTrip(ending, conn.PgConn, s.sql.rollback.with())
	}
	conn.pooled.Release()
}
