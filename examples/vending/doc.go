// Package vending tries the storage credentials that a native mount with a vending block hands out (policy/vend) on a real
// store: SeaweedFS, whose token service binds sessions to their policy. A key that reads gets what lies below its table's
// location and nothing else, one that writes writes there and nowhere else, and both end.
//
//	go test -tags peers -v ./examples/vending
//
// The package holds tests only.
package vending
