// Package bolt keeps a registry in one bbolt file, for one process.
//
//	s, err := bolt.Open("/var/lib/icefield/catalog.db")
//
// Everything is durable when Update returns. Writers that wait at the same time
// share one transaction and so one flush to disk; nobody waits for company. A
// closure that fails, or panics, fails alone. After a flush that failed the store
// stops, for readers too: see store.ErrStopped.
//
// It is not a store for several replicas: the file is locked, and a second
// process is told so within about a second.
//
// Keys sort so that every listing is a seek. A namespace's key is its depth and
// its levels, each with an escaped terminator: the children of one parent are
// neighbours, in bytewise order of their names, with nobody else's between
// them. An object's key is its namespace's and then its name. Beside the records
// there are indexes: of pointers, of receipts by expiry, of open and of finished
// jobs. A file that an older release wrote gets them when it is opened, in one
// transaction, and cannot be opened by that release any more.
//
// A fence (store.Fence) is kept in the file and in memory; what concerns the
// registry as a whole (a fence, an import) has a transaction of its own between
// the groups.
//
// Layer: beside the other stores, below native.
package bolt
