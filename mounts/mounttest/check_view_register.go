package mounttest

import (
	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func viewRegisterChecks() []check {
	register, load := of(capabilities.RegisterView), of(capabilities.LoadView)
	made := of(capabilities.CreateView, capabilities.DropView)
	return []check{
		{name: "views/register", needs: register.Union(load), writes: made, run: (*suite).registerView},
		{name: "views/register then replace", needs: register.Union(load).Union(of(capabilities.ReplaceView)), writes: made, run: (*suite).registerThenReplace},
		{name: "views/register taken", needs: register.Union(load), writes: made, run: (*suite).registerViewTaken},
		{name: "views/register missing namespace", needs: register, writes: made, run: (*suite).registerViewNowhere},
		{name: "views/register missing metadata", needs: register.Union(load), writes: made, run: (*suite).registerViewMissing},
		{name: "views/register a table's metadata", needs: register.Union(load), writes: of(capabilities.DropTable), run: (*suite).registerTableAsView},
		{name: "register/a view's metadata", needs: of(capabilities.RegisterTable), writes: made, run: (*suite).registerViewAsTable},
	}
}

func (s *suite) registerAs(id mounts.Identifier, location string) (*mounts.View, error) {
	return s.b.RegisterView(s.ctx, &mounts.RegisterViewRequest{Namespace: id.Namespace, Name: id.Name, MetadataLocation: location})
}

// droppedView creates a view and drops it again, so that its metadata is there
// to be registered.
func (s *suite) droppedView() *mounts.View {
	s.Helper()
	id, before := s.freshView()
	s.must(s.w.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
	return before
}

func (s *suite) registerView() {
	before := s.droppedView()
	for _, name := range []string{"recent", "again"} {
		id := s.id(name, "shop")
		registered, err := s.registerAs(id, before.MetadataLocation)
		s.must(err)
		for _, v := range []*mounts.View{registered, s.loadView(id)} {
			if v.MetadataLocation != before.MetadataLocation || !sameJSON(v.Metadata, before.Metadata) {
				s.Errorf("registered %s, got %s", before.MetadataLocation, v.MetadataLocation)
			}
		}
		// A registry may refuse to have two objects at one location.
		s.must(s.w.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
	}
}

func (s *suite) registerThenReplace() {
	before := s.droppedView()
	id := s.id("again", "shop")
	_, err := s.registerAs(id, before.MetadataLocation)
	s.must(err)
	after, err := s.redefine(id, before, spark("SELECT 1"))
	s.must(err)
	if n := len(s.doc(after.Metadata).list("versions")); n != 2 {
		s.Errorf("the view has %d versions, want 2", n)
	}
	s.unchangedView(id, after)
}

func (s *suite) registerViewTaken() {
	before := s.droppedView()
	view, table := s.id("taken", "shop"), s.id("orders", "shop")
	kept, keptTable := s.view(view), s.table(table)
	_, err := s.registerAs(view, before.MetadataLocation)
	s.want(err, view, mounts.AlreadyExists)
	s.says(err, "View already exists: "+view.String())
	_, err = s.registerAs(table, before.MetadataLocation)
	s.want(err, table, mounts.AlreadyExists)
	s.says(err, "Table with same name already exists: "+table.String())
	// A name that is taken is told before anything is told of the file.
	_, err = s.registerAs(view, "s3://somebody-elses-bucket/x.metadata.json")
	s.want(err, view, mounts.AlreadyExists)
	s.unchangedView(view, kept)
	s.unchanged(table, keptTable)
}

func (s *suite) registerViewNowhere() {
	before := s.droppedView()
	id := s.id("again", "missing")
	_, err := s.registerAs(id, before.MetadataLocation)
	s.want(err, space(id.Namespace), mounts.NoSuchNamespace)
}

func (s *suite) registerViewMissing() {
	before := s.droppedView()
	id := s.id("again", "shop")
	location := s.doc(before.Metadata).text("location") + "/metadata/00009-5a3b0d3e-2c7d-4d5e-9a53-000000000000.metadata.json"
	_, err := s.registerAs(id, location)
	s.want(err, id, mounts.MetadataMissing)
	s.noView(id)
}

func (s *suite) registerTableAsView() {
	before := s.dropped()
	id := s.id("again", "shop")
	_, err := s.registerAs(id, before.MetadataLocation)
	s.want(err, id, mounts.BadRequest, mounts.ValidationFailed)
	s.noView(id)
}

func (s *suite) registerViewAsTable() {
	before := s.droppedView()
	id := s.id("again", "shop")
	_, err := s.register(id, before.MetadataLocation, false)
	s.want(err, id, mounts.BadRequest, mounts.ValidationFailed)
	s.absent(id)
}
