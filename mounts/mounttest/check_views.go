package mounttest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// viewChecks are about views that nobody replaces.
func viewChecks() []check {
	load, create := of(capabilities.LoadView), of(capabilities.CreateView)
	rename, drop := of(capabilities.RenameView), of(capabilities.DropView)
	return []check{
		{name: "views/load", needs: load, writes: create, run: (*suite).viewLoad},
		{name: "views/load missing", needs: load, writes: create, run: (*suite).viewLoadMissing},
		{name: "views/default namespace", needs: load, writes: create, run: (*suite).viewDefaultNamespace},
		{name: "views/create", needs: create.Union(load), run: (*suite).viewCreate},
		{name: "views/create several dialects", needs: create.Union(load), run: (*suite).viewDialects},
		{name: "views/create at a location", needs: create, run: (*suite).viewPlaced},
		{name: "views/create location outside", needs: create.Union(load), run: (*suite).viewOutside},
		{name: "views/create taken", needs: create, run: (*suite).viewTaken},
		{name: "views/create missing namespace", needs: create, run: (*suite).viewNowhere},
		{name: "views/create invalid", needs: create.Union(load), run: (*suite).viewInvalid},
		{name: "views/create keeps unknown fields", needs: create.Union(load), run: (*suite).viewUnknownFields},
		{name: "views/table of a view's name", needs: of(capabilities.CreateTable), writes: create, run: (*suite).viewBlocksTable},
		{name: "views/rename", needs: rename.Union(load), writes: create, run: (*suite).viewRename},
		{name: "views/rename refused", needs: rename.Union(load), writes: create, run: (*suite).viewRenameRefused},
		{name: "views/rename then the old name again", needs: rename.Union(load).Union(create), run: (*suite).viewRenameReuse},
		{name: "views/drop", needs: drop.Union(load), writes: create, run: (*suite).viewDrop},
		{name: "views/drop then create again", needs: drop.Union(load).Union(create), run: (*suite).viewRecreate},
	}
}

// view creates a view through the writer.
func (s *suite) view(id mounts.Identifier) *mounts.View {
	s.Helper()
	created, err := s.w.CreateView(s.ctx, s.viewRequest(id))
	s.must(err)
	return created
}

func (s *suite) viewRequest(id mounts.Identifier) *mounts.CreateViewRequest {
	return &mounts.CreateViewRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema(), Properties: map[string]string{},
		ViewVersion: viewVersion(id.Namespace)}
}

