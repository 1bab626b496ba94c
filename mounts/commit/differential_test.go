package commit

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/icefield/icefield/mounts"
)

var seed = flag.Uint64("seed", 20_260_802, "where the random commits of the differential tests begin")

// The differences between the engine and iceberg-go's builder that are meant,
// each with the side that is right by the specification or the reference
// implementation. A difference that none of them explains fails the test, and
// so does one of them that never shows.

// refusedHere are requests that the engine refuses and the library takes, by a
// part of the refusal.
var refusedHere = map[string]string{
	"that never changes":                     "another UUID: engines find their table by it",
	"the snapshot's parent":                  "a snapshot whose parent does not exist: history would have a hole",
	"a day after this server's clock":        "a snapshot from the far future: no commit could follow it",
	"belong to v3 tables":                    "row ids of a snapshot before v3: the specification has none",
	"names the schema":                       "a snapshot with a schema that is not there",
	"the statistics are about":               "statistics of a snapshot that is not there",
	"which the current schema of":            "a current schema without a column that the default spec or order uses: refused by Java too",
	"the default partition spec applies":     "a current schema that changes such a column's type: refused by Java too",
	"is behind the table's next-row-id":      "row ids that a late snapshot of the same commit has taken",
	"main is a branch":                       "main as a tag: refused by the specification",
	"the partition spec applies":             "a transform of a column that it does not take: refused by Java too",
	"must be greater than 0":                 "a retention of 0: it means nothing, and the library takes it for none",
	"identifier fields are required columns": "an optional identifier field: refused by the specification and Java",
	"has no \"initial-default\"":             "a new required column without a value for old rows: refused by the specification",
}

// Differences in what comes of a request that the engine takes. Each is proved
// by saying to the library in other words what the engine understood: then both
// have to agree on everything.
const (
	missingRef     = "removing a ref that is not there: a no-op here and in Java, an error in the library"
	currentRemoved = "removing the current snapshot: drops main here and in Java, an error in the library"
	reservedNames  = "setting or removing a reserved property: left out here, an error in the library"
	fillsFieldID   = "a partition field without an id: the next free one, or that of the same field, here; 1000 again in the library"
	repeatedSpec   = "a repeated partition spec: found here and in Java, whatever its id; checked again, or added again, by the library"
	proposedSchema = "a proposed schema id above the next one: not taken here and in Java, taken by the library"
	retention      = "main with new retention on the same snapshot: no log entry here, one in the library"
	lateRows       = "a first-row-id beyond next-row-id: counted from there here, from next-row-id in the library"
	lowSequence    = "a snapshot without parent and with a low sequence number: the table's stays here, falls in the library"
	trailingSlash  = "a location with a slash at its end: without it here and in Java's catalogs, with it in the library"
	knownKey       = "an encryption key under a known id: the old one stays here and in Java, is replaced in the library"
	unseen         = "a snapshot that was added and left by main in one commit that then removes main: no log entry here and in Java, one in the library"
	unseenRemoved  = "a snapshot that one commit makes current and removes: leaves no trace here; in the library and Java the log loses all before it"
	voidGone       = "a void partition field of a column that is gone: how v1 drops fields here and in Java, an error in the library"
	afterRollback  = "a rollback and an append in one commit: the log never runs backwards here; in the library the append has its own, earlier time"
	absentUnsorted = "sort order 0 where the table has none: any table can be unsorted here, an error in the library"
	unsorted       = "a sort order without fields under another id than 0: order 0 here, an error in the library"
	lineage        = "enable-row-lineage: a no-op on v3 here, unknown to the library"
)

var explained = []string{missingRef, currentRemoved, reservedNames, fillsFieldID, repeatedSpec, proposedSchema, retention, lateRows,
	lowSequence, trailingSlash, knownKey, unseen, unseenRemoved, voidGone, afterRollback, absentUnsorted, unsorted, lineage}

