package mounttest

import (
	"encoding/json"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// refusalChecks are about commits that must change nothing.
func refusalChecks() []check {
	commit := of(capabilities.CommitTable)
	return []check{
		{name: "commits/requirements", needs: commit, run: (*suite).refuseRequirements},
		{name: "commits/requirements that hold", needs: commit, run: (*suite).acceptRequirements},
		{name: "commits/assert-create on an existing table", needs: commit, run: (*suite).refuseCreate},
		{name: "commits/assert-create with others", needs: commit, run: (*suite).refuseMixedCreate},
		{name: "commits/missing table", needs: commit, run: (*suite).refuseMissing},
		{name: "commits/unknown update", needs: commit, run: (*suite).refuseUnknownUpdate},
		{name: "commits/unknown requirement", needs: commit, run: (*suite).refuseUnknownRequirement},
		{name: "commits/invalid updates", needs: commit, run: (*suite).refuseInvalid},
		{name: "commits/stale sequence number", needs: commit, run: (*suite).refuseStale},
		{name: "commits/location outside", needs: commit.Union(of(capabilities.CreateTable)), run: (*suite).refuseLocation},
		{name: "commits/view's name", needs: commit, writes: of(capabilities.CreateView), run: (*suite).refuseView},
	}
}

const touch = `{"action":"set-properties","updates":{"touched":"yes"}}`

func (s *suite) refuseRequirements() {
	id, created := s.fresh()
	before := s.append(id, created.Metadata, 11)
	for _, requirement := range []string{
		`{"type":"assert-table-uuid","uuid":"00000000-0000-0000-0000-000000000000"}`,
		`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":12}`,
		`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}`,
		`{"type":"assert-ref-snapshot-id","ref":"main"}`,
		`{"type":"assert-ref-snapshot-id","ref":"missing","snapshot-id":11}`,
		`{"type":"assert-last-assigned-field-id","last-assigned-field-id":2}`,
		`{"type":"assert-current-schema-id","current-schema-id":1}`,
		`{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000}`,
		`{"type":"assert-default-spec-id","default-spec-id":1}`,
		`{"type":"assert-default-sort-order-id","default-sort-order-id":1}`,
	} {
		for _, all := range [][]json.RawMessage{
			raws(requirement),
			raws(`{"type":"assert-current-schema-id","current-schema-id":0}`, requirement),
			raws(requirement, `{"type":"assert-current-schema-id","current-schema-id":0}`),
		} {
			_, err := s.commit(id, all, touch)
			s.want(err, id, mounts.CommitConflict)
		}
	}
	s.unchanged(id, before)
}

func (s *suite) acceptRequirements() {
	id, created := s.fresh()
	before := s.append(id, created.Metadata, 11)
	after, err := s.commit(id, raws(
		`{"type":"assert-table-uuid","uuid":`+string(encode(s.doc(created.Metadata).text("table-uuid")))+`}`,
		`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":11}`,
		`{"type":"assert-ref-snapshot-id","ref":"missing","snapshot-id":null}`,
		`{"type":"assert-ref-snapshot-id","ref":"missing"}`,
		`{"type":"assert-last-assigned-field-id","last-assigned-field-id":3}`,
		`{"type":"assert-current-schema-id","current-schema-id":0}`,
		`{"type":"assert-current-schema-id","current-schema-id":0}`,
		`{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":999}`,
		`{"type":"assert-default-spec-id","default-spec-id":0}`,
		`{"type":"assert-default-sort-order-id","default-sort-order-id":0}`), touch)
	s.must(err)
	if s.committed(id, before, after).sub("properties").text("touched") != "yes" {
		s.Error("the update is lost")
	}
}

func (s *suite) refuseCreate() {
	id, before := s.fresh()
	_, err := s.commit(id, raws(`{"type":"assert-create"}`), touch)
	s.want(err, id, mounts.AlreadyExists)
	s.unchanged(id, before)
}

func (s *suite) refuseMixedCreate() {
	id := mounts.Identifier{Namespace: s.namespace("shop"), Name: "new"}
	_, err := s.commit(id, raws(`{"type":"assert-create"}`, `{"type":"assert-current-schema-id","current-schema-id":0}`), touch)
	s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	s.absent(id)
}

func (s *suite) refuseMissing() {
	s.namespace("shop")
	for _, id := range []mounts.Identifier{s.id("missing", "shop"), s.id("orders", "missing")} {
		for _, requirements := range [][]json.RawMessage{nil, raws(`{"type":"assert-current-schema-id","current-schema-id":0}`)} {
			_, err := s.commit(id, requirements, touch)
			s.want(err, id, mounts.NoSuchTable)
			s.notLoaded(id)
		}
	}
}

// refuseUnknownUpdate: nothing of a commit may be written that is not
// understood whole.
func (s *suite) refuseUnknownUpdate() {
	id, before := s.fresh()
	for _, update := range []string{`{"action":"no-such-update","x":1}`, `{"x":1}`, `{"action":5}`, `[]`, `null`, `"text"`} {
		for _, updates := range [][]string{{update}, {touch, update}, {update, touch}} {
			_, err := s.commit(id, nil, updates...)
			s.want(err, id, mounts.BadRequest, mounts.InvalidArgument)
		}
	}
	s.unchanged(id, before)
}

func (s *suite) refuseUnknownRequirement() {
	id, before := s.fresh()
	for _, requirement := range []string{`{"type":"assert-no-such-thing"}`, `{"x":1}`, `[]`} {
		_, err := s.commit(id, raws(requirement), touch)
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument)
	}
	s.unchanged(id, before)
}

