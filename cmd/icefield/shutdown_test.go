package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gate is a remote catalog whose namespaces are loaded when the test says so.
type gate struct {
	url     string
	asked   chan struct{}
	release chan struct{}
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{asked: make(chan struct{}, 1), release: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/config" {
			_, _ = w.Write([]byte(`{"defaults":{},"overrides":{}}`))
			return
		}
		g.asked <- struct{}{}
		select {
		case <-g.release:
		case <-r.Context().Done():
			return
		}
		_, _ = w.Write([]byte(`{"namespace":["slow"],"properties":{}}`))
	}))
	t.Cleanup(s.Close)
	g.url = s.URL
	return g
}

// ask sends a request that stays under way until the gate opens.
func (g *gate) ask(url string) <-chan int {
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Get(url + "/v1/namespaces/partner%1Fslow")
		if err != nil {
			answered <- 0
			return
		}
		defer resp.Body.Close()
		answered <- resp.StatusCode
	}()
	<-g.asked
	return answered
}

// refusesConnections waits until an address takes no connections any more.
func refusesConnections(t *testing.T, address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 30*time.Second, 5*time.Millisecond)
}

func TestShutdownLetsRequestsUnderWayFinish(t *testing.T) {
	g := newGate(t)
	s, _ := started(t, load(t, t.TempDir(), restText("partner", g.url, "")))
	answered := g.ask(s.url())
	closed := make(chan error, 1)
	go func() { closed <- s.close() }()
	refusesConnections(t, s.listener.Addr().String())
	close(g.release)
	assert.Equal(t, http.StatusOK, <-answered)
	assert.NoError(t, <-closed)
}

func TestShutdownCutsRequestsOffAfterTheGrace(t *testing.T) {
	g := newGate(t)
	s, log := started(t, load(t, t.TempDir(), "server {\n  shutdown_grace = \"0s\"\n}\n"+restText("partner", g.url, "")))
	answered := g.ask(s.url())
	assert.NoError(t, s.close())
	assert.Equal(t, 0, <-answered)
	assert.Contains(t, log.String(), "cut off")
}

func TestServerThatIsOpeningAnswersAtOnce(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	tell := sync.OnceFunc(func() { close(reached) })
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tell()
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"defaults":{},"overrides":{}}`))
	}))
	defer slow.Close()
	s, err := startServer(load(t, t.TempDir(), restText("partner", slow.URL, "")), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	opened := make(chan error, 1)
	go func() { opened <- s.open(t.Context()) }()
	<-reached
	for _, path := range []string{"/v1/config", "/v1/namespaces", "/ready"} {
		status, body := get(t, http.DefaultClient, s.url()+path)
		assert.Equal(t, http.StatusServiceUnavailable, status, path)
		e := body["error"].(map[string]any)
		assert.EqualValues(t, 503, e["code"])
		assert.Equal(t, "ServiceUnavailableException", e["type"])
		assert.Contains(t, e["message"], "starting")
	}
	status, body := get(t, http.DefaultClient, s.url()+"/health")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "alive", body["status"])
	close(release)
	require.NoError(t, <-opened)
	status, _ = get(t, http.DefaultClient, s.url()+"/ready")
	assert.Equal(t, http.StatusOK, status)
	require.NoError(t, s.close())
}

func TestStoppingWhileOpeningIsNoFailure(t *testing.T) {
	reached := make(chan struct{})
	tell := sync.OnceFunc(func() { close(reached) })
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		tell()
		<-r.Context().Done()
	}))
	defer hung.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	cfg := load(t, t.TempDir(), restText("partner", hung.URL, ""))
	go func() { ended <- serve(ctx, cfg, nil, nil, slog.New(slog.DiscardHandler)) }()
	<-reached
	stop()
	assert.NoError(t, <-ended)
}

// TestSecondSignalEndsTheProcessAtOnce runs the program as a process of its own: the first signal lets
// the request under way finish, the second ends the process at once.
func TestSecondSignalEndsTheProcessAtOnce(t *testing.T) {
	g := newGate(t)
	defer close(g.release)
	path := write(t, "icefield.hcl", "server {\n  listen = \"127.0.0.1:0\"\n  shutdown_grace = \"10m\"\n}\n"+restText("partner", g.url, ""))
	cmd := exec.Command(os.Args[0], "serve", "--config", path)
	cmd.Env = append(os.Environ(), "ICEFIELD_TEST_BE_MAIN=1")
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(log)
	next := func(word string) (msg string) {
		for lines.Scan() {
			var line struct{ Msg string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && strings.HasPrefix(line.Msg, word) {
				return strings.TrimPrefix(line.Msg, word)
			}
		}
		require.Fail(t, "the log ended before "+word)
		return ""
	}
	url := next("serving ")
	answered := g.ask(url)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	next("shutting down")
	refusesConnections(t, strings.TrimPrefix(url, "http://"))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	err = cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, syscall.SIGTERM, exit.Sys().(syscall.WaitStatus).Signal())
	assert.Equal(t, 0, <-answered)
}
