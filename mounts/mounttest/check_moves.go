package mounttest

import (
	"errors"
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// moveChecks are about renaming, dropping and registering tables.
func moveChecks() []check {
	rename, drop := of(capabilities.RenameTable), of(capabilities.DropTable)
	view := of(capabilities.CreateView)
	return []check{
		{name: "rename/in place", needs: rename, run: (*suite).renameInPlace},
		{name: "rename/across namespaces", needs: rename, run: (*suite).renameAcross},
		{name: "rename/missing source", needs: rename, run: (*suite).renameMissing},
		{name: "rename/missing destination namespace", needs: rename, run: (*suite).renameNowhere},
		{name: "rename/taken by a table", needs: rename, run: (*suite).renameTaken},
		{name: "rename/taken by a view", needs: rename, writes: view, run: (*suite).renameTakenByView},
		{name: "rename/then the old name again", needs: rename.Union(drop), run: (*suite).renameReuse},
		{name: "drop/table", needs: drop, run: (*suite).dropTable},
		{name: "drop/with purge", needs: drop, run: (*suite).dropPurge},
		{name: "drop/missing", needs: drop, run: (*suite).dropMissing},
		{name: "drop/view's name", needs: drop, writes: view, run: (*suite).dropView},
		{name: "drop/then create again", needs: drop, run: (*suite).dropRecreate},
	}
}

func registerChecks() []check {
	register, unregister := of(capabilities.RegisterTable), of(capabilities.UnregisterTable)
	drop := of(capabilities.DropTable)
	return []check{
		{name: "register/table", needs: register, writes: drop, run: (*suite).registerTable},
		{name: "register/taken", needs: register, writes: drop, run: (*suite).registerTaken},
		{name: "register/overwrite", needs: register, writes: drop, run: (*suite).registerOverwrite},
		{name: "register/missing namespace", needs: register, run: (*suite).registerNowhere},
		{name: "register/missing metadata", needs: register, run: (*suite).registerMissing},
		{name: "unregister/table", needs: unregister, run: (*suite).unregisterTable},
		{name: "unregister/missing", needs: unregister, run: (*suite).unregisterMissing},
	}
}

func (s *suite) rename(from, to mounts.Identifier) error {
	return s.b.RenameTable(s.ctx, &mounts.RenameTableRequest{Source: from, Destination: to})
}

// renamed checks that a table is at its new name, as it was, and not at the old.
func (s *suite) renamed(from, to mounts.Identifier, before *mounts.Table) {
	s.Helper()
	after := s.load(to)
	if !sameJSON(after.Metadata, before.Metadata) {
		s.Error("a rename changed the metadata")
	}
	s.absent(from)
	if got := s.tables(to.Namespace, 0); !slices.Contains(got, to.Name) {
		s.Errorf("%s is not listed: %q", to, got)
	}
}

func (s *suite) renameInPlace() {
	id, before := s.fresh()
	s.must(s.rename(id, s.id("purchases", "shop")))
	s.renamed(id, s.id("purchases", "shop"), before)
}

func (s *suite) renameAcross() {
	id, before := s.fresh()
	s.namespace("archive")
	s.namespace("archive", "old")
	s.must(s.rename(id, s.id("orders", "archive", "old")))
	s.renamed(id, s.id("orders", "archive", "old"), before)
	if s.can(capabilities.DropNamespace) {
		s.must(s.b.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: id.Namespace}))
	}
}

func (s *suite) renameMissing() {
	id, before := s.fresh()
	for _, missing := range []mounts.Identifier{s.id("missing", "shop"), s.id("orders", "missing")} {
		s.want(s.rename(missing, s.id("new", "shop")), missing, mounts.NoSuchTable)
	}
	s.absent(s.id("new", "shop"))
	s.unchanged(id, before)
}

func (s *suite) renameNowhere() {
	id, before := s.fresh()
	s.want(s.rename(id, s.id("orders", "missing")), space(s.ns("missing")), mounts.NoSuchNamespace)
	s.unchanged(id, before)
}

// wantTaken is want with the other side of a rename.
func (s *suite) wantTaken(err error, from, to mounts.Identifier) {
	s.Helper()
	s.want(err, from, mounts.AlreadyExists)
	var e *mounts.Error
	if errors.As(err, &e) && !e.To.Equal(to) {
		s.Errorf("the destination in the error is %q, want %q", e.To, to)
	}
}

func (s *suite) renameTaken() {
	id, before := s.fresh()
	other := s.id("returns", "shop")
	taken := s.table(other)
	s.wantTaken(s.rename(id, other), id, other)
	s.unchanged(id, before)
	s.unchanged(other, taken)
}

func (s *suite) renameTakenByView() {
	id, before := s.fresh()
	other := s.id("recent", "shop")
	s.view(other)
	s.wantTaken(s.rename(id, other), id, other)
	s.unchanged(id, before)
	s.absent(other)
}

// renameReuse: the old name must not lead to the renamed table's place.
func (s *suite) renameReuse() {
	id, before := s.fresh()
	moved := s.id("moved", "shop")
	s.must(s.rename(id, moved))
	second := s.table(id)
	if s.doc(second.Metadata).text("location") == s.doc(before.Metadata).text("location") {
		s.Error("the new table lies where the renamed one lies")
	}
	s.must(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}))
	s.absent(id)
	if !sameJSON(s.load(moved).Metadata, before.Metadata) {
		s.Error("the renamed table changed")
	}
}

