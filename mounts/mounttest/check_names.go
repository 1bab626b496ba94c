package mounttest

import (
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// nameChecks has one subtest for each name of the matrix, as a namespace level,
// as a table's name and as a view's, so that a gap can be as small as one name.
func nameChecks() []check {
	var checks []check
	for _, name := range Names() {
		checks = append(checks,
			check{name: "names/namespace/" + name.Label, run: func(s *suite) { s.namespaceNamed(name.Text) }},
			check{name: "names/table/" + name.Label, run: func(s *suite) { s.tableNamed(name.Text) }},
			check{name: "names/view/" + name.Label, needs: of(capabilities.LoadView), writes: of(capabilities.CreateView),
				run: func(s *suite) { s.viewNamed(name.Text) }},
		)
	}
	return append(checks,
		check{name: "names/case twins", run: (*suite).caseTwins},
		check{name: "names/dots and levels", run: (*suite).dotsAndLevels},
	)
}

func (s *suite) namespaceNamed(level string) {
	n, inner := s.namespace(level), s.namespace(level, level)
	id := mounts.Identifier{Namespace: inner, Name: "t"}
	s.table(id)
	s.loadNamespace(n)
	s.loadNamespace(inner)
	s.load(id)
	if got := s.namespaces(s.ns(), 0); !slices.Equal(got, []string{level}) {
		s.Errorf("listed as %q", got)
	}
	if got := s.namespaces(n, 0); !slices.Equal(got, []string{level}) {
		s.Errorf("the child is listed as %q", got)
	}
	if got := s.tables(inner, 0); !slices.Equal(got, []string{"t"}) {
		s.Errorf("its tables are %q", got)
	}
}

func (s *suite) tableNamed(name string) {
	s.namespace("shop")
	id := s.id(name, "shop")
	created := s.table(id)
	if got := s.load(id); got.MetadataLocation != created.MetadataLocation {
		s.Errorf("created at %s, loaded from %s", created.MetadataLocation, got.MetadataLocation)
	}
	if s.can(capabilities.TableExists) {
		if err := s.b.TableExists(s.ctx, &mounts.TableExistsRequest{Table: id}); err != nil {
			s.Errorf("exists: %v", err)
		}
	}
	if got := s.tables(id.Namespace, 0); !slices.Equal(got, []string{name}) {
		s.Errorf("listed as %q", got)
	}
	if s.can(capabilities.CommitTable) {
		s.append(id, created.Metadata, 1)
	}
	if s.can(capabilities.DropTable) {
		s.must(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}))
		s.absent(id)
	}
}

func (s *suite) viewNamed(name string) {
	s.namespace("shop")
	id := s.id(name, "shop")
	created := s.view(id)
	s.unchangedView(id, created)
	if s.can(capabilities.ListViews) {
		if got := s.views(id.Namespace); !slices.Equal(got, []string{name}) {
			s.Errorf("listed as %q", got)
		}
	}
	if s.can(capabilities.ReplaceView) {
		_, err := s.redefine(id, created, spark("SELECT 1"))
		s.must(err)
	}
	if s.can(capabilities.DropView) {
		s.must(s.b.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
		s.noView(id)
	}
}

func (s *suite) caseTwins() {
	s.namespace("Twin")
	s.namespace("twin")
	upper, lower := s.table(s.id("T", "Twin")), s.table(s.id("t", "twin"))
	if a, b := s.load(s.id("T", "Twin")), s.load(s.id("t", "twin")); a.MetadataLocation != upper.MetadataLocation ||
		b.MetadataLocation != lower.MetadataLocation {
		s.Error("case twins are mixed up")
	}
	for _, id := range []mounts.Identifier{s.id("t", "Twin"), s.id("T", "twin"), s.id("t", "TWIN")} {
		s.notLoaded(id)
	}
}

// notLoaded is absent without the listing, for namespaces that may be missing.
func (s *suite) notLoaded(id mounts.Identifier) {
	s.Helper()
	_, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id})
	s.want(err, id, mounts.NoSuchTable)
}

// dotsAndLevels has namespaces that look alike once joined.
func (s *suite) dotsAndLevels() {
	s.namespace("a")
	nested := mounts.Identifier{Namespace: s.namespace("a", "b"), Name: "t"}
	dotted := mounts.Identifier{Namespace: s.namespace("a.b"), Name: "t"}
	one, two := s.table(nested), s.table(dotted)
	if a, b := s.load(nested), s.load(dotted); a.MetadataLocation != one.MetadataLocation || b.MetadataLocation != two.MetadataLocation {
		s.Error("a.b the level and a, b the path are mixed up")
	}
}
