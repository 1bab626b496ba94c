package commit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

const threeColumns = `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"ts","required":false,"type":"timestamptz"},{"id":3,"name":"n","required":false,"type":"int"}]}`

func addSchema(schema string) string { return `{"action":"add-schema","schema":` + schema + `}` }

func addSpec(fields string) string {
	return `{"action":"add-spec","spec":{"fields":[` + fields + `]}}`
}

func addOrder(id int, fields string) string {
	return fmt.Sprintf(`{"action":"add-sort-order","sort-order":{"order-id":%d,"fields":[%s]}}`, id, fields)
}

const (
	lastSchema = `{"action":"set-current-schema","schema-id":-1}`
	lastSpec   = `{"action":"set-default-spec","spec-id":-1}`
	lastOrder  = `{"action":"set-default-sort-order","sort-order-id":-1}`
)

func TestAnEmptyCommitReturnsTheDocumentAsItIs(t *testing.T) {
	doc := json.RawMessage(" " + string(grown(t, 2, 1)) + "\n")
	for name, updates := range map[string]string{
		"none":                ``,
		"same property":       `{"action":"set-properties","updates":{"owner":"ann"}}`,
		"only reserved":       `{"action":"set-properties","updates":{"format-version":"3","uuid":"x"}}`,
		"missing property":    `{"action":"remove-properties","removals":["nope"]}`,
		"same location":       `{"action":"set-location","location":"s3://b/db/events/"}`,
		"same uuid":           `{"action":"assign-uuid","uuid":"` + strings.ToUpper(tableUUID) + `"}`,
		"same version":        `{"action":"upgrade-format-version","format-version":2}`,
		"same ref":            setRef("main", "branch", 101),
		"missing ref":         `{"action":"remove-snapshot-ref","ref-name":"nope"}`,
		"missing snapshot":    `{"action":"remove-snapshots","snapshot-ids":[5]}`,
		"missing statistics":  `{"action":"remove-statistics","snapshot-id":5},{"action":"remove-partition-statistics","snapshot-id":5}`,
		"missing schema":      `{"action":"remove-schemas","schema-ids":[5]},{"action":"remove-partition-specs","spec-ids":[5]}`,
		"same schema":         addSchema(twoColumns) + "," + lastSchema,
		"same spec":           addSpec(`{"source-id":2,"name":"ts_day","transform":"day"}`) + "," + lastSpec,
		"same order":          addOrder(7, `{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}`) + "," + lastOrder,
		"same current schema": `{"action":"set-current-schema","schema-id":0}`,
	} {
		t.Run(name, func(t *testing.T) {
			res, err := commitTo(doc, ``, updates)
			if err != nil {
				t.Fatal(err)
			}
			if res.Changed || string(res.Metadata) != string(doc) || res.TableLocation != "s3://b/db/events" {
				t.Fatalf("changed: %v, location %q\n%s", res.Changed, res.TableLocation, res.Metadata)
			}
		})
	}
}

func TestARealClientsCreateMakesACompleteTable(t *testing.T) {
	for version := 1; version <= 3; version++ {
		doc := made(t, version)
		wants(t, doc, fmt.Sprint(version), "format-version")
		wants(t, doc, `"`+tableUUID+`"`, "table-uuid")
		wants(t, doc, `"s3://b/db/events"`, "location")
		wants(t, doc, "2", "last-column-id")
		wants(t, doc, "0", "current-schema-id")
		wants(t, doc, "0", "default-spec-id")
		wants(t, doc, "1000", "last-partition-id")
		wants(t, doc, "1", "default-sort-order-id")
		wants(t, doc, fmt.Sprint(int64(now)), "last-updated-ms")
		wants(t, doc, `{"owner":"ann"}`, "properties")
		none, seq, next := "-1", "0", ""
		switch version {
		case 1:
			seq = ""
			wants(t, doc, get(t, doc, "schemas", 0), "schema")
			wants(t, doc, get(t, doc, "partition-specs", 0, "fields"), "partition-spec")
		case 3:
			none, next = "null", "0"
		}
		wants(t, doc, none, "current-snapshot-id")
		wants(t, doc, seq, "last-sequence-number")
		wants(t, doc, next, "next-row-id")
		for _, empty := range []string{"snapshots", "snapshot-log", "metadata-log", "statistics", "partition-statistics"} {
			wants(t, doc, "[]", empty)
		}
		wants(t, doc, "{}", "refs")
	}
}

