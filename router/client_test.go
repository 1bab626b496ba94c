package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icerest "github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"

	"github.com/icefield/icefield/mounts/memory"
)

// The basic life cycle as iceberg-go's REST client, which is not ours, sees it.
func TestIcebergGoLivesWithTheRouter(t *testing.T) {
	for _, warehouse := range []string{"", "prod"} {
		t.Run("warehouse="+warehouse, func(t *testing.T) {
			b := memory.New(memory.Options{Warehouse: "file://" + t.TempDir()})
			w := serve(t, Config{Tree: Catalog{Backend: b}, Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: b}}})
			ctx := context.Background()
			var options []icerest.Option
			if warehouse != "" {
				options = append(options, icerest.WithWarehouseLocation(warehouse))
			}
			c, err := icerest.NewCatalog(ctx, "test", w.url, options...)
			must(t, err)

			outer, ns := table.Identifier{"a b+é"}, table.Identifier{"a b+é", "in ner.é"}
			must(t, c.CreateNamespace(ctx, outer, iceberg.Properties{"owner": "x"}))
			must(t, c.CreateNamespace(ctx, ns, nil))
			if err := c.CreateNamespace(ctx, ns, nil); !errors.Is(err, catalog.ErrNamespaceAlreadyExists) {
				t.Errorf("creating it again: %v", err)
			}
			properties, err := c.LoadNamespaceProperties(ctx, outer)
			must(t, err)
			if properties["owner"] != "x" {
				t.Errorf("properties %v", properties)
			}
			summary, err := c.UpdateNamespaceProperties(ctx, outer, []string{"owner", "nope"}, iceberg.Properties{"k": "v"})
			must(t, err)
			if !slices.Equal(summary.Removed, []string{"owner"}) || !slices.Equal(summary.Missing, []string{"nope"}) || !slices.Equal(summary.Updated, []string{"k"}) {
				t.Errorf("summary %+v", summary)
			}
			if children, err := c.ListNamespaces(ctx, outer); err != nil || fmt.Sprint(children) != fmt.Sprint([]table.Identifier{ns}) {
				t.Errorf("children %v %v", children, err)
			}

			schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true})
			id := append(slices.Clone(ns), "t 1+é")
			created, err := c.CreateTable(ctx, id, schema, catalog.WithProperties(iceberg.Properties{"p": "1"}))
			must(t, err)
			if _, err := c.CreateTable(ctx, id, schema); !errors.Is(err, catalog.ErrTableAlreadyExists) {
				t.Errorf("creating it again: %v", err)
			}
			loaded, err := c.LoadTable(ctx, id)
			must(t, err)
			if loaded.MetadataLocation() != created.MetadataLocation() || !loaded.Metadata().Equals(created.Metadata()) {
				t.Error("loaded another table than was created")
			}
			transaction := loaded.NewTransaction()
			must(t, transaction.SetProperties(iceberg.Properties{"p": "2"}))
			committed, err := transaction.Commit(ctx)
			must(t, err)
			if committed.Properties()["p"] != "2" || committed.MetadataLocation() == created.MetadataLocation() {
				t.Errorf("committed %v at %s", committed.Properties(), committed.MetadataLocation())
			}
			for want, ident := range map[bool]table.Identifier{true: id, false: append(slices.Clone(ns), "nope")} {
				if exists, err := c.CheckTableExists(ctx, ident); err != nil || exists != want {
					t.Errorf("%v exists: %v %v", ident, exists, err)
				}
			}
			to := append(slices.Clone(outer), "moved")
			_, err = c.RenameTable(ctx, id, to)
			must(t, err)
			if _, err := c.LoadTable(ctx, id); !errors.Is(err, catalog.ErrNoSuchTable) {
				t.Errorf("loading what was renamed: %v", err)
			}
			var names []string
			for ident, err := range c.ListTables(ctx, outer) {
				must(t, err)
				names = append(names, ident[len(ident)-1])
			}
			if !slices.Equal(names, []string{"moved"}) {
				t.Errorf("tables %v", names)
			}
			if err := c.DropNamespace(ctx, outer); err == nil {
				t.Error("dropped a namespace that holds a table")
			}
			must(t, c.DropTable(ctx, to))
			must(t, c.DropNamespace(ctx, ns))
			must(t, c.DropNamespace(ctx, outer))
			if _, err := c.LoadNamespaceProperties(ctx, outer); !errors.Is(err, catalog.ErrNoSuchNamespace) {
				t.Errorf("loading what was dropped: %v", err)
			}
			if left, err := c.ListNamespaces(ctx, nil); err != nil || len(left) != 0 {
				t.Errorf("left %v %v", left, err)
			}
		})
	}
}

func TestIcebergGoIsToldOfAnUnknownWarehouse(t *testing.T) {
	w := over(t, memory.New(memory.Options{}))
	if _, err := icerest.NewCatalog(context.Background(), "test", w.url, icerest.WithWarehouseLocation("nope")); err == nil {
		t.Error("opened a catalog that is not there")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
