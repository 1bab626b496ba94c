package native

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/pagination"
)

func TestNamespacesGetALocationBelowTheirParents(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	location := func(levels ...string) string {
		t.Helper()
		info, err := f.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: levels})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(info.Properties["location"], f.Warehouse())
	}
	f.namespace("a")
	f.namespace("a", "b")
	f.namespace("x y")
	if location("a") != "/a" || location("a", "b") != "/a/b" || !strings.HasPrefix(location("x y"), "/x_y-") {
		t.Errorf("the locations are %q, %q, %q", location("a"), location("a", "b"), location("x y"))
	}
	if _, err := f.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"own"},
		Properties: map[string]string{"location": f.Warehouse() + "/some/where", "k": "v"}}); err != nil {
		t.Fatal(err)
	}
	f.namespace("own", "inner")
	if location("own") != "/some/where" || location("own", "inner") != "/some/where/inner" {
		t.Errorf("below a chosen location: %q, %q", location("own"), location("own", "inner"))
	}
	f.namespace("own", "inner", "deep")
	table := f.table(ident("t", "own", "inner"))
	if want := f.Warehouse() + "/some/where/inner/t-"; !strings.HasPrefix(table.MetadataLocation, want) {
		t.Errorf("a table lies at %s, want %s…", table.MetadataLocation, want)
	}
	if _, err := f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"own", "inner", "deep"},
		Removals: []string{"location"}}); err != nil {
		t.Fatal(err)
	}
	if table := f.table(ident("t", "own", "inner", "deep")); !strings.HasPrefix(table.MetadataLocation, f.Warehouse()+"/own/inner/deep/t-") {
		t.Errorf("without a location property a table lies at %s", table.MetadataLocation)
	}
}

func TestNamespaceLocationsOutsideTheWarehouseAreRefused(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	for _, bad := range []string{"/elsewhere", f.dir + "/../x", "s3://bucket/x", "", "relative"} {
		_, err := f.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"b"}, Properties: map[string]string{"location": bad}})
		wantError(t, err, mounts.BadRequest, "b", "the location ")
		_, err = f.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"a"}, Properties: map[string]string{"location": bad}})
		wantError(t, err, mounts.AlreadyExists, "a", "Namespace already exists: a")
		_, err = f.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"no", "b"}, Properties: map[string]string{"location": bad}})
		wantError(t, err, mounts.NoSuchNamespace, "no", "Namespace does not exist: no")
		_, err = f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"},
			Updates: map[string]string{"location": bad}})
		wantError(t, err, mounts.BadRequest, "a", "the location ")
	}
	if _, err := f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"},
		Updates: map[string]string{"location": f.Warehouse()}}); err != nil {
		t.Errorf("the warehouse itself is refused as a namespace's location: %v", err)
	}
}

func TestPropertyUpdatesSayWhatTheyDid(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	got, err := f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"},
		Updates: map[string]string{"y": "1", "x": "2"}, Removals: []string{"location", "z", "z", "location"}})
	if err != nil || !slices.Equal(got.Updated, []string{"x", "y"}) || !slices.Equal(got.Removed, []string{"location"}) || !slices.Equal(got.Missing, []string{"z"}) {
		t.Errorf("%+v, %v", got, err)
	}
	nothing, err := f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"}})
	if err != nil || nothing.Updated == nil || nothing.Removed == nil || nothing.Missing == nil {
		t.Errorf("an update of nothing: %+v, %v", nothing, err)
	}
	info, err := f.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{"a"}})
	if err != nil || !maps.Equal(info.Properties, map[string]string{"x": "2", "y": "1"}) {
		t.Errorf("stored %v, %v", info, err)
	}
	_, err = f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"no"},
		Updates: map[string]string{"k": "v"}, Removals: []string{"k"}})
	wantError(t, err, mounts.Unprocessable, "no", `"k" is both set and removed`)
	_, err = f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{})
	wantError(t, err, mounts.NoSuchNamespace, "", "Namespace does not exist")
}