// pair is one commit on both sides.
type pair struct {
	base    json.RawMessage
	meta    table.Metadata // the base, for the library
	updates []json.RawMessage
	now     time.Time
	here    *Result
	refusal error          // of the engine
	next    table.Metadata // what comes of it, once compared
}

// clocks matches what the library's clock is in.
var clocks = regexp.MustCompile(`"last-updated-ms":\d+`)

func newPair(base json.RawMessage, meta table.Metadata, updates []json.RawMessage, now time.Time) *pair {
	p := &pair{base: base, meta: meta, updates: updates, now: now}
	p.here, p.refusal = p.run(updates)
	return p
}

func (p *pair) run(updates []json.RawMessage) (*Result, error) {
	return Table(&Base{Metadata: p.base, Location: "s3://b/t/metadata/1.json"},
		&mounts.CommitTableRequest{Table: ident, Updates: updates}, Options{Now: p.now})
}

// library applies updates with iceberg-go and writes the result.
func (p *pair) library(updates []json.RawMessage) (out json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	text, err := json.Marshal(updates)
	if err != nil {
		return nil, err
	}
	var list table.Updates
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	meta, err := table.UpdateTableMetadata(p.meta, list, "s3://b/t/metadata/1.json")
	if err != nil {
		return nil, err
	}
	return json.Marshal(meta)
}

// difference says how the sides differ; empty if they agree. mend is what the
// library's document needs before it is compared.
func (p *pair) difference(theirs json.RawMessage, err error, mend ...func(map[string]any)) string {
	switch {
	case p.refusal != nil && err != nil:
		return ""
	case p.refusal != nil || err != nil:
		return fmt.Sprintf("here:    %v\nlibrary: %v", p.refusal, err)
	}
	meta, err := table.ParseMetadataBytes(p.here.Metadata)
	if err != nil {
		return fmt.Sprintf("the library cannot read the engine's result: %v", err)
	}
	p.next = meta
	ours, err := json.Marshal(meta)
	if err != nil {
		return fmt.Sprintf("the library cannot write the engine's result: %v", err)
	}
	if len(mend) == 0 && p.here.Changed && bytes.Equal(clocks.ReplaceAll(ours, nil), clocks.ReplaceAll(theirs, nil)) {
		return ""
	}
	a, b := decoded(ours), decoded(theirs)
	delete(a, "last-updated-ms")
	delete(b, "last-updated-ms")
	for _, f := range mend {
		f(b)
	}
	p.dropTimes(a)
	p.dropTimes(b)
	if !p.here.Changed {
		delete(a, "metadata-log")
		delete(b, "metadata-log")
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[key]; !ok {
			return fmt.Sprintf("%s is only in the library: %v", key, b[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !reflect.DeepEqual(a[key], b[key]) {
			return fmt.Sprintf("%s\nhere:    %v\nlibrary: %v", key, a[key], b[key])
		}
	}
	return ""
}

// dropTimes takes the times out of the log that do not come from a snapshot of
// this commit.
func (p *pair) dropTimes(m map[string]any) {
	for _, e := range logOf(m) {
		if id := fmt.Sprint(e["snapshot-id"]); !slices.ContainsFunc(p.updates, func(u json.RawMessage) bool {
			return strings.Contains(string(u), `"snapshot":{"snapshot-id":`+id+`,`)
		}) {
			delete(e, "timestamp-ms")
		}
	}
}

func decoded(doc json.RawMessage) map[string]any {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(string(doc)))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		panic(err)
	}
	return m
}

// explain says why the sides differ: the reasons of the list that apply. It
// fails if they are not the whole truth.
func (p *pair) explain(difference string) ([]string, error) {
	if p.refusal != nil {
		for part, why := range refusedHere {
			if strings.Contains(p.refusal.Error(), part) {
				return []string{why}, nil
			}
		}
	}
	words, whys, mend, err := p.retell()
	if err != nil {
		return nil, err
	}
	theirs, err := p.library(words)
	if left := p.difference(theirs, err, mend...); left != "" {
		return nil, fmt.Errorf("said in other words for %q, what is left is %s", whys, left)
	}
	return whys, nil
}

// tally counts what a differential test has seen.
type tally struct {
	sync.Mutex
	commits, refused int
	shown            map[string]int // differences that showed alone
	applied          map[string]int // updates of commits that both sides took, by format and action
}

func TestRandomCommitsAgreeWithTheLibraryButForNamedDifferences(t *testing.T) {
	const sequences, shards, life = 10_240, 8, 10
	seen := &tally{shown: map[string]int{}, applied: map[string]int{}}
	t.Run("shards", func(t *testing.T) {
		for shard := range uint64(shards) {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for n := range sequences / shards / life {
					oneTable(t, seen, &generator{Rand: rand.New(rand.NewPCG(*seed, shard<<32|uint64(n))), next: 1000, ts: time.Now().UnixMilli()}, 1+n%3, life)
				}
			})
		}
	})
	t.Logf("seed %d: %d commits, %d of them refused by both; differences that showed: %d", *seed, seen.commits, seen.refused, len(seen.shown))
	for _, why := range append(slices.Collect(maps.Values(refusedHere)), explained...) {
		t.Logf("%5d  %s", seen.shown[why], why)
		if seen.shown[why] == 0 && !t.Failed() {
			t.Errorf("this difference never showed by itself; take it out or make it show: %s", why)
		}
	}
	for version := 1; version <= 3; version++ {
		for _, action := range actions {
			if version < 3 && (action == "add-encryption-key" || action == "enable-row-lineage") {
				continue
			}
			if n := seen.applied[fmt.Sprint("v", version, " ", action)]; n < 10 && !t.Failed() {
				t.Errorf("only %d of %s on v%d", n, action, version)
			}
		}
	}
}

