package authn

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

const (
	// maxRemembered bounds the verified tokens that are kept, memory how long.
	maxRemembered = 10_000
	memory        = 5 * time.Minute
	// maxRelayed bounds the requests to the token endpoint at a time.
	maxRelayed = 64
)

// Authn is every way to log in. It implements policy.Authenticator and is safe
// for concurrent use.
type Authn struct {
	issuers   map[string]*issuer // by the URL
	ordered   []*issuer
	relay     *issuer // nil for none
	relayed   chan struct{}
	keys      *keyring
	rules     []rule
	anonymous *policy.Principal
	lockout   Lockout
	counters  *counters
	log       *slog.Logger
	now       func() time.Time
	// tokens are the verified ones, by their hash.
	tokens *lru.Cache[[sha256.Size]byte, *verified]
}

var _ policy.Authenticator = (*Authn)(nil)

// Open checks the configuration, finds every issuer and fetches its keys. What is
// wrong or cannot be reached is an error that names it: a login that is configured
// works, or the server does not start. Close ends what it keeps running.
func Open(ctx context.Context, c Config) (*Authn, error) { return open(ctx, c, usualPace()) }

func open(ctx context.Context, c Config, p pace) (*Authn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &Authn{issuers: map[string]*issuer{}, relayed: make(chan struct{}, maxRelayed), rules: newRules(c.Certificates),
		anonymous: c.Anonymous, lockout: c.Lockout, log: c.Logger, now: c.Now}
	var err error
	if a.counters, err = newCounters(c.Metrics); err != nil {
		return nil, err
	}
	if a.keys, err = newKeyring(c.Keys); err != nil {
		return nil, err
	}
	if a.tokens, err = lru.New[[sha256.Size]byte, *verified](maxRemembered); err != nil {
		return nil, err
	}
	if err := a.openIssuers(ctx, c.OIDC, p); err != nil {
		return nil, err
	}
	return a, nil
}

