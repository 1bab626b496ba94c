package native

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

func as(tenant string) context.Context {
	return mounts.WithCaller(context.Background(), mounts.Caller{Principal: "p", Tenant: tenant})
}

func TestATopLevelNamespaceBelongsToTheTenantOfWhoCreatesIt(t *testing.T) {
	f := newFixture(t)
	for _, path := range []mounts.Namespace{{"a"}, {"a", "x"}} {
		if _, err := f.CreateNamespace(as("acme"), &mounts.CreateNamespaceRequest{Namespace: path}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.CreateNamespace(as("globex"), &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"b"}}); err != nil {
		t.Fatal(err)
	}
	f.namespace("c")
	// Whoever adds to it, or changes it, takes nothing over.
	if _, err := f.CreateNamespace(as("globex"), &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"a", "y"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.UpdateNamespaceProperties(as("globex"), &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"}, Updates: map[string]string{"k": "v"}}); err != nil {
		t.Fatal(err)
	}
	owners, ok := mounts.As[mounts.Owning](f.Idempotent())
	if !ok {
		t.Fatal("the registry with keys keeps no owners")
	}
	got, err := owners.Owners(context.Background(), []string{"a", "b", "c", "none", "A"})
	if err != nil || !maps.Equal(got, map[string]string{"a": "acme", "b": "globex", "c": ""}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := f.DropNamespace(context.Background(), &mounts.DropNamespaceRequest{Namespace: mounts.Namespace{"b"}}); err != nil {
		t.Fatal(err)
	}
	f.namespace("b")
	if got, err := f.Owners(context.Background(), []string{"b"}); err != nil || got["b"] != "" {
		t.Errorf("created anew by nobody: %v, %v", got, err)
	}
}

func sharedRegistry(t *testing.T) *fixture {
	return newFixture(t, func(c *Config) { c.Shared, c.ReadOnly = true, true })
}

func (f *fixture) folder(path ...string) string {
	f.t.Helper()
	info, err := f.LoadNamespace(context.Background(), &mounts.LoadNamespaceRequest{Namespace: path})
	if err != nil {
		f.t.Fatal(err)
	}
	return info.Properties["location"]
}

func TestInASharedRegistryEveryLocationOfARequestLiesInTheFolderOfItsTopLevelNamespace(t *testing.T) {
	f := sharedRegistry(t)
	ctx := context.Background()
	f.namespace("a")
	f.namespace("b")
	f.namespace("a", "deep")
	mine, theirs := f.folder("a"), f.folder("b")
	if _, err := uuid.Parse(mine[max(len(mine)-36, 0):]); err != nil || !strings.HasPrefix(mine, f.Warehouse()+"/a-") || !strings.HasPrefix(f.folder("a", "deep"), mine+"/") {
		t.Fatalf("%s, %s", mine, f.folder("a", "deep"))
	}
	id := ident("t", "a")
	f.table(id)
	f.view(ident("v", "a"))
	other := f.table(ident("victim", "b"))
	commit := func(updates ...string) func() error {
		return func() error {
			req := mounts.CommitTableRequest{Table: id}
			for _, u := range updates {
				req.Updates = append(req.Updates, json.RawMessage(u))
			}
			if e := f.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{req}}); e == nil {
				return fmt.Errorf("a transaction takes it")
			}
			_, err := f.CommitTable(ctx, &req)
			return err
		}
	}
	create := func(location string, staged bool, properties map[string]string) func() error {
		return func() error {
			req := createRequest(ident("n", "a", "deep"))
			req.Location, req.StageCreate, req.Properties = location, staged, properties
			_, err := f.CreateTable(ctx, req)
			return err
		}
	}
	register := func(at, location string, change func(map[string]any)) func() error {
		return func() error {
			var doc map[string]any
			if err := json.Unmarshal([]byte(apart(t, other.Metadata, location)), &doc); err != nil {
				t.Fatal(err)
			}
			change(doc)
			if err := os.MkdirAll(filepath.Dir(local(at)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(local(at), marshal(t, doc), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"a"}, Name: "r", MetadataLocation: at})
			return err
		}
	}
	same := func(map[string]any) {}
	created := func(location string) func() error {
		return func() error {
			_, err := f.CommitTable(ctx, &mounts.CommitTableRequest{Table: ident("staged", "a"), Requirements: []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)},
				Updates: []json.RawMessage{json.RawMessage(`{"action":"assign-uuid","uuid":"` + uuid.NewString() + `"}`), json.RawMessage(`{"action":"upgrade-format-version","format-version":2}`),
					json.RawMessage(`{"action":"add-schema","schema":` + testSchema + `}`), json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`),
					json.RawMessage(`{"action":"add-spec","spec":{"spec-id":0,"fields":[]}}`), json.RawMessage(`{"action":"set-default-spec","spec-id":-1}`),
					json.RawMessage(`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`), json.RawMessage(`{"action":"set-default-sort-order","sort-order-id":-1}`),
					json.RawMessage(`{"action":"set-location","location":"` + location + `"}`)}})
			return err
		}
	}
	for what, ask := range map[string]func() error{
		"a table beside":                   create(f.Warehouse()+"/elsewhere", false, nil),
		"a table at another's namespace":   create(theirs+"/t", false, nil),
		"a table at the whole folder":      create(mine, false, nil),
		"a table in a folder of like name": create(mine+"x/t", false, nil),
		"a staged table":                   create(theirs+"/t", true, nil),
		"a table's data path":              create("", false, map[string]string{"write.data.path": theirs}),
		"a table's metadata path":          create("", true, map[string]string{"write.metadata.path": theirs + "/t/metadata"}),
		"a move":                           commit(`{"action":"set-location","location":"` + theirs + `/moved"}`),
		"a move to the warehouse's own":    commit(`{"action":"set-location","location":"` + f.Warehouse() + `/moved"}`),
		"a commit that creates":            created(theirs + "/staged"),
		"a manifest list":                  commit(snapshot(theirs + "/x.avro")),
		"a property":                       commit(`{"action":"set-properties","updates":{"write.object-storage.path":"` + theirs + `"}}`),
		"a registered file":                register(theirs+"/00000-r.metadata.json", mine+"/r", same),
		"a registered file's location":     register(mine+"/00000-r.metadata.json", theirs+"/r", same),
		"a registered file's manifest lists": register(mine+"/00000-r.metadata.json", mine+"/r", func(doc map[string]any) {
			doc["snapshots"] = []any{map[string]any{"snapshot-id": 1, "sequence-number": 0, "timestamp-ms": 1, "summary": map[string]string{"operation": "append"}, "manifest-list": theirs + "/x.avro"}}
		}),
		"a view": func() error {
			req := createViewRequest(ident("w", "a"))
			req.Location = theirs + "/w"
			_, err := f.CreateView(ctx, req)
			return err
		},
		"a view's move": func() error {
			_, err := f.ReplaceView(ctx, &mounts.ReplaceViewRequest{View: ident("v", "a"), Updates: []json.RawMessage{json.RawMessage(`{"action":"set-location","location":"` + theirs + `/w"}`)}})
			return err
		},
		"a namespace": func() error {
			_, err := f.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"c"}, Properties: map[string]string{"location": theirs}})
			return err
		},
		"a nested namespace": func() error {
			_, err := f.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"a", "n"}, Properties: map[string]string{"location": f.Warehouse()}})
			return err
		},
		"a namespace's property": func() error {
			_, err := f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"}, Updates: map[string]string{"location": theirs + "/x"}})
			return err
		},
	} {
		err := ask()
		e := mounts.AsError(err)
		if err == nil || e.Kind != mounts.BadRequest || !strings.Contains(e.Message(), "top-level namespace") || strings.Contains(e.Message(), "choose one below "+theirs) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, ask := range map[string]func() error{
		"a place of its own": create(mine+"/chosen", false, nil),
		"a data path":        commit2(f, id, `{"action":"set-properties","updates":{"write.data.path":"`+mine+`/data"}}`),
		"a registered file":  register(mine+"/r/metadata/00000-r.metadata.json", mine+"/r", same),
		"a created one":      created(mine + "/staged"),
		"a move":             commit2(f, id, `{"action":"set-location","location":"`+mine+`/moved"}`),
		"a namespace's place": func() error {
			_, err := f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a", "deep"}, Updates: map[string]string{"location": mine}})
			return err
		},
	} {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func commit2(f *fixture, id mounts.Identifier, updates ...string) func() error {
	return func() error {
		req := mounts.CommitTableRequest{Table: id}
		for _, u := range updates {
			req.Updates = append(req.Updates, json.RawMessage(u))
		}
		_, err := f.CommitTable(context.Background(), &req)
		return err
	}
}

// A namespace that is dropped and created again, by another tenant, meets none
// of the old one's files; nor does one whose name looks like an encoded one.
func TestNoTwoNamespacesOfASharedRegistryEverHaveOneFolder(t *testing.T) {
	f := sharedRegistry(t)
	seen := map[string]bool{}
	for _, name := range []string{"données", "a", "a", filepath.Base(f.Warehouse())} {
		f.namespace(name)
		folder := f.folder(name)
		if seen[folder] {
			t.Errorf("%s is the folder of two", folder)
		}
		seen[folder] = true
		f.namespace(filepath.Base(folder))
		if again := f.folder(filepath.Base(folder)); again == folder {
			t.Errorf("%s is the folder of two", folder)
		}
		if err := f.DropNamespace(context.Background(), &mounts.DropNamespaceRequest{Namespace: mounts.Namespace{name}}); err != nil {
			t.Fatal(err)
		}
	}
}

// A rename changes no location, and what moved to another namespace goes on.
func TestATableOfASharedRegistryThatWasRenamedKeepsItsLocation(t *testing.T) {
	f := sharedRegistry(t)
	f.namespace("a")
	f.namespace("b")
	location := mountLocation(t, f.table(ident("t", "a")).Metadata)
	if err := f.RenameTable(context.Background(), &mounts.RenameTableRequest{Source: ident("t", "a"), Destination: ident("t", "b")}); err != nil {
		t.Fatal(err)
	}
	id := ident("t", "b")
	f.commit(&mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(snapshot(location + "/metadata/snap-7-1-c%2Fd.avro"))}})
	f.commit(&mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(`{"action":"set-location","location":"` + location + `/"}`), json.RawMessage(`{"action":"set-properties","updates":{"k":"v"}}`)}})
	if err := commit2(f, id, `{"action":"set-location","location":"`+f.folder("a")+`/x"}`)(); err == nil {
		t.Error("it moved within the namespace that it left")
	}
	if err := commit2(f, id, `{"action":"set-location","location":"`+f.folder("b")+`/x"}`)(); err != nil {
		t.Error(err)
	}
}
