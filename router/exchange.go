package router

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/router/middleware"
)

// exchange is one operation being answered: what a handler reads its request
// from and writes its response to.
type exchange struct {
	*server
	w       http.ResponseWriter
	r       *http.Request
	call    *middleware.Call
	row     capabilities.Operation
	catalog *Catalog
	java    bool
	maxBody int64
	once    *once // nil without an Idempotency-Key that counts
	watched watch
}

// handler answers one operation. A returned error is answered in its place; a
// handler that returns nil has answered.
type handler func(ctx context.Context, x *exchange) error

// operation makes the route of an operation: it finds the catalog among those
// that the caller may see, gives the caller and the deadline to the context, and
// answers what goes wrong. The caller's token goes along only if somebody else
// than this server may know it.
//
// A change is not cancelled when its client leaves: half a change is worth less
// than a whole one that nobody waits for.
func (s *server) operation(op capabilities.Op, handle handler) http.Handler {
	row := op.Row()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := middleware.CallFrom(r.Context())
		call.Operation = op
		ctx := identified(r)
		catalog := s.byPrefix[call.Prefix]
		if !s.visible(ctx, catalog) {
			s.fail(w, r, s.noWarehouse(ctx, call.Prefix))
			return
		}
		call.Catalog = catalog.Name
		x := &exchange{server: s, w: w, r: r, call: call, row: row, catalog: catalog,
			maxBody: s.MaxBody, java: middleware.JavaClient(r.Header)}

		var err error
		if x.once, err = x.readOnce(); err != nil {
			s.fail(w, r, err)
			return
		}
		token := ""
		if s.Authenticator == nil || call.Principal.Forwardable {
			if token, err = middleware.BearerToken(r.Header); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		if row.Class != capabilities.Read {
			ctx = context.WithoutCancel(ctx)
		}
		ctx = mounts.WithCaller(ctx, mounts.Caller{
			Principal: call.Principal.ID, Tenant: call.Principal.Tenant, RequestID: call.RequestID, Via: call.Via,
			TraceParent: call.TraceParent, Instance: s.InstanceID, Token: token, Scope: &call.Scope,
		})
		ctx, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		x.watch()
		defer x.unwatch()
		if err := handle(ctx, x); err != nil {
			x.watched.result = err
			s.fail(w, r, err)
		}
	})
}

// ask hands a request to the catalog's backend. R is what the operation answers.
func ask[R any](ctx context.Context, x *exchange, req mounts.Request) (R, error) {
	var none R
	resp, err := x.send(ctx, req)
	if err != nil {
		return none, err
	}
	typed, ok := resp.(R)
	if !ok {
		return none, &mounts.Error{Kind: mounts.Internal, OutcomeUnknown: x.row.Class != capabilities.Read,
			Err: fmt.Errorf("a backend answered %s with %T", req.Op(), resp)}
	}
	return typed, nil
}

// do is ask for an operation that answers nothing but success.
func do(ctx context.Context, x *exchange, req mounts.Request) error {
	if _, err := x.send(ctx, req); err != nil {
		return err
	}
	x.done()
	return nil
}

func (x *exchange) send(ctx context.Context, req mounts.Request) (mounts.Response, error) {
	if !x.call.Sent.Load() {
		x.call.Object = req.Object()
		x.call.Sent.Store(true)
	}
	if x.once != nil {
		caller := mounts.CallerFrom(ctx)
		caller.Once = x.once.of(x.catalog, caller.Principal, req)
		ctx = mounts.WithCaller(ctx, caller)
	}
	return mounts.Invoke(ctx, x.catalog.Backend, req)
}

// done answers 204.
func (x *exchange) done() {
	if claim(x.w) {
		x.headers(reply{})
		x.w.WriteHeader(http.StatusNoContent)
	}
}

// reply is what an answer's headers say beside the usual.
type reply struct {
	// secret forbids every store on the way to keep the answer: it may hold
	// credentials, and metadata is for whom it was loaded.
	secret bool
	// cacheControl is used instead where it is not empty.
	cacheControl string
	etag         string
}

// staleWarning marks an answer from before the catalog behind a mount went out of
// reach (RFC 7234, section 5.5.1).
const staleWarning = `110 - "Response is Stale"`

// headers sets the headers of an answer but for the body's own. The caller has
// claimed it.
func (x *exchange) headers(o reply) {
	h := x.w.Header()
	if x.call.Scope.Stale() {
		h["Warning"] = []string{staleWarning}
	}
	switch {
	case o.cacheControl != "":
		h["Cache-Control"] = []string{o.cacheControl}
	case o.secret:
		h["Cache-Control"] = []string{"no-store"}
	}
	if o.etag != "" {
		h["ETag"] = []string{o.etag} // spelled so: Java clients look it up with the case (rule R15)
	}
}

// answer sends a 200 whose body write puts together in memory from the pool.
func (x *exchange) answer(o reply, write func(b []byte) []byte) {
	if !claim(x.w) {
		return
	}
	x.headers(o)
	buf := x.buffers.get()
	*buf = write(*buf)
	x.buffers.write(x.w, x.r, http.StatusOK, body{head: *buf})
	x.buffers.put(buf)
}

// document sends a 200 that is another's bytes: metadata between a head and a
// tail that write puts one after the other into b, returning where the tail
// begins. Without those bytes there is no answer to give.
func (x *exchange) document(o reply, middle []byte, write func(b []byte) (out []byte, tail int)) error {
	if len(middle) == 0 {
		return &mounts.Error{Kind: mounts.Internal, OutcomeUnknown: x.row.Class != capabilities.Read,
			Err: fmt.Errorf("a backend answered %s with nothing in it", x.row.Name)}
	}
	if !claim(x.w) {
		return nil
	}
	x.headers(o)
	buf := x.buffers.get()
	var tail int
	*buf, tail = write(*buf)
	x.buffers.write(x.w, x.r, http.StatusOK, body{head: (*buf)[:tail], middle: middle, tail: (*buf)[tail:]})
	x.buffers.put(buf)
	return nil
}

// segment is a path variable, decoded once.
func (x *exchange) segment(name string) (string, error) {
	return middleware.Segment(x.call.Vars[name], x.java)
}

// header joins the lines of a header, and drops one that is too long to be
// meant.
func (x *exchange) header(canonical string) string {
	lines := x.r.Header[canonical]
	if len(lines) == 1 && len(lines[0]) <= maxHeader {
		return lines[0]
	}
	joined := strings.Join(lines, ", ")
	if len(joined) > maxHeader {
		return ""
	}
	return joined
}

const maxHeader = 8 << 10

// delegation is the client's wish for access to storage, as sent.
func (x *exchange) delegation() string { return x.header("X-Iceberg-Access-Delegation") }
