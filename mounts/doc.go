// Package mounts is the contract of everything that answers catalog calls.
//
// A Backend answers the operations of the Iceberg REST protocol: the native
// registry, a remote catalog, the federation of several, and every decorator
// around one of them. The HTTP server serves Backends and knows nothing else.
// The package holds that interface in five roles, the wire types of its
// requests and responses, the one error type with its kinds, and the mount
// table (Map).
//
// Three constructions make Backends out of functions:
//
//	type Backend struct{ mounts.Unsupported }        // says no to everything it does not override
//	b := mounts.Dispatch(handler, lifecycle)         // every operation goes to one function
//	b := mounts.Around(next, func(ctx, req, next) …) // every operation passes one function once
//
// Names given to a backend are relative to it: the mount's own name is stripped
// on the way down and restored on the way up. Metadata stays raw JSON here, so
// that a format version or field that nobody here knows survives.
//
// Layer: above capabilities and pagination, below everything else.
package mounts
