package authntest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// Provider is an OpenID provider that others wrote (zitadel/oidc), with keys that
// rotate and one client, whose tokens are a writer's of the tenant acme: "tenant"
// and "realm_access.roles" say so. It is safe for concurrent use.
type Provider struct {
	*storage.Storage
	url string

	mu   sync.Mutex
	keys []*providerKey
}

// The client of a Provider. The secret has characters that have to be encoded.
const (
	ProviderClient = "etl"
	ProviderSecret = "s3cr:t/+ %" // #nosec G101 -- of a login that exists only in tests
)

type providerKey struct {
	id      string
	private *rsa.PrivateKey
}

func (k *providerKey) ID() string                                  { return k.id }
func (k *providerKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k *providerKey) Algorithm() jose.SignatureAlgorithm          { return jose.RS256 }
func (k *providerKey) Use() string                                 { return "sig" }
func (k *providerKey) Key() any                                    { return k.private }

type providerPublic struct{ *providerKey }

func (k providerPublic) Key() any { return &k.private.PublicKey }

// Rotate makes a new key, publishes it beside the earlier ones and signs with it
// from now on.
func (p *Provider) Rotate() error {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, &providerKey{fmt.Sprint("rsa-", len(p.keys)), private})
	return nil
}

// SigningKey implements op.Storage, as what follows.
func (p *Provider) SigningKey(context.Context) (op.SigningKey, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[len(p.keys)-1], nil
}

func (p *Provider) KeySet(context.Context) ([]op.Key, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []op.Key
	for _, k := range p.keys {
		all = append(all, providerPublic{k})
	}
	return all, nil
}

// providerClient is a client whose access tokens are JWTs.
type providerClient struct{ *storage.Client }

func (providerClient) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }
func (providerClient) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (providerClient) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeClientCredentials, oidc.GrantTypeTokenExchange}
}

func (p *Provider) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != ProviderClient {
		return nil, errors.New("no such client")
	}
	return providerClient{storage.WebClient(ProviderClient, ProviderSecret)}, nil
}

func (p *Provider) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != ProviderClient || secret != ProviderSecret {
		return errors.New("wrong client")
	}
	return nil
}

func (p *Provider) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	if err := p.AuthorizeClientIDSecret(ctx, id, secret); err != nil {
		return nil, err
	}
	return p.GetClientByClientID(ctx, id)
}

func (p *Provider) ClientCredentialsTokenRequest(_ context.Context, id string, scopes []string) (op.TokenRequest, error) {
	return &oidc.JWTTokenRequest{Subject: id, Audience: []string{"icefield"}, Scopes: scopes}, nil
}

func (p *Provider) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return map[string]any{"tenant": "acme", "realm_access": map[string]any{"roles": []string{"writer"}}}, nil
}

func (p *Provider) GetPrivateClaimsFromTokenExchangeRequest(ctx context.Context, r op.TokenExchangeRequest) (map[string]any, error) {
	return p.GetPrivateClaimsFromScopes(ctx, r.GetSubject(), r.GetClientID(), r.GetScopes())
}

func (p *Provider) ValidateTokenExchangeRequest(_ context.Context, r op.TokenExchangeRequest) error {
	r.SetRequestedTokenType(oidc.AccessTokenType)
	return nil
}

// NewProvider starts a provider that ends with the test.
func NewProvider(tb testing.TB) *Provider {
	tb.Helper()
	p := &Provider{}
	if err := p.Rotate(); err != nil {
		tb.Fatal(err)
	}
	var provider http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }))
	tb.Cleanup(server.Close)
	p.url, p.Storage = server.URL, storage.NewStorage(storage.NewUserStore(server.URL))
	var err error
	provider, err = op.NewProvider(&op.Config{AuthMethodPost: true, GrantTypeRefreshToken: true}, p, op.StaticIssuer(server.URL),
		op.WithAllowInsecure(), op.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// URL is the issuer, as its tokens have it.
func (p *Provider) URL() string { return p.url }
