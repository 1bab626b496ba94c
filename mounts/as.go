package mounts

import "context"

// As finds in a backend one that is also a T, as Owning, Working or Logging: the
// backend itself, or one that it stands around. A decorator that lets these be
// seen through it says what it stands around by a method Unwrap() Backend.
func As[T any](b Backend) (T, bool) {
	for b != nil {
		if t, ok := b.(T); ok {
			return t, true
		}
		around, ok := b.(interface{ Unwrap() Backend })
		if !ok {
			break
		}
		b = around.Unwrap()
	}
	var none T
	return none, false
}

// Locating is a backend that knows its tables by where they lie.
type Locating interface {
	// TableAt returns the table whose location is, or encloses, the given one, as
	// "s3://bucket/key" for the key of an object. NoSuchTable, naming no table, if
	// there is none that it can tell: a table need not be found that keeps its
	// metadata outside of its location. BadRequest for what is no location.
	TableAt(ctx context.Context, location string) (Identifier, error)
}
