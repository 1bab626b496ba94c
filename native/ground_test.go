package native

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

const hasItsOwn = "equals, encloses or lies inside that of another table or view"

func TestNoTableOrViewTakesTheLocationOfAnother(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	ctx := context.Background()
	f.namespace("a")
	f.namespace("b")
	place := func(id mounts.Identifier, location string) error {
		req := createRequest(id)
		req.Location = location
		_, err := f.CreateTable(ctx, req)
		return err
	}
	victim := f.Warehouse() + "/a/x/victim"
	if err := place(ident("victim", "a"), victim); err != nil {
		t.Fatal(err)
	}
	first := f.load(ident("victim", "a"))
	f.table(ident("mover", "b"))
	f.view(ident("view", "b"))
	viewed := viewLocation(t, f.loadView(ident("view", "b")).Metadata)
	write := func(name, text string) string {
		path := filepath.Join(f.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	register := func(file string) error {
		_, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"b"}, Name: "r", MetadataLocation: file})
		return err
	}
	move := func(location string) error {
		return commit2(f, ident("mover", "b"), `{"action":"set-location","location":"`+location+`"}`)()
	}
	property := func(key, location string) error {
		return commit2(f, ident("mover", "b"), `{"action":"set-properties","updates":{"`+key+`":"`+location+`"}}`)()
	}
	plain := "file:" + strings.TrimPrefix(victim, "file://")
	for what, err := range map[string]error{
		"created at it":              place(ident("n", "b"), victim),
		"created at it, as spelled":  place(ident("n", "b"), plain+"/"),
		"created inside":             place(ident("n", "b"), victim+"/data/deep"),
		"created in its metadata":    place(ident("n", "b"), plain+"/metadata"),
		"created at a metadata file": place(ident("n", "b"), first.MetadataLocation),
		"created around":             place(ident("n", "b"), f.Warehouse()+"/a/x"),
		"created far around":         place(ident("n", "b"), f.Warehouse()+"/a"),
		"created at a view":          place(ident("n", "b"), viewed),
		"created inside a view":      place(ident("n", "b"), viewed+"/x"),
		"moved to it":                move(victim),
		"moved inside":               move(victim + "/data"),
		"moved around":               move(f.Warehouse() + "/a"),
		"its data written there":     property("write.data.path", victim+"/data"),
		"its metadata written there": property("write.metadata.path", plain+"/metadata"),
		"registered under a name":    register(first.MetadataLocation),
		"registered from a copy":     register(write("copy.metadata.json", string(first.Metadata))),
		"registered from inside":     register(write("inside.metadata.json", apart(t, first.Metadata, victim+"/sub"))),
		"registered from its folder": register(write("a/x/victim/metadata/z.metadata.json", apart(t, first.Metadata, f.Warehouse()+"/r"))),
		"a view at it": func() error {
			req := createViewRequest(ident("w", "b"))
			req.Location = victim
			_, err := f.CreateView(ctx, req)
			return err
		}(),
		"a staged one, when it comes": func() error {
			req := createRequest(ident("n", "b"))
			req.Location, req.StageCreate = victim, true
			_, err := f.CreateTable(ctx, req)
			return err
		}(),
	} {
		var e *mounts.Error
		if !errors.As(err, &e) || e.Kind != mounts.BadRequest || !strings.Contains(e.Message(), "of another table or view") || strings.Contains(e.Message(), "a.victim") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"beside, with a name that begins so": place(ident("beside", "b"), victim+"2"),
		"beside, with a shorter name":        place(ident("shorter", "b"), strings.TrimSuffix(victim, "m")),
		"moved":                              move(f.Warehouse() + "/b/moved"),
		"moved into its own":                 move(f.Warehouse() + "/b/moved/again"),
		"its own data path":                  property("write.data.path", f.Warehouse()+"/b/moved/again/d"),
		"overwritten by itself": func() error {
			_, err := f.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"a"}, Name: "victim", MetadataLocation: first.MetadataLocation, Overwrite: true})
			return err
		}(),
		"dropped, and registered": func() error {
			if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("victim", "a")}); err != nil {
				return err
			}
			return register(first.MetadataLocation)
		}(),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func viewLocation(t testing.TB, metadata json.RawMessage) string { return mountLocation(t, metadata) }

