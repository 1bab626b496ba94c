// Package remote is a small Iceberg REST catalog for tests: an HTTP server on
// loopback with content that the test sets, and a switch for each habit and
// each failure that remote catalogs are known for.
//
//	srv := remote.New(t, remote.Options{Warehouse: "sales"})
//	srv.AddTable([]string{"shared"}, "orders")
//	srv.Tune(func(q *remote.Quirks) { q.Separator = "%2E"; q.PageCap = 3 })
//	srv.Fail("loadTable", remote.Fault{Status: 503, RetryAfter: "7"})
//	… // point the code under test at srv.URL
//	if n := srv.Count("loadTable"); n != 1 { … }
//
// Quirks are lasting habits (a page cap, an odd separator, no `defaults`);
// faults hit one operation or all of them until Heal. Both may change while the
// server runs. Stop and Start take the server off the network and bring it back
// at the same address. Every request is counted and recorded with its raw path,
// query and headers.
//
// Operations are called by their names in the operation table, "loadTable";
// besides those there are Config and Token, and AnyOp for all of them.
//
// It serves reads only: a write is recorded and refused with 406. It is no model
// of a correct catalog; for that serve a mounts.Backend. Layer: test code beside
// mounts/mounttest; it imports the contract packages only.
package remote
