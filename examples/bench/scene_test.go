//go:build peers

package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
)

// scene is everything that is measured, running.
type scene struct {
	remote, proxy, nginx, icefield string
	pids                           map[string]int // by address
}

func open(t testing.TB) *scene {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{pids: map[string]int{}}
	role := func(name string) string {
		address := launch.FreeAddress(t)
		s.pids["http://"+address] = launch.Start(t, launch.Command{Name: name, Path: self, Ready: "http://" + address + "/v1/config",
			Env: []string{roleEnv + "=" + name, listenEnv + "=" + address, remoteEnv + "=" + s.remote}}).PID()
		return "http://" + address
	}
	s.remote = role("remote")
	s.proxy = role("proxy")
	s.startNginx(t)

	address := launch.FreeAddress(t)
	s.icefield = "http://" + address
	config, err := filepath.Abs("bench.hcl")
	if err != nil {
		t.Fatal(err)
	}
	s.pids[s.icefield] = launch.Start(t, launch.Command{Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", config},
		Env: []string{listenEnv + "=" + address, remoteEnv + "=" + s.remote}, Ready: s.icefield + "/ready"}).PID()
	return s
}

func (s *scene) startNginx(t testing.TB) {
	t.Helper()
	path, err := exec.LookPath("nginx")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Fatal("nginx is missing: apt-get install nginx")
		}
	}
	text, err := os.ReadFile("nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	folder, address := t.TempDir(), launch.FreeAddress(t)
	config := filepath.Join(folder, "nginx.conf")
	user := ""
	if os.Geteuid() == 0 { // or its workers could not write to the folder
		user = "user root;"
	}
	filled := strings.NewReplacer("{folder}", folder, "{user}", user, "{remote}", strings.TrimPrefix(s.remote, "http://"), "{listen}", address).Replace(string(text))
	if err := os.WriteFile(config, []byte(filled), 0o600); err != nil {
		t.Fatal(err)
	}
	process := launch.Start(t, launch.Command{Name: "nginx", Path: path, Args: []string{"-p", folder, "-e", filepath.Join(folder, "start.log"), "-c", config},
		Ready: "http://" + address + "/v1/config"})
	t.Cleanup(func() { // asked to end, it takes its workers along
		if err := process.Stop(10 * time.Second); err != nil {
			t.Error(err)
		}
	})
	s.nginx = "http://" + address
	s.pids[s.nginx] = process.PID()
}

// path is where a table is loaded from: at a server that speaks the remote's own
// names, or below a mount.
func path(mount, namespace string, table int) string {
	if mount != "" {
		namespace = mount + "%1F" + namespace
	}
	return fmt.Sprintf("/v1/namespaces/%s/tables/t%d", namespace, table)
}

// counts is how many calls reached the remote, and how many of them it answered
// with a whole table.
func (s *scene) counts(t testing.TB) (calls, whole int) {
	t.Helper()
	_, body := get(t, s.remote+"/counts")
	if _, err := fmt.Sscan(body, &calls, &whole); err != nil {
		t.Fatal(err)
	}
	return calls, whole
}

func get(t testing.TB, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}
