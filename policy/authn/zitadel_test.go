package authn

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/icefield/icefield/policy"
)

// zitadel is an OpenID provider that others wrote, with keys that rotate and one
// client, "etl".
type zitadel struct {
	*storage.Storage

	mu   sync.Mutex
	keys []*zitadelKey
}

type zitadelKey struct {
	id      string
	private *rsa.PrivateKey
}

func (k *zitadelKey) ID() string                                  { return k.id }
func (k *zitadelKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k *zitadelKey) Algorithm() jose.SignatureAlgorithm          { return jose.RS256 }
func (k *zitadelKey) Use() string                                 { return "sig" }
func (k *zitadelKey) Key() any                                    { return k.private }

type zitadelPublic struct{ *zitadelKey }

func (k zitadelPublic) Key() any { return &k.private.PublicKey }

func (z *zitadel) rotate(t *testing.T) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	z.mu.Lock()
	defer z.mu.Unlock()
	z.keys = append(z.keys, &zitadelKey{fmt.Sprint("rsa-", len(z.keys)), private})
}

func (z *zitadel) SigningKey(context.Context) (op.SigningKey, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.keys[len(z.keys)-1], nil
}

func (z *zitadel) KeySet(context.Context) ([]op.Key, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	var all []op.Key
	for _, k := range z.keys {
		all = append(all, zitadelPublic{k})
	}
	return all, nil
}

// zitadelClient is a client whose access tokens are JWTs.
type zitadelClient struct{ *storage.Client }

func (zitadelClient) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }
func (zitadelClient) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (zitadelClient) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeClientCredentials, oidc.GrantTypeTokenExchange}
}

const zitadelSecret = "s3cr:t/+ %"

func (z *zitadel) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != "etl" {
		return nil, errors.New("no such client")
	}
	return zitadelClient{storage.WebClient("etl", zitadelSecret)}, nil
}

func (z *zitadel) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != "etl" || secret != zitadelSecret {
		return errors.New("wrong client")
	}
	return nil
}

func (z *zitadel) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	if err := z.AuthorizeClientIDSecret(ctx, id, secret); err != nil {
		return nil, err
	}
	return z.GetClientByClientID(ctx, id)
}

func (z *zitadel) ClientCredentialsTokenRequest(_ context.Context, id string, scopes []string) (op.TokenRequest, error) {
	return &oidc.JWTTokenRequest{Subject: id, Audience: []string{"icefield"}, Scopes: scopes}, nil
}

func (z *zitadel) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return map[string]any{"tenant": "acme", "realm_access": map[string]any{"roles": []string{"writer"}}}, nil
}

func (z *zitadel) GetPrivateClaimsFromTokenExchangeRequest(ctx context.Context, r op.TokenExchangeRequest) (map[string]any, error) {
	return z.GetPrivateClaimsFromScopes(ctx, r.GetSubject(), r.GetClientID(), r.GetScopes())
}

func (z *zitadel) ValidateTokenExchangeRequest(_ context.Context, r op.TokenExchangeRequest) error {
	r.SetRequestedTokenType(oidc.AccessTokenType)
	return nil
}

func startZitadel(t *testing.T) (*zitadel, string) {
	t.Helper()
	z := &zitadel{}
	z.rotate(t)
	var provider http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	z.Storage = storage.NewStorage(storage.NewUserStore(server.URL))
	var err error
	provider, err = op.NewProvider(&op.Config{AuthMethodPost: true, GrantTypeRefreshToken: true}, z, op.StaticIssuer(server.URL),
		op.WithAllowInsecure(), op.WithLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	return z, server.URL
}

// PyIceberg's credential=id:secret, DuckDB's Basic and Trino's exchange against a
// provider that is not ours, while its keys rotate.
func TestARealProviderLetsEveryKindOfClientIn(t *testing.T) {
	z, at := startZitadel(t)
	none := ""
	a := opened(t, Config{OIDC: []OIDC{{Name: "corp", Issuer: at, Audience: []string{"icefield"}, TenantClaim: "tenant", RolesClaim: "realm_access.roles",
		Leeway: DefaultLeeway, Relay: true, RelayScope: &none}}, Keys: []Key{ci(t)}}, quickPace())
	want := &policy.Principal{ID: "corp/etl", Name: "etl", Tenant: "acme", Roles: []string{"writer"}, Login: "oidc", Forwardable: true}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {zitadelSecret}, "scope": {"catalog"}}
	for range 3 {
		first := answerOf(t, ask(t, a, form))
		require.Equal(t, want, logsIn(t, a, first["access_token"]))
		require.Positive(t, first["expires_in"])

		z.rotate(t)
		second := answerOf(t, ask(t, a, url.Values{"grant_type": {"client_credentials"}}, "Authorization", basic("etl", url.QueryEscape(zitadelSecret))))
		require.Equal(t, want, logsIn(t, a, second["access_token"]), "signed with a key that was not there when the server started")
		require.Equal(t, want, logsIn(t, a, first["access_token"]))

		token := second["access_token"].(string)
		exchanged := answerOf(t, ask(t, a, url.Values{"grant_type": {grantExchange}, "subject_token": {token}, "subject_token_type": {accessTokenType}, "audience": {"icefield"}},
			"Authorization", basic("etl", url.QueryEscape(zitadelSecret))))
		require.NotEqual(t, token, exchanged["access_token"])
		p := logsIn(t, a, exchanged["access_token"])
		require.Equal(t, "acme", p.Tenant)
		require.Equal(t, "etl", p.Name)

		// Java's clients name no audience when they renew a token, and the provider's token is then for the client itself.
		renewed := answerOf(t, ask(t, a, url.Values{"grant_type": {grantExchange}, "subject_token": {token}, "subject_token_type": {accessTokenType}},
			"Authorization", basic("etl", url.QueryEscape(zitadelSecret))))
		require.Equal(t, want, logsIn(t, a, renewed["access_token"]))
	}
	form.Set("client_secret", "wrong")
	status, code := failureOf(t, ask(t, a, form))
	require.Equal(t, 401, status)
	require.Equal(t, "invalid_client", code)
}
