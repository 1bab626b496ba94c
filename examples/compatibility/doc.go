// Package compatibility runs the suites that the authors of Iceberg's clients hold a catalog to, unchanged, against a
// native mount: iceberg-go's catalog suite through its REST client, and Iceberg's REST compatibility kit, all of its table
// and view tests, through Iceberg's Java client, on every kind of registry.
//
//	go test ./examples/compatibility               # iceberg-go's suite, with nothing but Go
//	go test -tags peers ./examples/compatibility   # the kit as well, with the real server on kit.hcl
//
// A test of theirs that cannot run is on a list here, with its reason. A run in which a test fails, is left out without
// being on that list, or is missing altogether fails, and so does one in which a test of the list has come to pass.
//
// The package holds tests only.
package compatibility
