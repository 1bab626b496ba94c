// Package warehouse is where a native mount keeps table files: one folder of
// the local file system or one prefix of an S3 bucket, and the rule that every
// location a client names lies inside it.
//
//	w, err := warehouse.Open(ctx, "s3://lake/warehouse", map[string]string{"s3.region": "eu-central-1"})
//	loc, err := w.Confine("s3a://lake/warehouse/sales/orders") // inside: s3, s3a and s3n are one scheme
//	err = w.Write(ctx, loc.Join("metadata", name), document)    // durable when it returns
//
// Locations are compared by path segments, never as text: "/data/lake2" is not
// inside "/data/lake". A location is taken literally, as PyIceberg, DuckDB and
// S3 take it, so whatever some reader could decode into another path (dot
// segments, empty segments, encoded separators, backslashes, "?" and "#") is
// refused instead of resolved.
//
// Every operation refuses a location outside. In a local warehouse that holds for
// symbolic links too: one that leads out of the folder is refused, so a warehouse
// is spread over several disks by mounting them in it, not by links.
//
// It is not a general file system: it writes once, reads, lists and removes.
// Data files never pass through it.
//
// Layer: below native.
package warehouse