func TestACreateKeepsStagedIdsAndFillsInDefaults(t *testing.T) {
	staged := strings.NewReplacer(`"schema-id":0`, `"schema-id":3`).Replace(twoColumns)
	doc := must(t, nil, `{"type":"assert-create"}`, addSchema(staged)+
		`,{"action":"add-spec","spec":{"spec-id":2,"fields":[{"source-id":1,"field-id":1004,"name":"b","transform":"bucket[8]"}]}}`+
		`,`+addOrder(4, `{"source-id":1,"transform":"identity","direction":"desc","null-order":"nulls-last"}`)+
		`,{"action":"set-location","location":"s3://b/x"}`)
	wants(t, doc, "3", "current-schema-id")
	wants(t, doc, "2", "default-spec-id")
	wants(t, doc, "1004", "last-partition-id")
	wants(t, doc, "4", "default-sort-order-id")
	wants(t, doc, "2", "format-version")
	wants(t, doc, `"`+tableUUID+`"`, "table-uuid")

	doc = must(t, nil, `{"type":"assert-create"}`, `{"action":"set-location","location":"s3://b/x"},`+addSchema(twoColumns))
	wants(t, doc, `[{"spec-id":0,"fields":[]}]`, "partition-specs")
	wants(t, doc, `[{"order-id":0,"fields":[]}]`, "sort-orders")
	wants(t, doc, "999", "last-partition-id")

	_, err := commitTo(nil, `{"type":"assert-create"}`, addSchema(twoColumns))
	refused(t, err, mounts.ValidationFailed, "set-location")
	_, err = commitTo(nil, `{"type":"assert-create"}`, `{"action":"set-location","location":"s3://b/x"}`)
	refused(t, err, mounts.ValidationFailed, "add-schema")
}

func TestACreateWithDataEndsInOneLogEntry(t *testing.T) {
	for version := 1; version <= 3; version++ {
		extra := ""
		if version == 3 {
			extra = rows(0, 5)
		}
		doc := must(t, nil, `{"type":"assert-create"}`, fmt.Sprintf(javaCreate, version)+","+
			snap(version, 7, 0, 1, now-5, extra)+","+setRef("main", "branch", 7))
		wants(t, doc, "7", "current-snapshot-id")
		wants(t, doc, fmt.Sprint(int64(now-5)), "last-updated-ms")
		wants(t, doc, fmt.Sprintf(`[{"timestamp-ms":%d,"snapshot-id":7}]`, int64(now-5)), "snapshot-log")
		if version == 3 {
			wants(t, doc, "5", "next-row-id")
		}
	}
}

func TestSchemaEvolutionAddsASchemaAndCountsColumns(t *testing.T) {
	doc := must(t, made(t, 2), ``, addSchema(threeColumns)+","+lastSchema)
	wants(t, doc, "1", "current-schema-id")
	wants(t, doc, "3", "last-column-id")
	wants(t, doc, "1", "schemas", 1, "schema-id")
	// Back again: the schema is known, so it is used.
	doc = must(t, doc, ``, addSchema(strings.ReplaceAll(twoColumns, `"schema-id":0`, `"schema-id":2`))+","+lastSchema)
	wants(t, doc, "0", "current-schema-id")
	wants(t, doc, "3", "last-column-id")
	if got := get(t, doc, "schemas"); strings.Count(got, "schema-id") != 2 {
		t.Fatalf("a repeated schema was added: %s", got)
	}
	doc = must(t, doc, ``, `{"action":"remove-schemas","schema-ids":[1,77]}`)
	if got := get(t, doc, "schemas"); strings.Count(got, "schema-id") != 1 {
		t.Fatalf("the schema stayed: %s", got)
	}
}

func TestV1KeepsItsSingleSchemaAndSpecInStep(t *testing.T) {
	doc := must(t, made(t, 1), ``, addSchema(threeColumns)+","+lastSchema+","+
		addSpec(`{"source-id":2,"field-id":1000,"name":"ts_day","transform":"void"},{"source-id":3,"name":"n","transform":"identity"}`)+","+lastSpec)
	wants(t, doc, get(t, doc, "schemas", 1), "schema")
	wants(t, doc, get(t, doc, "partition-specs", 1, "fields"), "partition-spec")
	wants(t, doc, "1001", "last-partition-id")
	_, err := commitTo(doc, ``, addSpec(`{"source-id":3,"field-id":1005,"name":"n2","transform":"identity"}`))
	refused(t, err, mounts.ValidationFailed, "without gaps")
}

