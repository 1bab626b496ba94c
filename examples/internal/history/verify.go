package history

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkLimit bounds the search for an order that explains a history.
const checkLimit = 2 * time.Minute

// Verify checks, after Stop, everything that was recorded: every acknowledged
// append is in its table once, none that was refused is, a transaction is in both
// of its tables or in neither, all replicas show the same, every pointer and every
// file of its log that the catalog wrote is there (a file warehouse), each history
// is linearizable, and no table outlives its namespace.
func (l *Load) Verify(t testing.TB) {
	t.Helper()
	for _, err := range l.failures {
		t.Error(err)
	}
	for _, g := range l.groups {
		l.verifyGroup(t, g)
	}
	spaces := 0
	for _, g := range l.trees {
		for _, space := range g.spaces {
			l.verifyTree(t, space)
			spaces++
		}
	}
	t.Logf("%d changes: %d made, %d refused, %d rejected, %d without an answer; %d namespaces in %d groups; %v",
		l.ended.Load(), l.counts[applied], l.counts[refused], l.counts[rejected], l.counts[unknown], spaces, len(l.trees), time.Since(l.started).Round(time.Millisecond))
	if l.counts[applied] == 0 || l.counts[refused] == 0 {
		t.Error("the run shows nothing: no change was made, or no two met")
	}
}

// load reads a whole table from every replica.
func (l *Load) load(t testing.TB, name string) *table {
	t.Helper()
	c := newCaller(l.Servers, l.Prefix)
	var first *table
	for replica := range l.Servers {
		a, err := c.call(replica, "GET", tablePath(space, name), "", nil)
		if err != nil || a.result != applied {
			t.Fatalf("loading %s at the end: %d %s %v", name, a.status, a.body, err)
		}
		loaded := &table{}
		if err := json.Unmarshal(a.body, loaded); err != nil {
			t.Fatal(err)
		}
		if first != nil && first.Location != loaded.Location {
			t.Errorf("%s: replicas show %s and %s", name, first.Location, loaded.Location)
		}
		first = loaded
	}
	if path, local := strings.CutPrefix(first.Location, "file://"); local {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the pointer of %s: %v", name, err)
		}
	}
	return first
}

func (l *Load) verifyGroup(t testing.TB, g *group) {
	t.Helper()
	finals := make([]map[int64]bool, len(g.tables))
	for i, name := range g.tables {
		final := l.load(t, name)
		finals[i] = chain(t, name, final)
		g.known = append(g.known, porcupine.Operation{ClientId: l.Writers, Input: step{read: true, tables: []int{i}},
			Output: seen{snapshot: final.current()}, Call: math.MaxInt64 - 1, Return: math.MaxInt64})
	}
	for _, op := range g.known {
		if s := op.Input.(step); !s.read {
			g.expect(t, finals, s, op.Output.(seen).made)
		}
	}
	for _, s := range g.refused {
		g.expect(t, finals, s, false)
	}
	history := slices.Clone(g.known)
	for _, op := range g.doubtful {
		s := op.Input.(step)
		if made := finals[s.tables[0]][s.id]; made {
			g.expect(t, finals, s, true)
			op.Output, op.Return = seen{made: true}, math.MaxInt64-2
			history = append(history, op)
		} else {
			g.expect(t, finals, s, false)
		}
	}
	explain(t, strings.Join(g.tables, "+"), appends(), history)
}

// expect checks that an append is in all of its tables, or in none.
func (g *group) expect(t testing.TB, finals []map[int64]bool, s step, made bool) {
	t.Helper()
	for _, table := range s.tables {
		if finals[table][s.id] != made {
			t.Errorf("append %d to %s: in the table %v, and the client was told %v", s.id, g.tables[table], !made, made)
		}
	}
}

// chain checks that a table's snapshots are one chain without repetition, in the
// order of its log, and returns them.
func chain(t testing.TB, name string, final *table) map[int64]bool {
	t.Helper()
	ids, parents := map[int64]bool{}, map[int64]int64{}
	for _, s := range final.Metadata.Snapshots {
		if ids[s.ID] {
			t.Errorf("%s: snapshot %d stands twice", name, s.ID)
		}
		ids[s.ID] = true
		if s.Parent != nil {
			parents[s.ID] = *s.Parent
		}
	}
	last := int64(0)
	for _, entry := range final.Metadata.Log {
		if !ids[entry.ID] || parents[entry.ID] != last {
			t.Errorf("%s: the log has %d after %d, and its parent is %d", name, entry.ID, last, parents[entry.ID])
		}
		last = entry.ID
	}
	if len(final.Metadata.Log) != len(ids) || last != final.current() {
		t.Errorf("%s: %d snapshots, %d in the log; the last one is %d, the current one %d", name, len(ids), len(final.Metadata.Log), last, final.current())
	}
	return ids
}

func (l *Load) verifyTree(t testing.TB, s *treeSpace) {
	t.Helper()
	c := newCaller(l.Servers, l.Prefix)
	for i, look := range []struct {
		op   treeOp
		path string
	}{{loadNamespace, "/namespaces/" + s.name}, {loadTable, tablePath(s.name, "table")}, {loadNamespace, "/namespaces/" + s.name + "/tables"}} {
		for replica := range l.Servers {
			a, err := c.call(replica, "GET", look.path, "", nil)
			if err != nil || a.result != applied && a.result != refused {
				t.Fatalf("GET %s at the end: %d %s %v", look.path, a.status, a.body, err)
			}
			at := math.MaxInt64 - 10 + int64(2*i)
			s.record(l.Writers+replica, at, at+1, look.op, a.result)
		}
	}
	for i := range s.ops {
		if s.ops[i].Output == unknown {
			s.ops[i].Return = math.MaxInt64 // it may have come into effect at any time
		}
	}
	explain(t, s.name, trees(), s.ops)
}

// explain fails the test unless some order explains the history.
func explain(t testing.TB, name string, model porcupine.Model, history []porcupine.Operation) {
	t.Helper()
	outcome, info := porcupine.CheckOperationsVerbose(model, history, checkLimit)
	switch outcome {
	case porcupine.Ok:
		return
	case porcupine.Unknown:
		t.Errorf("%s: whether %d operations are linearizable was not found out in %v", name, len(history), checkLimit)
	default:
		t.Errorf("%s: %d operations are not linearizable", name, len(history))
	}
	file, err := os.CreateTemp("", "icefield-"+url.PathEscape(name)+"-*.html")
	if err != nil {
		return
	}
	defer file.Close()
	if porcupine.Visualize(model, info, file) == nil {
		t.Log(fmt.Sprintf("the history of %s, drawn: %s", name, file.Name()))
	}
}