// actions are all there are.
var actions = []string{"assign-uuid", "upgrade-format-version", "add-schema", "set-current-schema", "remove-schemas",
	"add-spec", "set-default-spec", "remove-partition-specs", "add-sort-order", "set-default-sort-order",
	"add-snapshot", "remove-snapshots", "set-snapshot-ref", "remove-snapshot-ref", "set-location",
	"set-properties", "remove-properties", "set-statistics", "remove-statistics", "set-partition-statistics",
	"remove-partition-statistics", "add-encryption-key", "remove-encryption-key", "enable-row-lineage"}

// oneTable commits to one table for its life.
func oneTable(t *testing.T, seen *tally, g *generator, version, life int) {
	doc := made(t, version)
	meta, err := table.ParseMetadataBytes(doc)
	if err != nil {
		t.Fatal(err)
	}
	for range life {
		g.learn(meta)
		format := g.version
		p := newPair(doc, meta, g.updates(), time.Now())
		theirs, err := p.library(p.updates)
		difference := p.difference(theirs, err)
		var whys []string
		if difference != "" {
			var unexplained error
			if whys, unexplained = p.explain(difference); unexplained != nil {
				t.Fatalf("v%d: %s\n%s\n%v\nbase: %s", format, p.updates, difference, unexplained, doc)
			}
		}
		seen.Lock()
		seen.commits++
		if p.refusal != nil && err != nil {
			seen.refused++
		}
		if len(whys) == 1 {
			seen.shown[whys[0]]++
		}
		if p.refusal == nil {
			for _, u := range p.updates {
				action, _ := memberOf(u, "action")
				seen.applied[fmt.Sprintf("v%d %s", format, strings.Trim(string(action), `"`))]++
			}
		}
		seen.Unlock()
		if p.refusal == nil && p.here.Changed {
			if p.next == nil {
				if p.next, err = table.ParseMetadataBytes(p.here.Metadata); err != nil {
					t.Fatal(err)
				}
			}
			doc, meta = p.here.Metadata, p.next
		}
	}
}
