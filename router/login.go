package router

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router/middleware"
)

// gate says what a path asks of its caller, from the path as it was sent. It is
// closed for whatever is not surely one of the few others; route has the last
// word.
func (s *server) gate(path string) middleware.Gate {
	path = strings.TrimRight(path, "/")
	if !strings.HasSuffix(path, "health") && !strings.HasSuffix(path, "ready") && !strings.HasSuffix(path, "tokens") {
		return middleware.Closed
	}
	prefix, canonical := middleware.Split(path)
	switch {
	case canonical == middleware.TokenPath && s.Token != nil:
		return middleware.Login
	case prefix != "":
	case canonical == "/health":
		return middleware.Open
	case canonical == "/ready":
		return middleware.Lenient
	}
	return middleware.Closed
}

// public is a route that answers callers whom nobody knows.
type public struct{ http.Handler }

// turnAway answers a request without a caller that no public route takes.
func (s *server) turnAway(w http.ResponseWriter, r *http.Request) {
	middleware.Unread(w, r)
	s.fail(w, r, middleware.Unauthenticated(nil))
}

// loginFailed writes a login that failed into the trail.
func (s *server) loginFailed(r *http.Request, err error) {
	s.record(r.Context(), policy.Event{Action: authenticate, Resource: policy.Resource{Kind: policy.KindServer},
		Outcome: policy.Refused, Result: mounts.AsError(err).Kind.Error()})
}

const authenticate policy.Action = "authenticate"

// record adds to an event what is known of its request, and gives it to the
// trail. Nothing that this package does waits for it: it changes no catalog.
func (s *server) record(ctx context.Context, e policy.Event) {
	if s.Trail == nil {
		return
	}
	call := middleware.CallFrom(ctx)
	e.Principal, e.Client, e.RequestID, e.Catalog = call.Principal, call.Client, call.RequestID, s.Tree.Name
	_ = s.Trail.Record(ctx, e, false) // it counts what it loses
}

// maxForm bounds what a client may send to have a token.
const maxForm = 64 << 10

// token answers the route of old clients, which hang it behind whatever base URL
// they have: the prefix in it, of a catalog that exists or not, says nothing
// about who may have a token.
func (s *server) token(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > maxForm {
		middleware.Unread(w, r)
		s.fail(w, r, &mounts.Error{Kind: mounts.TooLarge, Msg: "the request for a token is longer than the 65536 bytes that it may have"})
		return
	}
	if !claim(w) {
		return
	}
	call := middleware.CallFrom(r.Context())
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	r = r.WithContext(ctx)
	if r.Body != nil {
		middleware.Cap(w, r, maxForm)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.Timeout)) // not every writer has one
	}
	w.Header()["Cache-Control"] = []string{"no-store"}
	s.Token(w, r, call.Client)
	switch call.Status() {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		s.record(ctx, policy.Event{Action: authenticate, Resource: policy.Resource{Kind: policy.KindServer},
			Outcome: policy.Refused, Result: strings.ToLower(http.StatusText(call.Status()))})
	}
}
