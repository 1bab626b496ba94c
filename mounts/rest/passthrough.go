package rest

import (
	"context"
	"net/http"
)

// Passthrough sends the caller's own bearer token on to the remote, which must
// trust the same issuer as this server. A caller who has none is refused with
// Unauthenticated before anything is sent, and so is one whose token the remote
// refuses: that is the caller's own fault. The server's own calls bear no login.
func Passthrough() Auth { return Auth{passthrough{}} }

type passthrough struct{}

func (passthrough) check(string) error       { return nil }
func (passthrough) perCaller() bool          { return true }
func (p passthrough) open(_ loginDeps) login { return p }

func (passthrough) authorize(ctx context.Context, r *http.Request, _ []byte) (proof, error) {
	token, err := callerToken(ctx, "passes your own bearer token on to the remote catalog")
	if err != nil {
		return proof{}, err
	}
	if token == "" {
		return proof{whose: ofNobody}, nil
	}
	bear(r, token)
	return proof{used: token, whose: ofCaller, identity: "passthrough"}, nil
}

// renew implements login: nobody but the caller has another token.
func (passthrough) renew(context.Context, proof) (bool, error) { return false, nil }
func (passthrough) secrets(context.Context) []string           { return nil }
func (passthrough) close()                                     {}