// openIssuers opens them side by side.
func (a *Authn) openIssuers(ctx context.Context, all []OIDC, p pace) error {
	opened, failed := make([]*issuer, len(all)), make([]error, len(all))
	var group errgroup.Group
	group.SetLimit(8)
	for n, o := range all {
		group.Go(func() error {
			opened[n], failed[n] = openIssuer(ctx, o, p, a.log, func(outcome string) {
				a.counters.fetches.WithLabelValues(o.Name, outcome).Inc()
			})
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	for _, i := range opened {
		if i == nil {
			continue
		}
		a.ordered = append(a.ordered, i)
		a.issuers[i.Issuer] = i
		if i.Relay {
			a.relay = i
		}
	}
	if err := errors.Join(failed...); err != nil {
		_ = a.Close() // always nil; what failed is the error to tell
		return err
	}
	return nil
}

// Close ends the fetching of keys. Nothing may be in flight.
func (a *Authn) Close() error {
	for _, i := range a.ordered {
		i.close()
	}
	return nil
}

// Status tells how the logins are doing: the state "ok", or "degraded" with since
// when and why, in words that may be shown to clients.
func (a *Authn) Status() (state string, since time.Time, reason string) {
	var names []string
	for _, i := range a.ordered {
		failing := i.source.failingSince()
		if failing.IsZero() {
			continue
		}
		names = append(names, fmt.Sprintf("%q", i.Name))
		if since.IsZero() || failing.Before(since) {
			since = failing
		}
	}
	if names == nil {
		return "ok", time.Time{}, ""
	}
	return "degraded", since, fmt.Sprintf("the keys of oidc %s cannot be fetched; tokens signed with those that are known are still taken", strings.Join(names, ", "))
}

// Authenticate implements policy.Authenticator.
func (a *Authn) Authenticate(ctx context.Context, c *policy.Credentials) (*policy.Principal, error) {
	addr := c.Client.Addr
	switch {
	case c.Malformed:
		return a.end("none", addr, nil, &denial{why: "the credentials are malformed"})
	case c.Bearer != "" && c.APIKey != "":
		return a.end("none", addr, nil, &denial{why: "there are a bearer token and an API key, and only one may be sent"})
	case c.APIKey != "":
		p, err := a.byKey(addr, c.APIKey)
		return a.end("api_key", addr, p, err)
	case c.Bearer != "":
		v, method, err := a.byBearer(ctx, c)
		if err != nil || v.key == nil {
			return a.end(method, addr, principalOf(v), err)
		}
		a.counters.accepted.Inc()
		return v.principal, nil
	case len(c.Certificates) > 0 && len(a.rules) > 0:
		p, err := a.byCertificate(c.Certificates)
		return a.end(certificateLogin, addr, p, err)
	case a.anonymous != nil:
		return a.end("anonymous", addr, a.anonymous, nil)
	}
	return a.end("none", addr, nil, &denial{why: "there are no credentials"})
}

func principalOf(v *verified) *policy.Principal {
	if v == nil {
		return nil
	}
	return v.principal
}

// end counts how a login ended and makes the one error of all refusals.
func (a *Authn) end(method string, addr netip.Addr, p *policy.Principal, err error) (*policy.Principal, error) {
	var refused *denial
	outcome := "accepted"
	switch {
	case err == nil:
	case errors.As(err, &refused):
		outcome = "refused"
		if refused.guess {
			a.failed(addr)
		}
		err = unauthenticated(refused)
	case errors.Is(err, mounts.RateLimited):
		outcome = "locked_out"
	default:
		outcome = "unavailable"
	}
	a.counters.logins.WithLabelValues(method, outcome).Inc()
	if err != nil {
		return nil, err
	}
	return p, nil
}

// byBearer logs in with a bearer token. What an API key lets in has no key of an
// issuer.
func (a *Authn) byBearer(ctx context.Context, c *policy.Credentials) (*verified, string, error) {
	if len(c.Bearer) > maxToken {
		return nil, "none", &denial{why: "the bearer token is too long"}
	}
	hash := sha256.Sum256([]byte(c.Bearer))
	v := a.recall(hash)
	if v == nil {
		i := a.issuers[issuerOf(c.Bearer)]
		if i == nil {
			p, err := a.byKey(c.Client.Addr, c.Bearer)
			if err != nil {
				return nil, "api_key", err
			}
			return &verified{principal: p}, "api_key", nil
		}
		if wait, blocked := a.blocked(c.Client.Addr); blocked {
			return nil, "oidc", lockedOut(wait)
		}
		a.counters.miss.Inc()
		var err error
		if v, err = i.verify(ctx, c.Bearer, a.now()); err != nil {
			return nil, "oidc", err
		}
		a.succeeded(c.Client.Addr)
		a.remember(hash, v)
	}
	if v.bound != "" && !boundTo(v.bound, c) {
		return nil, "oidc", &denial{method: "oidc", why: "the token is bound to a client certificate that did not come with it"}
	}
	return v, "oidc", nil
}

// boundTo tells whether a token comes with its certificate (RFC 8705, 3.1).
func boundTo(thumb string, c *policy.Credentials) bool {
	if len(c.Certificates) == 0 {
		return false
	}
	sum := sha256.Sum256(c.Certificates[0].Raw)
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(thumb)) == 1
}

// recall returns a token that is known to be good; nil if it has to be looked at.
func (a *Authn) recall(hash [sha256.Size]byte) *verified {
	v, ok := a.tokens.Get(hash)
	if !ok {
		return nil
	}
	if v.key.gone.Load() || !a.now().Before(v.until) {
		a.tokens.Remove(hash)
		return nil
	}
	a.counters.hit.Inc()
	return v
}

func (a *Authn) remember(hash [sha256.Size]byte, v *verified) {
	if latest := a.now().Add(memory); v.until.After(latest) {
		v.until = latest
	}
	a.tokens.Add(hash, v)
}

func (a *Authn) blocked(addr netip.Addr) (time.Duration, bool) {
	if a.lockout == nil || !addr.IsValid() {
		return 0, false
	}
	return a.lockout.Blocked(addr)
}

func (a *Authn) failed(addr netip.Addr) {
	if a.lockout != nil && addr.IsValid() {
		a.lockout.Failed(addr)
	}
}

func (a *Authn) succeeded(addr netip.Addr) {
	if a.lockout != nil && addr.IsValid() {
		a.lockout.Succeeded(addr)
	}
}
