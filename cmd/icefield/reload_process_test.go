package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is the program, serving a configuration.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	url string
}

// serveProcess starts the program on a file or folder. The test's end asks it to
// stop, and it must do that well.
func serveProcess(t *testing.T, path string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], "serve", "--config", path)}
	p.cmd.Env = append(os.Environ(), "ICEFIELD_TEST_BE_MAIN=1")
	log, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, p.cmd.Wait())
	})
	p.url = lookForURL(t, log)
	return p
}

// reloads waits until the configuration was read again that often with an
// outcome, changes apart that were seen twice.
func (p *process) reloads(outcome string, n int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		return metricOf(scrape(p.t, p.url), fmt.Sprintf("icefield_config_reloads_total{outcome=%q}", outcome)) >= float64(n)
	}, time.Minute, 20*time.Millisecond)
}

func (p *process) knows(warehouse string, want bool) {
	p.t.Helper()
	status, _ := get(p.t, http.DefaultClient, p.url+"/v1/config?warehouse="+warehouse)
	assert.Equal(p.t, want, status == 200, "%s: %d", warehouse, status)
}

// put replaces a file as careful editors do: by renaming another one over it.
func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+"~", []byte(text), 0o600))
	require.NoError(t, os.Rename(path+"~", path))
}

func TestAHangupHasTheConfigurationReadAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "icefield.hcl")
	put(t, path, anyPort+nativeText("/", "root"))
	p := serveProcess(t, path)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.reloads(reloadUnchanged, 1)
	put(t, path, anyPort+nativeText("/", "root")+nativeText("prod", "prod"))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.reloads(reloadApplied, 1)
	p.knows("prod", true)
	put(t, path, anyPort+nativeText("/", "root")+"mount")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.reloads(reloadRefused, 1)
	p.knows("prod", true)
	code, out, problems := cli(t, "mounts", "--url", p.url)
	assert.Equal(t, exitOK, code, problems)
	assert.Regexp(t, `(?m)^configuration refused \d+s ago: the configuration has a mistake`, out)
}

func TestAChangedFileIsNoticed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "icefield.hcl")
	owner := filepath.Join(dir, "owner.txt")
	put(t, owner, "acme")
	put(t, path, anyPort+nativeText("/", "root"))
	p := serveProcess(t, path)
	put(t, path, anyPort+strings.Replace(nativeText("/", "root"), `"acme"`, `file("owner.txt")`, 1)+nativeText("prod", "prod"))
	p.reloads(reloadApplied, 1)
	p.knows("prod", true)
	put(t, owner, "other") // a file that a value comes from
	p.reloads(reloadApplied, 2)
	_, body := get(t, http.DefaultClient, p.url+"/admin/v1/mounts")
	assert.Equal(t, "other", body["mounts"].([]any)[1].(map[string]any)["owner"])
	// A file that is gone for a moment, or written in place and half.
	require.NoError(t, os.Remove(path))
	p.reloads(reloadRefused, 1)
	p.knows("prod", true)
	require.NoError(t, os.WriteFile(path, []byte(anyPort+nativeText("/", "root")), 0o600))
	p.reloads(reloadApplied, 3)
	p.knows("prod", false)
}

func TestFilesThatComeAndGoInAFolderAreNoticed(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "server.hcl"), anyPort)
	put(t, filepath.Join(dir, "root.hcl"), nativeText("/", "root"))
	p := serveProcess(t, dir)
	put(t, filepath.Join(dir, "prod.hcl"), nativeText("prod", "prod"))
	p.reloads(reloadApplied, 1)
	p.knows("prod", true)
	put(t, filepath.Join(dir, "notes.txt"), "no configuration")
	require.NoError(t, os.Remove(filepath.Join(dir, "prod.hcl")))
	p.reloads(reloadApplied, 2)
	p.knows("prod", false)
}

// A Kubernetes config map is a folder of links into a folder that is a link, and
// that is what changes.
func TestAFolderThatIsSwappedByALinkIsNoticed(t *testing.T) {
	dir := t.TempDir()
	data := t.TempDir() // paths in the files are absolute: they lie somewhere else each time
	absolute := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, "bolt://", "bolt://"+data+"/"), `warehouse_location = "`, `warehouse_location = "`+data+"/")
	}
	version := func(name, text string) {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		put(t, filepath.Join(dir, name, "icefield.hcl"), absolute(anyPort+text))
	}
	swap := func(name string) {
		require.NoError(t, os.Symlink(name, filepath.Join(dir, "..tmp")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
	}
	version("..1", nativeText("/", "root"))
	swap("..1")
	require.NoError(t, os.Symlink(filepath.Join("..data", "icefield.hcl"), filepath.Join(dir, "icefield.hcl")))
	p := serveProcess(t, dir)
	version("..2", nativeText("/", "root")+nativeText("prod", "prod"))
	swap("..2")
	p.reloads(reloadApplied, 1)
	p.knows("prod", true)
}
