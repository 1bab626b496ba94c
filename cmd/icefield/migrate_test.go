package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/native/store/migrate"
)

// fillRegistry makes so many tables, a thousand in a namespace.
func fillRegistry(t testing.TB, s store.Store, tables int) {
	t.Helper()
	who := store.By{Time: time.Now(), Principal: "ann", RequestID: "r", IdempotencyKey: "k"}
	for first := 0; first < tables; first += 10_000 {
		require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
			for i := first; i < min(first+10_000, tables); i++ {
				space := mounts.Namespace{fmt.Sprintf("space-%03d", i/1000)}
				if i%1000 == 0 {
					if err := tx.CreateNamespace(store.Namespace{Path: space, ID: uuid.New(), Owner: "acme", Created: who.Time, Updated: who.Time}); err != nil {
						return err
					}
				}
				location := fmt.Sprintf("s3://lake/warehouse/%s/table-%06d/metadata/00000-%s.metadata.json", space[0], i, uuid.New())
				if _, err := tx.Create(store.Object{Namespace: space, Name: fmt.Sprintf("table-%06d", i), Kind: store.Table, ID: uuid.New(), Location: location}, who); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// boltWith is a new file with so many tables.
func boltWith(t testing.TB, tables int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "catalog.db")
	s, err := bolt.Open(path)
	require.NoError(t, err)
	fillRegistry(t, s, tables)
	require.NoError(t, s.Close())
	return path
}

// send makes a request with a JSON body and returns the status and the error's
// message.
func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	status, message, err := trySend(t.Context(), method, url, body)
	require.NoError(t, err)
	return status, message
}

// trySend is send for goroutines, which must not end the test.
func trySend(ctx context.Context, method, url, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	var answer struct{ Error struct{ Message string } }
	_ = json.NewDecoder(resp.Body).Decode(&answer) // a success says something else, or nothing
	return resp.StatusCode, answer.Error.Message, nil
}

func TestAMovedRegistryIsServedFromItsNewPlaceAndRefusedAtTheOld(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, nativeText("prod", "old"))
	s, _ := started(t, cfg)
	for i := range 3 {
		status, message := send(t, http.MethodPost, s.url()+"/v1/prod/namespaces", fmt.Sprintf(`{"namespace":["n%d"]}`, i))
		require.Equal(t, http.StatusOK, status, message)
	}
	from, to := "bolt://"+filepath.Join(dir, "old.db"), "bolt://"+filepath.Join(dir, "new.db")

	// While the server runs the file is its own.
	code, stdout, stderr := cli(t, "migrate", "--from", from, "--to", to)
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, filepath.Join(dir, "old.db")+" is held by another process")
	assert.Contains(t, stderr, "Stop that server, run this again")
	require.NoError(t, s.close())

	code, stdout, stderr = cli(t, "migrate", "--from", from, "--to", to)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "Moved "+from+" to "+to)
	assert.Contains(t, stdout, "3 namespaces, 0 tables and views")
	assert.Contains(t, stdout, `set catalog_url of the mount to "`+to+`"`)
	assert.Contains(t, stderr, "copying: ")
	assert.Contains(t, stderr, "verifying: ")

	_, _, err := start(t, cfg)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "was moved to "+to)
	assert.Contains(t, err.Error(), "catalog_url")
	moved := load(t, dir, strings.Replace(nativeText("prod", "new"), `"new"`, `"old"`, 1))
	s, _ = started(t, moved)
	status, body := get(t, http.DefaultClient, s.url()+"/v1/prod/namespaces")
	assert.Equal(t, http.StatusOK, status)
	assert.Len(t, body["namespaces"], 3)
	status, message := send(t, http.MethodPost, s.url()+"/v1/prod/namespaces", `{"namespace":["later"]}`)
	assert.Equal(t, http.StatusOK, status, message)
	require.NoError(t, s.close())

	// Once more: it is done, and says so.
	code, stdout, stderr = cli(t, "migrate", "--from", from, "--to", to, "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	var report moveReport
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.True(t, report.Already)
	assert.Equal(t, int64(3), report.Counts.Namespaces)
	assert.Regexp(t, `^sha256:[0-9a-f]{64}$`, report.Digest)
}

