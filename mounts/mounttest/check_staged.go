package mounttest

import (
	"encoding/json"
	"fmt"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func (s *suite) stage(id mounts.Identifier) *mounts.Table {
	s.Helper()
	staged, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, StageCreate: true, Schema: Schema(),
		PartitionSpec: raw(`{"spec-id":0,"fields":[{"source-id":2,"field-id":1000,"name":"at_day","transform":"day"}]}`),
		WriteOrder:    raw(`{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}`),
		Properties:    map[string]string{"owner": "hank"}})
	s.must(err)
	return staged
}

// finish is the commit that Java sends to finish a staged creation.
func (s *suite) finish(id mounts.Identifier, staged *mounts.Table) *mounts.CommitTableRequest {
	s.Helper()
	table := s.doc(staged.Metadata)
	version, _ := table.num("format-version")
	specID, _ := table.num("default-spec-id")
	orderID, _ := table.num("default-sort-order-id")
	text := func(v any) string { return string(encode(v)) }
	return &mounts.CommitTableRequest{Table: id, Requirements: raws(`{"type":"assert-create"}`), Updates: []json.RawMessage{
		raw(`{"action":"assign-uuid","uuid":` + text(table.text("table-uuid")) + `}`),
		raw(fmt.Sprintf(`{"action":"upgrade-format-version","format-version":%d}`, version)),
		raw(`{"action":"add-schema","schema":` + text(table.schema()) + `}`),
		raw(`{"action":"set-current-schema","schema-id":-1}`),
		raw(`{"action":"add-spec","spec":` + text(table.by("partition-specs", "spec-id", specID)) + `}`),
		raw(`{"action":"set-default-spec","spec-id":-1}`),
		raw(`{"action":"add-sort-order","sort-order":` + text(table.by("sort-orders", "order-id", orderID)) + `}`),
		raw(`{"action":"set-default-sort-order","sort-order-id":-1}`),
		raw(`{"action":"set-location","location":` + text(table.text("location")) + `}`),
		raw(`{"action":"set-properties","updates":` + text(table.sub("properties")) + `}`),
	}}
}

func (s *suite) stagedNothing() {
	s.namespace("shop")
	id := s.id("staged", "shop")
	staged := s.stage(id)
	if staged.ETag != "" {
		s.Errorf("a staged table has the tag %s", staged.ETag)
	}
	if table := s.doc(staged.Metadata); table.text("table-uuid") == "" || table.text("location") == "" {
		s.Errorf("staged without a uuid or a location: %s", staged.Metadata)
	}
	s.absent(id)
	if s.can(capabilities.DropNamespace) {
		s.must(s.b.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: id.Namespace}))
	}
}

func (s *suite) stagedDuplicate() {
	id, before := s.fresh()
	_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, StageCreate: true, Schema: Schema()})
	s.want(err, id, mounts.AlreadyExists)
	s.unchanged(id, before)
}

// stagedCommit: data files were written under the staged location and with the
// staged spec before the commit, so both must survive it.
func (s *suite) stagedCommit() {
	s.namespace("shop")
	id := s.id("staged", "shop")
	staged := s.stage(id)
	committed, err := s.b.CommitTable(s.ctx, s.finish(id, staged))
	s.must(err)
	loaded := s.load(id)
	if loaded.MetadataLocation != committed.MetadataLocation || !sameJSON(loaded.Metadata, committed.Metadata) {
		s.Error("what the commit answers is not what is loaded")
	}
	before, after := s.doc(staged.Metadata), s.doc(loaded.Metadata)
	for _, key := range []string{"table-uuid", "location", "format-version", "schemas", "current-schema-id", "last-column-id",
		"partition-specs", "default-spec-id", "last-partition-id", "sort-orders", "default-sort-order-id", "properties"} {
		if !sameJSON(encode(before[key]), encode(after[key])) {
			s.Errorf("%s was staged as %s and committed as %s", key, encode(before[key]), encode(after[key]))
		}
	}
	s.append(id, loaded.Metadata, 11)
}

func (s *suite) stagedTwice() {
	s.namespace("shop")
	id := s.id("staged", "shop")
	first, second := s.stage(id), s.stage(id)
	if s.doc(first.Metadata).text("location") == s.doc(second.Metadata).text("location") {
		s.Error("two staged tables share a location")
	}
	_, err := s.b.CommitTable(s.ctx, s.finish(id, second))
	s.must(err)
	winner := s.load(id)
	_, err = s.b.CommitTable(s.ctx, s.finish(id, first))
	s.want(err, id, mounts.AlreadyExists)
	s.unchanged(id, winner)
}

func (s *suite) stagedOrphan() {
	n := s.namespace("shop")
	id := s.id("staged", "shop")
	staged := s.stage(id)
	s.must(s.w.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: n}))
	_, err := s.b.CommitTable(s.ctx, s.finish(id, staged))
	s.want(err, space(n), mounts.NoSuchNamespace)
	s.notLoaded(id)
}