func (s *suite) refuseInvalid() {
	id, created := s.fresh()
	before := s.append(id, created.Metadata, 11)
	for _, update := range []string{
		`{"action":"set-current-schema","schema-id":-1}`,
		`{"action":"set-current-schema","schema-id":7}`,
		`{"action":"set-default-spec","spec-id":7}`,
		`{"action":"set-default-spec","spec-id":-1}`,
		`{"action":"set-default-sort-order","sort-order-id":7}`,
		`{"action":"set-snapshot-ref","ref-name":"audit","type":"branch","snapshot-id":99}`,
		`{"action":"set-snapshot-ref","ref-name":"main","type":"tag","snapshot-id":11}`,
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"source-id":99,"field-id":1000,"name":"x","transform":"identity"}]}}`,
		`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":99,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}}`,
		`{"action":"upgrade-format-version","format-version":1}`,
		`{"action":"upgrade-format-version","format-version":99}`,
		`{"action":"assign-uuid","uuid":"11111111-1111-4111-8111-111111111111"}`,
	} {
		_, err := s.commit(id, nil, touch, update)
		if err == nil {
			s.Errorf("accepted: %s", update)
			continue
		}
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	}
	s.unchanged(id, before)
}

// refuseStale: an append that was built on an older state than its requirements
// notice may be rebuilt, so it is a conflict.
func (s *suite) refuseStale() {
	id, created := s.fresh()
	first := s.append(id, created.Metadata, 11)
	second := s.append(id, first.Metadata, 12)
	// On top of 11, so that the sequence number 2 is taken by 12.
	_, err := s.commit(id, nil, updateTexts(AppendUpdate(first.Metadata, 13))...)
	s.want(err, id, mounts.CommitConflict)
	s.unchanged(id, second)
}

func updateTexts(updates []json.RawMessage) []string {
	texts := make([]string, len(updates))
	for i, update := range updates {
		texts[i] = string(update)
	}
	return texts
}

// refuseLocation: a commit is no way around the confinement of a creation.
func (s *suite) refuseLocation() {
	id, before := s.fresh()
	move := `{"action":"set-location","location":"s3://somebody-elses-bucket/table"}`
	_, err := s.commit(id, nil, move)
	s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.Forbidden)
	s.unchanged(id, before)
	fresh := s.id("fresh", "shop")
	create := s.finish(fresh, s.stage(fresh))
	create.Updates = append(create.Updates, raw(move))
	_, err = s.b.CommitTable(s.ctx, create)
	s.want(err, fresh, mounts.BadRequest, mounts.InvalidArgument, mounts.Forbidden)
	s.absent(fresh)
}

func (s *suite) refuseView() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	s.view(id)
	_, err := s.commit(id, nil, touch)
	s.want(err, id, mounts.NoSuchTable)
	staged := s.stage(s.id("other", "shop"))
	_, err = s.b.CommitTable(s.ctx, s.finish(id, staged))
	s.want(err, id, mounts.AlreadyExists)
	s.notLoaded(id)
}
