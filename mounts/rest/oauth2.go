package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/icefield/icefield/mounts"
)

// OAuth2 gets tokens by the client credentials grant (RFC 6749, 4.4). A token is
// renewed ahead of its end and when the remote refuses it, by one call at a
// time; nobody waits for a renewal while the token that is held is good.
func OAuth2(config OAuth2Config) Auth { return Auth{config} }

// OAuth2Config is a client of a token endpoint.
type OAuth2Config struct {
	// TokenURL is the token endpoint. Empty: the remote's own
	// /v1/oauth/tokens, as Iceberg clients have it.
	TokenURL string
	// ClientID is the client's name, ClientSecret reads its secret: before every
	// call to the token endpoint, so that one that is replaced is noticed. It must
	// be safe for concurrent use.
	ClientID     string
	ClientSecret func() (string, error)
	// Scope is what is asked for. Empty: nothing, but "catalog" at the remote's
	// own token route, which is what Iceberg clients send there.
	Scope string
	// Audience and Resource (RFC 8707) are sent if they are set.
	Audience, Resource string
	// Basic sends client id and secret by HTTP Basic (RFC 6749, 2.3.1: both are
	// form-encoded first), rather than in the form.
	Basic bool
	// Refresh renews a token by exchanging it for another (RFC 8693), as Iceberg
	// clients do, and by client credentials only if that is refused. At the
	// remote's own token route it is always so.
	Refresh bool
}

func (c OAuth2Config) check(base string) error {
	if c.ClientID == "" || c.ClientSecret == nil {
		return errors.New("oauth2 needs a client_id and a client secret")
	}
	if c.TokenURL != "" {
		return checkEndpoint("token_url", c.TokenURL, base)
	}
	return nil
}

func (OAuth2Config) perCaller() bool { return false }

func (c OAuth2Config) open(with loginDeps) login { return newClientCredentials(c, with) }

// clientCredentials is the login of an OAuth2 client.
type clientCredentials struct {
	endpoint *endpoint
	owner    lifetime
	lease    *lease[string]
	// exchanges is whether a token is renewed by exchange; off once the endpoint
	// says that it does not know that grant.
	exchanges atomic.Bool
}

func newClientCredentials(c OAuth2Config, with loginDeps) *clientCredentials {
	l := &clientCredentials{}
	l.exchanges.Store(c.Refresh || c.TokenURL == "")
	if c.TokenURL == "" {
		c.TokenURL = with.base + "/v1/oauth/tokens"
		if c.Scope == "" {
			c.Scope = "catalog"
		}
	}
	l.endpoint = &endpoint{url: c.TokenURL, clientID: c.ClientID, secret: c.ClientSecret, basic: c.Basic,
		scope: c.Scope, audience: c.Audience, resource: c.Resource, http: with.http, now: with.now}
	l.lease = newLease(&l.owner, with.timeout, with.now, l.fetch)
	return l
}

// fetch gets a token. A held one that is still good is exchanged, where that is
// the habit; whatever the endpoint says against that, the client's own
// credentials are the way that always worked.
func (l *clientCredentials) fetch(ctx context.Context, held *issued[string]) (issued[string], error) {
	if held != nil && l.exchanges.Load() && l.endpoint.now().Before(held.expires) {
		g := exchangeGrant(held.value)
		g.bearer = held.value
		got, err := l.endpoint.ask(ctx, g)
		if err == nil || !errors.Is(err, mounts.BadGateway) {
			return got, err
		}
		var refused *grantRefused
		if errors.As(err, &refused) && refused.code == "unsupported_grant_type" {
			l.exchanges.Store(false)
		}
	}
	return l.endpoint.ask(ctx, clientGrant())
}

func (l *clientCredentials) authorize(ctx context.Context, r *http.Request, _ []byte) (proof, error) {
	token, err := l.lease.get(ctx)
	if err != nil {
		return proof{}, err
	}
	bear(r, token)
	return proof{used: token, identity: cmp.Or(l.endpoint.clientID, "oauth2")}, nil
}

func (l *clientCredentials) renew(ctx context.Context, refused proof) (bool, error) {
	return l.lease.renew(ctx, func(token string) bool { return token == refused.used })
}

func (l *clientCredentials) secrets(context.Context) []string {
	all := l.endpoint.secrets()
	if token, ok := l.lease.peek(); ok {
		all = append(all, token)
	}
	return all
}

func (l *clientCredentials) close() { l.owner.close() }
