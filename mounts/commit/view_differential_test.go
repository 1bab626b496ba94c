package commit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go/view"

	"github.com/icefield/icefield/mounts"
)

// The differences between the engine and iceberg-go's view builder that are
// meant, as in the test of tables.
var viewRefusedHere = map[string]string{
	"must be positive but was many": "a history size that is no number: an error in Java too, the default in the library",
	"Cannot set both":               "dropping and appending dialects at once: refused by Java too, unknown to the library",
	"\"timestamp-ms\" is negative":  "a version from before 1970",
}

const (
	knownSchema   = "a repeated schema and a version with schema-id -1: that schema here, an error in the library"
	knownVersion  = "a repeated version: the older one here, in Java under its id; stored twice, and then refused, by the library"
	viewSlash     = "a location with a slash at its end: without it here, with it in the library"
	nothing       = "a commit that changes nothing: nothing is written here and by Java's server, old versions go in the library"
	versionsOrder = "a trimmed history: in its order here, the current version first in the library and Java"
)

type viewGenerator struct {
	*rand.Rand
	versions, schemas []int // ids
	ts                int64
}

func (g *viewGenerator) learn(meta view.Metadata) {
	g.versions, g.schemas = nil, nil
	for _, v := range meta.Versions() {
		g.versions = append(g.versions, int(v.VersionID))
	}
	for _, s := range meta.Schemas() {
		g.schemas = append(g.schemas, s.ID)
	}
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func (g *viewGenerator) version() string {
	g.ts++
	sql := fmt.Sprint("select ", g.IntN(12))
	two := []string{query("spark", sql), query("trino", sql)}
	schema, at := pick(g.Rand, g.schemas...), g.ts
	if g.IntN(8) == 0 {
		two = pick(g.Rand, two[:1], []string{query("spark", sql), query("Spark", sql)}, nil)
	} else if g.IntN(3) == 0 {
		two = pick(g.Rand, []string{query("SPARK", sql), query("Trino", sql)}, append(two, query("duckdb", sql)))
	}
	if g.IntN(12) == 0 {
		schema = pick(g.Rand, -1, 99)
	}
	if g.IntN(24) == 0 {
		at = -5
	}
	return addVersion(versionOf(pick(g.Rand, 1, 1, 1, 50, 0), schema, at, two...))
}

func (g *viewGenerator) schema() string {
	return addSchema(strings.Replace(sparkColumns, `]}`, fmt.Sprintf(`,{"id":2,"name":"c%d","required":false,"type":"int"}]}`, g.IntN(6)), 1))
}

func (g *viewGenerator) updates() []json.RawMessage {
	var all []string
	for range 1 + g.IntN(3) {
		all = append(all, pick(g.Rand,
			g.version, g.schema,
			func() string { return g.version() + "," + setVersion(-1) },
			func() string { return g.version() + "," + setVersion(-1) },
			func() string {
				return `{"action":"set-properties","updates":{"version.history.num-entries":"1"}},` + g.version() + "," + g.version()
			},
			func() string {
				return g.schema() + "," + addVersion(versionOf(1, -1, g.ts, query("spark", fmt.Sprint(g.IntN(20))), query("trino", "x"))) + "," + setVersion(-1)
			},
			func() string {
				return strings.Replace(addVersion(versionOf(1, -1, g.ts, query("spark", fmt.Sprint("s", g.IntN(90))), query("trino", "x"))), `"schema-id":-1`, `"schema-id":0`, 1) + "," + setVersion(-1)
			},
			func() string { return setVersion(pick(g.Rand, append(slices.Repeat(g.versions, 4), -1, 99)...)) },
			func() string {
				return fmt.Sprintf(`{"action":"set-properties","updates":{"k%d":"%d"}}`, g.IntN(3), g.IntN(3))
			},
			func() string { return fmt.Sprintf(`{"action":"remove-properties","removals":["k%d"]}`, g.IntN(3)) },
			func() string {
				return fmt.Sprintf(`{"action":"set-properties","updates":{"version.history.num-entries":"%s"}}`, pick(g.Rand, "1", "3", "3", "5", "4", "2", "4", "0", "many"))
			},
			func() string {
				return fmt.Sprintf(`{"action":"set-properties","updates":{"replace.drop-dialect.allowed":"%s"}}`, pick(g.Rand, "true", "false", "false"))
			},
			func() string {
				return fmt.Sprintf(`{"action":"set-properties","updates":{"replace.append-dialect.allowed":"%s"}}`, pick(g.Rand, "true", "false", "false", "false", "false"))
			},
			func() string {
				return fmt.Sprintf(`{"action":"set-location","location":"s3://b/l%d%s"}`, g.IntN(3), pick(g.Rand, "", "/"))
			},
			func() string {
				return fmt.Sprintf(`{"action":"assign-uuid","uuid":"%s"}`, pick(g.Rand, tableUUID, tableUUID, "00000000-0000-0000-0000-000000000001"))
			},
			func() string {
				return fmt.Sprintf(`{"action":"upgrade-format-version","format-version":%d}`, pick(g.Rand, 1, 1, 1, 1, 2, 0))
			})())
	}
	return raws(strings.Join(all, ","))
}

// viewPair is one commit to a view on both sides.
type viewPair struct {
	base    json.RawMessage
	updates []json.RawMessage
	here    *Result
	refusal error
}

func (p *viewPair) library(updates []json.RawMessage) (json.RawMessage, error) {
	meta, err := view.ParseMetadataBytes(p.base)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(updates)
	if err != nil {
		return nil, err
	}
	var list view.Updates
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	b, err := view.MetadataBuilderFromBase(meta)
	if err != nil {
		return nil, err
	}
	for _, u := range list {
		if err := u.Apply(b); err != nil {
			return nil, err
		}
	}
	built, err := b.Build()
	if err != nil {
		return nil, err
	}
	return json.Marshal(built.Metadata)
}

// difference is as that of a pair. Times of the log come from a clock, here
// and there.
func (p *viewPair) difference(theirs json.RawMessage, err error, sorted bool) string {
	switch {
	case p.refusal != nil && err != nil:
		return ""
	case p.refusal != nil || err != nil:
		return fmt.Sprintf("here:    %v\nlibrary: %v", p.refusal, err)
	}
	meta, err := view.ParseMetadataBytes(p.here.Metadata)
	if err != nil {
		return fmt.Sprintf("the library cannot read the engine's result: %v", err)
	}
	ours, err := json.Marshal(meta)
	if err != nil {
		return err.Error()
	}
	a, b := decoded(ours), decoded(theirs)
	for _, m := range []map[string]any{a, b} {
		for _, e := range m["version-log"].([]any) {
			delete(e.(map[string]any), "timestamp-ms")
		}
		if sorted {
			slices.SortFunc(m["versions"].([]any), func(x, y any) int {
				return cmp.Compare(number(x.(map[string]any)["version-id"]), number(y.(map[string]any)["version-id"]))
			})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !reflect.DeepEqual(a[key], b[key]) {
			return fmt.Sprintf("%s\nhere:    %v\nlibrary: %v", key, a[key], b[key])
		}
	}
	return ""
}

func (p *viewPair) explain() ([]string, error) {
	if p.refusal != nil {
		for part, why := range viewRefusedHere {
			if strings.Contains(p.refusal.Error(), part) {
				return []string{why}, nil
			}
		}
	}
	words, whys := p.retell()
	theirs, err := p.library(words)
	if p.difference(theirs, err, false) == "" {
		return whys, nil
	}
	if p.here != nil && !p.here.Changed && err == nil {
		var doc, base = decoded(theirs), decoded(p.base)
		doc["versions"], doc["version-log"] = base["versions"], base["version-log"]
		if theirs, err = json.Marshal(doc); err == nil && p.difference(theirs, err, false) == "" {
			return append(whys, nothing), nil
		}
	}
	if left := p.difference(theirs, err, true); left != "" {
		return nil, fmt.Errorf("said in other words for %q, what is left is %s", whys, left)
	}
	return append(whys, versionsOrder), nil
}

// retell says what the engine understood with all ids filled in.
func (p *viewPair) retell() (words []json.RawMessage, whys []string) {
	words = []json.RawMessage{}
	say := func(why string, u map[string]any) {
		if why != "" && !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
		if u == nil {
			return
		}
		out, err := json.Marshal(u)
		if err != nil {
			panic(err)
		}
		words = append(words, out)
	}
	v, err := loadView(p.base, fixed())
	if err != nil {
		panic(err)
	}
	found := false
	for i, raw := range p.updates {
		u := decoded(raw)
		parsed, err := parseViewUpdate(i, []byte(raw))
		before := 0
		if l, err := v.list(versions); err == nil {
			before = len(l.entries)
		}
		if err == nil {
			err = parsed.apply(v)
		}
		if err != nil {
			return append(words, raw), whys
		}
		why := ""
		switch u["action"] {
		case "set-location":
			if text := u["location"].(string); strings.HasSuffix(text, "/") {
				u["location"], why = strings.TrimRight(text, "/"), viewSlash
			}
		case "add-view-version":
			l, _ := v.list(versions)
			if found = len(l.entries) == before; found {
				why, u = knownVersion, nil
			} else if sent := u["view-version"].(map[string]any); sent["schema-id"] == json.Number("-1") {
				sent["schema-id"] = decoded(l.entries[len(l.entries)-1].raw)["schema-id"]
				why = knownSchema
			}
		case "set-current-view-version":
			if found && u["view-version-id"] == json.Number("-1") {
				id, _ := v.int("current-version-id", 0)
				u["view-version-id"], why = json.Number(fmt.Sprint(id)), knownVersion
			}
		}
		say(why, u)
	}
	return words, whys
}

func TestRandomViewCommitsAgreeWithTheLibraryButForNamedDifferences(t *testing.T) {
	const sequences, life = 1500, 12
	shown, applied, refused := map[string]int{}, map[string]int{}, 0
	for n := range sequences / life {
		g := &viewGenerator{Rand: rand.New(rand.NewPCG(*seed, uint64(n))), ts: now}
		doc := aView(t, nil)
		for range life {
			meta, err := view.ParseMetadataBytes(doc)
			if err != nil {
				t.Fatal(err)
			}
			g.learn(meta)
			p := &viewPair{base: doc, updates: g.updates()}
			p.here, p.refusal = View(&Base{Metadata: doc}, &mounts.ReplaceViewRequest{View: viewIdent, Updates: p.updates}, Options{Now: time.UnixMilli(g.ts)})
			theirs, err := p.library(p.updates)
			if difference := p.difference(theirs, err, false); difference != "" {
				whys, unexplained := p.explain()
				if unexplained != nil {
					t.Fatalf("%s\n%s\n%v\nbase: %s", p.updates, difference, unexplained, doc)
				}
				if len(whys) == 1 {
					shown[whys[0]]++
				}
			}
			if p.refusal != nil {
				refused++
				continue
			}
			readableView(t, p.here.Metadata)
			doc = p.here.Metadata
			for _, u := range p.updates {
				action, _ := memberOf(u, "action")
				applied[string(action)]++
			}
		}
	}
	t.Logf("seed %d: %d commits, %d of them refused", *seed, sequences, refused)
	for _, why := range append(slices.Collect(maps.Values(viewRefusedHere)), knownSchema, knownVersion, viewSlash, nothing, versionsOrder) {
		t.Logf("%5d  %s", shown[why], why)
		if shown[why] == 0 {
			t.Errorf("this difference never showed by itself; take it out or make it show: %s", why)
		}
	}
	for _, action := range []string{"assign-uuid", "upgrade-format-version", "add-schema", "set-location", "set-properties", "remove-properties",
		"add-view-version", "set-current-view-version"} {
		if n := applied[`"`+action+`"`]; n < 20 {
			t.Errorf("only %d of %s", n, action)
		}
	}
}