func TestPartitionFieldsWithoutIdsGetTheRightOnes(t *testing.T) {
	doc := must(t, made(t, 2), ``, addSpec(`{"source-id":1,"name":"b","transform":"bucket[8]"},{"source-id":2,"name":"d","transform":"day"}`)+","+lastSpec)
	wants(t, doc, "1001", "partition-specs", 1, "fields", 0, "field-id")
	wants(t, doc, "1000", "partition-specs", 1, "fields", 1, "field-id") // same source and transform as before
	wants(t, doc, "1001", "last-partition-id")
	wants(t, doc, "1", "default-spec-id")
	doc = must(t, doc, ``, addSpec(`{"source-id":1,"name":"b16","transform":"bucket[16]"}`)+","+lastSpec)
	wants(t, doc, "1002", "partition-specs", 2, "fields", 0, "field-id")
}

func TestTransformsOfSeveralColumnsKeepThemAll(t *testing.T) {
	doc := must(t, made(t, 3), ``, addSpec(`{"source-ids":[1,2],"name":"z","transform":"zorder"}`))
	wants(t, doc, "[1,2]", "partition-specs", 1, "fields", 0, "source-ids")
	// One column is written the way that every reader knows.
	for version := 1; version <= 3; version++ {
		doc := must(t, made(t, version), ``, addSpec(`{"source-ids":[1],"name":"b","transform":"bucket[4]"}`)+","+
			addOrder(2, `{"source-ids":[2],"transform":"day","direction":"desc","null-order":"nulls-last"}`))
		wants(t, doc, `{"name":"b","transform":"bucket[4]","source-id":1,"field-id":`+map[bool]string{true: "1000", false: "1001"}[version == 1]+`}`, "partition-specs", 1, "fields", 0)
		wants(t, doc, `{"transform":"day","direction":"desc","null-order":"nulls-last","source-id":2}`, "sort-orders", 1, "fields", 0)
	}
}

func TestSortOrders(t *testing.T) {
	doc := must(t, made(t, 2), ``, addOrder(5, ``)+","+lastOrder)
	wants(t, doc, "0", "default-sort-order-id")
	doc = must(t, doc, ``, addOrder(1, `{"source-id":2,"transform":"day","direction":"desc","null-order":"nulls-last"}`)+","+lastOrder)
	wants(t, doc, "2", "default-sort-order-id")
	doc = must(t, doc, ``, `{"action":"set-default-sort-order","sort-order-id":1}`)
	wants(t, doc, "1", "default-sort-order-id")
}

func TestAColumnInUseCannotBeDropped(t *testing.T) {
	only := func(id string) string {
		return `{"type":"struct","fields":[` + id + `]}`
	}
	noTS, noID := only(`{"id":1,"name":"id","required":true,"type":"long"}`), only(`{"id":2,"name":"ts","required":false,"type":"timestamptz"}`)
	_, err := commitTo(made(t, 2), ``, addSchema(noTS)+","+lastSchema)
	refused(t, err, mounts.ValidationFailed, "default partition spec uses column 2")
	_, err = commitTo(made(t, 2), ``, addSchema(noID)+","+lastSchema)
	refused(t, err, mounts.ValidationFailed, "default sort order uses column 1")
	must(t, made(t, 2), ``, addSchema(noTS)+","+lastSchema+","+addSpec(``)+","+lastSpec)
}

func TestAppendsMoveMainAndKeepTheBooks(t *testing.T) {
	for version := 1; version <= 3; version++ {
		doc := grown(t, version, 3)
		wants(t, doc, "103", "current-snapshot-id")
		wants(t, doc, "103", "refs", "main", "snapshot-id")
		wants(t, doc, fmt.Sprint(int64(now+2000)), "last-updated-ms")
		wants(t, doc, fmt.Sprintf(`{"timestamp-ms":%d,"snapshot-id":103}`, int64(now+2000)), "snapshot-log", 2)
		wants(t, doc, fmt.Sprintf(`{"timestamp-ms":%d,"metadata-file":"s3://b/t/metadata/1.json"}`, int64(now+1000)), "metadata-log", 2)
		if version > 1 {
			wants(t, doc, "3", "last-sequence-number")
		}
		if version > 2 {
			wants(t, doc, "30", "next-row-id")
		}
	}
}