func TestProtectedNamespacesAreNotDropped(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	set := func(value string) {
		t.Helper()
		if _, err := f.UpdateNamespaceProperties(ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"},
			Updates: map[string]string{"icefield.protected": value}}); err != nil {
			t.Fatal(err)
		}
	}
	drop := &mounts.DropNamespaceRequest{Namespace: mounts.Namespace{"a"}}
	set("true")
	wantError(t, f.DropNamespace(ctx, drop), mounts.NamespaceNotEmpty, "a", "Namespace a is protected; set its property icefield.protected to false")
	set("false")
	if err := f.DropNamespace(ctx, drop); err != nil {
		t.Error(err)
	}
	wantError(t, f.DropNamespace(ctx, drop), mounts.NoSuchNamespace, "a", "Namespace does not exist: a")
	wantError(t, f.DropNamespace(ctx, &mounts.DropNamespaceRequest{}), mounts.NoSuchNamespace, "", "")
}

func TestIllegalNamesAreRefusedOnlyWhereTheyWouldBeCreated(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.namespace("a")
	f.table(ident("t", "a"))
	deep := make(mounts.Namespace, maxLevels+1)
	for i := range deep {
		deep[i] = "d"
	}
	for _, bad := range []mounts.Namespace{{}, {""}, {"a", ""}, {"a\x1fb"}, {"a\x00"}, {"\xff"}, {strings.Repeat("x", maxName+1)}, deep} {
		_, err := f.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: bad})
		wantError(t, err, mounts.BadRequest, bad.String(), "")
	}
	for _, name := range []string{"", "a\x1fb", "a\x00", "\xff", strings.Repeat("x", maxName+1)} {
		id := ident(name, "a")
		_, err := f.CreateTable(ctx, createRequest(id))
		wantError(t, err, mounts.BadRequest, id.String(), "a table name ")
		wantError(t, f.RenameTable(ctx, &mounts.RenameTableRequest{Source: ident("t", "a"), Destination: id}), mounts.BadRequest, id.String(), "a table name ")
		_, err = f.LoadTable(ctx, &mounts.LoadTableRequest{Table: id})
		wantError(t, err, mounts.NoSuchTable, id.String(), "Table does not exist: "+id.String())
		if name != "" {
			_, err = f.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{name}})
			wantError(t, err, mounts.NoSuchNamespace, name, "")
		}
	}
	_, err := f.CreateTable(ctx, createRequest(ident("t")))
	wantError(t, err, mounts.BadRequest, "t", "a table needs a namespace")
	for _, long := range []string{strings.Repeat("x", maxName), strings.Repeat("🧊", 255)} {
		f.namespace(long)
		f.table(ident(long, long))
		if f.load(ident(long, long)).MetadataLocation == "" {
			t.Error("a long name is lost")
		}
	}
}

func TestListingsWithoutASizeAreBounded(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	if err := f.store.Update(ctx, func(tx store.Tx) error {
		for i := range defaultPage + 1 {
			if err := tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{fmt.Sprintf("n%05d", i)}}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	page, err := f.ListNamespaces(ctx, &mounts.ListNamespacesRequest{})
	if err != nil || len(page.Items) != defaultPage || page.Next == "" {
		t.Fatalf("%d rows, next %q (%v)", len(page.Items), page.Next, err)
	}
	last, err := f.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Token: page.Next}})
	if err != nil || len(last.Items) != 1 || last.Next != "" || last.Items[0][0] != fmt.Sprintf("n%05d", defaultPage) {
		t.Errorf("the last page: %+v (%v)", last, err)
	}
	all, err := f.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 1 << 40}})
	if err != nil || len(all.Items) != defaultPage+1 || all.Next != "" {
		t.Errorf("a huge page has %d rows (%v)", len(all.Items), err)
	}
}
