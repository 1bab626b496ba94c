package authn

import (
	"context"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
	"github.com/icefield/icefield/policy/quota"
)

var _ Lockout = (*quota.Lockout)(nil)

func TestWhoGuessesIsLockedOutAndWhoIsInStaysIn(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	locks := &lock{}
	second := Key{Name: "second", Tenant: "acme"}
	second.Hash, _ = HashKey("another-key-of-acme")
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}, Keys: []Key{ci(t), second}, Lockout: locks}, quickPace())
	ctx := context.Background()
	known, fresh := issuer.Mint(with(nil)), issuer.Mint(with(map[string]any{"jti": "2"}))
	key := func(s string, addr netip.Addr) error {
		_, err := a.Authenticate(ctx, &policy.Credentials{APIKey: s, Client: policy.Client{Addr: addr}})
		return err
	}
	_, err := a.Authenticate(ctx, bearerOf(known))
	require.NoError(t, err)
	require.NoError(t, key(ciKey, clientAddr))
	elsewhere := netip.MustParseAddr("198.51.100.9")
	require.NoError(t, key("another-key-of-acme", elsewhere))
	require.Positive(t, locks.good)

	for range 3 {
		refused(t, key("guess-guess-guess-guess", clientAddr))
	}
	blocked := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, mounts.RateLimited)
		require.Equal(t, 42*time.Second, mounts.AsError(err).RetryAfter)
	}
	blocked(key("guess-guess-guess-guess", clientAddr))
	blocked(key("another-key-of-acme", clientAddr)) // right, but never used from here: that it is right must not show
	_, err = a.Authenticate(ctx, bearerOf(fresh))
	blocked(err)
	require.Equal(t, 3, locks.failures(clientAddr), "what is not looked at is no failure")

	_, err = a.Authenticate(ctx, bearerOf(known))
	require.NoError(t, err)
	require.NoError(t, key(ciKey, clientAddr))
	require.NoError(t, key("another-key-of-acme", elsewhere))
	_, err = a.Authenticate(ctx, &policy.Credentials{Bearer: fresh, Client: policy.Client{Addr: elsewhere}})
	require.NoError(t, err)
}

func TestWhatIsNoGuessLocksNobodyOut(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	locks := &lock{}
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}, Keys: []Key{ci(t)}, Lockout: locks}, quickPace())
	ctx := context.Background()
	withdrawn, old := issuer.Mint(with(nil)), issuer.KeyID()
	require.NoError(t, issuer.Rotate())
	issuer.Revoke(old)
	_, err := a.Authenticate(ctx, bearerOf(issuer.Mint(with(nil)))) // and so its keys are fetched
	require.NoError(t, err)
	for range 5 {
		for _, c := range []*policy.Credentials{{}, {Malformed: true}, bearerOf(withdrawn), bearerOf(issuer.Mint(with(map[string]any{"exp": 1}))), bearerOf(issuer.Mint(with(map[string]any{"aud": "billing"})))} {
			c.Client.Addr = clientAddr
			_, err := a.Authenticate(ctx, c)
			refused(t, err)
		}
	}
	issuer.Down()
	require.NoError(t, issuer.Rotate())
	_, err = a.Authenticate(ctx, bearerOf(issuer.Mint(with(nil))))
	require.ErrorIs(t, err, mounts.Unavailable)
	require.Zero(t, locks.failures(clientAddr))

	// On a unix socket there is no address to lock out.
	for range 5 {
		_, err := a.Authenticate(ctx, &policy.Credentials{APIKey: "guess-guess-guess-guess"})
		refused(t, err)
	}
	require.Empty(t, locks.failed)
}

// Whoever has an account has a good token, and is answered with it whatever secret
// comes along.
func TestAGoodTokenIsNoWayToTryOutTheSecretsOfClients(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{Clients: map[string]authntest.Client{"etl": {Secret: "right", Claims: map[string]any{"tenant": "acme"}}}})
	o := corp(issuer)
	o.Relay = true
	locks := &lock{}
	a := opened(t, Config{OIDC: []OIDC{o}, Keys: []Key{ci(t)}, Lockout: locks}, quickPace())
	good := issuer.Mint(with(nil))
	_, err := a.Authenticate(context.Background(), bearerOf(good))
	require.NoError(t, err)
	exchange := func(secret string) {
		w := ask(t, a, url.Values{"grant_type": {grantExchange}, "subject_token": {good}, "subject_token_type": {accessTokenType}, "client_id": {"etl"}, "client_secret": {secret}})
		require.Equal(t, 200, w.Code, w.Body)
	}
	for range 3 {
		exchange("wrong")
	}
	require.Equal(t, 3, locks.failures(clientAddr))
	asked := issuer.Requests(authntest.TokenPath)
	exchange("right")
	require.Equal(t, asked, issuer.Requests(authntest.TokenPath), "the issuer is asked by an address that is locked out")
}

func TestTheTokenRouteIsNoWayAroundTheLockout(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{Clients: map[string]authntest.Client{"etl": {Secret: "right", Claims: map[string]any{"tenant": "acme"}}}})
	o := corp(issuer)
	o.Relay = true
	locks := &lock{}
	a := opened(t, Config{OIDC: []OIDC{o}, Keys: []Key{ci(t)}, Lockout: locks}, quickPace())
	good := issuer.Mint(with(nil))
	_, err := a.Authenticate(context.Background(), bearerOf(good))
	require.NoError(t, err)
	login := func(secret string) url.Values {
		return url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {secret}}
	}
	for range 3 {
		require.Equal(t, 401, ask(t, a, login("wrong")).Code)
	}
	asked := issuer.Requests(authntest.TokenPath)
	for _, form := range []url.Values{login("right"), login("wrong"), login(ciKey),
		{"grant_type": {"refresh_token"}, "refresh_token": {"refresh-etl"}, "client_id": {"etl"}, "client_secret": {"right"}},
		{"grant_type": {grantExchange}, "subject_token": {issuer.Mint(with(map[string]any{"jti": "x"}))}, "subject_token_type": {accessTokenType}}} {
		w := ask(t, a, form)
		require.Equal(t, 429, w.Code, form)
		require.Equal(t, "42", w.Header().Get("Retry-After"))
		require.Contains(t, w.Body.String(), `"error":"temporarily_unavailable"`)
	}
	// A token that is known to be good is answered, and its issuer is not asked
	// with a secret that may be a guess.
	w := ask(t, a, url.Values{"grant_type": {grantExchange}, "subject_token": {good}, "subject_token_type": {accessTokenType}, "client_id": {"etl"}, "client_secret": {"guess"}})
	require.Equal(t, 200, w.Code)
	require.True(t, strings.Contains(w.Body.String(), good))
	require.Equal(t, asked, issuer.Requests(authntest.TokenPath))
}
