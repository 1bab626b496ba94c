//go:build !peers

package warehouse

// peerServices are servers that Go alone cannot start; see the tag peers.
func peerServices() []service { return nil }
