package middleware

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/icefield/icefield/mounts"
)

// Limits says who asks too often. A request is counted by the question. It is
// safe for concurrent use and does no I/O; policy/quota has one.
type Limits interface {
	// Client and Tenant report whether a client or a tenant may ask now, and if
	// not, how long it is to wait. The address is invalid where it is not known.
	Client(addr netip.Addr) (wait time.Duration, ok bool)
	Tenant(tenant string) (wait time.Duration, ok bool)
}

// LimitClients refuses a client that asks too often (RateLimited), before
// anything else is found out about it. At a lenient gate it is let in, as one of
// whom nothing is asked any more.
func LimitClients(fail Fail, limits Limits, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := CallFrom(r.Context())
		if call.Gate == Open {
			next.ServeHTTP(w, r)
			return
		}
		wait, ok := limits.Client(call.Client.Addr)
		switch {
		case ok:
		case call.Gate == Lenient:
			call.Gate = Open
		default:
			Unread(w, r)
			fail(w, r, &mounts.Error{Kind: mounts.RateLimited, RetryAfter: atLeast(wait),
				Msg: "too many requests from this address; wait as long as Retry-After says (server.rate_limit)"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// LimitTenants refuses the callers of a tenant that asks too often (RateLimited).
func LimitTenants(fail Fail, limits Limits, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := CallFrom(r.Context())
		if call.Gate == Closed && call.Principal != nil && call.Principal.Tenant != "" {
			if wait, ok := limits.Tenant(call.Principal.Tenant); !ok {
				Unread(w, r)
				fail(w, r, &mounts.Error{Kind: mounts.RateLimited, RetryAfter: atLeast(wait),
					Msg: "too many requests of your tenant; wait as long as Retry-After says (server.tenant_rate_limit)"})
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// atLeast keeps a wait from being none, which would be taken for one that is not
// known.
func atLeast(wait time.Duration) time.Duration { return max(wait, time.Nanosecond) }

// lingers is how long what is left of a body may take to arrive once its request
// is answered.
const lingers = 2 * time.Second

// Unread prepares the answer to a request whose body nobody will read. Left to
// itself the HTTP server first waits for such a body, to use the connection
// again, and so lets whoever it turns away decide when it may answer.
func Unread(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody || r.ProtoMajor != 1 {
		return // in HTTP/2 a stream ends without its connection
	}
	w.Header()["Connection"] = []string{"close"}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingers)) // not every writer has one
}
