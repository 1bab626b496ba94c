// Package sample is a small client of an Iceberg REST catalog: enough to put a
// table with rows into one and to show what a catalog holds.
//
//	catalog, err := sample.Connect(ctx, "http://127.0.0.1:8181", "")
//	err = catalog.CreateNamespace(ctx, "shop")
//	err = catalog.CreateTable(ctx, sample.Orders("shop", "orders"))
//	tree, err := catalog.Tree(ctx)
//
// It speaks to the catalog by HTTP alone, as an engine does, and reads and
// writes data files itself. It is for the demonstration and for tests; it is no
// client library: it knows local files only and does not authenticate.
//
// Layer: part of cmd/icefield. It imports nothing of this module, and iceberg-go
// for what engines do.
package sample