func TestMigrateIsToldHowItIsUsed(t *testing.T) {
	t.Setenv("ICEFIELD_TEST_EMPTY", "")
	t.Setenv("ICEFIELD_TEST_URL", "postgres://ann:hunter2@db:notaport/lake")
	one := "bolt://" + filepath.Join(t.TempDir(), "one.db")
	for _, args := range [][]string{
		{},
		{"--from", one},
		{"--to", one},
		{"--from", one, "--to", one},
		{"--from", one, "--to", strings.Replace(one, "/one.db", "/./one.db", 1)},
		{"--from", one, "--to", "mysql://ann:hunter2@db/lake"},
		{"--from", one, "--to", "postgres://ann:hunter2@db:notaport/lake"},
		{"--from", one, "--to", "postgres://ann:hunter2 @db/lake"},
		{"--from", one, "--to", "bolt://"},
		{"--from", "env:ICEFIELD_TEST_EMPTY", "--to", one},
		{"--from", "env:ICEFIELD_TEST_URL", "--to", one},
		{"--from", "env:hunter2", "--to", one},
		{"--from", one, "--to", "bolt://x.db", "extra"},
		{"status"},
		{"status", "file.db"},
		{"abort", "mysql://ann:hunter2@db/lake"},
	} {
		code, stdout, stderr := cli(t, append([]string{"migrate"}, args...)...)
		assert.Equal(t, exitUsage, code, args)
		assert.Empty(t, stdout, args)
		assert.Contains(t, stderr, "--help", args)
		assert.NotContains(t, stderr, "hunter2", args)
	}
}

func TestWhatCannotBeMovedIsSaidAndNothingIsMade(t *testing.T) {
	dir := t.TempDir()
	filled, empty, missing := boltWith(t, 3), boltWith(t, 0), filepath.Join(dir, "missing.db")
	other := boltWith(t, 2)
	for name, test := range map[string]struct {
		args  []string
		words string
	}{
		"no such file":    {[]string{"--from", "bolt://" + missing, "--to", "bolt://" + empty}, "there is no registry file " + missing},
		"an empty source": {[]string{"--from", "bolt://" + empty, "--to", "bolt://" + filled}, "holds nothing"},
		"a destination in use": {[]string{"--from", "bolt://" + filled, "--to", "bolt://" + other},
			"holds a registry already (1 namespaces, 2 tables and views, 2 commits, 0 receipts, 0 jobs); give the copy a store of its own"},
		"status of nothing": {[]string{"status", "bolt://" + missing}, "there is no registry file"},
		"abort of nothing":  {[]string{"abort", "bolt://" + missing}, "there is no registry file"},
		"abort of no move":  {[]string{"abort", "bolt://" + filled}, "is not being moved"},
	} {
		code, stdout, stderr := cli(t, append([]string{"migrate"}, test.args...)...)
		assert.Equal(t, exitFailed, code, name)
		assert.Empty(t, stdout, name)
		assert.Contains(t, stderr, test.words, name)
		assert.NotContains(t, stderr, "run the same command again", name)
	}
	_, err := os.Stat(missing)
	assert.ErrorIs(t, err, os.ErrNotExist)
	for _, path := range []string{filled, empty, other} {
		_, stdout, _ := cli(t, "migrate", "status", "bolt://"+path)
		assert.Contains(t, stdout, "open: it is not being moved")
	}
}

// stopper ends a run when it shows for the first time that something was copied.
type stopper struct {
	bytes.Buffer
	stop  func()
	lines int
}

func (s *stopper) Write(p []byte) (int, error) {
	if s.lines++; s.lines == 2 {
		s.stop()
	}
	return s.Buffer.Write(p)
}

