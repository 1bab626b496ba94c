package rest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/icefield/icefield/mounts"
)

// Exchange gets a token of the remote's for each caller's own token (RFC 8693).
// What was got is kept until shortly before it ends, for that very token of the
// caller's and this mount, and never serves anybody else. A caller who has no
// token, or whose token the endpoint refuses, is refused with Unauthenticated.
// The server's own calls use the client credentials grant of the same client;
// where that is refused, or there is no client, they bear no login.
func Exchange(config ExchangeConfig) Auth { return Auth{config} }

// ExchangeConfig is a token endpoint that exchanges tokens.
type ExchangeConfig struct {
	// TokenURL is the token endpoint. It is required.
	TokenURL string
	// ClientID and ClientSecret are the client's, if it needs to be one. The
	// secret is read before every call; reading must be safe for concurrent use.
	ClientID     string
	ClientSecret func() (string, error)
	// Basic sends client id and secret by HTTP Basic, rather than in the form.
	Basic bool
	// Audience, Scope and Resource say what the token is wanted for; sent if set.
	Audience, Scope, Resource string
}

func (c ExchangeConfig) check(base string) error {
	if c.TokenURL == "" {
		return errors.New("exchange needs a token_url")
	}
	if c.ClientSecret != nil && c.ClientID == "" {
		return errors.New("exchange has a client secret and no client_id")
	}
	return checkEndpoint("token_url", c.TokenURL, base)
}

func (ExchangeConfig) perCaller() bool { return true }

func (c ExchangeConfig) open(with loginDeps) login {
	x := &exchange{now: with.now, timeout: with.timeout, outage: outage{pause: pause{first: failurePause, longest: longestFailurePause}},
		endpoint: &endpoint{url: c.TokenURL, clientID: c.ClientID, secret: c.ClientSecret, basic: c.Basic,
			scope: c.Scope, audience: c.Audience, resource: c.Resource, http: with.http, now: with.now}}
	x.kept, _ = simplelru.NewLRU[callerKey, *lease[string]](maxCallers, nil) // fails only for a size below 1
	if c.ClientSecret != nil {
		x.own = newLease(&x.owner, with.timeout, with.now, func(ctx context.Context, _ *issued[string]) (issued[string], error) {
			return x.endpoint.ask(ctx, clientGrant())
		})
	}
	return x
}

const (
	// maxCallers is for how many callers' tokens another one is kept.
	maxCallers = 4096
	// maxExchanged bounds a token that is kept.
	maxExchanged = 16 << 10
)

// callerKey is the digest of a caller's token: the token itself is not kept.
type callerKey [sha256.Size]byte

// exchange is the login by tokens that were got in exchange.
type exchange struct {
	endpoint *endpoint
	owner    lifetime
	timeout  time.Duration
	now      func() time.Time
	// own is the mount's own token, for background calls; nil without a client.
	own    *lease[string]
	outage outage

	mu   sync.Mutex
	kept *simplelru.LRU[callerKey, *lease[string]]
}

// of returns the lease of a caller's token. The token is taken from the context
// whenever it is needed, so that it is kept nowhere.
func (x *exchange) of(token string) *lease[string] {
	key := callerKey(sha256.Sum256([]byte(token)))
	x.mu.Lock()
	defer x.mu.Unlock()
	l, ok := x.kept.Get(key)
	if !ok {
		l = newLease(&x.owner, x.timeout, x.now, x.fetch)
		x.kept.Add(key, l)
	}
	return l
}

// fetch exchanges the token of the context's caller.
func (x *exchange) fetch(ctx context.Context, _ *issued[string]) (issued[string], error) {
	if err := x.outage.on(x.now()); err != nil {
		return issued[string]{}, err
	}
	got, err := x.endpoint.ask(ctx, exchangeGrant(mounts.CallerFrom(ctx).Token))
	if err == nil && len(got.value) > maxExchanged {
		err = unusable(fmt.Errorf("the token is longer than %d bytes", maxExchanged))
	}
	x.outage.saw(x.now(), err)
	return got, exchangeError(err)
}

// exchangeError tells a caller's fault from the mount's. RFC 8693 (2.2.2) wants
// invalid_request for a token that is not acceptable, many servers say
// invalid_grant; what is about the client or the target is the operator's.
func exchangeError(err error) error {
	var refused *grantRefused
	if !errors.As(err, &refused) || refused.status >= 500 || refused.status == http.StatusTooManyRequests {
		return err
	}
	switch refused.code {
	case "invalid_grant", "invalid_request", "invalid_token":
		return &mounts.Error{Kind: mounts.Unauthenticated, Answered: true, Err: refused,
			Msg: "your token was not accepted in exchange for one of the remote catalog's (" + refused.why() + "); log in again"}
	case "access_denied", "insufficient_scope":
		return &mounts.Error{Kind: mounts.Forbidden, Answered: true, Err: refused,
			Msg: "you may have no token of the remote catalog's (" + refused.why() + ")"}
	}
	return err
}

func (x *exchange) authorize(ctx context.Context, r *http.Request, _ []byte) (proof, error) {
	subject, err := callerToken(ctx, "exchanges your own bearer token for one of the remote catalog's")
	if err != nil {
		return proof{}, err
	}
	if subject == "" {
		return x.authorizeOwn(ctx, r)
	}
	token, err := x.of(subject).get(ctx)
	if err != nil {
		return proof{}, err
	}
	bear(r, token)
	return proof{used: token, whose: ofExchange, identity: "exchange"}, nil
}

// authorizeOwn is the login of the server's own calls.
func (x *exchange) authorizeOwn(ctx context.Context, r *http.Request) (proof, error) {
	if x.own == nil {
		return proof{whose: ofNobody}, nil
	}
	token, err := x.own.get(ctx)
	var refused *grantRefused
	switch {
	case errors.As(err, &refused) && refused.status < 500 && refused.status != http.StatusTooManyRequests:
		return proof{whose: ofNobody}, nil // a client that may only exchange
	case err != nil:
		return proof{}, err
	}
	bear(r, token)
	return proof{used: token}, nil
}

func (x *exchange) renew(ctx context.Context, refused proof) (bool, error) {
	same := func(token string) bool { return token == refused.used }
	switch {
	case refused.whose == ofExchange:
		return x.of(mounts.CallerFrom(ctx).Token).renew(ctx, same)
	case refused.whose == ofMount && x.own != nil:
		return x.own.renew(ctx, same)
	}
	return false, nil
}

func (x *exchange) secrets(ctx context.Context) []string {
	all := x.endpoint.secrets()
	if x.own != nil {
		if token, ok := x.own.peek(); ok {
			all = append(all, token)
		}
	}
	if token := mounts.CallerFrom(ctx).Token; token != "" {
		all = append(all, token)
	}
	return all
}

func (x *exchange) close() { x.owner.close() }

// outage is a pause that all callers share: an endpoint that does not work does
// not do so for any of them.
type outage struct {
	mu      sync.Mutex
	pause   pause
	failure *mounts.Error
}

// on is the failure that is going on, if any.
func (o *outage) on(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure == nil || o.pause.left(now) <= 0 {
		return nil
	}
	return o.failure
}

// saw notes how a call ended.
func (o *outage) saw(now time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := mounts.AsError(err)
	if e == nil || e.Kind != mounts.Unavailable && e.Kind != mounts.RateLimited {
		o.pause.reset()
		o.failure = nil
		return
	}
	o.failure = e
	o.pause.begin(now, e.RetryAfter)
}
