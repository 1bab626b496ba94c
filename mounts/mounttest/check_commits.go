package mounttest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// commitChecks are about commits that succeed.
func commitChecks() []check {
	commit := of(capabilities.CommitTable)
	return []check{
		{name: "commits/append", needs: commit, run: func(s *suite) { s.commitAppend("2") }},
		{name: "commits/append to version 1", needs: commit, run: func(s *suite) { s.commitAppend("1") }},
		{name: "commits/append to version 3", needs: commit, run: func(s *suite) { s.commitAppend("3") }},
		{name: "commits/branches and tags", needs: commit, run: (*suite).commitRefs},
		{name: "commits/schema evolution", needs: commit, run: (*suite).commitSchema},
		{name: "commits/partition evolution", needs: commit, run: (*suite).commitSpec},
		{name: "commits/sort order", needs: commit, run: (*suite).commitOrder},
		{name: "commits/properties", needs: commit, run: (*suite).commitProperties},
		{name: "commits/large snapshot ids", needs: commit, run: (*suite).commitLargeIDs},
		{name: "commits/metadata log", needs: commit, run: (*suite).commitLog},
		{name: "commits/without updates", needs: commit, run: (*suite).commitNothing},
	}
}

// committed checks what holds for every commit that changed something, and
// returns the table as it is loaded.
func (s *suite) committed(id mounts.Identifier, before, after *mounts.Table) doc {
	s.Helper()
	loaded := s.load(id)
	if after.MetadataLocation == before.MetadataLocation {
		s.Errorf("the metadata location stayed %s through a commit", before.MetadataLocation)
	}
	if loaded.MetadataLocation != after.MetadataLocation || !sameJSON(loaded.Metadata, after.Metadata) {
		s.Error("what the commit answers is not what is loaded")
	}
	old, table := s.doc(before.Metadata), s.doc(loaded.Metadata)
	for _, key := range []string{"table-uuid", "location"} {
		if old.text(key) != table.text(key) {
			s.Errorf("%s was %s and is %s", key, old.text(key), table.text(key))
		}
	}
	was, _ := old.num("last-updated-ms")
	if is, _ := table.num("last-updated-ms"); is < was {
		s.Errorf("last-updated-ms went back from %d to %d", was, is)
	}
	return table
}

func (s *suite) commitAppend(version string) {
	id := mounts.Identifier{Namespace: s.namespace("shop"), Name: "orders"}
	before, err := s.w.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema(),
		Properties: map[string]string{"format-version": version}})
	s.must(err)
	for snapshot := int64(101); snapshot <= 103; snapshot++ {
		after, err := s.b.CommitTable(s.ctx, Append(id, before.Metadata, snapshot))
		s.must(err)
		table := s.committed(id, before, after)
		if current, _ := table.num("current-snapshot-id"); current != snapshot {
			s.Errorf("current-snapshot-id %d, want %d", current, snapshot)
		}
		if main, _ := table.sub("refs").sub("main").num("snapshot-id"); main != snapshot {
			s.Errorf("main is at %d, want %d", main, snapshot)
		}
		if n := int64(len(table.list("snapshots"))); n != snapshot-100 {
			s.Errorf("%d snapshots after %d appends", n, snapshot-100)
		}
		if log := table.list("snapshot-log"); int64(len(log)) != snapshot-100 {
			s.Errorf("%d entries in the snapshot log after %d appends", len(log), snapshot-100)
		}
		stored := table.by("snapshots", "snapshot-id", snapshot)
		if parent, ok := stored.num("parent-snapshot-id"); ok != (snapshot > 101) || ok && parent != snapshot-1 {
			s.Errorf("snapshot %d has the parent %d", snapshot, parent)
		}
		sequence, _ := stored.num("sequence-number")
		last, _ := table.num("last-sequence-number")
		if version != "1" && (sequence != snapshot-100 || last != sequence) {
			s.Errorf("sequence number %d, last %d, want %d", sequence, last, snapshot-100)
		}
		if next, _ := table.num("next-row-id"); version == "3" && next != snapshot-100 {
			s.Errorf("next-row-id %d after %d rows", next, snapshot-100)
		}
		before = after
	}
}

