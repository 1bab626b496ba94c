package audit

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/audit/audittest"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// memory is a sink whose writes a test decides about.
type memory struct {
	mu     sync.Mutex
	text   []byte
	writes int
	// fail, if set, says how much of a write succeeds, and its error.
	fail func(p []byte) (int, error)
	// gate, if set, is received from before each write.
	gate chan struct{}
}

func (m *memory) write(p []byte) (int, error) {
	m.mu.Lock()
	gate, fail := m.gate, m.fail
	m.mu.Unlock()
	if gate != nil {
		<-gate
	}
	n, err := len(p), error(nil)
	if fail != nil {
		n, err = fail(p)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	m.text = append(m.text, p[:n]...)
	return n, err
}

func (m *memory) failWith(f func(p []byte) (int, error)) {
	m.mu.Lock()
	m.fail = f
	m.mu.Unlock()
}

func (m *memory) lines(t *testing.T) (lines []audittest.Line, torn int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	return audittest.Parse(m.text)
}

// count is how many writes there were.
func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

func (m *memory) torn() bool    { return false }
func (m *memory) group() int    { return 1 << 20 }
func (m *memory) reopen() error { return nil }
func (m *memory) close() error  { return nil }

// openMemory makes a log in front of a memory.
func openMemory(m *memory, opt Options) *Log {
	if opt.Queue == 0 {
		opt.Queue = DefaultQueue
	}
	if opt.Logger == nil {
		opt.Logger = quiet
	}
	return newLog(m, opt).start()
}

func openTestFile(t *testing.T, opt Options) *Log {
	t.Helper()
	opt.Sink = File
	if opt.Logger == nil {
		opt.Logger = quiet
	}
	log, err := Open(opt)
	require.NoError(t, err)
	return log
}

func event(id string) policy.Event {
	return policy.Event{
		Principal: &policy.Principal{ID: "corp/alice", Tenant: "acme", Login: "oidc"}, RequestID: id, Action: "commitTable", Catalog: "icefield",
		Resource: policy.Resource{Kind: policy.KindTable, Mount: "prod", Path: mounts.Namespace{"prod", "a"}, Name: "t"},
		Policies: []string{"builtin/writer"}, Outcome: policy.Permitted,
	}
}

func numberedEvent(i int) policy.Event { return event(strconv.Itoa(i)) }

// record records an event that must be written.
func record(log *Log, id string) error { return log.Record(context.Background(), event(id), true) }

// note records one that need not.
func note(t *testing.T, log *Log, id string) {
	t.Helper()
	require.NoError(t, log.Record(context.Background(), event(id), false))
}

// gathered lets what nobody waits for be written, inside a synctest bubble.
func gathered() {
	time.Sleep(lingers)
	synctest.Wait()
}

func ids(lines []audittest.Line) (all []string) {
	for _, l := range lines {
		if l.Operation == "audit_lost" {
			all = append(all, "lost "+strconv.Itoa(l.Lost)+" refused "+strconv.Itoa(l.Refused))
			continue
		}
		all = append(all, l.RequestID)
	}
	return all
}

// requireRefused checks that an error tells a client to come again, and nothing of
// the inside.
func requireRefused(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, mounts.Unavailable)
	e := mounts.AsError(err)
	require.Positive(t, e.RetryAfter)
	require.False(t, e.OutcomeUnknown)
	require.Contains(t, e.Message(), "nothing was changed")
	require.NotContains(t, e.Message(), "/")
}

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
