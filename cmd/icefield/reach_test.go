package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/cmd/icefield/internal/sample"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/native/store"
)

// leaveSocketBehind makes the socket file of a server that was killed.
func leaveSocketBehind(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
}

func TestRequiredMountsThatCannotBeReachedKeepTheServerFromStarting(t *testing.T) {
	gone := remote.New(t, remote.Options{})
	gone.Stop()
	_, _, err := start(t, load(t, t.TempDir(), nativeText("/", "root")+restText("partner", gone.URL, "")+restText("other", gone.URL, "")))
	assert.ErrorContains(t, err, `the mount "partner" cannot be opened`)
	assert.ErrorContains(t, err, `the mount "other" cannot be opened`)
	assert.ErrorContains(t, err, "required = false")
}

func TestMountThatIsNotRequiredIsNamedUntilItIsThere(t *testing.T) {
	partner := remote.New(t, remote.Options{})
	partner.AddTable([]string{"shared"}, "orders")
	partner.Stop()
	s, log := started(t, load(t, t.TempDir(), nativeText("/", "root")+restText("partner", partner.URL, "  required = false")))
	assert.Contains(t, log.String(), "partner (rest, read-only, not required)")
	status, body := get(t, http.DefaultClient, s.url()+"/ready")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, []any{"partner"}, body["down"])

	status, body = get(t, http.DefaultClient, s.url()+"/v1/namespaces/partner%1Fshared/tables")
	assert.Equal(t, http.StatusServiceUnavailable, status, body)
	assert.Contains(t, body["error"].(map[string]any)["message"], `"partner"`)

	partner.Start(t)
	c := connect(t, s.url())
	require.Eventually(t, func() bool {
		tree, err := c.Tree(t.Context())
		return err == nil && len(tree.Namespaces) == 1 && len(tree.Namespaces[0].Namespaces) == 1
	}, 30*time.Second, 20*time.Millisecond)
	require.Eventually(t, func() bool {
		_, body := get(t, http.DefaultClient, s.url()+"/ready")
		return len(body["down"].([]any)) == 0
	}, 30*time.Second, 20*time.Millisecond)
}

func TestMountThatWouldHideANamespaceKeepsTheServerFromStarting(t *testing.T) {
	dir := t.TempDir()
	s, _ := started(t, load(t, dir, nativeText("/", "root")))
	require.NoError(t, connect(t, s.url()).CreateNamespace(t.Context(), "prod"))
	require.NoError(t, s.close())
	_, _, err := start(t, load(t, dir, nativeText("/", "root")+nativeText("prod", "prod")))
	assert.ErrorContains(t, err, `mount "prod" would hide the namespace`)

	path := write(t, "icefield.hcl", strings.ReplaceAll(nativeText("/", "root")+nativeText("prod", "prod"), "bolt://", "bolt://"+dir+"/"))
	code, _, stderr := cli(t, "check", "--connect", path)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "would hide")
}

// freePort is a port that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func TestRequiredMountThatLeadsBackHereIsRefused(t *testing.T) {
	address := freePort(t)
	cfg := load(t, t.TempDir(), "server {\n  listen = \""+address+"\"\n}\n"+nativeText("/", "root")+restText("mirror", "http://"+address, ""))
	_, _, err := start(t, cfg)
	require.ErrorIs(t, err, mounts.Loop)
	assert.ErrorContains(t, err, `the mount "mirror" leads back to this server`)
	assert.ErrorContains(t, err, "catalog_url")
	assert.NotContains(t, err.Error(), "required = false")
}

func TestOptionalMountThatLeadsBackHereIsNamedInTheStatus(t *testing.T) {
	address := freePort(t)
	cfg := load(t, t.TempDir(), "server {\n  listen = \""+address+"\"\n}\n"+nativeText("/", "root")+restText("mirror", "http://"+address, "  required = false"))
	s, _ := started(t, cfg)
	require.Eventually(t, func() bool {
		table, err := fetchMounts(t.Context(), reach{address: s.url()})
		require.NoError(t, err)
		var mirror mountLine
		require.NoError(t, json.Unmarshal(table.Mounts[0], &mirror))
		require.Equal(t, "mirror", mirror.Name)
		return strings.Contains(mirror.LastError, "leads back")
	}, 30*time.Second, 20*time.Millisecond)
	status, body := get(t, http.DefaultClient, s.url()+"/v1/namespaces/mirror%1Fx")
	assert.Equal(t, http.StatusLoopDetected, status, body)
}

