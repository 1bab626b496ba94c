// Package migrate moves a registry from one store into another: a bolt file into
// a database, back again, or one file into another.
//
//	result, err := migrate.Run(ctx, from, to, migrate.Options{From: "bolt:///var/lib/icefield/catalog.db", To: "postgres://db/lake"})
//
// Both sides are fenced first (store.Fence): the source takes no changes from
// then on, in any process, and the destination is neither read nor written by
// anybody else. Every record is copied as it is: namespaces, objects, the whole
// commit log, receipts and jobs. Then both sides are read again and compared,
// record by record. Only if they are equal is the source marked as moved and the
// destination opened, in this order, so that there never are two registries that
// take changes.
//
// Whatever ends a run (a crash, a lost database, a context) leaves the fences up
// and nothing half open; another Run with the same two stores goes on. A run that
// comes after the end finds that it is done. Abort is for operators who no longer
// want the move.
//
// It copies pointers and not the files that they point to: the warehouse stays
// where it is.
//
// Layer: above store, below cmd; it knows no store by name.
package migrate
