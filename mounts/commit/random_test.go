package commit

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"
)

// generator writes random updates that make sense for the table at hand, most of
// the time. What it remembers of the table it takes from the document, and from
// what it wrote since.
type generator struct {
	*rand.Rand
	version            int
	columns            int      // of the current schema; their ids are 1 to columns
	schemas            []int    // ids, the current one first
	specs              []int    // ids, the default one first
	orders             []int    // ids
	seq, row, ts, next int64    // of the next snapshot, all but ts counted up
	snapshots          []int64  // ids
	refs               []string // but for main
	main               int64    // 0: none
	unique             int
}

// learn takes over what a document says.
func (g *generator) learn(meta table.Metadata) {
	g.version = meta.Version()
	g.columns = len(meta.CurrentSchema().Fields())
	g.schemas, g.specs, g.orders, g.snapshots, g.refs, g.main = nil, nil, nil, nil, nil, 0
	for _, s := range meta.Schemas() {
		g.schemas = append(g.schemas, s.ID)
	}
	for _, s := range meta.PartitionSpecs() {
		g.specs = append(g.specs, s.ID())
	}
	for _, o := range meta.SortOrders() {
		g.orders = append(g.orders, o.OrderID())
	}
	for _, s := range meta.Snapshots() {
		g.snapshots = append(g.snapshots, s.SnapshotID)
	}
	for name := range meta.Refs() {
		if name != mainBranch {
			g.refs = append(g.refs, name)
		}
	}
	slices.Sort(g.refs)
	first(g.schemas, meta.CurrentSchema().ID)
	first(g.specs, meta.DefaultPartitionSpec())
	if s := meta.CurrentSnapshot(); s != nil {
		g.main = s.SnapshotID
	}
	g.seq, g.row, g.ts = meta.LastSequenceNumber(), meta.NextRowID(), max(g.ts, meta.LastUpdatedMillis())
}

// first puts an id first.
func first(ids []int, id int) {
	if i := slices.Index(ids, id); i > 0 {
		ids[0], ids[i] = ids[i], ids[0]
	}
}

// old is an id that can be removed, most of the time.
func (g *generator) old(ids []int) int {
	return mostly(g, one(g, append(ids[1:], 99)...), ids[0])
}

// one of some values.
func one[T any](g *generator, all ...T) T { return all[g.IntN(len(all))] }

// mostly returns a, and b one time in twelve.
func mostly[T any](g *generator, a, b T) T {
	if g.IntN(12) == 0 {
		return b
	}
	return a
}

func (g *generator) name() string {
	g.unique++
	return fmt.Sprint("n", g.unique)
}

func (g *generator) snapshot() int64 {
	if len(g.snapshots) == 0 {
		return 999_999
	}
	return mostly(g, one(g, g.snapshots...), 999_999)
}

// add is an add-snapshot, usual but for what the arguments say.
func (g *generator) add(parent, seq, at, late int64, extra string) string {
	g.next++
	if g.version == 3 && !strings.Contains(extra, "first-row-id") {
		extra += rows(g.row+late, 3)
		g.row += late + 3
	}
	if seq > g.seq {
		g.seq = seq
	}
	g.ts = max(g.ts, min(at, g.ts+1000))
	g.snapshots = append(g.snapshots, g.next)
	return strings.Replace(snap(g.version, g.next, parent, seq, at, extra), `"schema-id":0`, fmt.Sprintf(`"schema-id":%d`, one(g, g.schemas...)), 1)
}

func (g *generator) append() string { return g.add(g.main, g.seq+1, g.ts+1, 0, "") }

func (g *generator) head(update string) string {
	g.main = g.next
	return update + "," + setRef(mainBranch, "branch", g.next)
}

