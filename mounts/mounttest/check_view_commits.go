package mounttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// viewCommitChecks are about views that are replaced.
func viewCommitChecks() []check {
	replace := of(capabilities.ReplaceView, capabilities.LoadView)
	create := of(capabilities.CreateView)
	var checks []check
	add := func(name string, more capabilities.Set, run func(*suite)) {
		checks = append(checks, check{name: "views/" + name, needs: replace.Union(more), writes: create, run: run})
	}
	add("replace", 0, (*suite).replaceView)
	add("replace by the same", 0, (*suite).replaceSame)
	add("replace and back", 0, (*suite).replaceBack)
	add("replace dialects", 0, (*suite).replaceDialects)
	add("replace keeps its history short", 0, (*suite).replaceHistory)
	add("replace properties", 0, (*suite).replaceProperties)
	add("replace location", 0, (*suite).replaceLocation)
	add("replace requirements", 0, (*suite).replaceRequirements)
	add("replace invalid", 0, (*suite).replaceInvalid)
	add("replace missing", 0, (*suite).replaceMissing)
	add("replace a dropped one", of(capabilities.DropView), (*suite).replaceDropped)
	add("replace keeps unknown fields", create, (*suite).replaceUnknownFields)
	add("replace the default namespace", 0, (*suite).replaceDefaultNamespace)
	add("replace after a rename", of(capabilities.RenameView), (*suite).replaceRenamed)
	checks = append(checks,
		check{name: "concurrent/view replaces", needs: replace, writes: create, run: (*suite).concurrentReplaces},
		check{name: "concurrent/one name for a table and a view", needs: create.Union(of(capabilities.CreateTable, capabilities.LoadView)),
			run: (*suite).concurrentKinds})
	return checks
}

// replace commits to a view through the backend under test.
func (s *suite) replace(id mounts.Identifier, requirements []json.RawMessage, updates ...json.RawMessage) (*mounts.View, error) {
	return s.b.ReplaceView(s.ctx, &mounts.ReplaceViewRequest{View: id, Requirements: requirements, Updates: updates})
}

// redefine replaces a view as CREATE OR REPLACE VIEW does.
func (s *suite) redefine(id mounts.Identifier, seen *mounts.View, queries ...query) (*mounts.View, error) {
	return s.replace(id, []json.RawMessage{sameView(seen.Metadata)}, redefinition(id.Namespace, Schema(), queries...)...)
}

func (s *suite) replaceView() {
	id, before := s.freshView()
	after, err := s.replace(id, []json.RawMessage{sameView(before.Metadata)}, redefinition(id.Namespace, otherSchema(), spark("SELECT 1 AS n"))...)
	s.must(err)
	if after.MetadataLocation == before.MetadataLocation {
		s.Error("the metadata location stays the same")
	}
	s.unchangedView(id, after)
	old, view := s.doc(before.Metadata), s.doc(after.Metadata)
	for _, key := range []string{"view-uuid", "location"} {
		if view.text(key) != old.text(key) {
			s.Errorf("%s was %s and is %s", key, old.text(key), view.text(key))
		}
	}
	current := view.current()
	if !reflect.DeepEqual(current.reads(), map[string]string{"spark": "SELECT 1 AS n"}) {
		s.Errorf("the current version reads %q", current.reads())
	}
	schemaID, _ := current.num("schema-id")
	if fields := view.by("schemas", "schema-id", schemaID).list("fields"); len(fields) != 1 || fields[0].text("name") != "n" {
		s.Errorf("its schema %d has the fields %v", schemaID, fields)
	}
	first, _ := old.num("current-version-id")
	second, _ := view.num("current-version-id")
	if !reflect.DeepEqual(view.by("versions", "version-id", first), old.current()) || second <= first || len(view.list("versions")) != 2 {
		s.Errorf("the version before, %d, is not in the history, or the new one, %d, is not behind it: %v", first, second, view["versions"])
	}
	if log := view.list("version-log"); len(log) != 2 || !isVersion(log[0], first) || !isVersion(log[1], second) {
		s.Errorf("version log %v", log)
	}
}

// isVersion reports whether an entry of the version log names a version.
func isVersion(entry doc, id int64) bool {
	n, ok := entry.num("version-id")
	return ok && n == id
}

