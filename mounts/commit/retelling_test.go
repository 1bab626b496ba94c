package commit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// retell says what the engine understood of the updates so that the library
// cannot misunderstand it. Each update is looked at with the engine's documents
// before and after it.
func (p *pair) retell() ([]json.RawMessage, []string, []func(map[string]any), error) {
	t := &told{base: decoded(p.base), removed: map[any]int{}}
	if id, ok := t.base["current-snapshot-id"].(json.Number); ok && id != "-1" {
		t.main = id
	}
	for i, raw := range p.updates {
		u := decoded(raw)
		if sent, ok := u["snapshot"].(map[string]any); ok {
			t.nextRow = max(t.nextRow, number(sent["first-row-id"])+number(sent["added-rows"]))
		}
		if ids, ok := u["snapshot-ids"].([]any); ok {
			for _, id := range ids {
				t.removed[id] = i
			}
		}
	}
	before, words, whys, mend := t.base, []json.RawMessage{}, []string{}, []func(map[string]any){}
	for i, raw := range p.updates {
		after, err := p.prefix(i + 1)
		if err != nil {
			// This one is refused: so it shall be by the library, as it is.
			return append(words, raw), whys, mend, nil
		}
		r := retelling{told: t, at: i, before: before, after: after, update: decoded(raw)}
		r.tell()
		if r.why == "" {
			words = append(words, raw)
		} else if !slices.Contains(whys, r.why) {
			whys = append(whys, r.why)
		}
		for _, u := range r.words {
			out, err := json.Marshal(u)
			if err != nil {
				return nil, nil, nil, err
			}
			words = append(words, out)
		}
		mend, before = append(mend, r.mend...), after
	}
	return words, whys, mend, nil
}

