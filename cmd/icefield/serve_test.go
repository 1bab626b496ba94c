package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/cmd/icefield/internal/sample"
)

// load reads a configuration that must be good. "127.0.0.1:0" is what it
// listens on unless it says otherwise.
func load(t testing.TB, dir, text string) *config.Config {
	t.Helper()
	cfg, report := config.Parse(filepath.Join(dir, "icefield.hcl"), []byte(text), config.Options{})
	var b strings.Builder
	require.NoError(t, report.WriteText(&b))
	require.False(t, report.HasErrors(), b.String())
	if cfg.Server.Listen.Address == config.DefaultListen {
		cfg.Server.Listen.Address = "127.0.0.1:0"
	}
	return cfg
}

// start starts a server that the test's end closes. The log is what it wrote.
func start(t testing.TB, cfg *config.Config) (*server, *journal, error) {
	t.Helper()
	log := &journal{}
	s, err := startServer(cfg, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.close()) })
	return s, log, s.open(t.Context())
}

// started is start for a server that must open.
func started(t testing.TB, cfg *config.Config) (*server, *journal) {
	t.Helper()
	s, log, err := start(t, cfg)
	require.NoError(t, err)
	return s, log
}

const nativeBlock = `
mount "%s" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://%s.db"
  warehouse_location = "%s"
}
`

func nativeText(name, file string) string { return fmt.Sprintf(nativeBlock, name, file, file) }

func restText(name, url, more string) string {
	return fmt.Sprintf("\nmount %q {\n  backend = \"rest\"\n  owner = \"acme\"\n  catalog_url = %q\n%s\n}\n", name, url, more)
}

// get asks a server and returns the status and the decoded answer.
func get(t *testing.T, client *http.Client, url string) (int, map[string]any) {
	t.Helper()
	resp, err := client.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var body map[string]any
	require.NoError(t, json.Unmarshal(text, &body), "%s", text)
	return resp.StatusCode, body
}

func connect(t *testing.T, url string) *sample.Catalog {
	t.Helper()
	c, err := sample.Connect(t.Context(), url, "")
	require.NoError(t, err)
	return c
}

func TestTablesAreThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, nativeText("/", "root")+nativeText("prod", "prod"))
	s, log := started(t, cfg)
	assert.Contains(t, log.String(), s.url())
	assert.Contains(t, log.String(), "prod (native)")
	assert.Contains(t, log.String(), "everybody who can reach this address is the operator")
	assert.Contains(t, log.String(), "anonymous principal")

	c := connect(t, s.url())
	require.NoError(t, fill(t.Context(), c, sample.Events("prod", "analytics", "events"), sample.Notes("scratch", "notes")))
	want, err := c.Tree(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.close())

	s, _ = started(t, cfg)
	c = connect(t, s.url())
	got, err := c.Tree(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)
	rows, err := c.CountRows(t.Context(), "prod", "analytics", "events")
	require.NoError(t, err)
	assert.EqualValues(t, 8, rows)
}

func TestServeCommandRunsUntilItIsStopped(t *testing.T) {
	path := write(t, "icefield.hcl", "server {\n  listen = \"127.0.0.1:0\"\n}\n"+nativeText("/", "root"))
	ctx, stop := context.WithCancel(t.Context())
	log := &journal{}
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"serve", "--config", path}, io.Discard, log) }()
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "serving http://") }, 30*time.Second, 5*time.Millisecond)

	var line struct{ Msg, Mounts, Authentication string }
	require.NoError(t, json.Unmarshal([]byte(strings.SplitN(log.String(), "\n", 2)[0]), &line), "the log is not JSON where it is no terminal")
	url := strings.TrimPrefix(line.Msg, "serving ")
	status, body := get(t, http.DefaultClient, url+"/ready")
	assert.Equal(t, http.StatusOK, status, body)
	stop()
	assert.Equal(t, exitOK, <-code, log.String())
	_, err := http.Get(url + "/ready")
	assert.Error(t, err)
}

func TestServeReportsABrokenConfigurationAndDoesNotStart(t *testing.T) {
	code, _, stderr := cli(t, "serve", "--config", "internal/config/testdata/broken/several.hcl")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "several.hcl:2:21")
	code, _, stderr = cli(t, "serve", "--config", "no-such-file.hcl")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "no-such-file.hcl")
}

func TestEmbeddedCatalogIsComplete(t *testing.T) {
	dir := t.TempDir()
	s, _ := started(t, load(t, dir, embedded))
	c := connect(t, s.url())
	require.NoError(t, c.CreateNamespace(t.Context(), "shop"))
	require.NoError(t, c.CreateNamespace(t.Context(), "shop", "eu"))
	require.NoError(t, c.CreateTable(t.Context(), sample.Orders("shop", "eu", "orders")))
	rows, err := c.CountRows(t.Context(), "shop", "eu", "orders")
	require.NoError(t, err)
	assert.EqualValues(t, 6, rows)
	assert.FileExists(t, filepath.Join(dir, "icefield-data", "catalog.db"))
	assert.DirExists(t, filepath.Join(dir, "icefield-data", "warehouse"))
}

func TestUnixSocketServesAndOutlivesAKilledServer(t *testing.T) {
	// A short path: a socket's address holds little more than a hundred bytes.
	dir, err := os.MkdirTemp("", "icefield")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	cfg := load(t, dir, "server {\n  listen = \"unix:s\"\n}\n"+nativeText("/", "root"))
	s, _ := started(t, cfg)
	require.Equal(t, "unix:"+dir+"/s", s.url())
	info, err := os.Stat(dir + "/s")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	client, base, err := reach{address: s.url()}.client()
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	status, body := get(t, client, base+"/v1/config")
	assert.Equal(t, http.StatusOK, status, body)

	_, err = startServer(cfg, slog.New(slog.DiscardHandler))
	assert.ErrorContains(t, err, "uses this socket")

	leaveSocketBehind(t, dir+"/dead")
	cfg = load(t, dir, "server {\n  listen = \"unix:dead\"\n}\n"+nativeText("/", "other"))
	started(t, cfg)

	require.NoError(t, os.WriteFile(dir+"/file", []byte("precious"), 0o600))
	cfg = load(t, dir, "server {\n  listen = \"unix:file\"\n}\n"+nativeText("/", "third"))
	_, err = startServer(cfg, slog.New(slog.DiscardHandler))
	assert.ErrorContains(t, err, "no socket")
	assert.FileExists(t, dir+"/file")
}

func TestTakenAddressIsNamed(t *testing.T) {
	s, _ := started(t, load(t, t.TempDir(), nativeText("/", "root")))
	cfg := load(t, t.TempDir(), nativeText("/", "root"))
	cfg.Server.Listen.Address = s.listener.Addr().String()
	_, err := startServer(cfg, slog.New(slog.DiscardHandler))
	assert.ErrorContains(t, err, cfg.Server.Listen.Address)
	assert.ErrorContains(t, err, "another program")
}

func TestSecondServerOnTheSameRegistryFailsWithASentence(t *testing.T) {
	dir := t.TempDir()
	started(t, load(t, dir, nativeText("/", "root")))
	_, _, err := start(t, load(t, dir, nativeText("/", "root")))
	assert.ErrorContains(t, err, `the mount "/" cannot be opened`)
	assert.ErrorContains(t, err, filepath.Join(dir, "root.db"))
	assert.ErrorContains(t, err, "in use by another process")
}