// replaceSame: a version that says the same as one that is there is that one.
func (s *suite) replaceSame() {
	id, before := s.freshView()
	same, err := s.redefine(id, before, spark("SELECT id, at, note FROM orders"))
	s.must(err)
	if same.MetadataLocation != before.MetadataLocation {
		s.Errorf("a replace by the same wrote %s", same.MetadataLocation)
	}
	s.unchangedView(id, before)
	nothing, err := s.replace(id, nil)
	s.must(err)
	if nothing.MetadataLocation != before.MetadataLocation {
		s.Errorf("a replace of nothing wrote %s", nothing.MetadataLocation)
	}
}

func (s *suite) replaceBack() {
	id, before := s.freshView()
	second, err := s.redefine(id, before, spark("SELECT 2"))
	s.must(err)
	_, err = s.redefine(id, second, spark("SELECT id, at, note FROM orders"))
	s.must(err)
	view := s.doc(s.loadView(id).Metadata)
	first, _ := s.doc(before.Metadata).num("current-version-id")
	if now, _ := view.num("current-version-id"); now != first || len(view.list("versions")) != 2 {
		s.Errorf("back at version %d of %v, want %d", now, view["versions"], first)
	}
	if log := view.list("version-log"); len(log) != 3 || !isVersion(log[2], first) {
		s.Errorf("version log %v", log)
	}
}

// replaceDialects: an engine that could read the view can still read it, unless
// the view allows otherwise.
func (s *suite) replaceDialects() {
	id, before := s.freshView()
	both, err := s.redefine(id, before, spark("SELECT 1"), query{"trino", "SELECT 1"})
	s.must(err)
	for _, queries := range [][]query{{spark("SELECT 2")}, {{"trino", "SELECT 2"}}, {{"flink", "SELECT 2"}}} {
		_, err = s.redefine(id, both, queries...)
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	}
	_, err = s.redefine(id, both, query{"trino", "SELECT 1"}, query{"TRINO", "SELECT 2"}, spark("SELECT 1"))
	s.want(err, id, mounts.InvalidArgument)
	s.says(err, "Invalid view version: Cannot add multiple queries for dialect trino")
	s.unchangedView(id, both)
	_, err = s.redefine(id, both, query{"SPARK", "SELECT 3"}, query{"Trino", "SELECT 3"})
	s.must(err)
	allowed := append(redefinition(id.Namespace, Schema(), query{"trino", "SELECT 4"}),
		raw(`{"action":"set-properties","updates":{"replace.drop-dialect.allowed":"true"}}`))
	one, err := s.replace(id, nil, allowed...)
	s.must(err)
	if got := s.doc(one.Metadata).current().reads(); !reflect.DeepEqual(got, map[string]string{"trino": "SELECT 4"}) {
		s.Errorf("the view reads %q", got)
	}
}

func (s *suite) replaceHistory() {
	id, seen := s.freshView()
	var err error
	seen, err = s.replace(id, nil, raw(`{"action":"set-properties","updates":{"version.history.num-entries":"2"}}`))
	s.must(err)
	for i := range 5 {
		seen, err = s.redefine(id, seen, spark(fmt.Sprint("SELECT ", i)))
		s.must(err)
	}
	view := s.doc(s.loadView(id).Metadata)
	if n := len(view.list("versions")); n != 2 {
		s.Errorf("the view keeps %d versions, want 2", n)
	}
	if got := view.current().reads()["spark"]; got != "SELECT 4" {
		s.Errorf("the current version reads %q", got)
	}
	for _, entry := range view.list("version-log") {
		if n, _ := entry.num("version-id"); view.by("versions", "version-id", n) == nil {
			s.Errorf("the log names the version %d, which is gone", n)
		}
	}
}

func (s *suite) replaceProperties() {
	id, before := s.freshView()
	_, err := s.replace(id, nil, raw(`{"action":"set-properties","updates":{"comment":"one","owner":"suite"}}`))
	s.must(err)
	_, err = s.replace(id, nil, raw(`{"action":"set-properties","updates":{"comment":"two"}}`), raw(`{"action":"remove-properties","removals":["owner","never was"]}`))
	s.must(err)
	view := s.doc(s.loadView(id).Metadata)
	if got := view["properties"]; !reflect.DeepEqual(got, map[string]any{"comment": "two"}) {
		s.Errorf("properties %v", got)
	}
	if !reflect.DeepEqual(view["versions"], s.doc(before.Metadata)["versions"]) || len(view.list("version-log")) != 1 {
		s.Errorf("a change of properties made a version: %v", view)
	}
}

