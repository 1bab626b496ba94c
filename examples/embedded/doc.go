// Package embedded is Icefield alone, as the catalog itself: embedded.hcl has one native mount, and "icefield serve"
// without a file is the same without writing anything. The tests run the real binary: PyIceberg takes namespaces, tables and
// views through their whole life, and the process is killed in the middle of commits and must have kept what it acknowledged.
//
// The package holds tests only.
package embedded