func (s *suite) commitRefs() {
	id, created := s.fresh()
	first := s.append(id, created.Metadata, 11)
	second := s.append(id, first.Metadata, 12)
	after, err := s.commit(id, nil,
		`{"action":"set-snapshot-ref","ref-name":"audit","type":"branch","snapshot-id":11,"min-snapshots-to-keep":2,"max-snapshot-age-ms":86400000,"max-ref-age-ms":172800000}`,
		`{"action":"set-snapshot-ref","ref-name":"q1","type":"tag","snapshot-id":11,"max-ref-age-ms":99000000}`)
	s.must(err)
	refs := s.committed(id, second, after).sub("refs")
	audit, tag := refs.sub("audit"), refs.sub("q1")
	for key, want := range map[string]int64{"snapshot-id": 11, "min-snapshots-to-keep": 2, "max-snapshot-age-ms": 86400000, "max-ref-age-ms": 172800000} {
		if got, _ := audit.num(key); got != want {
			s.Errorf("branch: %s is %d, want %d", key, got, want)
		}
	}
	if at, _ := tag.num("snapshot-id"); at != 11 || tag.text("type") != "tag" || audit.text("type") != "branch" {
		s.Errorf("refs %v", refs)
	}
	if at, _ := refs.sub("main").num("snapshot-id"); at != 12 {
		s.Errorf("main moved to %d", at)
	}
	rolled, err := s.commit(id, nil, `{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":11}`)
	s.must(err)
	table := s.committed(id, after, rolled)
	if current, _ := table.num("current-snapshot-id"); current != 11 || len(table.list("snapshots")) != 2 {
		s.Errorf("rolled back to %d with %d snapshots", current, len(table.list("snapshots")))
	}
	removed, err := s.commit(id, nil, `{"action":"remove-snapshot-ref","ref-name":"q1"}`)
	s.must(err)
	if _, there := s.committed(id, rolled, removed).sub("refs")["q1"]; there {
		s.Error("a removed tag is still there")
	}
}

func (s *suite) commitSchema() {
	id, before := s.fresh()
	after, err := s.commit(id, raws(`{"type":"assert-current-schema-id","current-schema-id":0}`,
		`{"type":"assert-last-assigned-field-id","last-assigned-field-id":3}`),
		`{"action":"add-schema","last-column-id":5,"schema":{"type":"struct","schema-id":1,"fields":[
			{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"at","required":false,"type":"timestamptz"},
			{"id":3,"name":"remark","required":false,"type":"string"},{"id":4,"name":"price","required":false,"type":"decimal(9,2)"},
			{"id":5,"name":"active","required":false,"type":"boolean"}]}}`,
		`{"action":"set-current-schema","schema-id":-1}`)
	s.must(err)
	table := s.committed(id, before, after)
	if last, _ := table.num("last-column-id"); last != 5 {
		s.Errorf("last-column-id %d, want 5", last)
	}
	if len(table.list("schemas")) != 2 {
		s.Errorf("%d schemas, want the old one too", len(table.list("schemas")))
	}
	if current, _ := table.num("current-schema-id"); current == 0 {
		s.Error("the current schema is the old one")
	}
	schema := table.schema()
	if at, _ := schema.column("remark").num("id"); at != 3 || schema.column("note") != nil || schema.column("price") == nil {
		s.Errorf("current schema %v", schema)
	}
	back, err := s.commit(id, nil, `{"action":"set-current-schema","schema-id":0}`)
	s.must(err)
	table = s.committed(id, after, back)
	if current, ok := table.num("current-schema-id"); !ok || current != 0 || len(table.list("schemas")) != 2 {
		s.Errorf("current schema %v of %d after going back", table["current-schema-id"], len(table.list("schemas")))
	}
}

