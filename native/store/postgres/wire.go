package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// statement is one SQL text. Its name is a digest of the text, so that a pooler
// which hands a session from one client to another can confuse no two of them.
type statement struct{ name, text string }

func newStatement(text string) statement {
	sum := sha256.Sum256([]byte(text))
	return statement{name: "icefield_" + hex.EncodeToString(sum[:8]), text: text}
}

// call is a statement with its arguments, in the protocol's binary format.
type call struct {
	statement
	args [][]byte
}

func (s statement) with(args ...[]byte) call { return call{s, args} }

// answer is what one call gave: rows of columns in binary format.
type answer struct {
	rows     [][][]byte
	affected int64
	tag      string
}

// binaryFormat is the format of all arguments and results.
var binaryFormat = []int16{1}

// preparedKey is where a connection remembers what was prepared on it.
const preparedKey = "icefield.prepared"

// roundTrip sends calls together and reads all answers: one round trip. The
// first error of the server ends it, and later calls are not executed then; the
// answers before it are returned. The whole is bounded in time by the longest
// that the server lets a statement run. Errors are as the driver gives them.
func (s *Store) roundTrip(ctx context.Context, conn *pgconn.PgConn, calls ...call) (answers []answer, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limits.roundTrip(), errSilent)
	defer cancel()
	s.trips.Add(1)
	pipeline := conn.StartPipeline(ctx)
	defer func() {
		if closing := pipeline.Close(); err == nil {
			err = closing
		}
		if err != nil && context.Cause(ctx) == errSilent {
			err = fmt.Errorf("%w: %w", errSilent, err)
		}
	}()
	prepared := preparedOn(conn)
	fresh := map[string]*pgconn.StatementDescription{}
	for _, c := range calls {
		switch {
		case s.unnamed.Load():
			pipeline.SendQueryParams(c.text, c.args, nil, binaryFormat, binaryFormat)
		case prepared[c.name] != nil:
			pipeline.SendQueryStatement(prepared[c.name], c.args, binaryFormat, binaryFormat)
		default:
			// A statement twice in one round trip is prepared once. Without a
			// description the driver asks for one.
			if fresh[c.name] == nil {
				fresh[c.name] = &pgconn.StatementDescription{Name: c.name}
				pipeline.SendPrepare(c.name, c.text, nil)
			}
			pipeline.SendQueryStatement(fresh[c.name], c.args, binaryFormat, binaryFormat)
		}
	}
	if err := pipeline.Sync(); err != nil {
		return nil, err
	}
	for _, c := range calls {
		results, err := pipeline.GetResults()
		if described, ok := results.(*pgconn.StatementDescription); ok {
			described.Name = c.name
			prepared[c.name] = described
			results, err = pipeline.GetResults()
		}
		if err != nil {
			return answers, err
		}
		reader, ok := results.(*pgconn.ResultReader)
		if !ok {
			return answers, fmt.Errorf("postgres: %T instead of a result", results)
		}
		read := reader.Read()
		if read.Err != nil {
			return answers, read.Err
		}
		answers = append(answers, answer{rows: read.Rows, affected: read.CommandTag.RowsAffected(), tag: read.CommandTag.String()})
	}
	s.outage.over()
	return answers, nil
}

// preparedOn is what was prepared on a connection, by name.
func preparedOn(conn *pgconn.PgConn) map[string]*pgconn.StatementDescription {
	prepared, ok := conn.CustomData()[preparedKey].(map[string]*pgconn.StatementDescription)
	if !ok {
		prepared = map[string]*pgconn.StatementDescription{}
		conn.CustomData()[preparedKey] = prepared
	}
	return prepared
}

// errSilent is a server that did not answer within the time that its own
// statement timeout allows, as behind a broken network.
var errSilent = errors.New("the database did not answer")
