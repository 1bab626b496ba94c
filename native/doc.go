// Package native is Icefield's own registry as a mounts.Backend: a catalog that
// keeps one metadata-file pointer per table and view, and the files in a
// warehouse that engines read directly.
//
//	mount "prod" {
//	  backend            = "native"
//	  catalog_url        = "bolt:///var/lib/icefield/catalog.db"
//	  warehouse_location = "s3://lake/warehouse"
//	  owner              = "acme"
//	}
//
// A commit reads the pointer and its metadata, checks every requirement, applies
// the updates, writes the new metadata under a name that was never used, and
// swaps the pointer on condition that it still holds what was read. A lost swap
// starts over on the new state; a requirement that fails is a conflict and is
// not tried again. A transaction over several tables writes all files and then
// swaps every pointer in one store transaction. From the swap on, a client that
// leaves cancels nothing, and a result that is not certain is reported as
// OutcomeUnknown with all files left in place.
//
// Metadata files never change while a pointer leads to them, so their bytes are
// cached by the pointer's value, and a conditional load is answered from the
// pointer alone.
//
// Every change of a pointer is a row in the object's commit log, written in the
// same transaction (Backend.Commits): from where to where, by whom, when, on
// which request. A rename is none; the log stays when the object is dropped.
//
// A change that carries an Idempotency-Key is made at most once
// (Backend.Idempotent): its outcome is written in the transaction that makes it.
//
// Whatever a request makes a table or view point to lies inside the warehouse, and
// each table and view has its location for itself: none is created at, registered
// from, or moved to, a location that equals that of another one, encloses it, or
// lies inside it, since whoever may read a table is handed keys to its location.
// A request that says nothing of locations never meets this.
//
// A top-level namespace belongs to the tenant of whoever created it
// (Backend.Owners). Where a registry is Shared by several tenants each of them
// has a folder of its own, "<warehouse>/<name>-<id>", and everything that a
// request names in it (locations of tables, views and namespaces, metadata files,
// manifest lists, statistics, the properties that say where to write) lies there,
// or in the location that a table already has. What stands inside of manifests is
// not looked at: they may name any file, but no key and no signature is given for
// it.
//
// Views go through the same protocol and share their names with the tables. The
// metadata files of a view stay when it is replaced or dropped, whatever its
// properties say, so it can be registered again.
//
// A drop forgets the pointer, and files stay. One that asks for a purge also
// records a job, in the same transaction, and the job deletes the files in the
// background (package jobs): those that the metadata leads to and that lie inside
// the table's own location. What holds for it:
//
//   - It is answered at once; from then on nothing can be registered from the
//     metadata files that are being deleted.
//   - It is refused, and nothing is dropped, if another table or view has its
//     pointer inside the location or on the same file: nobody could tell the
//     files apart. So is one of a table with the property icefield.protected.
//     Dropped without purge, such a table leaves its files.
//   - Files that another table took over without the registry's knowledge, as
//     add_files does, are deleted if they lie inside the location.
//   - A table whose property gc.enabled is not true keeps its data and delete
//     files, and only its metadata is deleted, as in Iceberg's Java catalogs.
//   - A table whose metadata file is lost is dropped, and nothing is deleted.
//
// It plans no scans and hands out no credentials.
//
// Where what is kept: package store; where files lie and which locations are
// allowed: package warehouse; how metadata changes: package commit; what is done
// in the background: package jobs.
//
// Layer: above store, warehouse and mounts/commit; known only to cmd.
package native
