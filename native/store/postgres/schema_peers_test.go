//go:build peers

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
	"github.com/icefield/icefield/native/store/storetest"
)

// The same suite where statements cannot be prepared, as behind a pooler of
// transactions, in a schema whose name has to be quoted.
func TestStoreWithoutPreparedStatements(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		url := pgtest.Shared(t).NewDatabase(t) + "&default_query_exec_mode=exec&schema=" + url.QueryEscape(`Team "B"`)
		return func() (store.Store, error) { return Open(t.Context(), Config{URL: url}) }
	})
}

func query(t *testing.T, url, sql string, args ...any) (lines []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), sql, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return lines
}

// What engines wait for costs the same in a registry of any size: each question
// is answered from an index, in its order, without a sort, whatever the planner
// knows of the values.
func TestEveryQuestionIsASeekInAnIndex(t *testing.T) {
	url := pgtest.Shared(t).NewDatabase(t)
	s := opened(t, Config{URL: url})
	fill(t, s, 0)
	const many = 20_000
	pgtest.Shared(t).ExecIn(t, url, fmt.Sprintf(`INSERT INTO icefield.objects (namespace, name, kind, id, location, previous, generation, created, updated, folder)
		SELECT n.key, convert_to('table' || i, 'UTF8'), 1 + i %% 2, gen_random_uuid(), convert_to('s3://lake/n/' || i || '/m/1.json', 'UTF8'), '', 1, 0, 0, convert_to('s3://lake/n/' || i || '/m/', 'UTF8')
		FROM icefield.namespaces n, generate_series(1, %d) i WHERE n.parent IS NOT NULL`, many))
	pgtest.Shared(t).ExecIn(t, url, fmt.Sprintf(`INSERT INTO icefield.namespaces (key, path, parent, name, id, owner, property_names, property_values, created, updated)
		SELECT sha256(convert_to(i::text, 'UTF8')), convert_to('path' || i, 'UTF8'), n.key, convert_to('n' || i, 'UTF8'), gen_random_uuid(), '', '{}', '{}', 0, 0
		FROM icefield.namespaces n, generate_series(1, %d) i WHERE n.parent IS NULL`, many))
	pgtest.Shared(t).ExecIn(t, url, fmt.Sprintf(`INSERT INTO icefield.commits SELECT id, g, '', '', 0, '', '', '', id FROM icefield.objects, generate_series(1, 3) g`))
	pgtest.Shared(t).ExecIn(t, url, fmt.Sprintf(`INSERT INTO icefield.receipts SELECT sha256(convert_to(i::text, 'UTF8')), '', '', i, i FROM generate_series(1, %d) i`, many))
	pgtest.Shared(t).ExecIn(t, url, fmt.Sprintf(`INSERT INTO icefield.jobs SELECT gen_random_uuid(), '', gen_random_uuid(), '{}', '', 1, '', 3 + i %% 2, '', 0, '', '', 0, 0, 0, i, 0, '', '', ''
		FROM generate_series(1, %d) i`, many))
	pgtest.Shared(t).ExecIn(t, url, "ANALYZE")
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan"); err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		statement statement
		arguments string
	}{
		"a pointer":                {s.sql.object.view, `'\x00', '\x00'`},
		"a locked pointer":         {s.sql.object.update, `'\x00', '\x00'`},
		"a namespace":              {s.sql.namespace.view, `'\x00'`},
		"owners":                   {s.sql.owners.view, `'{"\\x00","\\x01"}'`},
		"tables":                   {s.sql.names.view, `'\x00', 1, 'table5', 100`},
		"namespaces":               {s.sql.children.view, `'\x00', 'n5', 100`},
		"holders":                  {s.sql.holders.view, `'s3://lake/n/5/', 's3://lake/n/50', 's3://lake/n/5/', 14, 's3://lake/n/5/', 100`},
		"a log":                    {s.sql.commits.view, `'00000000-0000-0000-0000-000000000000', 0, 100`},
		"a receipt":                {s.sql.receipt.update, `'\x00'`},
		"expired receipts":         {s.sql.pruneReceipts, `5, 100`},
		"a due job":                {s.sql.dueJob.update, `0`},
		"jobs":                     {s.sql.jobs.view, `'00000000-0000-0000-0000-000000000000', 100`},
		"finished jobs":            {s.sql.pruneJobs, `5, 100`},
		"whether something is in":  {s.sql.occupied, `'\x00'`},
		"an export of namespaces":  {s.sql.namespacesFrom, `'path5', 100`},
		"an export of one's":       {s.sql.objectsIn, `'\x00', 'table5', 100`},
		"an export of objects":     {s.sql.objectsFrom, `'path5', 100`},
		"an export of the log":     {s.sql.commitsFrom, `'00000000-0000-0000-0000-000000000000', 0, 100`},
		"an export of receipts":    {s.sql.receiptsFrom, `'\x00', 100`},
		"an export of jobs":        {s.sql.jobsFrom, `'00000000-0000-0000-0000-000000000000', 0, 100`},
		"whether it was committed": {s.sql.logged, `'00000000-0000-0000-0000-000000000000', 0, '00000000-0000-0000-0000-000000000000'`},
	} {
		if _, err := conn.Exec(t.Context(), "DEALLOCATE ALL; PREPARE p AS "+one.statement.text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE p ("+one.arguments+")", pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plan := strings.Join(lines, "\n")
		for _, line := range lines {
			line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "->"))
			whole := strings.HasPrefix(line, "Seq Scan") && !strings.Contains(line, "Seq Scan on fence")
			// The holders of a folder are few and may be sorted; an export sorts what has
			// one long beginning, one part at a time.
			sorted := strings.HasPrefix(line, "Sort  (") && name != "holders"
			if whole || sorted {
				t.Errorf("%s: %s, in\n%s", name, line, plan)
			}
		}
		if !strings.Contains(plan, "Index") {
			t.Errorf("%s uses no index:\n%s", name, plan)
		}
	}
}

