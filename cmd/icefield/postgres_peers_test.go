//go:build peers

package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

func TestReadmeMovesARegistryIntoADatabaseForReplicas(t *testing.T) {
	moveAsInReadme(t, pgtest.Start(t).NewDatabase(t), 2)
}

// A mount in a database is checked, served by two servers at once, and outlives
// the database's absence.
func TestAMountInADatabase(t *testing.T) {
	cluster := pgtest.Start(t)
	t.Setenv("PROD_DATABASE_URL", cluster.NewDatabase(t))
	file := write(t, "icefield.hcl", databaseBlock)
	code, stdout, stderr := cli(t, "check", "--connect", file)
	assert.Equal(t, exitOK, code, stderr)
	assert.NotContains(t, stdout+stderr, cluster.Password())

	good := cluster.NewDatabase(t)
	t.Setenv("PROD_DATABASE_URL", strings.Replace(good, cluster.Password(), "hunter2", 1))
	code, stdout, stderr = cli(t, "check", "--connect", file)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stdout+stderr, "authentication failed")
	assert.NotContains(t, stdout+stderr, "hunter2")

	t.Setenv("PROD_DATABASE_URL", good)
	cfg := load(t, t.TempDir(), databaseBlock)
	one, _ := started(t, cfg)
	other, journal := started(t, cfg)
	status, message := send(t, http.MethodPost, one.url()+"/v1/prod/namespaces", `{"namespace":["sales"]}`)
	require.Equal(t, http.StatusOK, status, message)
	status, message = send(t, http.MethodGet, other.url()+"/v1/prod/namespaces/sales", "")
	assert.Equal(t, http.StatusOK, status, message)
	status, message = send(t, http.MethodPost, other.url()+"/v1/prod/namespaces", `{"namespace":["sales"]}`)
	assert.Equal(t, http.StatusConflict, status, message)

	cluster.Stop(t)
	begin := time.Now()
	for _, ask := range []struct{ method, path, body string }{{http.MethodGet, "/sales", ""}, {http.MethodPost, "", `{"namespace":["more"]}`}} {
		status, message = send(t, ask.method, other.url()+"/v1/prod/namespaces"+ask.path, ask.body)
		assert.Equal(t, http.StatusServiceUnavailable, status, message)
		assert.NotContains(t, message, "127.0.0.1")
	}
	t.Logf("two refusals in %v", time.Since(begin))
	cluster.Begin(t)
	assert.Eventually(t, func() bool { // the mount's breaker may be open
		status, _ := send(t, http.MethodGet, other.url()+"/v1/prod/namespaces/sales", "")
		return status == http.StatusOK
	}, time.Minute, 100*time.Millisecond)
	assert.NotContains(t, journal.String(), cluster.Password())
}
