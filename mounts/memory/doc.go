// Package memory is the reference backend: a catalog in a map.
//
// It exists so that the contract of package mounts has one plain
// implementation that everything else is compared with: the conformance suite
// runs over it first, and routers, decorators and remote backends are tested in
// front of it. Commits are interpreted by package commit, as everywhere, so its
// tables behave like real ones; there are no files, and the metadata locations
// that it hands out lead nowhere.
//
//	b := memory.New(memory.Options{})
//	b.PutTable(mounts.Identifier{Namespace: mounts.Namespace{"shop"}, Name: "orders"}, metadata)
//
// It is not a place to keep anything: what it holds is gone with the process,
// and commits run one at a time.
//
// Layer: beside the other backends, above mounts and mounts/commit.
package memory