func (s *suite) commitSpec() {
	id, before := s.fresh()
	after, err := s.commit(id, raws(`{"type":"assert-default-spec-id","default-spec-id":0}`),
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"source-id":2,"field-id":1000,"name":"at_day","transform":"day"}]}}`,
		`{"action":"set-default-spec","spec-id":-1}`)
	s.must(err)
	table := s.committed(id, before, after)
	specID, _ := table.num("default-spec-id")
	spec := table.by("partition-specs", "spec-id", specID).list("fields")
	if specID == 0 || len(spec) != 1 || spec[0].text("transform") != "day" || len(table.list("partition-specs")) != 2 {
		s.Errorf("default spec %d: %v of %v", specID, spec, table["partition-specs"])
	}
	if last, _ := table.num("last-partition-id"); last != 1000 {
		s.Errorf("last-partition-id %d, want 1000", last)
	}
}

func (s *suite) commitOrder() {
	id, before := s.fresh()
	after, err := s.commit(id, raws(`{"type":"assert-default-sort-order-id","default-sort-order-id":0}`),
		`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":2,"transform":"identity","direction":"desc","null-order":"nulls-last"}]}}`,
		`{"action":"set-default-sort-order","sort-order-id":-1}`)
	s.must(err)
	table := s.committed(id, before, after)
	orderID, _ := table.num("default-sort-order-id")
	order := table.by("sort-orders", "order-id", orderID).list("fields")
	if orderID == 0 || len(order) != 1 || order[0].text("direction") != "desc" {
		s.Errorf("default sort order %d: %v", orderID, order)
	}
}

func (s *suite) commitProperties() {
	id, before := s.fresh()
	after, err := s.commit(id, nil, `{"action":"set-properties","updates":{"a":"1","b":"2","é":"\"<&>\""}}`)
	s.must(err)
	s.committed(id, before, after)
	again, err := s.commit(id, nil, `{"action":"remove-properties","removals":["a","never-there"]}`, `{"action":"set-properties","updates":{"b":"3"}}`)
	s.must(err)
	properties := s.committed(id, after, again).sub("properties")
	if _, there := properties["a"]; there || properties.text("b") != "3" || properties.text("é") != `"<&>"` {
		s.Errorf("properties %v", properties)
	}
}

// commitLargeIDs: ids beyond 2^53 are the norm and must not pass through a
// float.
func (s *suite) commitLargeIDs() {
	id, t := s.fresh()
	want := []int64{9007199254740993, 9223372036854775807}
	for _, snapshot := range want {
		after, err := s.b.CommitTable(s.ctx, Append(id, t.Metadata, snapshot))
		s.must(err)
		t = after
	}
	if got := snapshotIDs(s.doc(s.load(id).Metadata)); !slices.Equal(got, want) {
		s.Errorf("snapshots %v, want %v", got, want)
	}
}

func (s *suite) commitLog() {
	id, t := s.fresh()
	var files []string
	for i := range 3 {
		files = append(files, t.MetadataLocation)
		after, err := s.commit(id, nil, fmt.Sprintf(`{"action":"set-properties","updates":{"n":"%d"}}`, i))
		s.must(err)
		t = after
	}
	var logged []string
	for _, entry := range s.doc(s.load(id).Metadata).list("metadata-log") {
		logged = append(logged, entry.text("metadata-file"))
	}
	if !slices.Equal(logged, files) {
		s.Errorf("metadata log %q\nwant         %q", logged, files)
	}
}

func (s *suite) commitNothing() {
	id, before := s.fresh()
	after, err := s.b.CommitTable(s.ctx, &mounts.CommitTableRequest{Table: id,
		Requirements: raws(`{"type":"assert-current-schema-id","current-schema-id":0}`), Updates: []json.RawMessage{}})
	s.must(err)
	if !sameJSON(after.Metadata, before.Metadata) {
		s.Error("a commit of nothing changed the metadata")
	}
	s.unchanged(id, after)
	_, err = s.b.CommitTable(s.ctx, &mounts.CommitTableRequest{Table: id,
		Requirements: raws(`{"type":"assert-current-schema-id","current-schema-id":5}`), Updates: []json.RawMessage{}})
	s.want(err, id, mounts.CommitConflict)
}
