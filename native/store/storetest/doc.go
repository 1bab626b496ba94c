// Package storetest is what every registry store must do, as tests.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Opener {
//			path := filepath.Join(t.TempDir(), "catalog.db")
//			return func() (store.Store, error) { return bolt.Open(path) }
//		})
//	}
//
// It covers names and their order, listings by seek, the refusals, the pointer
// swap and its log, who holds a pointer, receipts, jobs, transactions that fail
// or panic beside others that do not, concurrent writers, and that everything
// acknowledged is there after a reopen.
// RunPortable does the same for a store that can be fenced, exported and filled,
// and RunReplicas for one that several processes use at once.
//
// What only one store has (a file lock, a migration) is tested by that store.
//
// Layer: above store, imported by tests only.
package storetest
