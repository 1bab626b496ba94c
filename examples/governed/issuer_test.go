//go:build peers

package governed

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// person has an account at the issuer, under the name "etl" or "alice", which is what it says of them.
type person struct {
	tenant string
	roles  []string
}

var people = map[string]person{
	"etl":   {tenant: "acme", roles: []string{"writer"}},
	"alice": {tenant: "acme"},
	"sam":   {tenant: "acme", roles: []string{"support"}},
	"gus":   {tenant: "globex", roles: []string{"admin"}},
}

// issuer is an OpenID provider, made of a library that others wrote.
type issuer struct {
	*storage.Storage
	url string

	mu   sync.Mutex
	keys []*signingKey
}

// password is what everybody there has; that it has to be encoded in forms and headers is on purpose.
func password(name string) string { return "the secret of " + name + ": 100% +/=" }

type signingKey struct {
	id      string
	private *rsa.PrivateKey
}

func (k *signingKey) ID() string                                  { return k.id }
func (k *signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k *signingKey) Algorithm() jose.SignatureAlgorithm          { return jose.RS256 }
func (k *signingKey) Use() string                                 { return "sig" }
func (k *signingKey) Key() any                                    { return k.private }

type publicKey struct{ *signingKey }

func (k publicKey) Key() any { return &k.private.PublicKey }

func startIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	i.rotate(t)
	var provider http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	i.url, i.Storage = server.URL, storage.NewStorage(storage.NewUserStore(server.URL))
	var err error
	provider, err = op.NewProvider(&op.Config{AuthMethodPost: true, GrantTypeRefreshToken: true}, i, op.StaticIssuer(server.URL),
		op.WithAllowInsecure(), op.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// rotate signs with a new key from now on. Those before stay published.
func (i *issuer) rotate(t *testing.T) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, &signingKey{fmt.Sprint("key-", len(i.keys)), private})
}

// token logs somebody in at the issuer itself.
func (i *issuer) token(t *testing.T, name string) string {
	t.Helper()
	answer, err := http.PostForm(i.url+"/oauth/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {name}, "client_secret": {password(name)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || got.Token == "" {
		t.Fatalf("the issuer gives no token: %s, %v", answer.Status, err)
	}
	return got.Token
}

// What follows is what the library asks of whoever knows the keys and the accounts.

func (i *issuer) SigningKey(context.Context) (op.SigningKey, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[len(i.keys)-1], nil
}

func (i *issuer) KeySet(context.Context) ([]op.Key, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []op.Key
	for _, k := range i.keys {
		all = append(all, publicKey{k})
	}
	return all, nil
}

// account is a client whose access tokens can be read.
type account struct{ *storage.Client }

func (account) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }
func (account) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (account) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeClientCredentials, oidc.GrantTypeTokenExchange}
}

func (i *issuer) GetClientByClientID(_ context.Context, name string) (op.Client, error) {
	if _, ok := people[name]; !ok {
		return nil, errors.New("nobody is called so")
	}
	return account{storage.WebClient(name, password(name))}, nil
}

func (i *issuer) AuthorizeClientIDSecret(_ context.Context, name, secret string) error {
	if _, ok := people[name]; !ok || secret != password(name) {
		return errors.New("wrong name or password")
	}
	return nil
}

func (i *issuer) ClientCredentials(ctx context.Context, name, secret string) (op.Client, error) {
	if err := i.AuthorizeClientIDSecret(ctx, name, secret); err != nil {
		return nil, err
	}
	return i.GetClientByClientID(ctx, name)
}

func (i *issuer) ClientCredentialsTokenRequest(_ context.Context, name string, scopes []string) (op.TokenRequest, error) {
	return &oidc.JWTTokenRequest{Subject: name, Audience: []string{"icefield"}, Scopes: scopes}, nil
}

func (i *issuer) GetPrivateClaimsFromScopes(_ context.Context, name, _ string, _ []string) (map[string]any, error) {
	return map[string]any{"tenant": people[name].tenant, "roles": people[name].roles}, nil
}

func (i *issuer) GetPrivateClaimsFromTokenExchangeRequest(ctx context.Context, r op.TokenExchangeRequest) (map[string]any, error) {
	return i.GetPrivateClaimsFromScopes(ctx, r.GetSubject(), r.GetClientID(), r.GetScopes())
}

func (i *issuer) ValidateTokenExchangeRequest(_ context.Context, r op.TokenExchangeRequest) error {
	r.SetRequestedTokenType(oidc.AccessTokenType)
	return nil
}