func (s *suite) dropTable() {
	id, _ := s.fresh()
	other := s.id("returns", "shop")
	kept := s.table(other)
	s.must(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}))
	s.absent(id)
	s.want(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}), id, mounts.NoSuchTable)
	s.unchanged(other, kept)
}

// dropPurge: what becomes of the files is the backend's affair, and takes its
// time. The name is free at once, and others are left alone.
func (s *suite) dropPurge() {
	id, before := s.fresh()
	other := s.id("returns", "shop")
	kept := s.table(other)
	purge := &mounts.DropTableRequest{Table: id, Purge: true}
	s.must(s.b.DropTable(s.ctx, purge))
	s.absent(id)
	s.want(s.b.DropTable(s.ctx, purge), id, mounts.NoSuchTable)
	again := s.table(id)
	if again.MetadataLocation == before.MetadataLocation {
		s.Error("the new table has the purged one's metadata location")
	}
	s.must(s.b.DropTable(s.ctx, purge))
	s.absent(id)
	s.unchanged(other, kept)
}

func (s *suite) dropMissing() {
	s.namespace("shop")
	for _, id := range []mounts.Identifier{s.id("missing", "shop"), s.id("orders", "missing")} {
		s.want(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}), id, mounts.NoSuchTable)
	}
}

func (s *suite) dropView() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	s.view(id)
	s.want(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}), id, mounts.NoSuchTable)
	if s.can(capabilities.LoadView) {
		_, err := s.b.LoadView(s.ctx, &mounts.LoadViewRequest{View: id})
		s.must(err)
	}
}

func (s *suite) dropRecreate() {
	id, before := s.fresh()
	s.must(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}))
	again := s.table(id)
	old, fresh := s.doc(before.Metadata), s.doc(again.Metadata)
	for _, key := range []string{"location", "table-uuid"} {
		if old.text(key) == fresh.text(key) {
			s.Errorf("the new table has the dropped one's %s %s", key, old.text(key))
		}
	}
	if again.MetadataLocation == before.MetadataLocation {
		s.Error("the new table has the dropped one's metadata location")
	}
	if loaded := s.load(id); loaded.MetadataLocation != again.MetadataLocation || loaded.ETag != "" && loaded.ETag == before.ETag {
		s.Error("the dropped table is loaded")
	}
}

// dropped creates a table with a snapshot and drops it again, so that its
// metadata is there to be registered.
func (s *suite) dropped() *mounts.Table {
	s.Helper()
	id, created := s.fresh()
	before := s.append(id, created.Metadata, 11)
	s.must(s.w.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}))
	return before
}

func (s *suite) register(id mounts.Identifier, location string, overwrite bool) (*mounts.Table, error) {
	return s.b.RegisterTable(s.ctx, &mounts.RegisterTableRequest{Namespace: id.Namespace, Name: id.Name,
		MetadataLocation: location, Overwrite: overwrite})
}

func (s *suite) registerTable() {
	before := s.dropped()
	id := s.id("again", "shop")
	registered, err := s.register(id, before.MetadataLocation, false)
	s.must(err)
	loaded := s.load(id)
	for _, t := range []*mounts.Table{registered, loaded} {
		if t.MetadataLocation != before.MetadataLocation || !sameJSON(t.Metadata, before.Metadata) {
			s.Errorf("registered %s, got %s", before.MetadataLocation, t.MetadataLocation)
		}
	}
	s.append(id, loaded.Metadata, 12)
}

func (s *suite) registerTaken() {
	before := s.dropped()
	id := s.id("taken", "shop")
	kept := s.table(id)
	_, err := s.register(id, before.MetadataLocation, false)
	s.want(err, id, mounts.AlreadyExists)
	s.unchanged(id, kept)
}

func (s *suite) registerOverwrite() {
	before := s.dropped()
	id := s.id("taken", "shop")
	s.table(id)
	_, err := s.register(id, before.MetadataLocation, true)
	s.must(err)
	if loaded := s.load(id); loaded.MetadataLocation != before.MetadataLocation {
		s.Errorf("loads %s, want %s", loaded.MetadataLocation, before.MetadataLocation)
	}
}

func (s *suite) registerNowhere() {
	_, created := s.fresh()
	id := s.id("again", "missing")
	_, err := s.register(id, created.MetadataLocation, false)
	s.want(err, space(id.Namespace), mounts.NoSuchNamespace)
}

func (s *suite) registerMissing() {
	_, created := s.fresh()
	id := s.id("again", "shop")
	location := s.doc(created.Metadata).text("location") + "/metadata/00009-5a3b0d3e-2c7d-4d5e-9a53-000000000000.metadata.json"
	_, err := s.register(id, location, false)
	s.want(err, id, mounts.MetadataMissing)
	s.absent(id)
}

func (s *suite) unregisterTable() {
	id, before := s.fresh()
	got, err := s.b.UnregisterTable(s.ctx, &mounts.UnregisterTableRequest{Table: id})
	s.must(err)
	if got.MetadataLocation != before.MetadataLocation || !sameJSON(got.Metadata, before.Metadata) {
		s.Errorf("answers %s, want %s", got.MetadataLocation, before.MetadataLocation)
	}
	s.absent(id)
}

func (s *suite) unregisterMissing() {
	s.namespace("shop")
	for _, id := range []mounts.Identifier{s.id("missing", "shop"), s.id("orders", "missing")} {
		_, err := s.b.UnregisterTable(s.ctx, &mounts.UnregisterTableRequest{Table: id})
		s.want(err, id, mounts.NoSuchTable)
	}
}