// Round trips are what a commit and a load cost in a database that is not next
// door.
func TestRoundTripsAreFew(t *testing.T) {
	s := opened(t, Config{})
	fill(t, s, 2)
	ctx := context.Background()
	key := store.ReceiptKey{1}
	for _, one := range []struct {
		what string
		want int64
		run  func() error
	}{
		{"a load", 1, func() error {
			return s.View(ctx, func(tx store.Tx) error { _, err := tx.Object(table("t0")); return err })
		}},
		{"a listing in a namespace that must exist", 2, func() error {
			return s.View(ctx, func(tx store.Tx) error {
				if _, err := tx.Namespace(mounts.Namespace{"n"}); err != nil {
					return err
				}
				_, err := tx.Names(mounts.Namespace{"n"}, store.Table, "", 100)
				return err
			})
		}},
		{"a commit", 2, func() error { return swapTo(s, table("t0"), "a") }},
		{"a commit with a receipt", 2, func() error {
			return s.Update(ctx, func(tx store.Tx) error {
				if _, err := tx.Swap(table("t0"), "a", "b", store.By{}); err != nil {
					return err
				}
				return tx.PutReceipt(store.Receipt{Key: key, Expires: time.Now().Add(time.Hour)}, time.Now())
			})
		}},
		{"a commit of two tables", 3, func() error {
			return s.Update(ctx, func(tx store.Tx) error {
				if _, err := tx.Swap(table("t0"), "b", "c", store.By{}); err != nil {
					return err
				}
				_, err := tx.Swap(table("t1"), "l", "c", store.By{})
				return err
			})
		}},
		{"a creation", 2, func() error { return create(s, table("new"), "l") }},
		{"a creation that looks first", 3, func() error {
			return s.Update(ctx, func(tx store.Tx) error {
				if _, err := tx.Namespace(mounts.Namespace{"n"}); err != nil {
					return err
				}
				if _, err := tx.Object(table("newer")); !errors.Is(err, store.ErrNotFound) {
					return err
				}
				_, err := tx.Create(store.Object{Namespace: mounts.Namespace{"n"}, Name: "newer", Kind: store.Table, ID: uuid.New()}, store.By{})
				return err
			})
		}},
		{"a refusal", 2, func() error {
			if err := swapFrom(s, table("t0"), "stale", "x"); !errors.Is(err, store.ErrMoved) {
				return fmt.Errorf("a stale swap: %w", err)
			}
			return nil
		}},
	} {
		before := s.trips.Load()
		if err := one.run(); err != nil {
			t.Errorf("%s: %v", one.what, err)
		}
		if got := s.trips.Load() - before; got != one.want {
			t.Errorf("%s costs %d round trips, want %d", one.what, got, one.want)
		}
	}
}

func swapFrom(s *Store, ident mounts.Identifier, from, to string) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.Swap(ident, from, to, store.By{})
		return err
	})
}

func TestASchemaOfANewerReleaseIsRefused(t *testing.T) {
	url := pgtest.Shared(t).NewDatabase(t)
	s := opened(t, Config{URL: url})
	fill(t, s, 1)
	pgtest.Shared(t).ExecIn(t, url, "INSERT INTO icefield.migrations (version, name) VALUES (999, '0999_later')")
	_, err := Open(t.Context(), Config{URL: url})
	if err == nil || !strings.Contains(err.Error(), "a newer release") || !strings.Contains(err.Error(), "999") {
		t.Errorf("a newer schema: %v", err)
	}
}

// user makes a user without rights and gives its URL.
func user(t *testing.T, adminURL, name string) string {
	t.Helper()
	pgtest.Shared(t).ExecIn(t, adminURL, "CREATE USER "+name+" PASSWORD '"+secret+"'")
	u, err := url.Parse(adminURL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, secret)
	return u.String()
}

func TestAUserWithoutRightsIsToldWhatToAskFor(t *testing.T) {
	adminURL := pgtest.Shared(t).NewDatabase(t)
	plain := user(t, adminURL, "plain")
	_, err := Open(t.Context(), Config{URL: plain})
	if err == nil || !strings.Contains(err.Error(), `CREATE SCHEMA "icefield" AUTHORIZATION`) || strings.Contains(err.Error(), secret) {
		t.Errorf("a user without rights was told %v", err)
	}
	pgtest.Shared(t).ExecIn(t, adminURL, "CREATE SCHEMA icefield AUTHORIZATION plain")
	s := opened(t, Config{URL: plain})
	fill(t, s, 1)
	checkLog(t, s, table("t0"), 1)
}

func TestALoginThatIsRefusedIsToldAtOnceAndWithoutThePassword(t *testing.T) {
	adminURL := pgtest.Shared(t).NewDatabase(t)
	wrong := strings.Replace(adminURL, pgtest.Shared(t).Password(), secret, 1)
	begin := time.Now()
	_, err := Open(t.Context(), Config{URL: wrong, Patience: time.Minute})
	if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "authentication failed") {
		t.Errorf("a wrong password: %v", err)
	}
	_, err = Open(t.Context(), Config{URL: pgtest.Shared(t).URL("nowhere"), Patience: time.Minute})
	if err == nil || strings.Contains(err.Error(), pgtest.Shared(t).Password()) || !strings.Contains(err.Error(), `"nowhere" does not exist`) {
		t.Errorf("a database that is not there: %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("both were tried for %v", took)
	}
}
