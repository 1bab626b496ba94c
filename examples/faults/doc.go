// Package faults is one Icefield in front of remote catalogs that fail in every way that networks and servers can.
// faults.hcl is the mount table of its first part, in which ten thousand commits go to a remote over a network that cuts,
// delays and half-closes connections.
//
// The package holds tests only.
package faults
