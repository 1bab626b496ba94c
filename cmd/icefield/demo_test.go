package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDemoShowsOneTreeWithTheRowsOfEveryCatalog(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	code, stdout, stderr := cli(t, "demo", "--once")
	require.Equal(t, exitOK, code, stderr)
	assert.Empty(t, stderr)
	assert.Regexp(t, `(?m)^  partner +mounted from http://127\.0\.0\.1:\d+\n    shared\n      orders +6 rows\n  prod .*\n    analytics\n      events +8 rows\n  scratch .*\n    notes +3 rows$`, stdout)
	url := regexp.MustCompile(`One catalog over all of them is +(http://127\.0\.0\.1:\d+)`).FindStringSubmatch(stdout)
	require.NotNil(t, url)
	assert.Contains(t, stdout, `uri="`+url[1]+`"`)
	assert.Contains(t, stdout, `ENDPOINT '`+url[1]+`'`)
	assert.Contains(t, stdout, `.uri=`+url[1])
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left, "the temporary folder was left behind")
}

func TestDemoKeepsWhatItWasToldToKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	code, stdout, stderr := cli(t, "demo", "--once", "--dir", dir, "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	var result look
	require.NoError(t, json.Unmarshal([]byte(stdout), &result))
	assert.Equal(t, []rowCount{{Table: "partner.shared.orders", Rows: 6}, {Table: "prod.analytics.events", Rows: 8}, {Table: "scratch.notes", Rows: 3}}, result.Rows)
	assert.FileExists(t, filepath.Join(dir, "icefield.hcl"))

	code, _, stderr = cli(t, "check", filepath.Join(dir, "icefield.hcl"))
	assert.Equal(t, exitOK, code, stderr)
	code, _, stderr = cli(t, "demo", "--once", "--dir", dir)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "is not empty")
}
