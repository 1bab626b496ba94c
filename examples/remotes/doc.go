// Package remotes is one Icefield in front of other catalogs, one after the other: each is started as a real process,
// mounted twice (once to read, once to write as well), and goes through one read suite and one write suite, in the tree
// and in the mount's own view. Nothing that comes back may name the remote.
//
// A server is one file: how it is started, what its mount says, and what it lacks and why. A gap is asserted like
// everything else: one that has closed fails the test, and so does one that shows in another way than it used to. At the
// end the test prints a table of servers and operations.
//
//	go test -tags peers -v ./examples/remotes
//
// The package holds tests only.
package remotes
