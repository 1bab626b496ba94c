// Package commit is the commit engine: it turns a table's current metadata
// document, a commit's requirements and its updates into the next metadata
// document. Every backend that keeps only a pointer to metadata shares it.
//
// It is not a store: it reads no file, moves no pointer and keeps no state. The
// caller loads the base, writes the result under a fresh name and swaps the
// pointer on condition that it still holds the base; a lost swap loads the new
// base and calls again.
//
// It keeps what it does not know. The document is a list of top-level sections
// in their own bytes; only the sections that an update touches are decoded, and
// of those only the entries. So unknown fields survive at every level, numbers
// never pass through a float, and an append to a table of thousands of snapshots
// costs a copy of its bytes and not a parse. Schemas, partition specs and sort
// orders are validated with the types of iceberg-go before they are stored.
//
//	res, err := commit.Table(&commit.Base{Metadata: doc, Location: path}, req, commit.Options{})
//	switch {
//	case err != nil:       // *mounts.Error; CommitConflict means rebuild and try again
//	case !res.Changed:     // nothing to write
//	default:               // write res.Metadata under a new name, swap the pointer
//	}
//
// Layer: above mounts, below the backends.
package commit
