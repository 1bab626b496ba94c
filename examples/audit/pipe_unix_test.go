//go:build unix

package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/policy/audit/audittest"
)

// collector reads a named pipe, may go away, and may come back.
type collector struct {
	path string
	pipe *os.File
	done chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{path: filepath.Join(t.TempDir(), "pipe")}
	require.NoError(t, unix.Mkfifo(c.path, 0o600))
	c.come(t)
	t.Cleanup(func() { c.leave(t) })
	return c
}

// come opens the pipe and reads on.
func (c *collector) come(t *testing.T) {
	t.Helper()
	// Open for writing too it does not wait for a writer, nor end with one.
	pipe, err := os.OpenFile(c.path, os.O_RDWR|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	c.pipe = pipe
	c.read()
}

func (c *collector) read() {
	done := make(chan struct{})
	c.done = done
	go func() {
		defer close(done)
		part := make([]byte, 64<<10)
		for {
			n, err := c.pipe.Read(part)
			c.mu.Lock()
			c.text.Write(part[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

// hang stops reading, and leaves the pipe open.
func (c *collector) hang(t *testing.T) {
	require.NoError(t, c.pipe.SetReadDeadline(time.Unix(1, 0)))
	<-c.done
}

// wake reads on.
func (c *collector) wake(t *testing.T) {
	require.NoError(t, c.pipe.SetReadDeadline(time.Time{}))
	c.read()
}

// leave closes the pipe.
func (c *collector) leave(t *testing.T) {
	if c.pipe == nil {
		return
	}
	assert.NoError(t, c.pipe.Close())
	<-c.done
	c.pipe = nil
}

func (c *collector) lines() ([]audittest.Line, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return audittest.Parse(c.text.Bytes())
}

// over is what befalls a trail that goes to a collector.
func (c *collector) over(l *lake) *trouble {
	return &trouble{lake: l, reasons: []string{"broken pipe"},
		begin: func(t *testing.T) {
			// What is in the pipe when its reader goes is lost, and nobody can count that: so it is read to the end of what
			// there is. The server writes events in their order.
			l.must(t, "barrier", "GET", "/namespaces", nil)
			require.Eventually(t, func() bool { lines, _ := c.lines(); return len(outcomesOf(lines)["barrier"]) > 0 }, 10*time.Second, time.Millisecond)
			c.leave(t)
		},
		end: c.come,
		read: func(t *testing.T) []audittest.Line {
			lines, torn := c.rest(t)
			require.Zero(t, torn)
			return lines
		}}
}

// rest is everything that was read, once nothing more comes from a server that has ended.
func (c *collector) rest(t *testing.T) (lines []audittest.Line, torn int) {
	require.Eventually(t, func() bool {
		before := len(lines)
		lines, torn = c.lines()
		return before > 0 && len(lines) == before
	}, 10*time.Second, 200*time.Millisecond)
	return lines, torn
}

// standardOutput is a server that writes the trail to a pipe as its standard output.
func standardOutput(t *testing.T, env ...string) *trouble {
	c := collect(t)
	out, err := os.OpenFile(c.path, os.O_WRONLY, 0)
	require.NoError(t, err)
	l := start(t, "stdout.hcl", out, env...)
	require.NoError(t, out.Close())
	return c.over(l)
}

// namedPipe is a server that writes the trail to a pipe that it opens itself.
func namedPipe(t *testing.T, env ...string) *trouble {
	c := collect(t)
	return c.over(start(t, "audit.hcl", nil, append(env, "AUDIT_PATH="+c.path)...))
}

func TestNothingIsDoneThatAClosedPipeKeepsFromTheTrail(t *testing.T) {
	t.Run("standard output", func(t *testing.T) { nothingIsDone(t, standardOutput(t)) })
	t.Run("named pipe", func(t *testing.T) { nothingIsDone(t, namedPipe(t)) })
}

func TestAClosedPipeLosesWhatIsCountedAndNothingElse(t *testing.T) {
	t.Run("standard output", func(t *testing.T) { everythingGoesOn(t, standardOutput(t, "AUDIT_FAIL_CLOSED=false")) })
	t.Run("named pipe", func(t *testing.T) { everythingGoesOn(t, namedPipe(t, "AUDIT_FAIL_CLOSED=false")) })
}

// A write to a pipe that nobody reads does not end. A server that is killed then has committed what is in the pipe, and
// nothing that would have come behind it.
func TestNothingIsCommittedThatATrailWhichIsStuckDoesNotHave(t *testing.T) {
	c := collect(t)
	l := start(t, "audit.hcl", nil, "AUDIT_PATH="+c.path)
	l.must(t, "shop", "POST", "/namespaces", map[string]any{"namespace": []string{"shop"}})
	l.must(t, "table", "POST", "/namespaces/shop/tables", map[string]any{"name": "one", "schema": wire.Schema()})
	c.hang(t)
	kill := make(chan struct{})
	var once sync.Once
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			for n := 0; ; n++ {
				answer, err := l.ask(fmt.Sprintf("client%d-%d", i, n), "POST", "/namespaces/shop/tables/one", map[string]any{"requirements": []any{},
					"updates": []any{map[string]any{"action": "set-properties", "updates": map[string]string{"n": strconv.Itoa(n)}}}})
				if err != nil {
					return
				}
				if answer.Status == 503 {
					once.Do(func() { close(kill) })
				} else if answer.Status != 200 && answer.Status != 409 {
					t.Errorf("%v", answer)
				}
			}
		})
	}
	select {
	case <-kill:
	case <-time.After(30 * time.Second):
		t.Error("nobody was refused")
	}
	l.Kill()
	running.Wait()
	c.wake(t)

	lines, torn := c.rest(t)
	assert.LessOrEqual(t, torn, 1)
	permitted := audittest.Permitted(lines)["lake"]
	rows := commitLog(t, filepath.Join(l.data, "lake.db"))
	for _, row := range rows {
		assert.True(t, permitted[row.RequestID], "generation %d was committed by the request %s, which is not in the trail", row.Generation, row.RequestID)
	}
	require.Greater(t, len(rows), 4, "the test proves little")
	t.Logf("%d lines, %d rows of the commit log", len(lines), len(rows))
}
