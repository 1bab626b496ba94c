//go:build peers

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

const hundredThousand = 100_000

const databaseBlock = `
mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = env("PROD_DATABASE_URL")
  warehouse_location = "warehouse"
}
`

// A registry moves from a file into a database and from there into another file.
// The second time servers use it, and clients write through them: whatever they
// were told is done is in the new file, and from some moment on they are told
// that the registry is being moved, or was.
func TestAHundredThousandTablesMoveToADatabaseAndBackUnderWriters(t *testing.T) {
	cluster := pgtest.Start(t)
	database := cluster.NewDatabase(t)
	t.Setenv("PROD_DATABASE_URL", database)
	dir := t.TempDir()
	first, second := "bolt://"+boltWith(t, hundredThousand), "bolt://"+filepath.Join(dir, "second.db")

	there := move(t, first, "env:PROD_DATABASE_URL")
	assert.Equal(t, registryCounts{Namespaces: hundredThousand / 1000, Objects: hundredThousand, Commits: hundredThousand}, there.Counts)
	records := float64(2*hundredThousand + hundredThousand/1000)
	t.Logf("into the database: %.1f s, %.0f records a second", there.Seconds, records/there.Seconds)
	before, _ := exported(t, first)
	after, _ := exported(t, database)
	require.Equal(t, before, after, "the export of the database is not that of the file")

	cfg := load(t, dir, databaseBlock)
	replicas := [2]*server{}
	for i := range replicas {
		replicas[i], _ = started(t, cfg)
	}
	const writers = 6
	var group sync.WaitGroup
	acknowledged := make([][]string, writers)
	busy := make(chan struct{}, 2*writers)
	for w := range writers {
		group.Go(func() {
			defer func() { busy <- struct{}{} }() // also if it ends at once
			server := replicas[w%len(replicas)].url()
			for i := 0; ; i++ {
				name := fmt.Sprintf("w%d-%05d", w, i)
				status, message, err := trySend(t.Context(), http.MethodPost, server+"/v1/prod/namespaces", fmt.Sprintf(`{"namespace":[%q]}`, name))
				if err != nil {
					t.Error(err)
					return
				}
				if status == http.StatusServiceUnavailable {
					if !strings.Contains(message, "is being moved to another store") && !strings.Contains(message, "was moved to another store") || !strings.Contains(message, "nothing was done") {
						t.Errorf("a writer was told: %s", message)
					}
					return
				}
				if status != http.StatusOK {
					t.Errorf("a writer got %d: %s", status, message)
					return
				}
				acknowledged[w] = append(acknowledged[w], name)
				if i == 10 {
					busy <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-busy
	}
	back := move(t, "env:PROD_DATABASE_URL", second)
	group.Wait()
	written := 0
	for _, names := range acknowledged {
		written += len(names)
	}
	t.Logf("out of the database, beside %d writes: %.1f s, %.0f records a second", written, back.Seconds, records/back.Seconds)
	assert.GreaterOrEqual(t, written, 10*writers)
	assert.Equal(t, there.Counts.Namespaces+int64(written), back.Counts.Namespaces, "what was acknowledged and what was copied")
	one, _ := exported(t, database)
	other, _ := exported(t, second)
	assert.Equal(t, one, other, "the export of the file is not that of the database")

	// The servers that are left behind say so, to readers too, and a new one does
	// not start.
	for _, replica := range replicas {
		for _, ask := range []struct{ method, path, body string }{{http.MethodPost, "", `{"namespace":["late"]}`}, {http.MethodGet, "/" + acknowledged[0][0], ""}} {
			status, message := send(t, ask.method, replica.url()+"/v1/prod/namespaces"+ask.path, ask.body)
			assert.Equal(t, http.StatusServiceUnavailable, status)
			assert.Contains(t, message, "was moved to another store")
			assert.NotContains(t, message, "second.db")
		}
	}
	_, _, err := start(t, cfg)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "was moved to "+second)
	assert.NotContains(t, err.Error(), cluster.Password())

	// The new place has all of it.
	moved := load(t, dir, strings.Replace(databaseBlock, `env("PROD_DATABASE_URL")`, fmt.Sprintf("%q", second), 1))
	s, _ := started(t, moved)
	for _, names := range acknowledged {
		for _, name := range names {
			status, message := send(t, http.MethodGet, s.url()+"/v1/prod/namespaces/"+name, "")
			assert.Equal(t, http.StatusOK, status, message)
		}
	}
	status, message := send(t, http.MethodPost, s.url()+"/v1/prod/namespaces", `{"namespace":["late"]}`)
	assert.Equal(t, http.StatusOK, status, message)
}

// What is told of databases on the way holds no password.
func TestAMoveFromADatabaseTellsNoPassword(t *testing.T) {
	cluster := pgtest.Start(t)
	database := cluster.NewDatabase(t)
	u, err := url.Parse(database)
	require.NoError(t, err)
	u.User = url.UserPassword(u.User.Username(), "hunter2-is-wrong")
	to := "bolt://" + filepath.Join(t.TempDir(), "new.db")
	var all string
	for _, args := range [][]string{
		{"migrate", "--from", u.String(), "--to", to},
		{"migrate", "status", u.String()},
		{"migrate", "--from", database, "--to", to}, // holds nothing
		{"migrate", "abort", database},
	} {
		code, stdout, stderr := cli(t, args...)
		assert.Equal(t, exitFailed, code, stderr)
		all += stdout + stderr
	}
	from := "bolt://" + boltWith(t, 2000)
	for _, args := range [][]string{
		{"migrate", "--from", from, "--to", database},
		{"migrate", "status", database},
		{"migrate", "status", from},
		{"migrate", "--from", database, "--to", to, "-o", "json"},
		{"migrate", "abort", database, "--reopen-moved"},
	} {
		code, stdout, stderr := cli(t, args...)
		assert.Equal(t, exitOK, code, stderr)
		all += stdout + stderr
	}
	for _, secret := range []string{"hunter2", cluster.Password()} {
		assert.NotContains(t, all, secret)
	}
	place := config.Registry{Postgres: database}.Place()
	assert.Contains(t, all, place)
	text, err := os.ReadFile(strings.TrimPrefix(to, "bolt://"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), cluster.Password(), "the fence keeps the password")
}
