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
// Confined is what the server itself reads, writes and removes, and the place of
// a table. Two things are not. The properties that say where engines put data
// files (write.data.path, write.object-storage.path, write.folder-storage.path)
// pass as they are: engines write there with their own rights, not with ours.
// And symbolic links are followed, so that an operator can spread a warehouse
// over several disks: let only those write into a local warehouse directly who
// may reach what the server can.
//
// It is not a general file system: it reads, writes once and removes whole
// small files. Data files never pass through it.
//
// Layer: below native.
package warehouse
