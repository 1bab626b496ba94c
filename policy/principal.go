package policy

import (
	"context"
	"crypto/x509"
	"net/netip"
)

// Principal is who calls, as some login vouched for it. It is immutable.
type Principal struct {
	// ID tells it from every other principal of every login: EntityID of the
	// login's name and the name there, as "corp/alice" of oidc "corp", "key/ci" of
	// api_key "ci", "certificate/etl". "anonymous" without authentication.
	ID string
	// Name is the name at the login, for people to read.
	Name string
	// Tenant is whom it belongs to; never empty but for operators.
	Tenant string
	// Roles are its roles within the tenant, sorted, none twice.
	Roles []string
	// Operator is an admin of every tenant and of the server itself.
	Operator bool
	// Login is the kind of login: "oidc", "api_key", "certificate", "anonymous".
	Login string
	// Forwardable tells that the bearer token of the request was issued by
	// somebody else than this server, so that mounts that call their remote in the
	// caller's name may use it. An API key is not.
	Forwardable bool
}

// Anonymous is everybody, where nothing says who calls: the operator.
func Anonymous() *Principal {
	return &Principal{ID: "anonymous", Name: "anonymous", Operator: true, Login: "anonymous"}
}

// Client is where a request comes from.
type Client struct {
	// Addr is the address of the client, with trusted proxies looked through;
	// invalid if it is not known, as on a unix socket.
	Addr netip.Addr
}

// Credentials are what a request says of its caller. They are secrets.
type Credentials struct {
	// Bearer is the token of an Authorization header, APIKey an X-Api-Key header;
	// empty if not sent. Malformed tells that one of them was sent and cannot be
	// one, so that nothing of it is here.
	Bearer, APIKey string
	Malformed      bool
	// Certificates is the verified chain of a TLS client certificate, the
	// client's own first; nil for none.
	Certificates []*x509.Certificate
	Client       Client
}

// Authenticator finds out who calls.
type Authenticator interface {
	// Authenticate returns the principal, or an error: Unauthenticated for every
	// reason that lies in the credentials, always the same but for Err;
	// RateLimited with RetryAfter for a client that failed too often; Unavailable
	// if an issuer that would have to be asked cannot be reached.
	Authenticate(ctx context.Context, c *Credentials) (*Principal, error)
}

type principalKey struct{}

// asked is a context that knows who made the request behind it: one piece of
// memory where context.WithValue takes two.
type asked struct {
	context.Context
	principal *Principal
	client    Client
}

func (a *asked) Value(key any) any {
	if key == (principalKey{}) {
		return a
	}
	return a.Context.Value(key)
}

// WithPrincipal attaches the principal of a request, and where it comes from.
func WithPrincipal(ctx context.Context, p *Principal, from Client) context.Context {
	return &asked{ctx, p, from}
}

// PrincipalFrom returns them; nil for a context without, which may do nothing.
func PrincipalFrom(ctx context.Context) (*Principal, Client) {
	if a, ok := ctx.Value(principalKey{}).(*asked); ok {
		return a.principal, a.client
	}
	return nil, Client{}
}
