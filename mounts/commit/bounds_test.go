package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// repeated is n updates that f writes.
func repeated(n int, f func(int) string) []json.RawMessage {
	all := make([]json.RawMessage, n)
	for i := range all {
		all[i] = json.RawMessage(f(i))
	}
	return all
}

// A request of the largest number of updates, of any kind, on a table that such
// requests have made large, costs about a second. Whatever costs the square of
// that number would take minutes.
func TestTheLongestCommitsEndSoon(t *testing.T) {
	const n = maxUpdates
	base := made(t, 3)
	var head int64
	step := func(name string, updates []json.RawMessage) {
		t.Helper()
		began := time.Now()
		res, err := Table(&Base{Metadata: base}, &mounts.CommitTableRequest{Table: ident, Updates: updates}, fixed())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		base = res.Metadata
		took := time.Since(began)
		t.Logf("%-22s %v, %d bytes", name, took.Round(time.Millisecond), len(base))
		if took > time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}
	step("add-schema", repeated(n, func(i int) string {
		return addSchema(fmt.Sprintf(`{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"ts","required":false,"type":"timestamptz"},{"id":3,"name":"c%d","required":false,"type":"int"}]}`, i))
	}))
	step("add-spec", repeated(n, func(i int) string {
		return addSpec(fmt.Sprintf(`{"source-id":1,"name":"b%d","transform":"bucket[%d]"}`, i, i+1))
	}))
	step("add-sort-order", repeated(n, func(i int) string {
		return addOrder(9, fmt.Sprintf(`{"source-id":1,"transform":"bucket[%d]","direction":"asc","null-order":"nulls-first"}`, i+1))
	}))
	step("add-snapshot", repeated(n, func(i int) string {
		head = int64(1000 + i)
		parent := int64(0)
		if i > 0 {
			parent = head - 1
		}
		return snap(3, head, parent, int64(i+1), now+int64(i), rows(int64(i), 1))
	}))
	step("set-snapshot-ref", repeated(n, func(i int) string { return setRef(fmt.Sprintf("r%d", i), "tag", int64(1000+i)) }))
	step("main to and fro", repeated(n, func(i int) string { return setRef("main", "branch", int64(1000+i)) }))
	step("set-statistics", repeated(n, func(i int) string {
		return fmt.Sprintf(`{"action":"set-statistics","statistics":{"snapshot-id":%d,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`, 1000+i)
	}))
	step("set-properties", append(repeated(n-1, func(i int) string {
		return fmt.Sprintf(`{"action":"set-properties","updates":{"k%d":%q}}`, i, strings.Repeat("v", 100))
	}), json.RawMessage(`{"action":"remove-properties","removals":["k0"]}`)))
	step("add-encryption-key", repeated(n, func(i int) string {
		return addKey(fmt.Sprintf(`"key-id":"k%d","encrypted-key-metadata":"AQ=="`, i))
	}))
	step("remove-encryption-key", repeated(n, func(i int) string { return removeKey(fmt.Sprint("k", i)) }))
	step("add and choose schemas", repeated(n, func(i int) string {
		return fmt.Sprintf(`{"action":"set-current-schema","schema-id":%d}`, i)
	}))
	step("remove-schemas", repeated(n-1, func(i int) string { return fmt.Sprintf(`{"action":"remove-schemas","schema-ids":[%d]}`, i) }))
	step("remove-snapshots", repeated(n-1, func(i int) string {
		return fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, 1000+i)
	}))
	if _, err := Inspect(base); err != nil {
		t.Fatal(err)
	}
}

func TestTheLongestViewCommitEndsSoon(t *testing.T) {
	doc := aView(t, nil)
	for range 2 {
		began := time.Now()
		res, err := View(&Base{Metadata: doc}, &mounts.ReplaceViewRequest{View: viewIdent, Updates: repeated(maxUpdates, func(i int) string {
			return addVersion(versionOf(1, 0, now, query("spark", fmt.Sprint(i)), query("trino", "x")))
		})}, fixed())
		if err != nil {
			t.Fatal(err)
		}
		doc = res.Metadata
		took := time.Since(began)
		t.Logf("%v, %d bytes", took.Round(time.Millisecond), len(doc))
		if took > time.Minute {
			t.Errorf("took %v", took)
		}
	}
}
