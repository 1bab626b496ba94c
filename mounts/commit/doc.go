// Package commit is the commit engine: it turns a table's or view's current
// metadata document, a commit's requirements and its updates into the next
// metadata document. Every backend that keeps only a pointer to metadata shares it.
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
// Where the specification leaves a choice, or the reference implementation and
// iceberg-go differ: ids of schemas, specs and orders are given here, one above
// the highest, and an entry that says the same as an older one is that one; -1
// then stands for it. Removing what is not there is no error. Removing the
// current snapshot removes main. Reserved properties are left out. A snapshot
// has to have a parent and schema that exist, and a time that is neither a
// minute before the last change nor a day after now. A stale sequence number or
// first row id is a conflict, so that clients retry. last-updated-ms,
// last-sequence-number and next-row-id never fall. An encryption key under a
// known id stays as it is. A v3 table that keeps its rows gets no required column
// without an initial default. Views follow the same rules; their versions are
// numbered as proposed where that is above all others. Every such difference to
// iceberg-go is listed, and proved to be the only one, in the differential tests.
//
// Work grows with the length of the document and the request and no faster, so
// the bounds of a request bound its time.
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