// history writes an update of snapshots and refs.
func (g *generator) history() string {
	switch g.IntN(22) {
	case 0, 1, 2, 3, 4, 5:
		return g.head(g.append())
	case 6:
		return g.head(g.append()) + "," + g.head(g.append())
	case 7:
		return one(g, g.append(), g.append(), g.add(0, 1, g.ts, 0, "")) // a first one, though it is not
	case 8:
		// Every way to be wrong.
		return one(g,
			func() string { return g.add(777_777, g.seq+1, g.ts, 0, "") },
			func() string { return g.add(g.main, g.seq, g.ts, 0, "") },
			func() string { return g.add(g.main, g.seq+1, g.ts, -1, "") },
			func() string { return g.add(g.main, g.seq+1, g.ts, 7, "") },
			func() string { return g.add(g.main, g.seq+1, g.ts, 7, "") + "," + g.add(g.main, g.seq+1, g.ts, -1, "") },
			func() string { return g.add(g.main, g.seq+1, g.ts-70_000, 0, "") },
			func() string { return g.add(g.main, g.seq+1, g.ts+2*day, 0, "") },
			func() string { return g.add(g.main, g.seq+1, g.ts, 0, rows(g.row, 1)) },
			func() string {
				return strings.Replace(g.append(), `"schema-id":`, `"schema-id":9`, 1)
			},
			func() string { return strings.Replace(g.append(), fmt.Sprint(g.next), fmt.Sprint(g.snapshot()), 1) },
		)()
	case 9, 10, 11:
		kind := one(g, "branch", "tag")
		update := setRef(fmt.Sprint(kind[:1], g.IntN(3)), kind, g.snapshot())
		return strings.Replace(update, "}", one(g, "", `,"max-ref-age-ms":5`, `,"max-snapshot-age-ms":6`, `,"min-snapshots-to-keep":7`, `,"max-ref-age-ms":0`)+"}", 1)
	case 12:
		g.main = g.snapshot()
		return setRef(mainBranch, mostly(g, "branch", "tag"), g.main)
	case 13:
		if g.main == 0 {
			return g.head(g.append())
		}
		return strings.Replace(setRef(mainBranch, "branch", g.main), "}", fmt.Sprintf(`,"max-ref-age-ms":%d}`, 1+g.IntN(1000)), 1)
	case 14, 15:
		return fmt.Sprintf(`{"action":"remove-snapshot-ref","ref-name":"%s"}`, mostly(g, one(g, append(g.refs, "b0")...), mainBranch))
	case 16, 17:
		return fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d,%d]}`, g.snapshot(), g.snapshot())
	case 18:
		id := g.snapshot()
		return fmt.Sprintf(`{"action":"set-statistics","snapshot-id":%d,"statistics":{"snapshot-id":%d,"statistics-path":"s3://b/%d","file-size-in-bytes":1,"file-footer-size-in-bytes":2,"key-metadata":"AQ==","blob-metadata":[{"type":"t","snapshot-id":%d,"sequence-number":1,"fields":[1],"properties":{"a":"b"}}]}}`,
			id, id, g.IntN(3), id)
	case 19:
		return fmt.Sprintf(`{"action":"set-partition-statistics","partition-statistics":{"snapshot-id":%d,"statistics-path":"s3://b/%d","file-size-in-bytes":1}}`, g.snapshot(), g.IntN(3))
	case 20:
		return fmt.Sprintf(`{"action":"remove-statistics","snapshot-id":%d}`, g.snapshot())
	default:
		return fmt.Sprintf(`{"action":"remove-partition-statistics","snapshot-id":%d}`, g.snapshot())
	}
}

// schemaOf is a schema of n columns, the last ones changed.
func (g *generator) schemaOf(id, n int, last string) string {
	fields := []string{`{"id":1,"name":"id","required":true,"type":"long"}`, `{"id":2,"name":"ts","required":false,"type":"timestamptz"}`}
	for i := 3; i <= n; i++ {
		fields = append(fields, fmt.Sprintf(`{"id":%d,"name":"c%d","required":false,"type":"int"}`, i, i))
	}
	if last != "" {
		fields = append(fields, last)
	}
	return fmt.Sprintf(`{"type":"struct","schema-id":%d,"fields":[%s]}`, id, strings.Join(fields, ","))
}

// definition writes an update of schemas, specs and orders.
func (g *generator) definition() string {
	choose := one(g, ",", ",", ",", "")
	with := func(update, last string) string {
		if choose == "" {
			return update
		}
		return update + "," + last
	}
	switch g.IntN(20) {
	case 0, 1, 2:
		g.columns++
		return with(addSchema(g.schemaOf(one(g, 0, len(g.schemas)), g.columns, "")), lastSchema)
	case 3:
		return with(addSchema(g.schemaOf(0, 2+g.IntN(g.columns), "")), lastSchema) // one that was there, or drops columns
	case 4:
		g.columns++
		return with(addSchema(g.schemaOf(500, g.columns, "")), lastSchema)
	case 5, 6:
		id := 40 + g.IntN(3)*5
		return with(addSchema(g.schemaOf(0, g.columns, fmt.Sprintf(`{"id":%d,"name":"x","required":%s,"type":%s}`, id, mostly(g, "false", "true"), one(g,
			`"int"`, `"string","doc":"d"`, `"decimal(9, 2)"`, `"fixed[4]"`, `"variant"`, `"timestamp_ns"`, `"unknown"`, `"geometry(srid:4326)"`,
			`"int","initial-default":7,"write-default":8`, `"int","write-default":8`,
			fmt.Sprintf(`{"type":"struct","fields":[{"id":%d,"name":"a","required":true,"type":"int"}]}`, id+1),
			fmt.Sprintf(`{"type":"list","element-id":%d,"element":"int","element-required":false}`, id+1),
			fmt.Sprintf(`{"type":"map","key-id":%d,"key":"string","value-id":%d,"value":"int","value-required":true}`, id+1, id+2))))), lastSchema)
	case 7:
		return with(addSchema(strings.Replace(g.schemaOf(0, g.columns, ""), `"fields"`, one(g, `"identifier-field-ids":[1]`, `"identifier-field-ids":[2]`)+`,"fields"`, 1)), lastSchema)
	case 8:
		return with(addSchema(one(g, `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}`,
			strings.Replace(g.schemaOf(0, g.columns, ""), "timestamptz", "string", 1))), lastSchema)
	case 9:
		return fmt.Sprintf(`{"action":"set-current-schema","schema-id":%d}`, mostly(g, one(g, g.schemas...), one(g, -1, 99)))
	case 10:
		return fmt.Sprintf(`{"action":"remove-schemas","schema-ids":[%d,%d]}`, g.old(g.schemas), g.old(g.schemas))
	case 11, 12:
		return with(addSpec(fmt.Sprintf(`{"source-id":%d,"name":"%s","transform":"%s"}`, 1+g.IntN(2), g.name(), one(g, "bucket[4]", "bucket[8]", "void", "day", "truncate[3]", "identity"))), lastSpec)
	case 13:
		return with(addSpec(fmt.Sprintf(`{"source-id":2,"field-id":1000,"name":"ts_day","transform":"day"},{"source-id":1,"field-id":%d,"name":"%s","transform":"bucket[16]"}`, 1001+g.IntN(3), g.name())), lastSpec)
	case 14:
		return with(one(g, addSpec(``), addSpec(`{"source-id":2,"field-id":1000,"name":"ts_day","transform":"day"}`),
			`{"action":"add-spec","spec":{"spec-id":77,"fields":[{"source-id":2,"field-id":1000,"name":"ts_day","transform":"day"}]}}`), lastSpec)
	case 15:
		if g.IntN(3) == 0 {
			return addSchema(`{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}`) + "," + lastSchema + "," +
				addSpec(fmt.Sprintf(`{"source-id":2,"name":"%s","transform":"void"}`, g.name())) + "," + lastSpec
		}
		return fmt.Sprintf(`{"action":"set-default-spec","spec-id":%d}`, mostly(g, one(g, g.specs...), one(g, -1, 99)))
	case 16:
		return fmt.Sprintf(`{"action":"remove-partition-specs","spec-ids":[%d,%d]}`, g.old(g.specs), g.old(g.specs))
	case 17, 18:
		return with(addOrder(1+g.IntN(3), mostly(g, fmt.Sprintf(`{"source-id":%d,"transform":"%s","direction":"desc","null-order":"nulls-last"}`, 1+g.IntN(3), one(g, "identity", "bucket[4]", "day")), ``)), lastOrder)
	default:
		return fmt.Sprintf(`{"action":"set-default-sort-order","sort-order-id":%d}`, mostly(g, one(g, append(g.orders, 0)...), one(g, -1, 99)))
	}
}

// rest writes an update of anything else.
func (g *generator) rest() string {
	switch g.IntN(14) {
	case 0, 1:
		return fmt.Sprintf(`{"action":"set-properties","%s":{"k%d":"v%d"}}`, mostly(g, "updates", "updated"), g.IntN(4), g.IntN(3))
	case 2:
		return fmt.Sprintf(`{"action":"set-properties","updates":{"write.metadata.previous-versions-max":"%s"}}`, one(g, "1", "2", "5", "0", "many"))
	case 3:
		return `{"action":"set-properties","updates":{"format-version":"2","a":"b"}}`
	case 4, 5:
		return fmt.Sprintf(`{"action":"remove-properties","%s":["k%d"]}`, mostly(g, "removals", "removed"), g.IntN(4))
	case 6:
		return `{"action":"remove-properties","removals":["uuid","a"]}`
	case 7:
		return fmt.Sprintf(`{"action":"set-location","location":"s3://b/l%d%s"}`, g.IntN(3), mostly(g, "", "/"))
	case 8:
		return fmt.Sprintf(`{"action":"assign-uuid","uuid":"%s"}`, mostly(g, tableUUID, "00000000-0000-0000-0000-000000000001"))
	case 9:
		to := mostly(g, g.version, one(g, g.version+1, g.version-1, g.version+1))
		if to > g.version && to <= 3 {
			g.version, g.row = to, 0
		}
		return fmt.Sprintf(`{"action":"upgrade-format-version","format-version":%d}`, to)
	case 10, 11:
		return addKey(fmt.Sprintf(`"key-id":"%s","encrypted-key-metadata":"%s"%s`, mostly(g, fmt.Sprint("k", g.IntN(3)), " "), mostly(g, one(g, "AQ==", "Ag=="), "?"),
			one(g, "", `,"encrypted-by-id":"k0"`, `,"properties":{"a":"b"}`)))
	case 12:
		return removeKey(fmt.Sprint("k", g.IntN(3)))
	default:
		return `{"action":"enable-row-lineage"}`
	}
}

// updates is one commit's.
func (g *generator) updates() []json.RawMessage {
	var all []string
	for range 1 + g.IntN(4) {
		all = append(all, one(g, g.history, g.history, g.definition, g.rest)())
	}
	return raws(strings.Join(all, ","))
}