// prefix is the engine's document after the first n updates, before it is asked
// whether everything fits together.
func (p *pair) prefix(n int) (map[string]any, error) {
	_, updates, err := parseRequest(&mounts.CommitTableRequest{Updates: p.updates[:n]})
	if err != nil {
		return nil, err
	}
	s, err := load(p.base, Options{Now: p.now}.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := s.applyAll(updates); err != nil {
		return nil, err
	}
	s.rebind = false
	res, err := s.finish("")
	if err != nil {
		return nil, err
	}
	return decoded(res.Metadata), nil
}

// told is what the retellings of one commit share.
type told struct {
	base    map[string]any
	nextRow int64       // behind the rows of all snapshots of the commit
	removed map[any]int // snapshot ids, with the last update that removes them
	main    any         // in the library
	fresh   bool        // a snapshot that the commit adds was main in the library
	spec    any         // the spec that -1 stands for here and not in the library
}

// adds reports whether the commit adds a snapshot.
func (t *told) adds(id any) bool {
	return id != nil && entryWith(t.base, "snapshots", "snapshot-id", id) == nil
}

// retelling is one update, in other words if why is set.
type retelling struct {
	*told
	at                    int
	before, after, update map[string]any
	why                   string
	words                 []map[string]any
	mend                  []func(map[string]any)
}

// goes reports whether this commit removes a snapshot later.
func (r *retelling) goes(id any) bool {
	last, removed := r.removed[id]
	return removed && last >= r.at
}

func (r *retelling) say(why string, words ...map[string]any) { r.why, r.words = why, words }

func (r *retelling) tell() {
	u := r.update
	refs, _ := r.before["refs"].(map[string]any)
	switch u["action"] {
	case "remove-snapshot-ref":
		switch head := r.before["current-snapshot-id"]; {
		case refs[u["ref-name"].(string)] == nil:
			r.say(missingRef)
		case u["ref-name"] != "main":
		case r.main != head:
			r.sayWithoutMain(unseenRemoved)
		case r.fresh:
			r.sayWithoutMain(unseen)
		default:
			r.main = nil
		}
	case "remove-snapshots":
		ids, head := u["snapshot-ids"].([]any), r.before["current-snapshot-id"]
		switch {
		case !slices.Contains(ids, head) && !slices.Contains(ids, r.main):
		case r.main != head:
			r.sayWithoutMain(unseenRemoved, u)
		default:
			r.sayWithoutMain(currentRemoved, u)
		}
	case "set-properties", "remove-properties":
		for _, key := range []string{"updates", "updated"} {
			if set, ok := u[key].(map[string]any); ok && set["format-version"] != nil {
				delete(set, "format-version")
				r.say(reservedNames, u)
			}
		}
		for _, key := range []string{"removals", "removed"} {
			if names, ok := u[key].([]any); ok && slices.Contains(names, "uuid") {
				u[key] = slices.DeleteFunc(names, func(n any) bool { return n == "uuid" })
				r.say(reservedNames, u)
			}
		}
	case "set-location":
		if text := u["location"].(string); strings.HasSuffix(text, "/") {
			u["location"] = strings.TrimRight(text, "/")
			r.say(trailingSlash, u)
		}
	case "enable-row-lineage":
		r.say(lineage)
	case "add-encryption-key":
		id := u["encryption-key"].(map[string]any)["key-id"]
		if entryWith(r.before, "encryption-keys", "key-id", id) != nil {
			r.say(knownKey)
		}
	case "add-sort-order":
		if order := u["sort-order"].(map[string]any); len(order["fields"].([]any)) == 0 && order["order-id"] != json.Number("0") {
			order["order-id"] = json.Number("0")
			r.say(unsorted, u)
		}
	case "add-schema":
		r.tellSchema()
	case "add-spec":
		r.tellSpec()
	case "add-snapshot":
		r.tellSnapshot()
	case "set-default-spec":
		if u["spec-id"] == json.Number("-1") && r.spec != nil {
			u["spec-id"] = r.spec
			r.say(repeatedSpec, u)
		}
	case "set-default-sort-order":
		if u["sort-order-id"] == json.Number("0") && entryWith(r.before, "sort-orders", "order-id", json.Number("0")) == nil {
			r.say(absentUnsorted, map[string]any{"action": "add-sort-order", "sort-order": map[string]any{"order-id": 0, "fields": []any{}}}, u)
		}
	case "set-snapshot-ref":
		if u["ref-name"] == "main" {
			r.tellMain(refs)
		}
	}
}

// sayWithoutMain is say after main is gone.
func (r *retelling) sayWithoutMain(why string, words ...map[string]any) {
	if r.main != nil {
		words = append([]map[string]any{{"action": "remove-snapshot-ref", "ref-name": "main"}}, words...)
	}
	r.say(why, words...)
	r.mend = append(r.mend, r.hide)
	r.main = nil
}

func (r *retelling) tellMain(refs map[string]any) {
	ref, _ := refs["main"].(map[string]any)
	id := r.update["snapshot-id"]
	if r.goes(id) {
		r.say(unseenRemoved)
		return
	}
	if r.main == id && r.before["current-snapshot-id"] != id {
		// Back from where the library never was.
		r.say(unseenRemoved, r.update)
		r.mend = append(r.mend, func(theirs map[string]any) {
			log := logOf(theirs)
			for i := len(log) - 1; i >= 0; i-- {
				if log[i]["snapshot-id"] == id {
					setLog(theirs, slices.Insert(log, i, maps.Clone(log[i])))
					return
				}
			}
		})
	}
	r.main, r.fresh = id, r.fresh || r.adds(id)
	if ref != nil && ref["snapshot-id"] == id {
		sent := maps.Clone(r.update)
		maps.DeleteFunc(sent, func(key string, _ any) bool { return key == "action" || key == "ref-name" })
		if reflect.DeepEqual(sent, ref) {
			return
		}
		r.say(retention, r.update)
		r.mend = append(r.mend, func(theirs map[string]any) {
			log := logOf(theirs)
			for i := len(log) - 2; i >= 0; i-- {
				if log[i]["snapshot-id"] == log[i+1]["snapshot-id"] {
					setLog(theirs, slices.Delete(log, i, i+1))
					return
				}
			}
		})
		return
	}
	log, added := logOf(r.before), entryWith(r.before, "snapshots", "snapshot-id", id)
	if len(log) == 0 || added == nil || !r.adds(id) {
		return
	}
	if last := log[len(log)-1]["timestamp-ms"]; number(last) > number(added["timestamp-ms"]) {
		if r.why == "" {
			r.say(afterRollback, r.update)
		}
		r.mend = append(r.mend, func(theirs map[string]any) {
			for _, e := range slices.Backward(logOf(theirs)) {
				if e["snapshot-id"] == id {
					e["timestamp-ms"] = last
					return
				}
			}
		})
	}
}

func logOf(doc map[string]any) []map[string]any {
	entries, _ := doc["snapshot-log"].([]any)
	log := make([]map[string]any, len(entries))
	for i, e := range entries {
		log[i] = e.(map[string]any)
	}
	return log
}

// setLog replaces a log. The library leaves empty ones out.
func setLog(doc map[string]any, log []map[string]any) {
	delete(doc, "snapshot-log")
	if len(log) == 0 {
		return
	}
	entries := make([]any, len(log))
	for i, e := range log {
		entries[i] = e
	}
	doc["snapshot-log"] = entries
}

func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

// hide takes out of the log what was added by this commit and is not current.
func (r *retelling) hide(theirs map[string]any) {
	setLog(theirs, slices.DeleteFunc(logOf(theirs), func(e map[string]any) bool {
		id := e["snapshot-id"]
		return id != theirs["current-snapshot-id"] && r.adds(id)
	}))
}

// tellSchema gives the schema the id that it got.
func (r *retelling) tellSchema() {
	before, after := r.before["schemas"].([]any), r.after["schemas"].([]any)
	if len(after) == len(before) {
		return
	}
	added := after[len(after)-1].(map[string]any)
	schema := r.update["schema"].(map[string]any)
	if schema["schema-id"] != added["schema-id"] {
		schema["schema-id"] = added["schema-id"]
		r.say(proposedSchema, r.update)
	}
}

// tellSpec gives the spec and its fields the ids that they got; those of the
// spec that was found, if it is a repeated one.
func (r *retelling) tellSpec() {
	before, after := r.before["partition-specs"].([]any), r.after["partition-specs"].([]any)
	says := func(spec any) string {
		var all []string
		for _, f := range spec.(map[string]any)["fields"].([]any) {
			f := f.(map[string]any)
			all = append(all, fmt.Sprint(f["source-id"], f["name"], f["transform"]))
		}
		return strings.Join(all, ";")
	}
	sent := r.update["spec"]
	r.spec = nil
	if len(after) > len(before) {
		added := after[len(after)-1].(map[string]any)
		r.say(fillsFieldID, map[string]any{"action": "add-spec", "spec": added})
		r.tellVoid(added)
		return
	}
	for _, spec := range before {
		if says(spec) == says(sent) {
			r.say(repeatedSpec)
			r.spec = spec.(map[string]any)["spec-id"]
			return
		}
	}
}

// tellVoid gives a field whose column is gone another one, for the time being.
func (r *retelling) tellVoid(spec map[string]any) {
	schema := entryWith(r.after, "schemas", "schema-id", r.after["current-schema-id"])
	for _, f := range spec["fields"].([]any) {
		f := f.(map[string]any)
		gone := f["source-id"]
		if entryWith(schema, "fields", "id", gone) != nil {
			continue
		}
		f["source-id"] = json.Number("1")
		r.why = voidGone
		r.mend = append(r.mend, func(theirs map[string]any) {
			lists := []any{theirs["partition-spec"]}
			if spec := entryWith(theirs, "partition-specs", "spec-id", spec["spec-id"]); spec != nil {
				lists = append(lists, spec["fields"])
			}
			for _, list := range lists {
				if e := entryWith(map[string]any{"fields": list}, "fields", "name", f["name"]); e != nil {
					e["source-id"] = gone
				}
			}
		})
	}
}

func (r *retelling) tellSnapshot() {
	sent := r.update["snapshot"].(map[string]any)
	if number(sent["first-row-id"]) > number(r.before["next-row-id"]) {
		r.say(lateRows, r.update)
		r.mend = append(r.mend, func(theirs map[string]any) { theirs["next-row-id"] = json.Number(fmt.Sprint(r.nextRow)) })
	}
	if last := number(r.after["last-sequence-number"]); number(sent["sequence-number"]) < last {
		// The library could not read what it would write.
		low := sent["sequence-number"]
		sent["sequence-number"] = json.Number(fmt.Sprint(last))
		r.say(lowSequence, r.update)
		r.mend = append(r.mend, func(theirs map[string]any) {
			if e := entryWith(theirs, "snapshots", "snapshot-id", sent["snapshot-id"]); e != nil {
				e["sequence-number"] = low
			}
		})
	}
}

// entryWith finds the entry of a list whose member has a value.
func entryWith(doc map[string]any, list, key string, value any) map[string]any {
	entries, _ := doc[list].([]any)
	for _, e := range entries {
		if e, ok := e.(map[string]any); ok && e[key] == value {
			return e
		}
	}
	return nil
}