func TestLoopThroughAnotherServerIsRefused(t *testing.T) {
	first, second := freePort(t), freePort(t)
	a, _ := started(t, load(t, t.TempDir(), "server {\n  listen = \""+first+"\"\n}\n"+nativeText("/", "root")+restText("b", "http://"+second, "  required = false")))
	started(t, load(t, t.TempDir(), "server {\n  listen = \""+second+"\"\n}\n"+nativeText("/", "root")+restText("a", "http://"+first, "")))
	require.Eventually(t, func() bool {
		_, body := get(t, http.DefaultClient, a.url()+"/ready")
		return len(body["down"].([]any)) == 0
	}, 30*time.Second, 20*time.Millisecond)
	status, body := get(t, http.DefaultClient, a.url()+"/v1/namespaces?parent=b%1Fa")
	assert.Equal(t, http.StatusLoopDetected, status, body)
	assert.Equal(t, "LoopDetectedException", body["error"].(map[string]any)["type"])
}

func TestFrontServesASisterBesideItsOwn(t *testing.T) {
	sister, _ := started(t, load(t, t.TempDir(), nativeText("/", "root")))
	require.NoError(t, fill(t.Context(), connect(t, sister.url()), sample.Orders("shared", "orders")))
	front, _ := started(t, load(t, t.TempDir(), nativeText("prod", "prod")+restText("partner", sister.url(), "")))
	c := connect(t, front.url())
	require.NoError(t, fill(t.Context(), c, sample.Events("prod", "analytics", "events")))
	tree, err := c.Tree(t.Context())
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"partner", "shared", "orders"}, {"prod", "analytics", "events"}}, tablePaths(tree, nil))
	rows, err := c.CountRows(t.Context(), "partner", "shared", "orders")
	require.NoError(t, err)
	assert.EqualValues(t, 6, rows)

	err = c.CreateNamespace(t.Context(), "partner", "new")
	var refused *sample.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, http.StatusNotImplemented, refused.Status)
	assert.Contains(t, refused.Message, `"partner"`)

	view, err := sample.Connect(t.Context(), front.url(), "partner")
	require.NoError(t, err)
	rows, err = view.CountRows(t.Context(), "shared", "orders")
	require.NoError(t, err)
	assert.EqualValues(t, 6, rows)
}

func TestMountsShowsEachMount(t *testing.T) {
	s, _ := started(t, load(t, t.TempDir(), nativeText("/", "root")+nativeText("prod", "prod")))
	code, stdout, stderr := cli(t, "mounts", "--url", s.url())
	require.Equal(t, exitOK, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 3)
	assert.Regexp(t, `^MOUNT +BACKEND`, lines[0])
	assert.Regexp(t, `^prod +native +- +prod +acme +yes +read-write +- +up +closed`, lines[1])
	assert.Regexp(t, `^/ +native +- +root +acme +yes +read-write +- +up +closed`, lines[2])

	code, stdout, _ = cli(t, "mounts", "--url", s.url(), "--output", "json")
	require.Equal(t, exitOK, code)
	var table struct{ Mounts []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(stdout), &table))
	assert.NotEmpty(t, table.Mounts[0]["endpoints"])
}

func TestMountsSaysWhenNobodyAnswers(t *testing.T) {
	code, stdout, stderr := cli(t, "mounts", "--url", "http://"+freePort(t))
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "no icefield answers at http://127.0.0.1:")
	code, _, stderr = cli(t, "mounts", "--url", "127.0.0.1:8181")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "is no address")
	other := remote.New(t, remote.Options{})
	code, _, stderr = cli(t, "mounts", "--url", other.URL)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, other.URL+" answered 404")
}

func TestADatabaseThatIsAwayAtStartMayBeWaitedFor(t *testing.T) {
	m := config.Mount{Name: "prod", Kind: config.KindNative}
	away := unopened(m, fmt.Errorf("postgres: %w: connection refused", store.ErrUnavailable))
	if !strings.Contains(away.Error(), "required = false") || !errors.Is(away, store.ErrUnavailable) {
		t.Errorf("was told %v", away)
	}
	if held := unopened(m, errors.New("the file is in use")); strings.Contains(held.Error(), "required = false") {
		t.Errorf("was told %v", held)
	}
}
