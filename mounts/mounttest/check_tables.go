package mounttest

import (
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// tableChecks are about reading tables.
func tableChecks() []check {
	commit, exists := of(capabilities.CommitTable), of(capabilities.TableExists)
	return []check{
		{name: "tables/load", run: (*suite).tableLoad},
		{name: "tables/load missing", run: (*suite).tableLoadMissing},
		{name: "tables/load a view's name", writes: of(capabilities.CreateView), run: (*suite).tableLoadView},
		{name: "tables/exists", needs: exists, run: (*suite).tableExists},
		{name: "tables/etag", run: (*suite).tableETag},
		{name: "tables/etag after a commit", writes: commit, run: (*suite).tableETagChanges},
		{name: "tables/snapshots=refs", writes: commit, run: (*suite).tableRefs},
		{name: "tables/snapshots unknown", run: (*suite).tableSnapshotsUnknown},
		{name: "tables/report metrics", needs: of(capabilities.ReportMetrics), run: (*suite).tableMetrics},
	}
}

func (s *suite) tableLoad() {
	id, created := s.fresh()
	loaded := s.load(id)
	if loaded.MetadataLocation != created.MetadataLocation || !sameJSON(loaded.Metadata, created.Metadata) {
		s.Errorf("created\n%s\n%s\nloaded\n%s\n%s", created.MetadataLocation, created.Metadata, loaded.MetadataLocation, loaded.Metadata)
	}
	all, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id, Snapshots: mounts.SnapshotsAll})
	s.must(err)
	if !sameJSON(all.Metadata, loaded.Metadata) {
		s.Error("snapshots=all is not the default")
	}
}

// tableLoadMissing: engines probe names such as orders.snapshots, and know only
// the missing table.
func (s *suite) tableLoadMissing() {
	s.fresh()
	s.namespace("shop", "eu")
	for _, id := range []mounts.Identifier{
		s.id("missing", "shop"), s.id("t", "missing"), s.id("t", "shop", "missing"), s.id("snapshots", "shop", "orders"),
		s.id("eu", "shop"), s.id("shop"), s.id("Orders", "shop"), s.id("orders", "shop", "eu"),
	} {
		s.notLoaded(id)
	}
}

func (s *suite) tableLoadView() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	s.view(id)
	s.absent(id)
}

func (s *suite) tableExists() {
	id, _ := s.fresh()
	if err := s.b.TableExists(s.ctx, &mounts.TableExistsRequest{Table: id}); err != nil {
		s.Error(err)
	}
	for _, missing := range []mounts.Identifier{s.id("missing", "shop"), s.id("orders", "missing"), s.id("shop")} {
		s.want(s.b.TableExists(s.ctx, &mounts.TableExistsRequest{Table: missing}), missing, mounts.NoSuchTable)
	}
}

func (s *suite) tableETag() {
	id, _ := s.fresh()
	other := s.id("other", "shop")
	s.table(other)
	loaded := s.load(id)
	if loaded.ETag == "" {
		s.Fatal("a load has no entity tag")
	}
	if again := s.load(id); again.ETag != loaded.ETag {
		s.Errorf("the tag of an unchanged table was %s and is %s", loaded.ETag, again.ETag)
	}
	for _, match := range []string{loaded.ETag, `"other", ` + loaded.ETag} {
		same, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id, IfNoneMatch: match})
		s.must(err)
		if !same.NotModified || same.ETag != loaded.ETag {
			s.Errorf("If-None-Match %s: not modified %v, tag %s", match, same.NotModified, same.ETag)
		}
	}
	full, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id, IfNoneMatch: `"some-other-tag"`})
	s.must(err)
	if full.NotModified {
		s.Error("not modified since a tag that never was")
	}
	if foreign := s.load(other); foreign.ETag == loaded.ETag {
		s.Error("two tables have the same tag")
	}
	refs, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id, Snapshots: mounts.SnapshotsRefs, IfNoneMatch: loaded.ETag})
	s.must(err)
	if refs.NotModified || refs.ETag == loaded.ETag {
		s.Error("snapshots=refs has the tag of snapshots=all")
	}
	gone := s.id("gone", "shop")
	_, err = s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: gone, IfNoneMatch: loaded.ETag})
	s.want(err, gone, mounts.NoSuchTable)
}

func (s *suite) tableETagChanges() {
	id, created := s.fresh()
	before := s.load(id)
	committed := s.append(id, created.Metadata, 11)
	after, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id, IfNoneMatch: before.ETag})
	s.must(err)
	if after.NotModified || after.ETag == before.ETag {
		s.Error("the tag outlives a commit")
	}
	if after.MetadataLocation != committed.MetadataLocation {
		s.Errorf("committed %s, loaded %s", committed.MetadataLocation, after.MetadataLocation)
	}
}

func (s *suite) tableRefs() {
	id, t := s.fresh()
	for snapshot := int64(11); snapshot <= 13; snapshot++ {
		t = s.append(id, t.Metadata, snapshot)
	}
	_, err := s.w.CommitTable(s.ctx, &mounts.CommitTableRequest{Table: id, Updates: raws(
		`{"action":"set-snapshot-ref","ref-name":"first","type":"tag","snapshot-id":11}`)})
	s.must(err)
	reduced, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id, Snapshots: mounts.SnapshotsRefs})
	s.must(err)
	full := s.load(id)
	if got := snapshotIDs(s.doc(reduced.Metadata)); !slices.Equal(got, []int64{11, 13}) {
		s.Errorf("snapshots %v, want those of the refs, 11 and 13", got)
	}
	if got := snapshotIDs(s.doc(full.Metadata)); !slices.Equal(got, []int64{11, 12, 13}) {
		s.Errorf("without the mode: snapshots %v", got)
	}
	// All else stays: a shortened log breaks time travel.
	left, whole := s.doc(reduced.Metadata), s.doc(full.Metadata)
	delete(left, "snapshots")
	delete(whole, "snapshots")
	if !sameJSON(encode(left), encode(whole)) {
		s.Error("snapshots=refs changes more than the snapshots")
	}
	if reduced.MetadataLocation != full.MetadataLocation {
		s.Error("snapshots=refs changes the metadata location")
	}
}

func snapshotIDs(d doc) []int64 {
	var ids []int64
	for _, snapshot := range d.list("snapshots") {
		id, _ := snapshot.num("snapshot-id")
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (s *suite) tableSnapshotsUnknown() {
	id, _ := s.fresh()
	_, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id, Snapshots: "some"})
	s.want(err, id, mounts.BadRequest, mounts.InvalidArgument)
}

func (s *suite) tableMetrics() {
	id, _ := s.fresh()
	report := raw(`{"report-type":"scan-report","table-name":"orders","snapshot-id":-1,"filter":true,"schema-id":0,` +
		`"projected-field-ids":[1],"projected-field-names":["id"],"metrics":{}}`)
	if err := s.b.ReportMetrics(s.ctx, &mounts.ReportMetricsRequest{Table: id, Body: report}); err != nil {
		s.Error(err)
	}
}
