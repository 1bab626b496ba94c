package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/pagination"
)

func open(testing.TB) mounts.Backend { return memory.New(memory.Options{}) }

func TestConformance(t *testing.T) { mounttest.Run(t, mounttest.Config{Open: open}) }

func BenchmarkMemory(b *testing.B) { mounttest.Bench(b, open) }

var (
	ctx    = context.Background()
	shop   = mounts.Namespace{"shop"}
	orders = mounts.Identifier{Namespace: shop, Name: "orders"}
)

func load(t *testing.T, b mounts.Backend, id mounts.Identifier) *mounts.Table {
	t.Helper()
	table, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: id})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestPreparedTablesKeepTheirBytes(t *testing.T) {
	b := memory.New(memory.Options{})
	odd := json.RawMessage(`{ "format-version": 99, "new-in-99": [1,  2.50] , "location":"s3://x/y" }`)
	nested := mounts.Identifier{Namespace: mounts.Namespace{"a", "b c"}, Name: "t/1"}
	first := b.PutTable(nested, odd)
	got := load(t, b, nested)
	if !bytes.Equal(got.Metadata, odd) || got.MetadataLocation != first {
		t.Errorf("put %s at %s, loaded %s at %s", odd, first, got.Metadata, got.MetadataLocation)
	}
	if second := b.PutTable(nested, odd); second == first || load(t, b, nested).ETag == got.ETag {
		t.Error("a table that was put again is taken for the old one")
	}
	page, err := b.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Parent: mounts.Namespace{"a"}})
	if err != nil || len(page.Items) != 1 || page.Items[0].String() != "a.b c" {
		t.Errorf("the namespaces on the way: %v, %v", page, err)
	}
	view := b.PutView(mounts.Identifier{Namespace: shop, Name: "recent"}, mounttest.ViewMetadata())
	loaded, err := b.LoadView(ctx, &mounts.LoadViewRequest{View: mounts.Identifier{Namespace: shop, Name: "recent"}})
	if err != nil || loaded.MetadataLocation != view || !bytes.Equal(loaded.Metadata, mounttest.ViewMetadata()) {
		t.Errorf("view: %v, %v", loaded, err)
	}
}

func TestPreparedTablesTakeCommitsWhereverTheyLie(t *testing.T) {
	b := memory.New(memory.Options{})
	before := b.PutTable(orders, mounttest.Metadata(20_000))
	committed, err := b.CommitTable(ctx, mounttest.Append(orders, mounttest.Metadata(20_000), 42))
	if err != nil {
		t.Fatal(err)
	}
	if committed.MetadataLocation == before || !strings.HasPrefix(committed.MetadataLocation, "s3://sample-bucket/warehouse/shop/orders/metadata/00001-") {
		t.Errorf("committed at %s", committed.MetadataLocation)
	}
}

func TestPreparedNamespacesReplaceOnlyProperties(t *testing.T) {
	b := memory.New(memory.Options{})
	b.PutTable(orders, mounttest.Metadata(0))
	b.PutNamespace(shop, map[string]string{"owner": "hank"})
	info, err := b.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: shop})
	if err != nil || info.Properties["owner"] != "hank" {
		t.Errorf("%v, %v", info, err)
	}
	load(t, b, orders)
}

func TestMaxPageCapsEveryListing(t *testing.T) {
	b := memory.New(memory.Options{MaxPage: 2})
	for _, name := range []string{"a", "b", "c"} {
		b.PutTable(mounts.Identifier{Namespace: shop, Name: name}, mounttest.Metadata(0))
	}
	for _, size := range []int{0, 1, 2, 100} {
		page, err := b.ListTables(ctx, &mounts.ListTablesRequest{Namespace: shop, Page: pagination.Request{Size: size}})
		want := 2
		if size == 1 {
			want = 1
		}
		if err != nil || len(page.Items) != want || page.Next == "" {
			t.Errorf("size %d: %+v, %v", size, page, err)
		}
	}
}

func TestForeignTokensRestartTheListing(t *testing.T) {
	b := memory.New(memory.Options{})
	b.PutTable(orders, mounttest.Metadata(0))
	for _, token := range []string{"not base64!", "=", "\x00"} {
		page, err := b.ListTables(ctx, &mounts.ListTablesRequest{Namespace: shop, Page: pagination.Request{Token: token}})
		if err != nil || len(page.Items) != 1 {
			t.Errorf("token %q: %+v, %v", token, page, err)
		}
	}
}

