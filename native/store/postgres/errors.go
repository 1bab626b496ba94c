package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/icefield/icefield/native/store"
)

// fate is what the failure of an attempt means, as long as no COMMIT was sent:
// then nothing was done.
type fate uint8

const (
	// fatal cannot be helped by doing the same again.
	fatal fate = iota
	// careful is an assumption of the first run that did not hold: the next run
	// looks before it writes.
	careful
	// conflict is a lost race, as a serialization failure or a deadlock.
	conflict
	// broken is a connection, or a database, that went away or cannot take more
	// work just now.
	broken
	// renamed is a pooler that lost prepared statements: do without.
	renamed
	// full is a database that cannot do it now and will not in a moment.
	full
)

// fateOf reads what the driver said.
func fateOf(err error) fate {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return fateOfCode(said.Code)
	}
	var netErr net.Error
	switch {
	case errors.Is(err, errAssumed):
		return careful
	case errors.Is(err, errChanged):
		return conflict
	case errors.Is(err, errSilent), errors.Is(err, pgconn.ErrConnClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.As(err, &netErr), pgconn.SafeToRetry(err):
		return broken
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		return broken
	}
	return fatal
}

// fateOfCode reads an SQLSTATE (PostgreSQL, appendix A).
func fateOfCode(code string) fate {
	switch code {
	case "23505", "23503": // unique and foreign key violation
		return careful
	case "55P03": // lock not available: NOWAIT, or the lock timeout
		return careful
	case "40001", "40P01": // serialization failure, deadlock
		return conflict
	case "26000", "42P05": // a prepared statement that is not there, or is already
		return renamed
	case "25006": // read-only: a primary that was demoted
		return broken
	case "0A000": // cached plan must not change result type
		return broken
	case "25P03", "40003", "57P01", "57P02", "57P03", "57P05": // shut down, crashed, starting, idle too long
		return broken
	case "57014", "53100", "53200", "53400": // statement timeout; no room, memory or resources
		return full
	}
	switch code[:min(2, len(code))] {
	case "08": // connection exception
		return broken
	case "53": // insufficient resources, as too many connections
		return broken
	case "28", "3D", "58": // authorization, no such database, a failure of the system below
		return full
	}
	return fatal
}

// refusal says to operators what a database meant that is full.
func refusal(err error) string {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return "the database did not do it"
	}
	switch said.Code[:min(2, len(said.Code))] {
	case "28":
		return "the database does not let this user in; look at the user and the password of the URL, and at the server's pg_hba.conf"
	case "3D":
		return "the server has no such database; create it, or correct the URL"
	case "57":
		return "a statement took too long and was ended"
	case "53":
		return "the database is out of room, memory or other resources"
	}
	return "the database did not do it"
}

// ambiguous reports whether the failure of a round trip that ended with COMMIT
// leaves open what became of it. An error that the server gave and lived to
// serve on is a rollback.
func ambiguous(err error) bool {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return !pgconn.SafeToRetry(err)
	}
	// 40003: statement completion unknown.
	return said.Code == "40003" || strings.HasPrefix(said.Code, "08") || severity(said) != "ERROR"
}

// severity is not translated by the server, unlike the other field.
func severity(said *pgconn.PgError) string {
	if said.SeverityUnlocalized != "" {
		return said.SeverityUnlocalized
	}
	return said.Severity
}

// unavailable is an error of a store that did nothing.
func (s *Store) unavailable(sentence string, cause error) error {
	return fmt.Errorf("postgres: %s: %w: %s: %w", s.place, store.ErrUnavailable, sentence, cause)
}

// ended is the error of a context that ended before anything was done, or nil.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("postgres: nothing was done: %w", context.Cause(ctx))
}
