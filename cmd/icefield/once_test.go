package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sendKeyed sends a change under a key and returns the answer.
func sendKeyed(t *testing.T, url, key, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header.Get("ETag") + string(text)
}

func TestAChangeSentAgainUnderItsKeyIsMadeOnceAlsoAfterARestart(t *testing.T) {
	const key, other = "01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058"
	const table = `{"name":"t","schema":{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"}]}}`
	cfg := load(t, t.TempDir(), nativeText("/", "root")+nativeText("prod", "prod"))
	s, _ := started(t, cfg)
	for _, warehouse := range []string{"", "?warehouse=prod", "?warehouse=root"} {
		_, about := get(t, http.DefaultClient, s.url()+"/v1/config"+warehouse)
		assert.Equal(t, "PT30M", about["idempotency-key-lifetime"], "%s", warehouse)
	}
	status, text := sendKeyed(t, s.url()+"/v1/namespaces", other, `{"namespace":["prod","a"]}`)
	require.Equal(t, 200, status, text)
	status, created := sendKeyed(t, s.url()+"/v1/namespaces/prod%1Fa/tables", key, table)
	require.Equal(t, 200, status, created)
	status, again := sendKeyed(t, s.url()+"/v1/namespaces/prod%1Fa/tables", key, table)
	assert.Equal(t, 200, status)
	assert.Equal(t, created, again)
	status, text = sendKeyed(t, s.url()+"/v1/namespaces/prod%1Fa/tables", key, strings.Replace(table, `"t"`, `"u"`, 1))
	assert.Equal(t, 422, status)
	assert.Contains(t, text, "was used for another request")
	status, _ = sendKeyed(t, s.url()+"/v1/namespaces/prod%1Fa/tables", "", table)
	assert.Equal(t, 409, status)
	require.NoError(t, s.close())

	s, _ = started(t, cfg)
	status, again = sendKeyed(t, s.url()+"/v1/namespaces/prod%1Fa/tables", key, table)
	assert.Equal(t, 200, status)
	assert.Equal(t, created, again)
}

// The tree promises what all of its writable mounts keep.
func TestOneMountThatHonoursNoKeysTakesThePromiseFromTheTree(t *testing.T) {
	off := strings.Replace(nativeText("off", "off"), `owner `, "idempotency_lifetime = \"0s\"\n  owner ", 1)
	hour := strings.Replace(nativeText("hour", "hour"), `owner `, "idempotency_lifetime = \"1h30m\"\n  owner ", 1)
	s, _ := started(t, load(t, t.TempDir(), off+hour))
	for warehouse, want := range map[string]any{"": nil, "?warehouse=off": nil, "?warehouse=hour": "PT1H30M"} {
		_, about := get(t, http.DefaultClient, s.url()+"/v1/config"+warehouse)
		assert.Equal(t, want, about["idempotency-key-lifetime"], "%s", warehouse)
	}
	for _, status := range []int{200, 409} {
		got, text := sendKeyed(t, s.url()+"/v1/namespaces", "01890a5d-ac96-774b-bcce-b302099a8057", `{"namespace":["off","a"]}`)
		assert.Equal(t, status, got, text)
	}
	readOnly := strings.Replace(off, `owner `, "read_only = true\n  owner ", 1)
	s, _ = started(t, load(t, t.TempDir(), readOnly+hour))
	_, about := get(t, http.DefaultClient, s.url()+"/v1/config")
	assert.Equal(t, "PT1H30M", about["idempotency-key-lifetime"])
}
