package mounttest

import (
	"maps"
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func namespaceChecks() []check {
	create, update, drop := of(capabilities.CreateNamespace), of(capabilities.UpdateNamespaceProperties), of(capabilities.DropNamespace)
	return []check{
		{name: "namespaces/load", run: (*suite).namespaceLoad},
		{name: "namespaces/nested", run: (*suite).namespaceNested},
		{name: "namespaces/missing", run: (*suite).namespaceMissing},
		{name: "namespaces/create", needs: create, run: (*suite).namespaceCreate},
		{name: "namespaces/create with missing parent", needs: create, run: (*suite).namespaceMissingParent},
		{name: "namespaces/create duplicate", needs: create, run: (*suite).namespaceDuplicate},
		{name: "namespaces/create illegal", needs: create, run: (*suite).namespaceIllegal},
		{name: "namespaces/properties", needs: update, run: (*suite).propertiesUpdate},
		{name: "namespaces/properties both set and removed", needs: update, run: (*suite).propertiesBoth},
		{name: "namespaces/properties of a missing one", needs: update, run: (*suite).propertiesMissing},
		{name: "namespaces/drop", needs: drop, run: (*suite).namespaceDrop},
		{name: "namespaces/drop missing", needs: drop, run: (*suite).namespaceDropMissing},
		{name: "namespaces/drop with a child", needs: drop, run: (*suite).namespaceDropChild},
		{name: "namespaces/drop with a table", needs: drop, run: (*suite).namespaceDropTable},
		{name: "namespaces/drop with a view", needs: drop, writes: of(capabilities.CreateView), run: (*suite).namespaceDropView},
	}
}

// holds reports whether all of want is in have: a catalog may add properties of
// its own, such as a location.
func holds(have, want map[string]string) bool {
	for key, value := range want {
		if v, ok := have[key]; !ok || v != value {
			return false
		}
	}
	return true
}

func (s *suite) loadNamespace(n mounts.Namespace) *mounts.NamespaceInfo {
	s.Helper()
	info, err := s.b.LoadNamespace(s.ctx, &mounts.LoadNamespaceRequest{Namespace: n})
	s.must(err)
	return info
}

func (s *suite) namespaceLoad() {
	want := map[string]string{"owner": "hank", "comment": "with = & \"é\"", "empty": ""}
	_, err := s.w.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("shop"), Properties: maps.Clone(want)})
	s.must(err)
	if got := s.loadNamespace(s.ns("shop")); !holds(got.Properties, want) {
		s.Errorf("properties %v, want %v", got.Properties, want)
	}
	s.namespace("bare")
	if got := s.loadNamespace(s.ns("bare")); holds(got.Properties, map[string]string{"owner": "hank"}) {
		s.Errorf("another namespace's properties: %v", got.Properties)
	}
}

func (s *suite) namespaceNested() {
	s.namespace("a")
	s.namespace("a", "b")
	s.namespace("a", "b", "c")
	s.namespace("c")
	for _, n := range []mounts.Namespace{s.ns("a"), s.ns("a", "b"), s.ns("a", "b", "c"), s.ns("c")} {
		s.loadNamespace(n)
	}
	for _, tt := range []struct {
		parent mounts.Namespace
		want   []string
	}{{s.ns(), []string{"a", "c"}}, {s.ns("a"), []string{"b"}}, {s.ns("a", "b"), []string{"c"}}, {s.ns("a", "b", "c"), nil}} {
		if got := s.namespaces(tt.parent, 0); !slices.Equal(slices.Sorted(slices.Values(got)), tt.want) {
			s.Errorf("children of %q: %q, want %q", tt.parent, got, tt.want)
		}
	}
}

func (s *suite) namespaceMissing() {
	s.namespace("a")
	for _, n := range []mounts.Namespace{s.ns("missing"), s.ns("a", "missing"), s.ns("missing", "a"), s.ns("A")} {
		_, err := s.b.LoadNamespace(s.ctx, &mounts.LoadNamespaceRequest{Namespace: n})
		s.want(err, space(n), mounts.NoSuchNamespace)
		_, err = s.b.ListNamespaces(s.ctx, &mounts.ListNamespacesRequest{Parent: n})
		s.want(err, space(n), mounts.NoSuchNamespace)
	}
}

func (s *suite) namespaceCreate() {
	want := map[string]string{"owner": "hank"}
	created, err := s.b.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("shop"), Properties: maps.Clone(want)})
	s.must(err)
	if !holds(created.Properties, want) {
		s.Errorf("answered %v, want %v", created.Properties, want)
	}
	if got := s.loadNamespace(s.ns("shop")); !holds(got.Properties, want) {
		s.Errorf("stored %v, want %v", got.Properties, want)
	}
	if _, err := s.b.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("shop", "eu")}); err != nil {
		s.Errorf("without properties: %v", err)
	}
}

