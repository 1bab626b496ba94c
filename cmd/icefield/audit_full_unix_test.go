//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/audit/audittest"
)

// breakTrail puts a device that is always full where a trail is.
func breakTrail(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, os.Rename(path, path+".before"))
	require.NoError(t, os.Symlink("/dev/full", path))
}

// mendTrail puts a file there.
func mendTrail(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Rename(path+".before", path))
}

func componentOf(t testing.TB, text, name string) (state, reason string) {
	t.Helper()
	var ready struct {
		Components []struct{ Name, State, Reason string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &ready))
	for _, c := range ready.Components {
		if c.Name == name {
			return c.State, c.Reason
		}
	}
	return "", ""
}

// A server may start on a disk that is full already, and says so from the first
// event on.
func TestAServerStartsOnAFullDiskAndServesReads(t *testing.T) {
	dir := t.TempDir()
	trail := filepath.Join(dir, "audit.jsonl")
	require.NoError(t, os.Symlink("/dev/full", trail))
	s, log := started(t, load(t, dir, auditText(true)+authText("")+twoTenants()))
	must(t, s.url(), "acme-admin", "GET", "/v1/namespaces", "")
	a := asID(t, s.url(), "acme-admin", "refused", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	assert.Equal(t, 503, a.status, a.body)
	assert.NotEmpty(t, a.header.Get("Retry-After"))
	state, reason := componentOf(t, must(t, s.url(), "operator", "GET", "/ready", ""), "audit")
	assert.Equal(t, "failing", state)
	assert.Equal(t, "no space left on device", reason)
	_, told := componentOf(t, must(t, s.url(), "acme-admin", "GET", "/ready", ""), "audit")
	assert.Empty(t, told, "why it fails is the operators' business")
	assert.Contains(t, log.String(), "no space left on device")
	assert.JSONEq(t, `{"namespaces":[]}`, must(t, s.url(), "acme-admin", "GET", "/v1/namespaces?parent=prod", ""))

	require.NoError(t, os.Remove(trail)) // somebody makes room: a new file can be made
	require.Eventually(t, func() bool {
		state, _ := componentOf(t, must(t, s.url(), "operator", "GET", "/ready", ""), "audit")
		return state == "ok"
	}, 10*time.Second, 20*time.Millisecond)
	must(t, s.url(), "acme-admin", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	require.NoError(t, s.close())
	lines, torn, err := audittest.Read(trail)
	require.NoError(t, err)
	assert.Zero(t, torn)
	lost, refused := 0, 0
	var outcomes []string
	for _, l := range lines {
		lost, refused = lost+l.Lost, refused+l.Refused
		if strings.Contains(l.Resource, "prod/shop") {
			outcomes = append(outcomes, l.Outcome)
		}
	}
	assert.Equal(t, 1, refused)
	assert.Positive(t, lost)
	assert.Equal(t, []string{"permitted", "done"}, outcomes)
}
