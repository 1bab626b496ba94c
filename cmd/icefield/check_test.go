package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts/mounttest/remote"
)

// write makes a file of text in a new folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestCheckRefusesEveryBrokenConfiguration(t *testing.T) {
	entries, err := os.ReadDir("internal/config/testdata/broken")
	require.NoError(t, err)
	cases := 0
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".golden" {
			continue
		}
		cases++
		code, stdout, stderr := cli(t, "check", filepath.Join("internal/config/testdata/broken", entry.Name()))
		assert.Equal(t, exitFailed, code, entry.Name())
		assert.Empty(t, stdout, entry.Name())
		assert.Contains(t, stderr, "error: ", entry.Name())
	}
	assert.GreaterOrEqual(t, cases, 20)
}

func TestCheckReadsEachArgumentAsAConfigurationOfItsOwn(t *testing.T) {
	good, folder, broken := "internal/config/testdata/good/minimal.hcl", "internal/config/testdata/good/folder", "internal/config/testdata/broken/unknown-key.hcl"
	code, stdout, stderr := cli(t, "check", good, folder)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "ok     "+good+"\nok     "+folder+"\n", stdout)

	code, stdout, stderr = cli(t, "check", good, broken)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "ok     "+good+"\n", stdout)
	assert.Contains(t, stderr, broken+":5:3")
}

func TestCheckWithoutAnArgumentReadsTheCurrentFolder(t *testing.T) {
	t.Chdir("internal/config/testdata/good/folder")
	code, stdout, _ := cli(t, "check")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "ok     .\n", stdout)
}

func TestCheckWritesJSON(t *testing.T) {
	var result struct {
		OK             bool
		Configurations []struct {
			Path     string
			OK       bool
			Findings []config.Finding
		}
	}
	code, stdout, stderr := cli(t, "check", "--output", "json", "internal/config/testdata/good/minimal.hcl", "internal/config/testdata/broken/unknown-key.hcl")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &result))
	assert.False(t, result.OK)
	require.Len(t, result.Configurations, 2)
	assert.True(t, result.Configurations[0].OK)
	assert.NotNil(t, result.Configurations[0].Findings)
	finding := result.Configurations[1].Findings[0]
	assert.Equal(t, []any{"error", "Unknown key", 5, 3, `mount "prod"`}, []any{finding.Severity, finding.Summary, finding.Line, finding.Column, finding.Block})
}

func TestCheckOpensNothingUnlessAsked(t *testing.T) {
	path := write(t, "icefield.hcl", `
mount "/" {
  backend            = "native"
  catalog_url        = "bolt://catalog.db"
  warehouse_location = "warehouse"
}
`)
	code, _, stderr := cli(t, "check", path)
	assert.Equal(t, exitOK, code, stderr)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	code, stdout, stderr := cli(t, "check", "--connect", path)
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, `ok     mount "/" (native)`)
}

func TestCheckConnectSaysHowEachMountWent(t *testing.T) {
	good, gone := remote.New(t, remote.Options{}), remote.New(t, remote.Options{})
	gone.Stop()
	path := write(t, "icefield.hcl", `
mount "good" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "`+good.URL+`"
}

mount "gone" {
  backend     = "rest"
  owner       = "acme"
  required    = false
  catalog_url = "`+gone.URL+`"
}
`)
	code, stdout, stderr := cli(t, "check", "--connect", path)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stdout, `ok     mount "good" (rest)`)
	assert.NotContains(t, stdout, "gone")
	assert.Contains(t, stderr, `error: mount "gone" (rest): `)
}

func TestEveryKindOfBackendHasADriver(t *testing.T) {
	var kinds []string
	for _, d := range drivers() {
		kinds = append(kinds, d.kind)
	}
	assert.Equal(t, config.Kinds(), kinds)
}
