package main

import "os"

// neverUsed is the size of what collectLess returns.
const neverUsed = 32 << 20

// collectLess returns memory that is never touched, and so costs none: it counts
// as in use, and the collector, which runs when what is in use has doubled, runs
// every 40 MiB of garbage instead of every 8. A server holds next to nothing
// between requests, and a request for a table leaves its metadata behind. Whoever
// set the collector up is left alone.
func collectLess() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, neverUsed)
}