// freshView creates the namespace "shop" with the view "recent".
func (s *suite) freshView() (mounts.Identifier, *mounts.View) {
	s.Helper()
	s.namespace("shop")
	id := s.id("recent", "shop")
	return id, s.view(id)
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

// unchangedView checks that a view is as it was.
func (s *suite) unchangedView(id mounts.Identifier, before *mounts.View) {
	s.Helper()
	after := s.loadView(id)
	if after.MetadataLocation != before.MetadataLocation || !sameJSON(after.Metadata, before.Metadata) {
		s.Errorf("%s was changed: %s before, %s now", id, before.MetadataLocation, after.MetadataLocation)
	}
}

func (s *suite) views(n mounts.Namespace) []string {
	s.Helper()
	return s.walk(kind{page: (*suite).pageOfViews}, n, 0, nil)
}

// current is a view's current version.
func (d doc) current() doc {
	id, _ := d.num("current-version-id")
	return d.by("versions", "version-id", id)
}

// reads is what a version says to each dialect.
func (d doc) reads() map[string]string {
	all := map[string]string{}
	for _, r := range d.list("representations") {
		all[r.text("dialect")] = r.text("sql")
	}
	return all
}

func (s *suite) viewLoad() {
	id, created := s.freshView()
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

// viewDefaultNamespace: unqualified names in a view's SQL are looked up where
// its writer stood, so everybody must be told that place in the names he uses.
func (s *suite) viewDefaultNamespace() {
	s.namespace("shop")
	for i, n := range []mounts.Namespace{s.ns("shop"), s.ns("shop", "in.ner", "é"), s.ns("not created")} {
		id := s.id(fmt.Sprint("v", i), "shop")
		req := s.viewRequest(id)
		req.ViewVersion = version(n, 0, spark("SELECT 1"))
		created, err := s.w.CreateView(s.ctx, req)
		s.must(err)
		for _, v := range []*mounts.View{created, s.loadView(id)} {
			if got := s.doc(v.Metadata).current()["default-namespace"]; !reflect.DeepEqual(got, levels(n)) {
				s.Errorf("written in %q, the default namespace is %q", n, got)
			}
		}
	}
}

func (s *suite) viewCreate() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	req := s.viewRequest(id)
	req.Properties["comment"] = "recent orders"
	created, err := s.b.CreateView(s.ctx, req)
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
	version := view.current()
	schemaID, _ := version.num("schema-id")
	if !reflect.DeepEqual(version.reads(), map[string]string{"spark": "SELECT id, at, note FROM orders"}) {
		s.Errorf("current version %v", version)
	}
	if len(view.by("schemas", "schema-id", schemaID).list("fields")) != 3 {
		s.Errorf("the version's schema %d is not among %v", schemaID, view["schemas"])
	}
	if log := view.list("version-log"); len(log) != 1 {
		s.Errorf("version log %v", log)
	}
}

func (s *suite) viewDialects() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	req := s.viewRequest(id)
	req.ViewVersion = version(id.Namespace, 0, query{"spark", "SELECT `a`"}, query{"trino", `SELECT "a"`})
	_, err := s.b.CreateView(s.ctx, req)
	s.must(err)
	if got := s.doc(s.loadView(id).Metadata).current().reads(); !reflect.DeepEqual(got, map[string]string{"spark": "SELECT `a`", "trino": `SELECT "a"`}) {
		s.Errorf("the view reads %q", got)
	}
}

func (s *suite) viewPlaced() {
	id, created := s.freshView()
	asked := s.doc(created.Metadata).text("location") + "-beside"
	req := s.viewRequest(s.id("placed", "shop"))
	req.Location = asked + "/"
	placed, err := s.b.CreateView(s.ctx, req)
	s.must(err)
	if got := s.doc(placed.Metadata).text("location"); got != asked {
		s.Errorf("asked for %s, got %s", asked, got)
	}
	if placed.MetadataLocation == created.MetadataLocation {
		s.Errorf("%s and its neighbour share a metadata file", id)
	}
}

func (s *suite) viewOutside() {
	id, created := s.freshView()
	inside := s.doc(created.Metadata).text("location")
	for i, location := range []string{"s3://somebody-elses-bucket/view", "file:///etc", inside + "/../../../../../../../../escape", "relative/path"} {
		req := s.viewRequest(s.id(fmt.Sprint("outside", i), "shop"))
		req.Location = location
		_, err := s.b.CreateView(s.ctx, req)
		s.want(err, req.Object(), mounts.BadRequest, mounts.InvalidArgument, mounts.Forbidden)
		s.noView(req.Object())
	}
	s.unchangedView(id, created)
}

func (s *suite) createView(id mounts.Identifier) error {
	_, err := s.b.CreateView(s.ctx, s.viewRequest(id))
	return err
}

func (s *suite) viewTaken() {
	table, before := s.fresh()
	s.want(s.createView(table), table, mounts.AlreadyExists)
	s.unchanged(table, before)
	id := s.id("recent", "shop")
	s.view(id)
	s.want(s.createView(id), id, mounts.AlreadyExists)
}

func (s *suite) viewNowhere() {
	s.want(s.createView(s.id("recent", "missing")), space(s.ns("missing")), mounts.NoSuchNamespace)
}