func (s *suite) replaceLocation() {
	id, before := s.freshView()
	moved := s.doc(before.Metadata).text("location") + "-moved"
	after, err := s.replace(id, nil, encode(map[string]string{"action": "set-location", "location": moved}))
	s.must(err)
	after, err = s.redefine(id, after, spark("SELECT 1"))
	s.must(err)
	if got := s.doc(after.Metadata).text("location"); got != moved || !strings.HasPrefix(after.MetadataLocation, moved+"/") {
		s.Errorf("moved to %s, the view is at %s and its metadata at %s", moved, got, after.MetadataLocation)
	}
	for _, outside := range []string{"s3://somebody-elses-bucket/view", moved + "/../../../../../../../escape"} {
		updates := append(redefinition(id.Namespace, Schema(), spark("SELECT 2")), encode(map[string]string{"action": "set-location", "location": outside}))
		_, err = s.replace(id, nil, updates...)
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.Forbidden)
	}
	s.unchangedView(id, after)
}

func (s *suite) replaceRequirements() {
	id, before := s.freshView()
	other := raw(`{"type":"assert-view-uuid","uuid":"5a3b0d3e-2c7d-4d5e-9a53-000000000000"}`)
	for _, requirements := range [][]json.RawMessage{{other}, {sameView(before.Metadata), other}} {
		_, err := s.replace(id, requirements, redefinition(id.Namespace, Schema(), spark("SELECT 1"))...)
		s.want(err, id, mounts.CommitConflict)
		_, err = s.replace(id, requirements)
		s.want(err, id, mounts.CommitConflict)
	}
	for _, unknown := range []string{`{"type":"assert-no-such-thing"}`, `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}`, `{}`, `[]`} {
		_, err := s.replace(id, raws(unknown), redefinition(id.Namespace, Schema(), spark("SELECT 1"))...)
		s.want(err, id, mounts.BadRequest)
	}
	s.unchangedView(id, before)
}

func (s *suite) replaceInvalid() {
	id, before := s.freshView()
	unknownSchema := encode(map[string]any{"action": "add-view-version", "view-version": version(id.Namespace, 99, spark("SELECT 1"))})
	for _, bad := range [][]json.RawMessage{
		{raw(touch), raw(`{"action":"no-such-update"}`)},
		{raw(touch), raw(`{"action":"remove-snapshots","snapshot-ids":[1]}`)},
		{raw(touch), raw(`{"action":"set-current-view-version","view-version-id":99}`)},
		{raw(touch), raw(`{"action":"set-current-view-version","view-version-id":-1}`)},
		{raw(touch), unknownSchema},
		{raw(touch), raw(`{"action":"assign-uuid","uuid":"5a3b0d3e-2c7d-4d5e-9a53-000000000000"}`)},
		{raw(touch), raw(`{"action":"upgrade-format-version","format-version":2}`)},
		{raw(`{}`)}, {raw(`[]`)},
	} {
		_, err := s.replace(id, nil, bad...)
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	}
	s.unchangedView(id, before)
}

func (s *suite) replaceMissing() {
	table, before := s.fresh()
	for _, id := range []mounts.Identifier{s.id("missing", "shop"), s.id("recent", "missing"), table} {
		_, err := s.replace(id, nil, raw(touch))
		s.want(err, id, mounts.NoSuchView)
	}
	s.unchanged(table, before)
}

func (s *suite) replaceDropped() {
	id, before := s.freshView()
	s.must(s.b.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
	_, err := s.redefine(id, before, spark("SELECT 1"))
	s.want(err, id, mounts.NoSuchView)
	s.noView(id)
	again := s.view(id)
	_, err = s.redefine(id, before, spark("SELECT 1"))
	s.want(err, id, mounts.CommitConflict)
	s.unchangedView(id, again)
}

func (s *suite) replaceUnknownFields() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	req := s.viewRequest(id)
	req.ViewVersion = raw(`{"future":{"n":9007199254740993},` + string(req.ViewVersion[1:]))
	req.Schema = raw(`{"hint":"kept",` + string(Schema()[1:]))
	created, err := s.b.CreateView(s.ctx, req)
	s.must(err)
	fresh := raw(`{"later":[1,{"x":null}],` + string(version(id.Namespace, -1, spark("SELECT 1")))[1:])
	after, err := s.replace(id, []json.RawMessage{sameView(created.Metadata)},
		encode(map[string]any{"action": "add-schema", "schema": otherSchema()}),
		encode(map[string]any{"action": "add-view-version", "view-version": fresh}),
		raw(`{"action":"set-current-view-version","view-version-id":-1}`))
	s.must(err)
	old, view := s.doc(created.Metadata), s.doc(after.Metadata)
	first, _ := old.num("current-version-id")
	if n, _ := view.by("versions", "version-id", first).sub("future").num("n"); n != 9007199254740993 {
		s.Errorf("the first version lost a field: %v", view["versions"])
	}
	schemaID, _ := old.current().num("schema-id")
	if view.by("schemas", "schema-id", schemaID).text("hint") != "kept" {
		s.Errorf("the first schema lost a field: %v", view["schemas"])
	}
	if later, _ := view.current()["later"].([]any); len(later) != 2 {
		s.Errorf("the new version lost a field: %v", view.current())
	}
}

