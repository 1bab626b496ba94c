package mounttest

import (
	"encoding/json"
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func viewChecks() []check {
	load, create := of(capabilities.LoadView), of(capabilities.CreateView)
	rename, drop := of(capabilities.RenameView), of(capabilities.DropView)
	return []check{
		{name: "views/load", needs: load, writes: create, run: (*suite).viewLoad},
		{name: "views/load missing", needs: load, writes: create, run: (*suite).viewLoadMissing},
		{name: "views/create", needs: create.Union(load), run: (*suite).viewCreate},
		{name: "views/create taken", needs: create, run: (*suite).viewTaken},
		{name: "views/create missing namespace", needs: create, run: (*suite).viewNowhere},
		{name: "views/create invalid", needs: create, run: (*suite).viewInvalid},
		{name: "views/table of a view's name", needs: of(capabilities.CreateTable), writes: create, run: (*suite).viewBlocksTable},
		{name: "views/rename", needs: rename.Union(load), writes: create, run: (*suite).viewRename},
		{name: "views/rename refused", needs: rename.Union(load), writes: create, run: (*suite).viewRenameRefused},
		{name: "views/drop", needs: drop.Union(load), writes: create, run: (*suite).viewDrop},
	}
}

func (s *suite) loadView(id mounts.Identifier) *mounts.View {
	s.Helper()
	loaded, err := s.b.LoadView(s.ctx, &mounts.LoadViewRequest{View: id})
	s.must(err)
	return loaded
}

func (s *suite) noView(id mounts.Identifier) {
	s.Helper()
	_, err := s.b.LoadView(s.ctx, &mounts.LoadViewRequest{View: id})
	s.want(err, id, mounts.NoSuchView)
}

func (s *suite) views(n mounts.Namespace) []string {
	s.Helper()
	return s.walk(kind{page: (*suite).pageOfViews}, n, 0, nil)
}

func (s *suite) viewLoad() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	created := s.view(id)
	loaded := s.loadView(id)
	if loaded.MetadataLocation != created.MetadataLocation || !sameJSON(loaded.Metadata, created.Metadata) {
		s.Error("what is loaded is not what was created")
	}
}

func (s *suite) viewLoadMissing() {
	table, _ := s.fresh()
	s.view(s.id("recent", "shop"))
	for _, id := range []mounts.Identifier{s.id("missing", "shop"), s.id("recent", "missing"), s.id("shop"), table} {
		s.noView(id)
	}
}

func (s *suite) viewCreate() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	created, err := s.b.CreateView(s.ctx, &mounts.CreateViewRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema(),
		ViewVersion: ViewVersion(), Properties: map[string]string{"comment": "recent orders"}})
	s.must(err)
	if loaded := s.loadView(id); !sameJSON(loaded.Metadata, created.Metadata) {
		s.Error("what is loaded is not what was created")
	}
	view := s.doc(created.Metadata)
	if version, _ := view.num("format-version"); version != 1 {
		s.Errorf("format version %d, want 1", version)
	}
	if view.text("view-uuid") == "" || view.text("location") == "" || view.sub("properties").text("comment") != "recent orders" {
		s.Errorf("metadata %s", created.Metadata)
	}
	current, _ := view.num("current-version-id")
	version := view.by("versions", "version-id", current)
	schemaID, _ := version.num("schema-id")
	if len(version.list("representations")) != 1 || version.list("representations")[0].text("sql") != "SELECT id, at, note FROM orders" {
		s.Errorf("current version %v", version)
	}
	if len(view.by("schemas", "schema-id", schemaID).list("fields")) != 3 {
		s.Errorf("the version's schema %d is not among %v", schemaID, view["schemas"])
	}
	if log := view.list("version-log"); len(log) != 1 {
		s.Errorf("version log %v", log)
	}
}

func (s *suite) createView(id mounts.Identifier, version string) error {
	_, err := s.b.CreateView(s.ctx, &mounts.CreateViewRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema(),
		ViewVersion: json.RawMessage(version), Properties: map[string]string{}})
	return err
}

func (s *suite) viewTaken() {
	table, before := s.fresh()
	s.want(s.createView(table, string(ViewVersion())), table, mounts.AlreadyExists)
	s.unchanged(table, before)
	id := s.id("recent", "shop")
	s.view(id)
	s.want(s.createView(id, string(ViewVersion())), id, mounts.AlreadyExists)
}

func (s *suite) viewNowhere() {
	s.want(s.createView(s.id("recent", "missing"), string(ViewVersion())), space(s.ns("missing")), mounts.NoSuchNamespace)
}

func (s *suite) viewInvalid() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	for _, version := range []string{
		``, `[]`,
		`{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},"default-namespace":["a"],"representations":[
			{"type":"sql","sql":"SELECT 1","dialect":"trino"},{"type":"sql","sql":"SELECT 2","dialect":"Trino"}]}`,
	} {
		s.want(s.createView(id, version), id, mounts.BadRequest, mounts.InvalidArgument)
	}
	if s.can(capabilities.LoadView) {
		s.noView(id)
	}
}

func (s *suite) viewBlocksTable() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	s.view(id)
	for _, stage := range []bool{false, true} {
		_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema(), StageCreate: stage})
		s.want(err, id, mounts.AlreadyExists)
	}
	s.absent(id)
}

func (s *suite) renameView(from, to mounts.Identifier) error {
	return s.b.RenameView(s.ctx, &mounts.RenameViewRequest{Source: from, Destination: to})
}

func (s *suite) viewRename() {
	s.namespace("shop")
	s.namespace("archive")
	from, to := s.id("recent", "shop"), s.id("old", "archive")
	before := s.view(from)
	s.must(s.renameView(from, to))
	if !sameJSON(s.loadView(to).Metadata, before.Metadata) {
		s.Error("a rename changed the metadata")
	}
	s.noView(from)
	if s.can(capabilities.ListViews) && (len(s.views(from.Namespace)) != 0 || !slices.Equal(s.views(to.Namespace), []string{"old"})) {
		s.Errorf("listed: %q and %q", s.views(from.Namespace), s.views(to.Namespace))
	}
}

func (s *suite) viewRenameRefused() {
	table, before := s.fresh()
	id, other := s.id("recent", "shop"), s.id("other", "shop")
	s.view(id)
	s.view(other)
	s.want(s.renameView(s.id("missing", "shop"), s.id("new", "shop")), s.id("missing", "shop"), mounts.NoSuchView)
	s.want(s.renameView(table, s.id("new", "shop")), table, mounts.NoSuchView)
	s.want(s.renameView(id, s.id("recent", "missing")), space(s.ns("missing")), mounts.NoSuchNamespace)
	s.wantTaken(s.renameView(id, other), id, other)
	s.wantTaken(s.renameView(id, table), id, table)
	s.loadView(id)
	s.unchanged(table, before)
}

func (s *suite) viewDrop() {
	table, before := s.fresh()
	id := s.id("recent", "shop")
	s.view(id)
	s.must(s.b.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
	s.noView(id)
	if s.can(capabilities.ListViews) && len(s.views(id.Namespace)) > 0 {
		s.Errorf("still listed: %q", s.views(id.Namespace))
	}
	for _, missing := range []mounts.Identifier{id, table, s.id("recent", "missing")} {
		s.want(s.b.DropView(s.ctx, &mounts.DropViewRequest{View: missing}), missing, mounts.NoSuchView)
	}
	s.unchanged(table, before)
}
