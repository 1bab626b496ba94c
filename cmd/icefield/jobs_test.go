package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/sample"
)

// dropped is a server on which a table was created and dropped with purge.
func dropped(t *testing.T) *server {
	t.Helper()
	s, _ := started(t, load(t, t.TempDir(), nativeText("/", "root")+nativeText("prod", "prod")))
	c := connect(t, s.url())
	require.NoError(t, c.CreateNamespace(t.Context(), "prod", "sales"))
	require.NoError(t, c.CreateTable(t.Context(), sample.Orders("prod", "sales", "orders")))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.url()+"/v1/namespaces/prod%1Fsales/tables/orders?purgeRequested=true", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	return s
}

func TestJobsShowWhatBecomesOfADroppedTable(t *testing.T) {
	s := dropped(t)
	var job jobLine
	require.Eventually(t, func() bool {
		table, err := fetchJobs(t.Context(), reach{address: s.url()}, "", "", 10)
		require.NoError(t, err)
		require.Len(t, table.Jobs, 1)
		require.NoError(t, json.Unmarshal(table.Jobs[0], &job))
		return job.State == "done"
	}, 30*time.Second, 10*time.Millisecond)
	assert.Equal(t, "prod", job.Mount)
	assert.Equal(t, "orders", job.Object.Name)
	assert.Positive(t, job.Deleted)
	assert.Equal(t, job.Found, job.Deleted)

	code, out, stderr := cli(t, "jobs", "--url", s.url())
	require.Equal(t, exitOK, code, stderr)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2, out)
	assert.Regexp(t, `^ID +MOUNT +KIND +OBJECT +STATE +PHASE +FOUND +DELETED`, lines[0])
	assert.Regexp(t, `prod +purge +sales\.orders +done +metadata +\d+ +\d+ +0 +1 `, lines[1])

	code, out, stderr = cli(t, "jobs", "--url", s.url(), "--mount", "prod", "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	var table map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &table))
	assert.Equal(t, job.ID, table["jobs"].([]any)[0].(map[string]any)["id"])
	assert.NotEmpty(t, table["jobs"].([]any)[0].(map[string]any)["request_id"])

	code, out, _ = cli(t, "jobs", "--url", s.url(), "--before", job.ID)
	assert.Equal(t, exitOK, code)
	assert.NotContains(t, out, "orders")

	code, _, stderr = cli(t, "jobs", "--url", s.url(), "--mount", "nope")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, `names no mount: "nope"`)
}

func TestJobsThatCannotBeReadAreToldAndFail(t *testing.T) {
	table := &jobTable{Jobs: []json.RawMessage{}}
	require.NoError(t, table.silent())
	require.NoError(t, json.Unmarshal([]byte(`{"jobs":[],"unavailable":[{"mount":"prod","error":"it is closed\u0007"}]}`), table))
	assert.EqualError(t, table.silent(), `the jobs of the mount "prod" could not be read: it is closed `)
}

func TestJobsSayWhyOneFailedAndWhenItIsTriedAgain(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b strings.Builder
	require.NoError(t, writeJobs(&b, &jobTable{Next: "id-2", Jobs: []json.RawMessage{
		json.RawMessage(`{"id":"id-3","mount":"prod","kind":"purge","object":{"namespace":["a","b"],"name":"t"},"state":"waiting","attempts":4,
			"last_error":"a manifest is missing","next_attempt_at":"2026-01-02T03:05:05Z","created_at":"2026-01-02T03:04:00Z"}`),
		json.RawMessage(`{"id":"id-2","mount":"prod","kind":"purge","object":{"namespace":["a"],"name":"u"},"state":"done","note":"nothing was found"}`),
	}}, now))
	assert.Contains(t, b.String(), "a.b.t")
	assert.Contains(t, b.String(), "a manifest is missing (tried again in 1m0s)")
	assert.Contains(t, b.String(), "nothing was found")
	assert.Contains(t, b.String(), "5s ago")
	assert.Contains(t, b.String(), "There are older ones: --before id-2\n")
}
