// Package vendors is one Icefield in front of several catalogs: a native mount underneath, a native mount "prod",
// Iceberg's own Java REST server as "partner" and a second Icefield as "sister". lake.hcl is the mount table, and its
// opening comment says how to run it by hand; the tests run it as real processes.
//
// The package holds tests only.
package vendors
