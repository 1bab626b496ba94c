package middleware

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// Fail answers a request with an error. It decides on status and body by the
// error's kind.
type Fail func(w http.ResponseWriter, r *http.Request, err error)

// Call is what is known of one request, from the first byte to the access log.
// It belongs to the goroutine that serves the request, but for Sent and for what
// was set before it.
type Call struct {
	// RequestID is the client's X-Request-Id, or one made here.
	RequestID string
	// Path is the escaped path as it was sent.
	Path string
	// Gate is what the path asks of a caller. Client is where the request comes
	// from, Principal who calls: nil as long as that is not known.
	Gate      Gate
	Client    policy.Client
	Principal *policy.Principal
	// Prefix is the path segment that names a catalog; empty for the tree. Paths
	// sets it.
	Prefix string
	// Vars are the path's variables, still encoded. The routes set them.
	Vars map[string]string
	// Via holds the instances that the request came through, outermost first.
	Via []string
	// TraceParent is the W3C trace context header, empty if absent or malformed.
	TraceParent string
	// Operation and Catalog are set by the route that took the request.
	Operation capabilities.Op
	Catalog   string
	// Quiet keeps a successful call out of the access log's normal level.
	Quiet bool
	// Object is what the operation is about. It is set before Sent and not
	// afterwards.
	Object mounts.Identifier
	// Sent says that the operation was handed to a backend: from here on a
	// failure of a change cannot promise that nothing happened.
	Sent atomic.Bool
	// Err is the error that was answered; nil for a success.
	Err error
	// Started is when the request arrived.
	Started time.Time
	// Scope is the request for the layers below the HTTP surface. Begin ends it
	// once the answer is out or given up.
	Scope mounts.Scope

	recorder Recorder
}

// Status is the status that was answered, 0 if none was yet.
func (c *Call) Status() int { return c.recorder.status }

// Bytes is the number of body bytes written so far.
func (c *Call) Bytes() int64 { return c.recorder.bytes }

// Left notes, for the log and the metrics, that the client went away before it
// was answered.
func (c *Call) Left() { c.recorder.status = StatusClientLeft }

// StatusClientLeft stands in logs and metrics for a request whose client closed
// the connection before the answer. It is never sent.
const StatusClientLeft = 499

type callKey struct{}

// CallFrom returns the request's Call. Outside of Begin it is a fresh one, so
// that a handler can be used alone.
func CallFrom(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &Call{Started: time.Now()}
}
