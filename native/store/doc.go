// Package store is what the native registry remembers: namespaces, the metadata
// pointer of every table and view, the log of every pointer change, the receipts
// of requests that carried an Idempotency-Key, and jobs that are still to be done.
//
// A Store runs closures in transactions. A closure may run more than once (a
// database that lost a serialization race, a group of writes that is replayed
// one by one), so it keeps no state: it assigns its results and nothing else,
// and the caller reads them only when the transaction returned nil.
//
//	var obj store.Object
//	err := s.Update(ctx, func(tx store.Tx) (err error) {
//		obj, err = tx.Swap(id, read.Location, written, by)
//		return err
//	})
//
// A Portable is a Store that can be moved into another one: it can be fenced, in
// the store itself and so in every process, and exported and filled record by
// record (package migrate).
//
// The package is not a cache and not a file system: metadata documents live in
// the warehouse, only their locations are kept here. What a store must do is
// written as tests in storetest, which every implementation passes.
//
// Layer: above mounts, below native and the implementations.
package store
