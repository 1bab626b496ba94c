package mounttest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// suite is what one subtest works with: the backend under test, behind a watch
// that checks the contract at every call, and a writer for what must be there
// first (often the same).
type suite struct {
	testing.TB
	ctx   context.Context
	b, w  mounts.Backend
	under mounts.Namespace
	gaps  map[string]string
}

func open(t testing.TB, config Config) *suite {
	t.Helper()
	s := &suite{TB: t, ctx: context.Background(), under: config.Under, gaps: config.Gaps}
	if config.Open != nil {
		s.b = watch(t, config.Open(t))
		s.w = s.b
		return s
	}
	backend, writer := config.Seed(t)
	s.b, s.w = watch(t, backend), watch(t, writer)
	return s
}

func (s *suite) can(ops ...capabilities.Op) bool {
	return of(ops...).Without(s.b.Capabilities()) == 0
}

// ns is a namespace below the suite's own.
func (s *suite) ns(levels ...string) mounts.Namespace {
	return slices.Concat(s.under, mounts.Namespace(levels))
}

// id is the table or view of that name in a namespace below the suite's own.
func (s *suite) id(name string, levels ...string) mounts.Identifier {
	return mounts.Identifier{Namespace: s.ns(levels...), Name: name}
}

func space(n mounts.Namespace) mounts.Identifier { return mounts.Identifier{Namespace: n} }

// must ends the subtest if a step that it builds on fails.
func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// namespace creates a namespace through the writer.
func (s *suite) namespace(levels ...string) mounts.Namespace {
	s.Helper()
	_, err := s.w.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: s.ns(levels...), Properties: map[string]string{}})
	s.must(err)
	return s.ns(levels...)
}

// table creates a table of Schema through the writer.
func (s *suite) table(id mounts.Identifier) *mounts.Table {
	s.Helper()
	created, err := s.w.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()})
	s.must(err)
	return created
}

// fresh creates the namespace "shop" with the table "orders".
func (s *suite) fresh() (mounts.Identifier, *mounts.Table) {
	s.Helper()
	s.namespace("shop")
	id := s.id("orders", "shop")
	return id, s.table(id)
}

func (s *suite) load(id mounts.Identifier) *mounts.Table {
	s.Helper()
	loaded, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id})
	s.must(err)
	return loaded
}

// commit commits through the backend under test.
func (s *suite) commit(id mounts.Identifier, requirements []json.RawMessage, updates ...string) (*mounts.Table, error) {
	return s.b.CommitTable(s.ctx, &mounts.CommitTableRequest{Table: id, Requirements: requirements, Updates: raws(updates...)})
}

// append commits an append through the writer and returns the table after it.
func (s *suite) append(id mounts.Identifier, metadata json.RawMessage, snapshotID int64) *mounts.Table {
	s.Helper()
	committed, err := s.w.CommitTable(s.ctx, Append(id, metadata, snapshotID))
	s.must(err)
	return committed
}

// want checks an error: its kind, one of those given, and what it is about.
func (s *suite) want(err error, about mounts.Identifier, kinds ...mounts.Kind) {
	s.Helper()
	s.wantAbout(err, []mounts.Identifier{about}, kinds...)
}

// wantAbout is want where the error may be about one of several things.
func (s *suite) wantAbout(err error, about []mounts.Identifier, kinds ...mounts.Kind) {
	s.Helper()
	if err == nil {
		s.Errorf("succeeded, want %v", kinds)
		return
	}
	var e *mounts.Error
	if !errors.As(err, &e) {
		s.Errorf("the error is a %T, not a *mounts.Error: %v", err, err)
		return
	}
	if !slices.Contains(kinds, e.Kind) {
		s.Errorf("kind %v, want %v: %v", e.Kind, kinds, err)
	}
	if !slices.ContainsFunc(about, e.Ident.Equal) {
		s.Errorf("the error is about %q, want %q", e.Ident, about)
	}
	if e.OutcomeUnknown {
		s.Errorf("a certain refusal is reported as of unknown outcome: %v", err)
	}
}

// unchanged checks that a table is as it was.
func (s *suite) unchanged(id mounts.Identifier, before *mounts.Table) {
	s.Helper()
	after := s.load(id)
	if after.MetadataLocation != before.MetadataLocation || !sameJSON(after.Metadata, before.Metadata) {
		s.Errorf("%s was changed: %s before, %s now", id, before.MetadataLocation, after.MetadataLocation)
	}
}

// absent checks in every way that a table is not there.
func (s *suite) absent(id mounts.Identifier) {
	s.Helper()
	_, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id})
	s.want(err, id, mounts.NoSuchTable)
	if s.can(capabilities.TableExists) {
		s.want(s.b.TableExists(s.ctx, &mounts.TableExistsRequest{Table: id}), id, mounts.NoSuchTable)
	}
	if slices.Contains(s.tables(id.Namespace, 0), id.Name) {
		s.Errorf("%s is listed", id)
	}
}

// doc is a metadata document, for looking into.
type doc map[string]any

func (s *suite) doc(metadata json.RawMessage) doc {
	s.Helper()
	v, err := decode(metadata)
	s.must(err)
	d, ok := v.(map[string]any)
	if !ok {
		s.Fatalf("the metadata is no object: %.100s", metadata)
	}
	return d
}

// num returns a number of the document; ok is false if there is none.
func (d doc) num(key string) (int64, bool) {
	n, ok := d[key].(json.Number)
	if !ok {
		return 0, false
	}
	v, err := n.Int64()
	return v, err == nil
}

func (d doc) list(key string) []doc {
	var out []doc
	items, _ := d[key].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

func (d doc) sub(key string) doc {
	object, _ := d[key].(map[string]any)
	return object
}

func (d doc) text(key string) string {
	v, _ := d[key].(string)
	return v
}

// by returns the item of a list whose number under key is n, or nil.
func (d doc) by(list, key string, n int64) doc {
	for _, item := range d.list(list) {
		if v, ok := item.num(key); ok && v == n {
			return item
		}
	}
	return nil
}