// replaceDefaultNamespace: as viewDefaultNamespace, and the versions before keep
// theirs.
func (s *suite) replaceDefaultNamespace() {
	id, before := s.freshView()
	other := s.ns("else where", "b")
	after, err := s.replace(id, []json.RawMessage{sameView(before.Metadata)}, redefinition(other, Schema(), spark("SELECT 1"))...)
	s.must(err)
	first, _ := s.doc(before.Metadata).num("current-version-id")
	for _, v := range []*mounts.View{after, s.loadView(id)} {
		view := s.doc(v.Metadata)
		for of, want := range map[*mounts.Namespace]doc{&other: view.current(), &id.Namespace: view.by("versions", "version-id", first)} {
			if got := want["default-namespace"]; !reflect.DeepEqual(got, levels(*of)) {
				s.Errorf("written in %q, the default namespace is %q", *of, got)
			}
		}
	}
}

// levels is a namespace as a document shows it.
func levels(n mounts.Namespace) []any {
	list := make([]any, len(n))
	for i, level := range n {
		list[i] = level
	}
	return list
}

func (s *suite) replaceRenamed() {
	id, before := s.freshView()
	moved := s.id("moved", "shop")
	s.must(s.renameView(id, moved))
	_, err := s.redefine(id, before, spark("SELECT 1"))
	s.want(err, id, mounts.NoSuchView)
	after, err := s.redefine(moved, before, spark("SELECT 1"))
	s.must(err)
	s.unchangedView(moved, after)
}

// concurrentReplaces: replaces that do not contradict each other need no retry
// by the client, and each is in the history once.
func (s *suite) concurrentReplaces() {
	id, created := s.freshView()
	seen, err := s.replace(id, nil, raw(`{"action":"set-properties","updates":{"version.history.num-entries":"100"}}`))
	s.must(err)
	const writers, each = 6, 4
	want := []string{"SELECT id, at, note FROM orders"}
	for i := range writers {
		for j := range each {
			want = append(want, fmt.Sprintf("SELECT %d%d", i, j))
		}
	}
	together(writers, func(i int) {
		for j := range each {
			if _, err := s.redefine(id, seen, spark(fmt.Sprintf("SELECT %d%d", i, j))); err != nil {
				s.Errorf("replace %d of writer %d: %v", j, i, err)
			}
		}
	})
	view := s.doc(s.loadView(id).Metadata)
	ids := map[int64]bool{}
	var got []string
	for _, v := range view.list("versions") {
		n, _ := v.num("version-id")
		ids[n] = true
		got = append(got, v.reads()["spark"])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(ids) != len(want) {
		s.Errorf("the history has %d versions and %d ids: %q, want %q", len(got), len(ids), got, want)
	}
	if log := view.list("version-log"); len(log) != len(want) || view.text("view-uuid") != s.doc(created.Metadata).text("view-uuid") {
		s.Errorf("the log has %d entries for %d versions", len(log), len(want))
	}
}

// concurrentKinds: tables and views share their names also when they are created
// at once.
func (s *suite) concurrentKinds() {
	n := s.namespace("shop")
	for round := range 10 {
		id := mounts.Identifier{Namespace: n, Name: fmt.Sprint("round", round)}
		var mu sync.Mutex
		var made []string
		together(4, func(i int) {
			var err error
			kind := "view"
			if i%2 == 0 {
				kind = "table"
				_, err = s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: n, Name: id.Name, Schema: Schema()})
			} else {
				err = s.createView(id)
			}
			if err != nil {
				s.want(err, id, mounts.AlreadyExists)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			made = append(made, kind)
		})
		if len(made) != 1 {
			s.Fatalf("the name was given to %q", made)
		}
		_, err := s.b.LoadView(s.ctx, &mounts.LoadViewRequest{View: id})
		if s.exists(id) != (made[0] == "table") || errors.Is(err, mounts.NoSuchView) != (made[0] == "table") {
			s.Errorf("a %s was made; table: %v, loading the view: %v", made[0], s.exists(id), err)
		}
	}
}
