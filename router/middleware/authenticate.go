package middleware

import (
	"errors"
	"net/http"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// Authenticate finds out who calls, and turns away whom nobody vouches for before
// anything of the request is read but its headers. refused is told of each login
// that failed, if something was sent at all. Whatever lies in the credentials is
// one and the same error, Unauthenticated(); a client that failed too often is
// RateLimited, and an issuer that cannot be asked Unavailable. A lenient gate lets
// all of them in, unknown.
//
// No answer may be kept by a cache on the way: it is for whom it was made, and
// caches do not know an API key for a credential.
func Authenticate(fail Fail, who policy.Authenticator, refused func(*http.Request, error), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = []string{"no-store"}
		call := CallFrom(r.Context())
		if call.Gate == Open || call.Gate == Login {
			next.ServeHTTP(w, r)
			return
		}
		c := Credentials(r, call.Client)
		if call.Gate == Lenient && !sent(c) {
			next.ServeHTTP(w, r)
			return
		}
		principal, err := who.Authenticate(r.Context(), c)
		if err == nil && principal == nil {
			err = errors.New("a login vouched for nobody")
		}
		if err != nil {
			if err = refusal(err); sent(c) {
				refused(r, err)
			}
			if call.Gate != Lenient {
				Unread(w, r)
				fail(w, r, err)
				return
			}
		}
		call.Principal = principal
		next.ServeHTTP(w, r)
	})
}

// Unauthenticated is the refusal of a caller whom nobody vouched for. It says the
// same whatever the cause, which is for the log.
func Unauthenticated(cause error) *mounts.Error {
	return &mounts.Error{Kind: mounts.Unauthenticated, Err: cause,
		Msg: "this needs a caller that the server knows: send a valid token as Authorization: Bearer, or an API key as X-Api-Key"}
}

// refusal is how a failed login is answered: nothing of what an Authenticator
// says but the kind and how long to wait.
func refusal(err error) error {
	e := mounts.AsError(err)
	switch e.Kind {
	case mounts.Unauthenticated:
		return Unauthenticated(err)
	case mounts.RateLimited:
		return &mounts.Error{Kind: mounts.RateLimited, RetryAfter: atLeast(e.RetryAfter), Err: err,
			Msg: "too many failed logins from this address; wait as long as Retry-After says"}
	case mounts.Unavailable, mounts.Timeout, mounts.BadGateway:
		return &mounts.Error{Kind: mounts.Unavailable, RetryAfter: e.RetryAfter, Err: err,
			Msg: "who calls cannot be found out right now, since the issuer of the token does not answer; nothing was done, try again later"}
	}
	return &mounts.Error{Kind: mounts.Internal, Err: err}
}
