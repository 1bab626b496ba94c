package postgres

import (
	"context"
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// migrationFiles are the versions of the schema, one file each: four digits of
// its number, then what it does. A file that was released is never changed.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

type migration struct {
	version   int
	name, sql string
}

func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list []migration
	for i, file := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "migrations/"), ".sql")
		digits, _, _ := strings.Cut(name, "_")
		if version, err := strconv.Atoi(digits); err != nil || version != i+1 {
			return nil, fmt.Errorf("postgres: the migration %s is not number %d", file, i+1)
		}
		text, err := fs.ReadFile(migrationFiles, file)
		if err != nil {
			return nil, err
		}
		list = append(list, migration{i + 1, name, string(text)})
	}
	return list, nil
}

// prepare looks what the database is and brings the schema up to date.
func (s *Store) prepare(ctx context.Context) error {
	known, err := migrations()
	if err != nil {
		return err
	}
	// Replicas that start at once agree by lock and by what is there afterwards, so
	// an attempt that was lost can be made again.
	return s.try(ctx, func(bool) (bool, error) {
		conn, err := s.acquire(ctx)
		if err != nil {
			return false, err
		}
		defer s.release(ctx, conn)
		if err := s.probe(ctx, conn); err != nil {
			return false, err
		}
		version, err := s.version(ctx, conn)
		switch {
		case err != nil:
			return false, err
		case version > len(known):
			return true, fmt.Errorf("postgres: %s: a newer release keeps its registry here (version %d; this release knows %d); use that release", s.place, version, len(known))
		case version == len(known):
			return true, nil
		}
		err = s.migrate(ctx, conn, known)
		switch {
		case err == nil:
			return true, nil
		case isCode(err, "42501"):
			return true, fmt.Errorf(`postgres: %s: this user may not make the registry's schema; as an administrator of the database run CREATE SCHEMA %s AUTHORIZATION, followed by the user's name: %w`,
				s.place, pgx.Identifier{s.schema}.Sanitize(), err)
		}
		return false, err
	})
}

// probe asks whether advisory locks are more than a name here: in CockroachDB
// they hold nothing.
func (s *Store) probe(ctx context.Context, conn session) error {
	answers, err := s.roundTrip(ctx, conn.PgConn, newStatement("SELECT version()").with())
	if err != nil {
		return err
	}
	s.advisory = strings.HasPrefix(string(answers[0].rows[0][0]), "PostgreSQL") && !strings.Contains(string(answers[0].rows[0][0]), "-YB-")
	return nil
}

func (s *Store) history() string { return pgx.Identifier{s.schema}.Sanitize() + ".migrations" }

// version is the number of the last migration; 0 for none.
func (s *Store) version(ctx context.Context, conn session) (int, error) {
	answers, err := s.roundTrip(ctx, conn.PgConn, newStatement("SELECT to_regclass(convert_from($1, 'UTF8')) IS NOT NULL").with(text(s.history())))
	if err != nil {
		return 0, err
	}
	if answers[0].rows[0][0][0] == 0 {
		return 0, nil
	}
	answers, err = s.roundTrip(ctx, conn.PgConn, newStatement("SELECT coalesce(max(version), 0)::bigint FROM "+s.history()).with())
	if err != nil {
		return 0, err
	}
	return int(binary.BigEndian.Uint64(answers[0].rows[0][0])), nil // #nosec G115 -- migrations are numbered from 1, a few a release
}

// migrate makes all that is missing, in one transaction that no other replica
// can be in.
func (s *Store) migrate(ctx context.Context, conn session, known []migration) error {
	run := func(sql string) error {
		_, err := conn.Exec(ctx, sql).ReadAll()
		return err
	}
	schema := pgx.Identifier{s.schema}.Sanitize()
	if err := run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = '15min'; SET LOCAL lock_timeout = '1min'; " +
		"SET LOCAL idle_in_transaction_session_timeout = '1min'; SET LOCAL client_min_messages = 'warning'; " +
		fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lockKey("migrations", s.schema))); err != nil {
		return err
	}
	// A user who may not create schemas can be given an empty one.
	there, err := s.roundTrip(ctx, conn.PgConn, newStatement("SELECT 1 FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8')").with(text(s.schema)))
	if err != nil {
		return err
	}
	if len(there[0].rows) == 0 {
		if err := run("CREATE SCHEMA " + schema); err != nil {
			return err
		}
	}
	if err := run("SET LOCAL search_path = " + schema + "; CREATE TABLE IF NOT EXISTS " + s.history() +
		" (version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now())"); err != nil {
		return err
	}
	version, err := s.version(ctx, conn)
	if err != nil {
		return err
	}
	for _, m := range known[min(version, len(known)):] {
		if err := run(m.sql); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		if err := run(fmt.Sprintf("INSERT INTO %s (version, name) VALUES (%d, '%s')", s.history(), m.version, m.name)); err != nil {
			return err
		}
	}
	if _, err := s.roundTrip(ctx, conn.PgConn, s.root(), s.sql.commit.with()); err != nil {
		return err
	}
	return nil
}

// root is the call that makes the row of the root.
func (s *Store) root() call {
	return s.sql.insertRoot.with(keyOf(nil), encodePath(nil), id(uuid.Nil), texts(nil))
}
