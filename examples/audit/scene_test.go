package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/audit/audittest"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

const (
	adminKey    = "admin-of-acme-0123456789"
	operatorKey = "operator-0123456789"
)

// lake is a running server.
type lake struct {
	*launch.Process
	url, data, trail string
	catalog          *wire.Catalog
}

// start runs a configuration, with its standard output where it is wanted.
func start(t *testing.T, config string, stdout *os.File, env ...string) *lake {
	t.Helper()
	return startWith(t, func(*lake) {}, config, stdout, env...)
}

// startWith is start on a folder that is prepared.
func startWith(t *testing.T, prepare func(*lake), config string, stdout *os.File, env ...string) *lake {
	t.Helper()
	l := &lake{data: t.TempDir()}
	address := launch.FreeAddress(t)
	l.url, l.trail = "http://"+address, filepath.Join(l.data, "audit", "audit.jsonl")
	require.NoError(t, os.Mkdir(filepath.Dir(l.trail), 0o700))
	prepare(l)
	env = append([]string{"AUDIT_LISTEN=" + address, "AUDIT_DATA=" + l.data, "AUDIT_ADMIN=" + adminKey, "AUDIT_OPERATOR=" + operatorKey}, env...)
	launch.Check(t, env, config)
	l.Process = launch.Start(t, launch.Command{Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", config},
		Env: env, Ready: l.url + "/ready", Stdout: stdout})
	l.catalog = wire.New(l.url, "lake")
	return l
}

// ask sends a request under an id of its own as acme's admin.
func (l *lake) ask(id, method, path string, body any) (*wire.Answer, error) {
	return l.catalog.CallWithHeader(http.Header{"X-Api-Key": {adminKey}, "X-Request-Id": {id}}, method, path, body)
}

// must is ask for what has to succeed.
func (l *lake) must(t *testing.T, id, method, path string, body any) *wire.Answer {
	t.Helper()
	answer, err := l.ask(id, method, path, body)
	require.NoError(t, err, id)
	require.Contains(t, []int{200, 204}, answer.Status, "%s: %v", id, answer)
	return answer
}

// look reads a page of the server as its operator.
func (l *lake) look(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequest("GET", l.url+path, nil)
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", operatorKey)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode, "%s: %s", path, text)
	return string(text)
}

// health is what /ready says of the trail.
func (l *lake) health(t *testing.T) (state, reason string) {
	t.Helper()
	var ready struct {
		Components []struct{ Name, State, Reason string }
	}
	require.NoError(t, json.Unmarshal([]byte(l.look(t, "/ready")), &ready))
	for _, c := range ready.Components {
		if c.Name == "audit" {
			return c.State, c.Reason
		}
	}
	t.Fatal("/ready has no component audit")
	return "", ""
}

// await waits until the trail is in a state.
func (l *lake) await(t *testing.T, state string) {
	t.Helper()
	require.Eventually(t, func() bool { now, _ := l.health(t); return now == state }, 20*time.Second, 50*time.Millisecond, "the trail is not %s", state)
}

// counted is what the metric says of an outcome.
func (l *lake) counted(t *testing.T, outcome string) int {
	t.Helper()
	name := fmt.Sprintf("icefield_audit_events_total{outcome=%q} ", outcome)
	_, rest, ok := strings.Cut(l.look(t, "/metrics"), name)
	require.True(t, ok, "no metric %s", name)
	value, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(value)
	require.NoError(t, err)
	return n
}

// stop ends the server in order, so that everything is written.
func (l *lake) stop(t *testing.T) {
	t.Helper()
	l.catalog.Close()
	require.NoError(t, l.Stop(20*time.Second))
}

// outcomesOf are the outcomes in a trail by request id.
func outcomesOf(lines []audittest.Line) map[string][]string {
	found := map[string][]string{}
	for _, line := range lines {
		found[line.RequestID] = append(found[line.RequestID], line.Outcome)
	}
	return found
}

// told is how many events the trail itself says were lost and refused.
func told(lines []audittest.Line) (lost, refused int) {
	for _, line := range lines {
		lost, refused = lost+line.Lost, refused+line.Refused
	}
	return lost, refused
}

// The events of a change that succeeds, and of a read.
var (
	ofChange = []string{policy.Permitted, policy.Done}
	ofRead   = []string{policy.Done}
)
