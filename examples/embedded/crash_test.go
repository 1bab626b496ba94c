package embedded

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/wire"
)

const (
	crashes = 12
	writers = 4
)

// writer commits to a table of its own and to one that all writers share, and makes and drops tables, one change after
// the other. What it knows is what a client knows: which changes were acknowledged, and which one was under way when the
// server died.
type writer struct {
	catalog *wire.Catalog
	name    string

	attempted, acknowledged int             // the last number committed to its own table, and the last of which it was told
	sharedAttempted         int             // the same for its key in the shared table
	sharedAcknowledged      int             //
	made                    map[string]bool // tables: true once their creation, false once their drop was acknowledged
	doubtful                map[string]bool // tables whose last change was under way
	pointers                map[string]bool // every metadata file of which it was told, until its table was dropped
	next                    int
	failures                []error
}

// change makes one change and reports whether the server is still there.
func (w *writer) change() bool {
	w.next++
	switch w.next % 4 {
	case 0:
		return w.createOrDrop()
	case 1:
		number := w.sharedAttempted + 1
		w.sharedAttempted = number
		_, alive := w.commit("shared", w.name, number)
		if alive {
			w.sharedAcknowledged = number
		}
		return alive
	default:
		w.attempted++
		table, alive := w.commit(w.name, "number", w.attempted)
		if alive {
			w.acknowledged = w.attempted
			w.pointers[table.MetadataLocation] = true
		}
		return alive
	}
}

// commit sets one property to a number, again as long as another commit comes between.
func (w *writer) commit(table, key string, number int) (*wire.Table, bool) {
	set := map[string]any{"action": "set-properties", "updates": map[string]string{key: strconv.Itoa(number)}}
	for {
		committed, err := w.catalog.Commit([]any{}, []any{set}, table, "crash")
		var refused *wire.Error
		switch {
		case err == nil:
			return committed, true
		case errors.As(err, &refused) && refused.Status == 409:
			continue
		case errors.As(err, &refused):
			w.failures = append(w.failures, fmt.Errorf("commit %d to %s: %w", number, table, err))
			return nil, false
		default:
			return nil, false
		}
	}
}

// createOrDrop makes a table, or drops the one that it made the time before.
func (w *writer) createOrDrop() bool {
	name := fmt.Sprintf("%s-made-%d", w.name, w.next/8)
	method, path, body := "POST", w.catalog.Namespace("crash")+"/tables", any(map[string]any{"name": name, "schema": wire.Schema()})
	if made, tried := w.made[name]; made {
		method, path, body = "DELETE", w.catalog.Table(name, "crash"), nil
	} else if tried || w.doubtful[name] {
		return true
	}
	w.doubtful[name] = true
	answer, err := w.catalog.Call(method, path, body)
	if err != nil {
		return false
	}
	if answer.Status != 200 && answer.Status != 204 {
		w.failures = append(w.failures, fmt.Errorf("%s %s: %v", method, name, answer))
		return false
	}
	delete(w.doubtful, name)
	w.made[name] = method == "POST"
	return true
}

// TestKilledServerKeepsWhatItAcknowledged kills the server with SIGKILL while clients commit, at moments spread over what
// a commit does, starts it again on the same folder and looks for everything that was acknowledged, again and again.
func TestKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	server, address := start(t)
	catalog := wire.New(address, "")
	catalog.MustCreateNamespace(t, "crash")
	catalog.MustCreateTable(t, "shared", "crash")
	var all []*writer
	for number := range writers {
		w := &writer{
			catalog: wire.New(address, ""), name: fmt.Sprintf("writer-%d", number),
			made: map[string]bool{}, doubtful: map[string]bool{}, pointers: map[string]bool{},
		}
		catalog.MustCreateTable(t, w.name, "crash")
		all = append(all, w)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for crash := range crashes {
		commitUntilKilled(t, server, all, time.Duration(20+random.IntN(300))*time.Millisecond)
		server.Restart(t)
		for _, w := range all {
			w.check(t, crash)
		}
		pointersHold(t, catalog)
		if t.Failed() {
			return
		}
	}
	total := 0
	for _, w := range all {
		total += w.acknowledged
	}
	if total < crashes*writers {
		t.Errorf("only %d commits were acknowledged: the test proves little", total)
	}
	t.Logf("%d crashes, %d acknowledged commits to tables of one writer", crashes, total)
}

// commitUntilKilled lets every writer change things until the server is killed, after the given time.
func commitUntilKilled(t *testing.T, server *launch.Process, all []*writer, after time.Duration) {
	t.Helper()
	var running sync.WaitGroup
	for _, w := range all {
		running.Go(func() {
			for w.change() {
			}
		})
	}
	timer := time.NewTimer(after)
	<-timer.C
	server.Kill()
	running.Wait()
	for _, w := range all {
		for _, failure := range w.failures {
			t.Error(failure)
		}
	}
}

// check compares what the restarted server has with what this writer was told.
func (w *writer) check(t *testing.T, crash int) {
	t.Helper()
	between := func(table, key string, acknowledged, attempted int) int {
		loaded, err := w.catalog.LoadTable(table, "crash")
		if err != nil {
			t.Fatalf("crash %d: %s: %v", crash, table, err)
		}
		got, _ := strconv.Atoi(loaded.Metadata.Properties[key])
		if got < acknowledged || got > attempted {
			t.Errorf("crash %d: %s in %s is %d, acknowledged was %d, attempted %d", crash, key, table, got, acknowledged, attempted)
		}
		return got
	}
	w.attempted = between(w.name, "number", w.acknowledged, w.attempted)
	w.acknowledged = w.attempted
	w.sharedAttempted = between("shared", w.name, w.sharedAcknowledged, w.sharedAttempted)
	w.sharedAcknowledged = w.sharedAttempted
	for name, there := range w.made {
		if w.doubtful[name] {
			continue
		}
		answer, err := w.catalog.Call("HEAD", w.catalog.Table(name, "crash"), nil)
		if want := map[bool]int{true: 204, false: 404}[there]; err != nil || answer.Status != want {
			t.Errorf("crash %d: %s: %v, %v, want %d", crash, name, answer, err, want)
		}
	}
	for location := range w.pointers {
		fileIsThere(t, location)
	}
}

// pointersHold loads every table that is listed and looks for the metadata file that its pointer names.
func pointersHold(t *testing.T, catalog *wire.Catalog) {
	t.Helper()
	listed, err := catalog.Tables("crash").All()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range listed {
		_, table, _ := strings.Cut(name, "\x1f")
		loaded, err := catalog.LoadTable(table, "crash")
		if err != nil {
			t.Errorf("%s is listed and cannot be loaded: %v", table, err)
			continue
		}
		fileIsThere(t, loaded.MetadataLocation)
	}
}

func fileIsThere(t *testing.T, location string) {
	t.Helper()
	parsed, err := url.Parse(location)
	if err != nil || parsed.Scheme != "file" {
		t.Fatalf("the metadata location %q is no file: %v", location, err)
	}
	if info, err := os.Stat(filepath.FromSlash(parsed.Path)); err != nil || info.Size() == 0 {
		t.Errorf("the metadata file %s is missing or empty: %v", location, err)
	}
}
