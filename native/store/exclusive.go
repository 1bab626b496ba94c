package store

// Exclusive is a Store that one process holds for itself: what another process
// left behind in it, as a lease, is left by one that is gone.
type Exclusive interface {
	Store
	// HeldAlone does nothing; it marks the store.
	HeldAlone()
}
