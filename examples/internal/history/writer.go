package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// writer is one client.
type writer struct {
	load   *Load
	number int
	caller *caller
	random *rand.Rand
}

func (w *writer) run() {
	for !w.load.stopped() {
		var err error
		switch n := w.random.IntN(20); {
		case n < 8:
			err = w.append(w.load.groups[sharedGroups+w.number], 0)
		case n < 12:
			err = w.append(w.shared(), w.random.IntN(groupSize))
		case n < 15:
			err = w.append(w.shared(), 0, 1)
		case n < 17:
			g := w.load.groups[w.random.IntN(len(w.load.groups))]
			_, err = w.read(g, w.random.IntN(len(g.tables)))
		default:
			err = w.tree(w.load.trees[w.number%treeGroups], treeOp(w.random.IntN(len(treeOps))))
		}
		if err != nil {
			w.load.fail(fmt.Errorf("writer %d: %w", w.number, err))
			return
		}
	}
}

func (w *writer) shared() *group { return w.load.groups[w.random.IntN(sharedGroups)] }

func (w *writer) replica() int { return w.random.IntN(len(w.caller.servers)) }

// send sends a request until a server has seen it; ok is false if the load ends.
func (w *writer) send(method, path, key string, body any) (a answer, ok bool, err error) {
	for {
		a, err = w.caller.call(w.replica(), method, path, key, body)
		if err != nil || a.result != notSent {
			return a, true, err
		}
		if !w.load.wait() {
			return a, false, nil
		}
	}
}

// read loads a table and records what it showed; nil if there was no answer.
func (w *writer) read(g *group, index int) (*table, error) {
	begin := w.load.now()
	a, ok, err := w.send("GET", tablePath(space, g.tables[index])+"?snapshots=refs", "", nil)
	if err != nil || !ok || a.result == unknown || a.result == rejected {
		return nil, err
	}
	if a.result != applied {
		return nil, fmt.Errorf("loading %s: %d %s", g.tables[index], a.status, a.message)
	}
	t := &table{}
	if err := json.Unmarshal(a.body, t); err != nil {
		return nil, err
	}
	g.record(w.number, begin, w.load.now(), step{read: true, tables: []int{index}}, seen{snapshot: t.current()}, false)
	return t, nil
}

// append reads the tables and adds a snapshot to each of them, on condition that
// none of them changed meanwhile.
func (w *writer) append(g *group, tables ...int) error {
	s := step{tables: tables, id: w.load.ids.Add(1)}
	var changes []map[string]any
	for _, index := range tables {
		t, err := w.read(g, index)
		if err != nil || t == nil {
			return err
		}
		s.parents = append(s.parents, t.current())
		changes = append(changes, change(g.tables[index], t, s.id))
	}
	path, body := tablePath(space, g.tables[tables[0]]), any(changes[0])
	if len(tables) > 1 {
		path, body = "/transactions/commit", map[string]any{"table-changes": changes}
	}
	key := ""
	if w.load.Keys && w.random.IntN(2) == 0 {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		key = id.String()
	}
	begin := w.load.now()
	for {
		a, ok, err := w.send("POST", path, key, body)
		if err != nil {
			return err
		}
		if !ok {
			// With a key an earlier attempt may have been made.
			g.record(w.number, begin, w.load.now(), s, seen{}, key != "")
			return nil
		}
		if key != "" && (a.result == unknown || a.result == rejected) {
			if !w.load.wait() {
				g.record(w.number, begin, w.load.now(), s, seen{}, true)
				return nil
			}
			continue
		}
		w.load.note(a.result)
		return w.note(g, begin, s, a)
	}
}

func (w *writer) note(g *group, begin int64, s step, a answer) error {
	switch {
	case a.result == applied:
		g.record(w.number, begin, w.load.now(), s, seen{made: true}, false)
	case a.requirementFailed():
		g.record(w.number, begin, w.load.now(), s, seen{}, false)
	case a.result == unknown:
		g.record(w.number, begin, w.load.now(), s, seen{}, true)
	case a.status == 409 || a.result == rejected:
		// Refused for another reason than the state that the model knows (too many
		// writers, a stale sequence number): it must not have been made.
		g.never(s)
	default:
		return fmt.Errorf("appending to %s: %d %s", g.tables[s.tables[0]], a.status, a.message)
	}
	return nil
}

func change(name string, t *table, id int64) map[string]any {
	snapshot := map[string]any{
		"snapshot-id": id, "sequence-number": t.Metadata.Sequence + 1, "timestamp-ms": time.Now().UnixMilli(), "schema-id": 0,
		"summary": map[string]string{"operation": "append"}, "manifest-list": fmt.Sprintf("%s/metadata/snap-%d.avro", t.Metadata.Location, id),
	}
	var parent any
	if t.current() != 0 {
		parent = t.current()
		snapshot["parent-snapshot-id"] = parent
	}
	return map[string]any{
		"identifier":   map[string]any{"namespace": []string{space}, "name": name},
		"requirements": []any{map[string]any{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": parent}},
		"updates": []any{
			map[string]any{"action": "add-snapshot", "snapshot": snapshot},
			map[string]any{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": id},
		},
	}
}

// tree makes one change of a namespace with a table, or looks at it. After an
// answer that is lost the namespace is left alone, and the next one is used.
func (w *writer) tree(g *treeGroup, op treeOp) error {
	space := g.current()
	method, path, body := "GET", "/namespaces/"+space.name, any(nil)
	switch op {
	case createNamespace:
		method, path, body = "POST", "/namespaces", map[string]any{"namespace": []string{space.name}}
	case dropNamespace:
		method = "DELETE"
	case createTable:
		method, path, body = "POST", path+"/tables", createBody("table")
	case dropTable:
		method, path = "DELETE", tablePath(space.name, "table")
	case loadTable:
		path = tablePath(space.name, "table")
	}
	begin := w.load.now()
	a, ok, err := w.send(method, path, "", body)
	if err != nil || !ok {
		return err
	}
	if method != "GET" {
		w.load.note(a.result)
	}
	switch {
	case a.result == rejected, a.result == unknown && method == "GET":
		return nil
	case a.result == unknown:
		g.leave(space)
	}
	space.record(w.number, begin, w.load.now(), op, a.result)
	return nil
}
