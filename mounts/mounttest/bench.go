package mounttest

import (
	"context"
	"fmt"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Bench runs the shared benchmarks over a backend that can create: loading one
// table of 20 KB, a page of 100 out of 1,000 tables, and appends. Bytes per
// second are bytes of metadata.
func Bench(b *testing.B, open func(t testing.TB) mounts.Backend) {
	ctx := context.Background()
	namespace := mounts.Namespace{"bench"}
	create := func(b *testing.B, backend mounts.Backend, name string, properties map[string]string) *mounts.Table {
		b.Helper()
		table, err := backend.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: namespace, Name: name, Schema: Schema(), Properties: properties})
		if err != nil {
			b.Fatal(err)
		}
		return table
	}
	start := func(b *testing.B) mounts.Backend {
		b.Helper()
		backend := open(b)
		if _, err := backend.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: namespace}); err != nil {
			b.Fatal(err)
		}
		return backend
	}
	b.Run("LoadTable", func(b *testing.B) {
		backend := start(b)
		properties := map[string]string{}
		for i := range 300 {
			properties[fmt.Sprintf("property.number.%04d", i)] = "a value of about forty characters, as it is"
		}
		create(b, backend, "orders", properties)
		req := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: namespace, Name: "orders"}}
		b.ReportAllocs()
		for b.Loop() {
			table, err := backend.LoadTable(ctx, req)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(table.Metadata)))
		}
	})
	b.Run("ListTables", func(b *testing.B) {
		backend := start(b)
		for i := range 1000 {
			create(b, backend, fmt.Sprintf("table_%04d", i), nil)
		}
		first, err := backend.ListTables(ctx, &mounts.ListTablesRequest{Namespace: namespace, Page: pagination.Request{Size: 500}})
		if err != nil {
			b.Fatal(err)
		}
		req := &mounts.ListTablesRequest{Namespace: namespace, Page: pagination.Request{Size: 100, Token: first.Next}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := backend.ListTables(ctx, req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("CommitTable", func(b *testing.B) {
		backend := start(b)
		var table *mounts.Table
		var id mounts.Identifier
		n := int64(0)
		b.ReportAllocs()
		for b.Loop() {
			if n%25 == 0 {
				// A table with a long history costs more, so each serves 25 appends.
				b.StopTimer()
				id = mounts.Identifier{Namespace: namespace, Name: fmt.Sprintf("table_%d", n)}
				table = create(b, backend, id.Name, nil)
				b.StartTimer()
			}
			n++
			committed, err := backend.CommitTable(ctx, Append(id, table.Metadata, n))
			if err != nil {
				b.Fatal(err)
			}
			table = committed
		}
	})
}