func (s *suite) viewInvalid() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	twice := version(s.ns("shop"), 0, query{"trino", "SELECT 1"}, query{"Trino", "SELECT 2"})
	for _, proposed := range []json.RawMessage{raw(``), raw(`[]`), twice, version(s.ns("shop"), 0)} {
		req := s.viewRequest(id)
		req.ViewVersion = proposed
		_, err := s.b.CreateView(s.ctx, req)
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
		s.noView(id)
	}
	req := s.viewRequest(id)
	req.ViewVersion = twice
	_, err := s.b.CreateView(s.ctx, req)
	s.says(err, "Invalid view version: Cannot add multiple queries for dialect trino")
	req = s.viewRequest(id)
	req.Schema = raw(`{"type":"string"}`)
	_, err = s.b.CreateView(s.ctx, req)
	s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	for _, nameless := range []mounts.Identifier{s.id("", "shop"), {Namespace: nil, Name: "recent"}} {
		req := s.viewRequest(nameless)
		req.ViewVersion = version(s.ns("shop"), 0, spark("SELECT 1"))
		if _, err := s.b.CreateView(s.ctx, req); err == nil {
			s.Errorf("a view %q in %q was created", nameless.Name, nameless.Namespace)
		}
	}
}

func (s *suite) viewUnknownFields() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	req := s.viewRequest(id)
	req.ViewVersion = version(id.Namespace, 0, spark("SELECT 1"))
	req.ViewVersion = raw(`{"future":{"n":9007199254740993},` + string(req.ViewVersion[1:]))
	req.Schema = raw(`{"hint":"kept",` + string(Schema()[1:]))
	_, err := s.b.CreateView(s.ctx, req)
	s.must(err)
	view := s.doc(s.loadView(id).Metadata)
	if n, _ := view.current().sub("future").num("n"); n != 9007199254740993 || view.list("schemas")[0].text("hint") != "kept" {
		s.Errorf("what is not known is not kept: %v", view)
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
	from, before := s.freshView()
	s.namespace("archive")
	to := s.id("old", "archive")
	s.must(s.renameView(from, to))
	if !sameJSON(s.loadView(to).Metadata, before.Metadata) {
		s.Error("a rename changed the metadata")
	}
	s.noView(from)
	if s.can(capabilities.ListViews) && (len(s.views(from.Namespace)) != 0 || !slices.Equal(s.views(to.Namespace), []string{"old"})) {
		s.Errorf("listed: %q and %q", s.views(from.Namespace), s.views(to.Namespace))
	}
	s.must(s.renameView(to, to))
	s.unchangedView(to, before)
}

func (s *suite) viewRenameRefused() {
	table, before := s.fresh()
	id, other := s.id("recent", "shop"), s.id("other", "shop")
	kept, taken := s.view(id), s.view(other)
	s.want(s.renameView(s.id("missing", "shop"), s.id("new", "shop")), s.id("missing", "shop"), mounts.NoSuchView)
	s.want(s.renameView(s.id("recent", "missing"), s.id("new", "shop")), s.id("recent", "missing"), mounts.NoSuchView)
	s.want(s.renameView(table, s.id("new", "shop")), table, mounts.NoSuchView)
	s.want(s.renameView(id, s.id("recent", "missing")), space(s.ns("missing")), mounts.NoSuchNamespace)
	s.wantTaken(s.renameView(id, other), id, other)
	s.wantTaken(s.renameView(id, table), id, table)
	s.unchangedView(id, kept)
	s.unchangedView(other, taken)
	s.unchanged(table, before)
}

// viewRenameReuse: the old name must not lead to the renamed view's place.
func (s *suite) viewRenameReuse() {
	id, before := s.freshView()
	moved := s.id("moved", "shop")
	s.must(s.renameView(id, moved))
	s.must(s.createView(id))
	second := s.loadView(id)
	if s.doc(second.Metadata).text("location") == s.doc(before.Metadata).text("location") {
		s.Error("the new view lies where the renamed one lies")
	}
	if s.can(capabilities.DropView) {
		s.must(s.b.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
		s.noView(id)
	}
	s.unchangedView(moved, before)
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

func (s *suite) viewRecreate() {
	id, before := s.freshView()
	s.must(s.b.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
	s.must(s.createView(id))
	again := s.loadView(id)
	old, fresh := s.doc(before.Metadata), s.doc(again.Metadata)
	for _, key := range []string{"location", "view-uuid"} {
		if old.text(key) == fresh.text(key) {
			s.Errorf("the new view has the dropped one's %s %s", key, old.text(key))
		}
	}
	if again.MetadataLocation == before.MetadataLocation {
		s.Error("the new view has the dropped one's metadata location")
	}
}
