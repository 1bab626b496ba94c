package history

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Config is what to run.
type Config struct {
	// Servers are the base URLs of the replicas.
	Servers []string
	// Prefix is the path segment of the catalog after /v1; empty for none.
	Prefix string
	// Writers is how many clients run at once.
	Writers int
	// Keys makes half of the appends carry an Idempotency-Key; the catalog has to
	// honour it.
	Keys bool
	// Seed makes what the clients try the same again; their timing is not.
	Seed uint64
}

// sharedGroups is how many pairs of tables all writers append to, and treeGroups
// how many namespaces they create and drop.
const (
	sharedGroups = 4
	treeGroups   = 4
)

// Load is a running set of clients.
type Load struct {
	Config
	started time.Time
	stop    chan struct{}
	running sync.WaitGroup
	ended   atomic.Int64 // changes that came to an end
	ids     atomic.Int64

	mu       sync.Mutex
	up       chan struct{} // closed while a server may be tried
	progress *sync.Cond    // on mu: ended grew
	failures []error
	groups   []*group
	trees    []*treeGroup
	counts   map[result]int
}

// Start creates the tables and starts the clients. They run until Stop.
func Start(t testing.TB, cfg Config) *Load {
	t.Helper()
	l := &Load{Config: cfg, started: time.Now(), stop: make(chan struct{}), up: make(chan struct{}), counts: map[result]int{}}
	l.progress = sync.NewCond(&l.mu)
	close(l.up)
	setup := newCaller(cfg.Servers, cfg.Prefix)
	l.must(t, setup, "POST", "/namespaces", map[string]any{"namespace": []string{space}})
	for i := range sharedGroups {
		l.groups = append(l.groups, newGroup(fmt.Sprintf("shared-%d-a", i), fmt.Sprintf("shared-%d-b", i)))
	}
	for i := range cfg.Writers {
		l.groups = append(l.groups, newGroup(fmt.Sprintf("own-%d", i)))
	}
	for _, g := range l.groups {
		for _, name := range g.tables {
			l.must(t, setup, "POST", "/namespaces/"+space+"/tables", createBody(name))
		}
	}
	for i := range treeGroups {
		l.trees = append(l.trees, newTreeGroup(i))
	}
	for i := range cfg.Writers {
		w := &writer{load: l, number: i, caller: newCaller(cfg.Servers, cfg.Prefix),
			random: rand.New(rand.NewPCG(cfg.Seed, uint64(i)))} // #nosec G404 -- a run's seed must give the same load again
		l.running.Go(w.run)
	}
	t.Cleanup(l.Stop)
	return l
}

func (l *Load) must(t testing.TB, c *caller, method, path string, body any) {
	t.Helper()
	a, err := c.call(0, method, path, "", body)
	if err != nil || a.result != applied {
		t.Fatalf("%s %s: %d %s %v", method, path, a.status, a.body, err)
	}
}

// Await returns once so many more changes came to an end, whatever they came to.
func (l *Load) Await(t testing.TB, more int64) {
	t.Helper()
	target := l.ended.Load() + more
	limit := time.AfterFunc(2*time.Minute, func() { l.fail(fmt.Errorf("no %d changes came to an end in two minutes", more)) })
	defer limit.Stop()
	l.mu.Lock()
	for l.ended.Load() < target && len(l.failures) == 0 {
		l.progress.Wait()
	}
	failures := l.failures
	l.mu.Unlock()
	for _, err := range failures {
		t.Error(err)
	}
	if len(failures) > 0 {
		t.FailNow()
	}
}

// Down makes clients that meet a server that is gone wait for Up.
func (l *Load) Down() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.up:
		l.up = make(chan struct{})
	default:
	}
}

// Up lets clients try again.
func (l *Load) Up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.up:
	default:
		close(l.up)
	}
}

// Stop ends the clients and waits for them. The servers must be up.
func (l *Load) Stop() {
	l.mu.Lock()
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.mu.Unlock()
	l.Up()
	l.running.Wait()
}

func (l *Load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, err)
	l.progress.Broadcast()
}

// note counts a change that came to an end.
func (l *Load) note(r result) {
	l.ended.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[r]++
	l.progress.Broadcast()
}

// backoff is how long a client waits before it sends a request again.
const backoff = 2 * time.Millisecond

// wait waits until a server may be tried again, and a moment longer; false if the
// load ends.
func (l *Load) wait() bool {
	l.mu.Lock()
	up := l.up
	l.mu.Unlock()
	timer := time.NewTimer(backoff)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.stop:
		return false
	}
	select {
	case <-up:
	case <-l.stop:
		return false
	}
	return !l.stopped()
}

func (l *Load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (l *Load) now() int64 { return int64(time.Since(l.started)) }

const space = "history"

func createBody(name string) map[string]any {
	return map[string]any{"name": name, "schema": map[string]any{"type": "struct", "schema-id": 0,
		"fields": []any{map[string]any{"id": 1, "name": "id", "type": "long", "required": false}}}}
}