func TestIntermediateSnapshotsOfOneCommitAreNotLogged(t *testing.T) {
	doc := must(t, grown(t, 2, 1), ``, strings.Join([]string{
		snap(2, 201, 101, 2, now+1, ""), setRef("main", "branch", 201),
		snap(2, 202, 201, 3, now+2, ""), setRef("main", "branch", 202)}, ","))
	wants(t, doc, fmt.Sprintf(`[{"timestamp-ms":%d,"snapshot-id":101},{"timestamp-ms":%d,"snapshot-id":202}]`, int64(now), int64(now+2)), "snapshot-log")
	if got := get(t, doc, "snapshots"); strings.Count(got, `"snapshot-id"`) != 3 {
		t.Fatal(got)
	}
}

func TestARollbackIsLoggedAtTheTimeItHappens(t *testing.T) {
	doc := must(t, grown(t, 2, 2), ``, setRef("main", "branch", 101))
	wants(t, doc, "101", "current-snapshot-id")
	// The server's clock is behind the table's last change, which counts.
	wants(t, doc, fmt.Sprintf(`{"timestamp-ms":%d,"snapshot-id":101}`, int64(now+1000)), "snapshot-log", 2)
	wants(t, doc, fmt.Sprint(int64(now+1000)), "last-updated-ms")
}

func TestRemovedSnapshotsTakeTheirRefsStatisticsAndHistory(t *testing.T) {
	stats := func(action, member string, id int) string {
		return fmt.Sprintf(`{"action":%q,%q:{"snapshot-id":%d,"statistics-path":"p%d","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`, action, member, id, id)
	}
	doc := must(t, grown(t, 2, 4), ``, strings.Join([]string{setRef("a", "tag", 101), setRef("b", "tag", 103),
		stats("set-statistics", "statistics", 102), stats("set-statistics", "statistics", 103),
		stats("set-partition-statistics", "partition-statistics", 102), stats("set-partition-statistics", "partition-statistics", 104)}, ","))
	doc = must(t, doc, ``, `{"action":"remove-snapshots","snapshot-ids":[102,101,999]}`)
	wants(t, doc, "103", "snapshots", 0, "snapshot-id")
	wants(t, doc, "", "refs", "a")
	wants(t, doc, "103", "refs", "b", "snapshot-id")
	wants(t, doc, "103", "statistics", 0, "snapshot-id")
	wants(t, doc, "104", "partition-statistics", 0, "snapshot-id")
	wants(t, doc, "103", "snapshot-log", 0, "snapshot-id")

	// A gap: what was current before 103 cannot be told any more.
	doc = must(t, grown(t, 2, 4), ``, `{"action":"remove-snapshots","snapshot-ids":[103]}`)
	wants(t, doc, fmt.Sprintf(`[{"timestamp-ms":%d,"snapshot-id":104}]`, int64(now+3000)), "snapshot-log")

	// Without its current snapshot a table has none.
	for version, none := range map[int]string{1: "-1", 2: "-1", 3: "null"} {
		doc = must(t, grown(t, version, 2), ``, `{"action":"remove-snapshots","snapshot-ids":[102]}`)
		wants(t, doc, none, "current-snapshot-id")
		wants(t, doc, "{}", "refs")
		wants(t, doc, "[]", "snapshot-log")
	}
}

func TestReplaceRemovesMainAndStartsAnew(t *testing.T) {
	doc := must(t, grown(t, 2, 2), ``, `{"action":"remove-snapshot-ref","ref-name":"main"},`+addSchema(threeColumns)+","+lastSchema+","+
		snap(2, 300, 0, 3, now+5000, "")+","+setRef("main", "branch", 300))
	wants(t, doc, "300", "current-snapshot-id")
	wants(t, doc, "3", "last-sequence-number")
	wants(t, doc, "300", "snapshot-log", 2, "snapshot-id")
	doc = must(t, doc, ``, `{"action":"remove-snapshot-ref","ref-name":"main"}`)
	wants(t, doc, "-1", "current-snapshot-id")
}

func TestStatisticsAreReplacedBySnapshot(t *testing.T) {
	set := func(path string) string {
		return `{"action":"set-statistics","snapshot-id":101,"statistics":{"snapshot-id":101,"statistics-path":"` + path + `","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`
	}
	doc := must(t, grown(t, 2, 1), ``, set("one")+","+set("two"))
	wants(t, doc, `"two"`, "statistics", 0, "statistics-path")
	doc = must(t, doc, ``, `{"action":"remove-statistics","snapshot-id":101}`)
	wants(t, doc, "[]", "statistics")
}

