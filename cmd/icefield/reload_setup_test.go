package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alive is a server whose configuration the test changes.
type alive struct {
	*server
	t    *testing.T
	dir  string
	path string
	log  *journal
	*reloader
}

// serveAlive starts a server on a configuration file. Only what the test does
// makes it read the file again.
func serveAlive(t *testing.T, text string) *alive {
	t.Helper()
	a := &alive{t: t, dir: t.TempDir()}
	a.path = filepath.Join(a.dir, "icefield.hcl")
	a.write(text)
	from := newOrigin(a.path)
	cfg, report := from.read()
	var b strings.Builder
	require.NoError(t, report.WriteText(&b))
	require.False(t, report.HasErrors(), b.String())
	a.server, a.log = started(t, cfg)
	a.reloader = newReloader(a.server, from.read)
	return a
}

const anyPort = "server {\n  listen = \"127.0.0.1:0\"\n}\n"

func (a *alive) write(text string) {
	a.t.Helper()
	if !strings.Contains(text, "server {") {
		text = anyPort + text
	}
	require.NoError(a.t, os.WriteFile(a.path, []byte(text), 0o600))
}

// change writes another configuration and has it read.
func (a *alive) change(text string) {
	a.t.Helper()
	a.write(text)
	a.reload(a.t.Context())
}

// applied is change for what must be put into effect.
func (a *alive) applied(text string) {
	a.t.Helper()
	before := a.metric(`icefield_config_reloads_total{outcome="applied"}`)
	a.change(text)
	require.Equal(a.t, before+1, a.metric(`icefield_config_reloads_total{outcome="applied"}`), a.log.String())
}

// refused is change for what must not, and returns the reason that /ready gives.
func (a *alive) refused(text string) string {
	a.t.Helper()
	before := a.metric(`icefield_config_reloads_total{outcome="refused"}`)
	a.change(text)
	require.Equal(a.t, before+1, a.metric(`icefield_config_reloads_total{outcome="refused"}`), a.log.String())
	state, reason := a.configuration()
	require.Equal(a.t, "refused", state)
	return reason
}

// configuration is what /ready says of it. The server is ready, whatever that is.
func (a *alive) configuration() (state, reason string) {
	a.t.Helper()
	status, body := get(a.t, http.DefaultClient, a.url()+"/ready")
	require.Equal(a.t, http.StatusOK, status)
	component := body["components"].([]any)[0].(map[string]any)
	require.Equal(a.t, "configuration", component["name"])
	_, err := time.Parse(time.RFC3339, component["since"].(string))
	require.NoError(a.t, err)
	reason, _ = component["reason"].(string)
	return component["state"].(string), reason
}

// scrape is the text of /metrics.
func scrape(t *testing.T, url string) string {
	t.Helper()
	rec := httptest.NewRecorder()
	resp, err := http.Get(url + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = rec.Body.ReadFrom(resp.Body)
	require.NoError(t, err)
	return rec.Body.String()
}

// metric is the value of a series; -1 for one that is not there.
func metricOf(text, series string) float64 {
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	var value float64
	for _, c := range m[1] {
		if c < '0' || c > '9' {
			return -2
		}
		value = value*10 + float64(c-'0')
	}
	return value
}

func (a *alive) metric(series string) float64 { return metricOf(scrape(a.t, a.url()), series) }

// mountsShown are the mounts of /admin/v1/mounts, by name.
func (a *alive) mountsShown() map[string]map[string]any {
	a.t.Helper()
	_, body := get(a.t, http.DefaultClient, a.url()+"/admin/v1/mounts")
	shown := map[string]map[string]any{}
	for _, m := range body["mounts"].([]any) {
		row := m.(map[string]any)
		shown[row["name"].(string)] = row
	}
	return shown
}

// connections counts a server's open connections.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]bool
}

// counted is a test server whose open connections are counted.
func counted(t *testing.T, h http.Handler) (url string, c *connections) {
	t.Helper()
	c = &connections{open: map[net.Conn]bool{}}
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch state {
		case http.StateNew:
			c.open[conn] = true
		case http.StateClosed, http.StateHijacked:
			delete(c.open, conn)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, c
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// plainRemote is a remote catalog that holds one namespace, "a".
func plainRemote(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/v1/config":
		_, _ = w.Write([]byte(`{"defaults":{},"overrides":{}}`))
	case "/v1/namespaces":
		_, _ = w.Write([]byte(`{"namespaces":[["a"]]}`))
	default:
		_, _ = w.Write([]byte(`{"namespace":["a"],"properties":{}}`))
	}
}

// goroutinesSteady is how many goroutines there are once those of a server that has
// just begun to serve have all started: the number stays the same for a while.
func goroutinesSteady(t *testing.T) int {
	t.Helper()
	number, same := 0, 0
	require.Eventually(t, func() bool {
		if now := runtime.NumGoroutine() - 1; now != number { // but for this one
			number, same = now, 0
		}
		same++
		return same == 30
	}, 30*time.Second, 10*time.Millisecond)
	return number
}

// goroutinesSettle waits until there are no more goroutines than before, but for
// the one that looks.
func goroutinesSettle(t *testing.T, before int) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	if !assert.Eventually(t, func() bool {
		http.DefaultClient.CloseIdleConnections()
		return runtime.NumGoroutine() <= before+1
	}, 30*time.Second, 20*time.Millisecond) {
		buf := make([]byte, 1<<20)
		t.Logf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
	}
}