func (s *suite) namespaceMissingParent() {
	_, err := s.b.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("missing", "child")})
	s.want(err, space(s.ns("missing")), mounts.NoSuchNamespace)
	if got := s.namespaces(s.ns(), 0); len(got) > 0 {
		s.Errorf("left behind: %q", got)
	}
}

func (s *suite) namespaceDuplicate() {
	_, err := s.w.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("shop"), Properties: map[string]string{"owner": "first"}})
	s.must(err)
	_, err = s.b.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("shop"), Properties: map[string]string{"owner": "second"}})
	s.want(err, space(s.ns("shop")), mounts.AlreadyExists)
	if got := s.loadNamespace(s.ns("shop")); got.Properties["owner"] != "first" {
		s.Errorf("the refused creation changed the properties to %v", got.Properties)
	}
}

func (s *suite) namespaceIllegal() {
	for _, level := range []string{"", "a\x1fb"} {
		n := s.ns(level)
		_, err := s.b.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: n})
		s.want(err, space(n), mounts.BadRequest, mounts.InvalidArgument)
	}
	if got := s.namespaces(s.ns(), 0); len(got) > 0 {
		s.Errorf("left behind: %q", got)
	}
}

func (s *suite) propertiesUpdate() {
	_, err := s.w.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("shop"),
		Properties: map[string]string{"kept": "1", "changed": "1", "removed": "1"}})
	s.must(err)
	result, err := s.b.UpdateNamespaceProperties(s.ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: s.ns("shop"),
		Removals: []string{"removed", "never-there"}, Updates: map[string]string{"changed": "2", "added": "2"}})
	s.must(err)
	for _, list := range []struct {
		name      string
		got, want []string
	}{{"updated", result.Updated, []string{"added", "changed"}}, {"removed", result.Removed, []string{"removed"}},
		{"missing", result.Missing, []string{"never-there"}}} {
		if got := slices.Sorted(slices.Values(list.got)); !slices.Equal(got, list.want) {
			s.Errorf("%s: %q, want %q", list.name, got, list.want)
		}
	}
	got := s.loadNamespace(s.ns("shop")).Properties
	if _, there := got["removed"]; there || !holds(got, map[string]string{"kept": "1", "changed": "2", "added": "2"}) {
		s.Errorf("stored %v", got)
	}
	if _, err := s.b.UpdateNamespaceProperties(s.ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: s.ns("shop")}); err != nil {
		s.Errorf("an update of nothing: %v", err)
	}
}

func (s *suite) propertiesBoth() {
	_, err := s.w.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns("shop"), Properties: map[string]string{"a": "1"}})
	s.must(err)
	_, err = s.b.UpdateNamespaceProperties(s.ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: s.ns("shop"),
		Removals: []string{"b", "a"}, Updates: map[string]string{"a": "2", "c": "3"}})
	s.want(err, space(s.ns("shop")), mounts.Unprocessable)
	got := s.loadNamespace(s.ns("shop")).Properties
	if _, there := got["c"]; there || got["a"] != "1" {
		s.Errorf("the refused update left %v", got)
	}
}

func (s *suite) propertiesMissing() {
	_, err := s.b.UpdateNamespaceProperties(s.ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: s.ns("missing"),
		Updates: map[string]string{"a": "1"}})
	s.want(err, space(s.ns("missing")), mounts.NoSuchNamespace)
}

func (s *suite) namespaceDrop() {
	s.namespace("a")
	s.namespace("a", "b")
	for _, n := range []mounts.Namespace{s.ns("a", "b"), s.ns("a")} {
		s.must(s.b.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: n}))
		_, err := s.b.LoadNamespace(s.ctx, &mounts.LoadNamespaceRequest{Namespace: n})
		s.want(err, space(n), mounts.NoSuchNamespace)
	}
	if got := s.namespaces(s.ns(), 0); len(got) > 0 {
		s.Errorf("still listed: %q", got)
	}
	s.namespace("a")
	if got := s.namespaces(s.ns("a"), 0); len(got) > 0 {
		s.Errorf("a namespace created anew holds %q", got)
	}
}

func (s *suite) namespaceDropMissing() {
	s.want(s.b.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: s.ns("missing")}), space(s.ns("missing")), mounts.NoSuchNamespace)
}

func (s *suite) refusesDrop() {
	s.Helper()
	s.want(s.b.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: s.ns("shop")}), space(s.ns("shop")), mounts.NamespaceNotEmpty)
	s.loadNamespace(s.ns("shop"))
}

func (s *suite) namespaceDropChild() {
	s.namespace("shop")
	s.namespace("shop", "eu")
	s.refusesDrop()
	s.loadNamespace(s.ns("shop", "eu"))
}

func (s *suite) namespaceDropTable() {
	id, _ := s.fresh()
	s.refusesDrop()
	s.load(id)
}

func (s *suite) namespaceDropView() {
	s.namespace("shop")
	s.view(s.id("recent", "shop"))
	s.refusesDrop()
}
