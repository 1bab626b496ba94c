package mounts

import "context"

// Caller is what a backend may know of the client call that it works for.
type Caller struct {
	// Principal names who asks, for logs and the commit log.
	Principal string
	// Tenant is whom the principal belongs to: what it creates where a mount has
	// no owner is that tenant's. Empty without authentication.
	Tenant string
	// Storage is the most access to storage that the answer may carry, as the
	// policy has it. No backend gives credentials, or signs, beyond it.
	Storage StorageAccess
	// RequestID is the id of the client's request.
	RequestID string
	// Via holds the instances of this product that the call came through,
	// outermost first, without this one: how a loop of mounts is noticed.
	Via []string
	// Instance is this server's own name in that list, which can change when its
	// configuration does; empty for the server's own background calls.
	Instance string
	// TraceParent is the W3C trace context header, as received.
	TraceParent string
	// Once is set if the client sent an Idempotency-Key with a change.
	Once *Once
	// Token is the client's own bearer token, empty if it sent none. It is a
	// secret: only a remote that is called in the caller's name may see it, and
	// no log, error or cache key holds it.
	Token string
	// Scope is the client request; nil for the server's own background calls.
	Scope *Scope
}

// Once says that a request with this key is the same request, however often it
// arrives (REST spec, Idempotency-Key). What a backend makes of it:
// Backend.KeyLifetime.
type Once struct {
	// Key is the client's key: a UUID in lower case, 36 characters. Keys of
	// different principals have nothing to do with each other.
	Key string
	// Fingerprint is a digest of everything that the request asks for. Another
	// request under the same key is a mistake of the client's.
	Fingerprint [32]byte
}

// StorageAccess is a width of access to the files of a table. Widths are ordered.
type StorageAccess uint8

// The widths. The zero value is none.
const (
	NoStorage StorageAccess = iota
	ReadStorage
	WriteStorage
)

// String is the width in lower case: "none", "read" or "write".
func (a StorageAccess) String() string {
	switch a {
	case NoStorage:
		return "none"
	case ReadStorage:
		return "read"
	case WriteStorage:
		return "write"
	}
	return "unknown"
}

type callerKey struct{}

// calling is a context with a caller: one piece of memory where context.WithValue
// takes two, in each request.
type calling struct {
	context.Context
	caller Caller
}

func (c *calling) Value(key any) any {
	if key == (callerKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithCaller attaches the caller to a context.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return &calling{ctx, c}
}

// CallerFrom returns the context's caller; the zero Caller if there is none, as
// for the server's own background calls.
func CallerFrom(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(*calling); ok {
		return c.caller
	}
	return Caller{}
}
