// Package bench measures what a load costs that goes through Icefield to a
// remote catalog, beside what else could stand in that place: nothing (the
// remote called directly), httputil.ReverseProxy, and nginx with a cache that it
// revalidates each time. Every server is a process of its own on loopback, and
// all share the machine with the load generator, so only ratios of one run mean
// something, best on a machine that does nothing else.
//
//	go test -tags peers -run '^$' -bench . -benchtime 5x ./examples/bench
//
// Each round gives every server the same load for the same time, one after the
// other, and the median of the rounds counts. What is reported: requests a
// second of each, as a share of the one that it is measured against, and for one
// client the milliseconds that a load takes longer than from the remote; and the
// processor time of each server per request, which hardly depends on what else
// the machine is doing.
//
// The remote is small and fast, and answers from memory: the worst case for
// whatever stands in front of it. One of its namespaces takes its metadata apart
// and puts it together again for each load, as catalogs do that read it from
// storage.
//
// The test that runs with the tag and without -bench times nothing. It compares
// what the servers answer, and counts the calls that reach the remote.
//
// It needs nginx (Debian: apt-get install nginx).
package bench