func TestCapabilitiesCanBeMasked(t *testing.T) {
	b := memory.New(memory.Options{Capabilities: capabilities.Reads()})
	b.PutTable(orders, mounttest.Metadata(0))
	load(t, b, orders)
	if err := b.DropTable(ctx, &mounts.DropTableRequest{Table: orders}); !errors.Is(err, mounts.UnsupportedOperation) {
		t.Errorf("drop: %v", err)
	}
	if b.Capabilities().Without(capabilities.Reads()) != 0 || b.Capabilities().Has(capabilities.PlanScan) {
		t.Errorf("capabilities %v", b.Capabilities().Endpoints())
	}
	load(t, b, orders)
	check := memory.New(memory.Options{Capabilities: capabilities.Of(capabilities.NamespaceExists)})
	check.PutNamespace(shop, nil)
	if _, err := check.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: shop}); err != nil {
		t.Errorf("the load that answers an existence check: %v", err)
	}
}

func TestRegisterFindsOnlyTheFilesGiven(t *testing.T) {
	if memory.New(memory.Options{}).Capabilities().Has(capabilities.RegisterTable) {
		t.Error("without files there is nothing to register")
	}
	files := map[string]json.RawMessage{"memory://elsewhere/1.metadata.json": mounttest.Metadata(0), "memory://elsewhere/2.json": json.RawMessage(`{"no":"table"}`)}
	b := memory.New(memory.Options{Files: files})
	b.PutNamespace(shop, nil)
	register := func(location string) error {
		_, err := b.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: shop, Name: "orders", MetadataLocation: location})
		return err
	}
	if err := register("memory://elsewhere/3.json"); !errors.Is(err, mounts.MetadataMissing) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := register("memory://elsewhere/2.json"); err == nil {
		t.Error("registered a document that is no table's")
	}
	if err := register("memory://elsewhere/1.metadata.json"); err != nil || !bytes.Equal(load(t, b, orders).Metadata, mounttest.Metadata(0)) {
		t.Errorf("%v", err)
	}
	if err := b.DropTable(ctx, &mounts.DropTableRequest{Table: orders}); err != nil || len(files) != 2 {
		t.Errorf("the caller's map was changed: %d files, %v", len(files), err)
	}
}

func TestPurgedTablesCannotBeRegisteredAgain(t *testing.T) {
	b := memory.New(memory.Options{Files: map[string]json.RawMessage{}})
	for _, purge := range []bool{false, true} {
		location := b.PutTable(orders, mounttest.Metadata(0))
		if err := b.DropTable(ctx, &mounts.DropTableRequest{Table: orders, Purge: purge}); err != nil {
			t.Fatal(err)
		}
		_, err := b.RegisterTable(ctx, &mounts.RegisterTableRequest{Namespace: shop, Name: fmt.Sprint("again-", purge), MetadataLocation: location})
		if gone := errors.Is(err, mounts.MetadataMissing); gone != purge || !purge && err != nil {
			t.Errorf("purge %v: %v", purge, err)
		}
	}
}

