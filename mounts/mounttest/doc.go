// Package mounttest holds what every backend and every stack of backends is
// tested with: the conformance suite (Run), the fault injector and its matrix
// (Faults, FaultMatrix), shared benchmarks (Bench), and samples (Requests,
// Metadata, Names, AppendUpdate).
//
//	func TestConformance(t *testing.T) {
//		mounttest.Run(t, mounttest.Config{
//			Open: func(t testing.TB) mounts.Backend { return memory.New(memory.Options{}) },
//			Gaps: map[string]string{"listing/tables/order": "the remote lists in its own order"},
//		})
//	}
//
// The suite asks the backend for its capabilities and runs what they cover. It
// knows the contract of package mounts and nothing of any backend: no HTTP, no
// files. The injector works on calls of a Backend; faults on the network are
// another matter.
//
// Layer: beside the backends, above mounts; it imports none of them.
package mounttest
