// Package wrap holds what stands around every mount: the decorators that bound
// a backend's time, number of calls and mistakes, that name its errors and
// rename its namespaces, and the prober that watches it.
//
// Each decorator is one function around a mounts.Backend in one small file, and
// Stack is the one place of their order:
//
//	observe -> prefix -> read only -> cache (reads) -> retry (reads) -> breaker -> limit -> timeout -> contract -> backend
//
// The cache holds answers and lets identical reads share one call; it stands
// outside the breaker, so that it can answer while the mount is down, and inside
// the prefix, so that both ways into a mount share what is held.
//
// Retry stands outside the breaker, so that each attempt asks it. The timeout
// counts one attempt; the caller's own deadline counts the whole.
//
// A mount is reached in two ways, in the tree's names and in its own, but it is
// one thing that is up or down: both ways share everything from "read only"
// inwards.
//
//	mounted := wrap.Stack(backend, wrap.Options{Name: "partner", ReadOnly: true})
//	mounted.Start()
//	defer mounted.Close()
//	table, err := mounts.NewMap(mounted.Mount())
//
// The package knows no particular backend and speaks no protocol: it tells
// failures apart by mounts.Kind alone.
//
// Layer: above mounts, beside the backends.
package wrap