func TestBeforeSeesEveryCallAndMayRefuseIt(t *testing.T) {
	var seen []string
	b := memory.New(memory.Options{Before: func(_ context.Context, req mounts.Request) error {
		seen = append(seen, req.Op().String())
		if req.Op() == capabilities.DropNamespace {
			return &mounts.Error{Kind: mounts.RateLimited}
		}
		return nil
	}})
	for _, req := range mounttest.Requests() {
		if !b.Capabilities().Has(req.Op()) {
			continue
		}
		before := len(seen)
		_, err := mounts.Invoke(ctx, b, req)
		if len(seen) != before+1 {
			t.Errorf("%s was seen %d times", req.Op(), len(seen)-before)
		}
		if req.Op() == capabilities.DropNamespace && !errors.Is(err, mounts.RateLimited) {
			t.Errorf("%s: %v", req.Op(), err)
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %q", seen)
	}
}

func TestBeforeHoldsNoLock(t *testing.T) {
	release, waiting := make(chan struct{}), make(chan struct{})
	b := memory.New(memory.Options{Before: func(_ context.Context, req mounts.Request) error {
		if req.Op() == capabilities.LoadTable {
			close(waiting)
			<-release
		}
		return nil
	}})
	b.PutTable(orders, mounttest.Metadata(0))
	done := make(chan error)
	go func() {
		_, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
		done <- err
	}()
	<-waiting
	if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"other"}}); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestClockAndIDsCanBeFixed(t *testing.T) {
	create := func() *mounts.Table {
		n := byte(0)
		b := memory.New(memory.Options{
			Now:     func() time.Time { return time.UnixMilli(1700000000000) },
			NewUUID: func() uuid.UUID { n++; return uuid.UUID{15: n} },
		})
		b.PutNamespace(shop, nil)
		table, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: shop, Name: "orders", Schema: mounttest.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	first, second := create(), create()
	if !bytes.Equal(first.Metadata, second.Metadata) || first.MetadataLocation != second.MetadataLocation || first.ETag != second.ETag {
		t.Errorf("%s\n%s", first.Metadata, second.Metadata)
	}
	if !strings.Contains(string(first.Metadata), "1700000000000") {
		t.Errorf("another clock: %s", first.Metadata)
	}
}

func TestLocationsStayInTheWarehouse(t *testing.T) {
	b := memory.New(memory.Options{Warehouse: "file:///data/wh/"})
	b.PutNamespace(mounts.Namespace{".."}, nil)
	create := func(name, location string) (*mounts.Table, error) {
		return b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: mounts.Namespace{".."}, Name: name, Schema: mounttest.Schema(), Location: location})
	}
	chosen, err := create("..", "")
	if err != nil || !strings.HasPrefix(chosen.MetadataLocation, "file:///data/wh/%2E%2E/%2E%2E-") {
		t.Errorf("chosen %v, %v", chosen, err)
	}
	for _, location := range []string{"file:///data/wh", "file:///data/wh2/t", "file:///data/wh/../x", "file:///data/wh//x", "file:///data/wh/./x", "/data/wh/x"} {
		if _, err := create("t", location); !errors.Is(err, mounts.BadRequest) {
			t.Errorf("%s: %v", location, err)
		}
	}
	placed, err := create("t", "file:///data/wh/t/")
	if err != nil {
		t.Fatal(err)
	}
	move := &mounts.CommitTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{".."}, Name: "t"},
		Updates: []json.RawMessage{json.RawMessage(`{"action":"set-location","location":"s3://elsewhere/t"}`)}}
	if _, err := b.CommitTable(ctx, move); !errors.Is(err, mounts.BadRequest) {
		t.Errorf("moved out of the warehouse: %v", err)
	}
	if got := load(t, b, move.Table); got.MetadataLocation != placed.MetadataLocation {
		t.Error("the refused move changed the table")
	}
}

func TestTheRootIsAnEmptyPlaceForTables(t *testing.T) {
	b := memory.New(memory.Options{})
	tables, err := b.ListTables(ctx, &mounts.ListTablesRequest{})
	if err != nil || len(tables.Items) != 0 {
		t.Errorf("%v, %v", tables, err)
	}
	if err := b.DropNamespace(ctx, &mounts.DropNamespaceRequest{}); !errors.Is(err, mounts.NoSuchNamespace) {
		t.Errorf("drop the root: %v", err)
	}
	if _, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Name: "t", Schema: mounttest.Schema()}); !errors.Is(err, mounts.BadRequest) {
		t.Errorf("a table in the root: %v", err)
	}
}

func TestRenameToItselfDoesNothing(t *testing.T) {
	b := memory.New(memory.Options{})
	b.PutTable(orders, mounttest.Metadata(0))
	if err := b.RenameTable(ctx, &mounts.RenameTableRequest{Source: orders, Destination: orders}); err != nil {
		t.Error(err)
	}
	load(t, b, orders)
}

func TestConcurrentReadersSeeWholeStates(t *testing.T) {
	b := memory.New(memory.Options{})
	b.PutTable(orders, mounttest.Metadata(0))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			table, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
			if err != nil || !json.Valid(table.Metadata) {
				t.Errorf("%v", err)
				return
			}
		}
	}()
	metadata := mounttest.Metadata(0)
	for i := range int64(50) {
		committed, err := b.CommitTable(ctx, mounttest.Append(orders, metadata, i+1))
		if err != nil {
			t.Fatal(err)
		}
		metadata = committed.Metadata
	}
	close(stop)
	<-done
}