func TestUpgrades(t *testing.T) {
	doc := must(t, grown(t, 1, 2), ``, `{"action":"upgrade-format-version","format-version":2}`)
	wants(t, doc, "2", "format-version")
	wants(t, doc, "0", "last-sequence-number")
	wants(t, doc, "", "schema")
	wants(t, doc, "", "partition-spec")
	doc = must(t, doc, ``, `{"action":"upgrade-format-version","format-version":3}`)
	wants(t, doc, "0", "next-row-id")
	doc = must(t, made(t, 1), ``, `{"action":"upgrade-format-version","format-version":3}`)
	wants(t, doc, "null", "current-snapshot-id")
	for version, to := range map[int]int{2: 1, 3: 2, 1: 0} {
		_, err := commitTo(made(t, version), ``, fmt.Sprintf(`{"action":"upgrade-format-version","format-version":%d}`, to))
		refused(t, err, mounts.ValidationFailed, "version")
	}
	_, err := commitTo(made(t, 2), ``, `{"action":"upgrade-format-version","format-version":4}`)
	refused(t, err, mounts.ValidationFailed, "4 is not supported")
}

func TestTheFirstGenerationOfV1IsUnderstood(t *testing.T) {
	old := `{"format-version":1,"location":"s3://b/t","last-updated-ms":1600000000000,"last-column-id":2,
	  "schema":{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"ts","required":false,"type":"timestamptz"}]},
	  "partition-spec":[{"source-id":2,"name":"d","transform":"day"}],"properties":{}}`
	doc := must(t, json.RawMessage(old), `{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000}`,
		`{"action":"upgrade-format-version","format-version":2}`)
	wants(t, doc, "1000", "partition-specs", 0, "fields", 0, "field-id")
	wants(t, doc, "0", "schemas", 0, "schema-id")
	wants(t, doc, `"`+tableUUID+`"`, "table-uuid")
}

func TestPropertiesUnderOldNames(t *testing.T) {
	doc := must(t, made(t, 2), ``, `{"action":"set-properties","updated":{"b":"2","a":"1 & <2>"}},{"action":"remove-properties","removed":["owner"]}`)
	wants(t, doc, `{"a":"1 & <2>","b":"2"}`, "properties")
}

func TestTheMetadataLogIsTrimmed(t *testing.T) {
	doc := must(t, made(t, 2), ``, `{"action":"set-properties","updates":{"write.metadata.previous-versions-max":"3"}}`)
	for i := range 5 {
		req := &mounts.CommitTableRequest{Table: ident, Updates: raws(fmt.Sprintf(`{"action":"set-properties","updates":{"i":"%d"}}`, i))}
		res, err := Table(&Base{Metadata: doc, Location: fmt.Sprintf("s3://b/m/%d", i)}, req, fixed())
		if err != nil {
			t.Fatal(err)
		}
		doc = res.Metadata
	}
	sum, err := Inspect(doc)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"s3://b/m/2", "s3://b/m/3", "s3://b/m/4"}; !slices.Equal(sum.PreviousFiles, want) {
		t.Fatalf("the log is %v", sum.PreviousFiles)
	}
}

func TestSectionsThatSomeWritersLeaveOutComeBack(t *testing.T) {
	o, _ := parseObject(made(t, 2))
	for _, name := range []string{"properties", "snapshots", "refs", "metadata-log", "snapshot-log", "current-snapshot-id"} {
		o.remove(name)
	}
	doc := must(t, o.encode(), ``, `{"action":"set-location","location":"s3://b/other"}`)
	for name, want := range map[string]string{"properties": "{}", "snapshots": "[]", "refs": "{}", "snapshot-log": "[]", "current-snapshot-id": "-1"} {
		wants(t, doc, want, name)
	}
}

func TestWhitespaceOfARequestIsNotStored(t *testing.T) {
	doc := must(t, made(t, 2), ``, strings.NewReplacer(`{`, "{\n ", `:`, " :\t").Replace(addSchema(threeColumns)))
	if got := get(t, doc, "schemas", 1); strings.ContainsAny(got, " \n\t") {
		t.Fatal(got)
	}
}
