package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/icefield/icefield/mounts"
)

// Auth is how a mount logs in to its remote. The zero value does not.
type Auth struct{ kind authKind }

// authKind is one way to log in, as configured.
type authKind interface {
	// check finds what is wrong with it, at a remote with this base URL.
	check(base string) error
	// open builds the login.
	open(with loginDeps) login
	perCaller() bool
}

// loginDeps is what a login works with.
type loginDeps struct {
	// base is the remote's base URL.
	base string
	// http reaches token endpoints: no redirect, no cookie, counted.
	http *http.Client
	// timeout bounds the getting of one secret.
	timeout time.Duration
	now     func() time.Time
	log     *slog.Logger
}

// NoAuth sends no login.
func NoAuth() Auth { return Auth{} }

// PerCaller reports whether the remote is called in each caller's own name, so
// that answers may differ from caller to caller: nothing that the remote said to
// one of them may be kept or shared for another. The server's own calls then go
// without a login, or with the mount's own, and a remote that refuses those is
// reachable all the same.
func (a Auth) PerCaller() bool { return a.kind != nil && a.kind.perCaller() }

func (a Auth) check(base string) error {
	if a.kind == nil {
		return nil
	}
	return a.kind.check(base)
}

func (a Auth) login(with loginDeps) login {
	if a.kind == nil {
		return anonymous{}
	}
	return a.kind.open(with)
}

// login puts the login onto requests. Its errors are *mounts.Error without Op
// and Ident, and mean that nothing was sent to the catalog. It is safe for
// concurrent use.
type login interface {
	// authorize is called for each request right before it is sent, when all its
	// other headers are set; body is what will be sent.
	authorize(ctx context.Context, r *http.Request, body []byte) (proof, error)
	// renew reports whether there is another secret than the one that was
	// refused; the next authorize uses it.
	renew(ctx context.Context, refused proof) (bool, error)
	// secrets is everything that no message about a call with this context may
	// repeat, beside the proof's own.
	secrets(ctx context.Context) []string
	// close waits for what the login has under way.
	close()
}

// proof is the login that one request bore.
type proof struct {
	// used is the secret; for signatures the access key's id.
	used string
	// signature is set on signed requests.
	signature string
	whose     whose
	// identity says as whom, in a word that is no secret: for the audit trail.
	identity string
}

// as is the identity; "none" for a request without a login.
func (p proof) as() string {
	if p.identity == "" {
		return "none"
	}
	return p.identity
}

// whose says in whose name a request was made, and so whose fault it is when
// the remote refuses that.
type whose uint8

const (
	// ofMount is the mount's own login, or that it has none.
	ofMount whose = iota
	// ofCaller is the caller's own token.
	ofCaller
	// ofExchange is a token that a token endpoint gave for the caller's.
	ofExchange
	// ofNobody is no login: a call of the server's own to a remote that is
	// otherwise called in the callers' names.
	ofNobody
)

// refused is the error of a login that the remote does not accept.
func (w whose) refused(status int) (mounts.Kind, string) {
	switch w {
	case ofCaller:
		return mounts.Unauthenticated, fmt.Sprintf("the remote catalog does not accept your token (status %d), "+
			"which this mount passes on to it; log in again, with a token that the remote catalog accepts", status)
	case ofExchange:
		return mounts.BadGateway, fmt.Sprintf("the remote catalog refused the login that this mount got in exchange for your token (status %d); "+
			"its audience or scope may be wrong", status)
	case ofNobody:
		return mounts.BadGateway, fmt.Sprintf("the remote catalog answers nobody without a login (status %d), "+
			"and this mount has none but its callers'", status)
	}
	return mounts.BadGateway, fmt.Sprintf("the remote catalog refused the mount's own login (status %d)", status)
}

// forbidden is the sentence about a 403.
func (w whose) forbidden() string {
	if w == ofCaller || w == ofExchange {
		return "the remote catalog does not let you do that"
	}
	return "the remote catalog does not let this mount do that"
}

// background reports a call that the server makes for itself.
func background(c mounts.Caller) bool {
	return c.Scope == nil && c.RequestID == "" && c.Principal == "" && c.Token == ""
}

// callerToken is the token of the call's own caller; empty for a background
// call. A caller without a usable one is an error.
func callerToken(ctx context.Context, does string) (string, error) {
	caller := mounts.CallerFrom(ctx)
	if caller.Token == "" {
		if background(caller) {
			return "", nil
		}
		return "", &mounts.Error{Kind: mounts.Unauthenticated, Answered: true,
			Msg: "this mount " + does + ", and you sent none: log in with \"Authorization: Bearer …\""}
	}
	if err := checkToken(caller.Token); err != nil {
		return "", &mounts.Error{Kind: mounts.Unauthenticated, Answered: true, Err: err,
			Msg: "this mount " + does + ", and yours cannot be sent: log in with another one"}
	}
	return caller.Token, nil
}

// loginRefused reports an answer that says no more than that the login is not,
// or no longer, good.
func loginRefused(a *answer) bool {
	return a.status == http.StatusUnauthorized || a.status == statusAuthTimeout ||
		a.proof.signature != "" && signatureRefused(a)
}

type anonymous struct{}

func (anonymous) authorize(context.Context, *http.Request, []byte) (proof, error) {
	return proof{}, nil
}
func (anonymous) renew(context.Context, proof) (bool, error) { return false, nil }
func (anonymous) secrets(context.Context) []string           { return nil }
func (anonymous) close()                                     {}

// bear puts a bearer token onto a request.
func bear(r *http.Request, token string) { r.Header.Set("Authorization", "Bearer "+token) }

// maxLogin bounds a token; no server takes larger headers.
const maxLogin = 64 << 10

// checkToken refuses what cannot stand in a header. The error holds no byte of
// the token.
func checkToken(token string) error {
	switch {
	case token == "":
		return errors.New("the token is empty")
	case len(token) > maxLogin:
		return fmt.Errorf("the token is longer than %d bytes", maxLogin)
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] >= 0x7f {
			return errors.New("the token holds a blank, a control character or a character outside ASCII")
		}
	}
	return nil
}

// checkEndpoint refuses the address of a token endpoint that would give a
// secret away: one in the clear while the catalog itself is not.
func checkEndpoint(name, raw, base string) error {
	if _, err := checkURL(name, raw); err != nil {
		return err
	}
	at, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s is not a URL", name)
	}
	if at.Scheme == "http" && strings.HasPrefix(base, "https:") && !loopback(at.Hostname()) {
		return fmt.Errorf("%s gives up https, which catalog_url has: secrets would be sent in the clear", name)
	}
	return nil
}

// sameHost reports whether a reference leads to the host of base.
func sameHost(reference, base string) bool {
	from, err := url.Parse(base)
	if err != nil {
		return false
	}
	to, err := from.Parse(reference)
	return err == nil && strings.EqualFold(to.Hostname(), from.Hostname())
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// none reports whether it sends no login.
func (a Auth) none() bool { return a.kind == nil }
