package commit

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

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

// allocated is how much memory f asks for: a measure of work that does not depend
// on how busy the machine is.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// longCommits are commits of n updates each, of every kind that can come in
// numbers. Each finds the table that those before it have made large.
func longCommits(n int) map[string][]json.RawMessage {
	return map[string][]json.RawMessage{
		"a add-schema": repeated(n, func(i int) string {
			return addSchema(fmt.Sprintf(`{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"ts","required":false,"type":"timestamptz"},{"id":3,"name":"c%d","required":false,"type":"int"}]}`, i))
		}),
		"b add-spec": repeated(n, func(i int) string {
			return addSpec(fmt.Sprintf(`{"source-id":1,"name":"b%d","transform":"bucket[%d]"}`, i, i+1))
		}),
		"c add-sort-order": repeated(n, func(i int) string {
			return addOrder(9, fmt.Sprintf(`{"source-id":1,"transform":"bucket[%d]","direction":"asc","null-order":"nulls-first"}`, i+1))
		}),
		"d add-snapshot": repeated(n, func(i int) string {
			parent := int64(0)
			if i > 0 {
				parent = int64(999 + i)
			}
			return snap(3, int64(1000+i), parent, int64(i+1), now+int64(i), rows(int64(i), 1))
		}),
		"e set-snapshot-ref": repeated(n, func(i int) string { return setRef(fmt.Sprintf("r%d", i), "tag", int64(1000+i)) }),
		"f move main":        repeated(n, func(i int) string { return setRef("main", "branch", int64(1000+i)) }),
		"g set-statistics": repeated(n, func(i int) string {
			return fmt.Sprintf(`{"action":"set-statistics","statistics":{"snapshot-id":%d,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`, 1000+i)
		}),
		"h set-properties": repeated(n, func(i int) string {
			return fmt.Sprintf(`{"action":"set-properties","updates":{"k%d":%q}}`, i, strings.Repeat("v", 100))
		}),
		"i remove-properties": repeated(n, func(i int) string { return fmt.Sprintf(`{"action":"remove-properties","removals":["k%d"]}`, i) }),
		"j add-encryption-key": repeated(n, func(i int) string {
			return addKey(fmt.Sprintf(`"key-id":"k%d","encrypted-key-metadata":"AQ=="`, i))
		}),
		"k remove-encryption-key": repeated(n, func(i int) string { return removeKey(fmt.Sprint("k", i)) }),
		"l set-current-schema": repeated(n, func(i int) string {
			return fmt.Sprintf(`{"action":"set-current-schema","schema-id":%d}`, i)
		}),
		"m remove-schemas": repeated(n-1, func(i int) string { return fmt.Sprintf(`{"action":"remove-schemas","schema-ids":[%d]}`, i) }),
		"n remove-statistics": repeated(n, func(i int) string {
			return fmt.Sprintf(`{"action":"remove-statistics","snapshot-id":%d}`, 1000+i)
		}),
		"o remove-snapshot-ref": repeated(n, func(i int) string {
			return fmt.Sprintf(`{"action":"remove-snapshot-ref","ref-name":"r%d"}`, i)
		}),
		"p remove-snapshots": repeated(n-1, func(i int) string {
			return fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, 1000+i)
		}),
	}
}

func TestTheCostOfACommitGrowsNoFasterThanItsLength(t *testing.T) {
	const short, long = 250, 4 * 250
	costs := map[int]map[string]uint64{short: {}, long: {}}
	for n, cost := range costs {
		base, commits := made(t, 3), longCommits(n)
		for _, name := range slices.Sorted(maps.Keys(commits)) {
			cost[name] = allocated(func() {
				res, err := Table(&Base{Metadata: base}, &mounts.CommitTableRequest{Table: ident, Updates: commits[name]}, fixed())
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				base = res.Metadata
			})
		}
		if _, err := Inspect(base); err != nil {
			t.Fatal(err)
		}
	}
	for name, cost := range costs[short] {
		if ratio := float64(costs[long][name]) / float64(cost); ratio > 8 {
			t.Errorf("four times the updates of %s cost %.1f times as much", name, ratio)
		}
	}
}

func TestTheCostOfAViewCommitGrowsNoFasterThanItsLength(t *testing.T) {
	cost := func(n int) (total uint64) {
		doc := aView(t, nil)
		for range 2 {
			total += allocated(func() {
				res, err := View(&Base{Metadata: doc}, &mounts.ReplaceViewRequest{View: viewIdent, Updates: repeated(n, func(i int) string {
					return addVersion(versionOf(1, 0, now, query("spark", fmt.Sprint(i)), query("trino", "x")))
				})}, fixed())
				if err != nil {
					t.Fatal(err)
				}
				doc = res.Metadata
			})
		}
		return total
	}
	if ratio := float64(cost(1000)) / float64(cost(250)); ratio > 8 {
		t.Errorf("four times the versions cost %.1f times as much", ratio)
	}
}
