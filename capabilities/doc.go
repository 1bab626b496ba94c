// Package capabilities holds the operation table: one row for each operation
// of the Iceberg REST catalog protocol that a backend can answer.
//
// Routes, the endpoint list of /v1/config, metrics labels, timeout classes,
// policy actions and fault tests are all read from these rows, so an operation
// is described once. The package also holds Set, a set of operations: what one
// catalog can do, what several can do together, and what a remote's own
// endpoint list says it can do.
//
//	set, dropped := capabilities.FromEndpoints(remote.Endpoints)
//	tree := set.Intersect(other).Union(capabilities.Floor())
//	config.Endpoints = tree.Endpoints()
//
// It is not a router and knows no HTTP handler. Layer: the lowest; it imports
// nothing of this module.
package capabilities