func TestAnInterruptedMoveSaysHowToGoOnAndHowToGiveUp(t *testing.T) {
	old, dir := boltWith(t, 20_000), t.TempDir()
	from, to := "bolt://"+old, "bolt://"+filepath.Join(dir, "new.db")
	interrupt := func() string {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out, errs := &bytes.Buffer{}, &stopper{stop: cancel}
		code := run(ctx, []string{"migrate", "--from", from, "--to", to}, out, errs)
		assert.Equal(t, exitFailed, code)
		assert.Empty(t, out.String())
		return errs.String()
	}
	said := interrupt()
	assert.Contains(t, said, "the move was interrupted")
	assert.Contains(t, said, "To go on, run the same command again.")
	assert.Contains(t, said, "icefield migrate abort "+to+", and then: icefield migrate abort "+from)

	status := func(url string) registryStatus {
		code, stdout, stderr := cli(t, "migrate", "status", url, "-o", "json")
		require.Equal(t, exitOK, code, stderr)
		var s registryStatus
		require.NoError(t, json.Unmarshal([]byte(stdout), &s))
		return s
	}
	source, copied := status(from), status(to)
	assert.Equal(t, "source", source.State)
	assert.Equal(t, to, source.Peer)
	assert.Equal(t, int64(20_000), source.Counts.Objects)
	assert.Equal(t, "destination", copied.State)
	assert.Equal(t, from, copied.Peer)
	assert.Equal(t, source.Migration, copied.Migration)
	assert.Less(t, copied.Counts.Objects, int64(20_000))
	_, stdout, _ := cli(t, "migrate", "status", to)
	assert.Contains(t, stdout, "it cannot be used yet")

	// A server that is started now reads the source and changes nothing in it.
	cfg := load(t, dir, strings.ReplaceAll(nativeText("prod", "wh"), "bolt://wh.db", from))
	s, log := started(t, cfg)
	code, _ := get(t, http.DefaultClient, s.url()+"/v1/prod/namespaces")
	assert.Equal(t, http.StatusOK, code)
	code, message := send(t, http.MethodPost, s.url()+"/v1/prod/namespaces", `{"namespace":["n"]}`)
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Contains(t, message, "is being moved to another store")
	assert.Contains(t, log.String(), "this registry can be read only")
	require.NoError(t, s.close())
	_, _, err := start(t, load(t, dir, strings.ReplaceAll(nativeText("prod", "wh"), "bolt://wh.db", to)))
	assert.ErrorContains(t, err, "part of a copy")

	// Given up, on both sides.
	code, stdout, stderr := cli(t, "migrate", "abort", to)
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "is empty and open")
	code, stdout, stderr = cli(t, "migrate", "abort", from)
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "takes changes again")
	assert.Equal(t, "open", status(from).State)
	assert.Zero(t, status(to).Counts.Objects)

	// Begun again, interrupted again, and run to its end.
	interrupt()
	code, stdout, stderr = cli(t, "migrate", "--from", from, "--to", to)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "which an earlier run had begun")
	assert.Equal(t, "moved", status(from).State)
	assert.Equal(t, status(from).Counts, status(to).Counts)

	code, _, stderr = cli(t, "migrate", "abort", from)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "--reopen-moved")
	code, stdout, stderr = cli(t, "migrate", "abort", from, "--reopen-moved")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "Make sure that nobody uses "+to)
	assert.Equal(t, "open", status(from).State)
}

func TestProgressIsABarOnATerminalAndSomeLinesElsewhere(t *testing.T) {
	var lines, bar bytes.Buffer
	plain, drawn := &meter{w: &lines}, &meter{w: &bar, terminal: true}
	for _, stage := range []migrate.Stage{migrate.Copying, migrate.Verifying} {
		for done := int64(0); done <= 1000; done += 20 {
			plain.show(migrate.Progress{Stage: stage, Done: done, Total: 1000})
			drawn.show(migrate.Progress{Stage: stage, Done: done, Total: 1000})
		}
	}
	plain.end()
	drawn.end()
	all := strings.Split(strings.TrimSpace(lines.String()), "\n")
	assert.Len(t, all, 22)
	assert.Equal(t, "copying: 0 of 1000 records", all[0])
	assert.Equal(t, "verifying: 1000 of 1000 records", all[21])
	assert.NotContains(t, lines.String(), "\r")
	for _, part := range []string{"copying", "verifying", "100%", "(1000/1000"} {
		assert.Contains(t, bar.String(), part)
	}
}

func TestWhatIsToBeDoneNextRepeatsNoSecret(t *testing.T) {
	t.Setenv("PROD_DATABASE_URL", "postgres://ann:hunter2@db.example:5433/lake")
	for written, words := range map[string]string{
		"env:PROD_DATABASE_URL":                       `set catalog_url of the mount to env("PROD_DATABASE_URL")`,
		"postgres://ann:hunter2@db.example:5433/lake": "set catalog_url of the mount to the URL that you gave as --to",
		"bolt:///srv/catalog.db":                      `set catalog_url of the mount to "bolt:///srv/catalog.db"`,
	} {
		to, err := parseRegistryArg(written)
		require.NoError(t, err)
		from := registryArg{Registry: config.Registry{Bolt: "/old.db"}}
		var text bytes.Buffer
		report := newMoveReport(from, to, migrate.Result{}, time.Second)
		require.NoError(t, errors.Join(report.write(&text), writeJSON(&text, report)))
		assert.Contains(t, text.String(), words)
		assert.NotContains(t, text.String(), "hunter2")
	}
}