// Another replica, or another client, may be faster than the look before.
func TestALocationIsTakenInTheTransactionThatMakesIt(t *testing.T) {
	for what, second := range map[string]string{"equal": "/p/t", "inside": "/p/t/x", "around": "/p"} {
		f := newFixture(t)
		f.namespace("a")
		own := false
		f.inner.update = func(_ context.Context, next func() error) error {
			if !own {
				own = true
				req := createRequest(ident("rival", "a"))
				req.Location = f.Warehouse() + "/p/t"
				if _, err := f.CreateTable(context.Background(), req); err != nil {
					t.Fatal(err)
				}
			}
			return next()
		}
		req := createRequest(ident("late", "a"))
		req.Location = f.Warehouse() + second
		_, err := f.CreateTable(context.Background(), req)
		wantError(t, err, mounts.BadRequest, "a.late", hasItsOwn)
		if n := len(f.files()); n != 1 {
			t.Errorf("%s: %d files", what, n)
		}
	}
}

// Two that one transaction creates are each other's neighbours too.
func TestATransactionCannotCreateTwoTablesAtOneLocation(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	f.table(ident("t", "a"))
	f.table(ident("u", "a"))
	change := func(name, location string) mounts.CommitTableRequest {
		return mounts.CommitTableRequest{Table: ident(name, "a"), Updates: []json.RawMessage{json.RawMessage(`{"action":"set-location","location":"` + f.Warehouse() + location + `"}`)}}
	}
	err := f.CommitTransaction(context.Background(), &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{change("t", "/both"), change("u", "/both/x")}})
	if e := mounts.AsError(err); err == nil || e.Kind != mounts.BadRequest || !strings.Contains(e.Message(), hasItsOwn) {
		t.Errorf("%v", err)
	}
	if err := f.CommitTransaction(context.Background(), &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{change("t", "/both"), change("u", "/both2")}}); err != nil {
		t.Error(err)
	}
}

// A folder that only holds the metadata files of a table elsewhere is no
// location, and a namespace may be called metadata.
func TestWhatOnlyLooksLikeANeighbourIsInNobodysWay(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	f.namespace("a")
	f.namespace("a", "metadata")
	f.table(ident("t", "a", "metadata"))
	f.table(ident("u", "a"))
	f.commit(setProperties(ident("u", "a"), map[string]string{"write.metadata.path": f.Warehouse() + "/a/metadata"}))
	f.table(ident("v", "a"))
	f.table(ident("w", "a", "metadata"))
}

func TestATableIsFoundByWhereItLies(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.ReadOnly = true })
	ctx := context.Background()
	f.namespace("a")
	f.table(ident("t", "a"))
	f.view(ident("v", "a"))
	location := mountLocation(t, f.load(ident("t", "a")).Metadata)
	locating, ok := mounts.As[mounts.Locating](f.Idempotent())
	if !ok {
		t.Fatal("the registry with keys finds nothing")
	}
	for _, at := range []string{location, location + "/data/p=a%2Fb/x.parquet", strings.Replace(location, "file:///", "file:/", 1) + "/metadata/snap-1.avro"} {
		if id, err := locating.TableAt(ctx, at); err != nil || id.String() != "a.t" {
			t.Errorf("%s: %v, %v", at, id, err)
		}
	}
	for at, kind := range map[string]mounts.Kind{
		location + "2": mounts.NoSuchTable, f.Warehouse() + "/a": mounts.NoSuchTable,
		viewLocation(t, f.loadView(ident("v", "a")).Metadata) + "/x": mounts.NoSuchTable,
		"s3://elsewhere/x": mounts.BadRequest,
		location + "/../v": mounts.BadRequest,
		f.Warehouse() + "/" + strings.Repeat("x/", 900) + "y": mounts.NoSuchTable,
	} {
		if id, err := locating.TableAt(ctx, at); !errors.Is(err, kind) || !id.IsZero() {
			t.Errorf("%.60s: %v, %v", at, id, err)
		}
	}
}
