package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the program itself, for tests that need a
// process of their own.
func TestMain(m *testing.M) {
	if os.Getenv("ICEFIELD_TEST_BE_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// cli runs a command to its end.
func cli(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func TestMisuseExitsWithTwoAndSaysHowToUseIt(t *testing.T) {
	for _, args := range [][]string{
		{"serv"}, {"serve", "--cfg", "x"}, {"serve", "extra"}, {"mounts", "--output", "yaml"}, {"version", "x"}, {"demo", "--port", "70000"},
	} {
		code, stdout, stderr := cli(t, args...)
		assert.Equal(t, exitUsage, code, args)
		assert.Empty(t, stdout, args)
		assert.Contains(t, stderr, "icefield: ", args)
		assert.Contains(t, stderr, "--help", args)
	}
	_, _, stderr := cli(t, "chekc")
	assert.Contains(t, stderr, "check", "no suggestion for a misspelt command")
}

func TestAnEmptyConfigIsNotTheEmbeddedCatalog(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // should it serve, it ends at once
	var out, errs bytes.Buffer
	assert.Equal(t, exitFailed, run(ctx, []string{"serve", "--config", ""}, &out, &errs))
	assert.Contains(t, errs.String(), "The path is empty. Name a configuration file")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestHelpIsASuccess(t *testing.T) {
	code, stdout, _ := cli(t)
	assert.Equal(t, exitOK, code)
	for _, command := range []string{"serve", "check", "mounts", "migrate", "demo", "version"} {
		assert.Contains(t, stdout, "\n  "+command)
		code, help, _ := cli(t, command, "--help")
		assert.Equal(t, exitOK, code)
		assert.Contains(t, help, "icefield "+command)
	}
}

func TestVersion(t *testing.T) {
	code, stdout, _ := cli(t, "version")
	assert.Equal(t, exitOK, code)
	assert.True(t, strings.HasPrefix(stdout, "icefield "), stdout)
	assert.Contains(t, stdout, "go1")
	code, stdout, _ = cli(t, "version", "--output", "json")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, `"version": `)
	assert.Contains(t, stdout, `"go": "go1`)
}

func TestFirstSignalEndsTheContext(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		ctx, stop := interruptible(context.Background())
		require.NoError(t, syscall.Kill(os.Getpid(), sig))
		<-ctx.Done()
		stop()
	}
}
