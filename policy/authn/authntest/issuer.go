package authntest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Options say what an issuer is like. The zero value is a plain one.
type Options struct {
	// Path is added to the issuer's URL, as "/realms/corp".
	Path string
	// TLS serves https, with a certificate of an authority of its own.
	TLS bool
	// Audience is what tokens are for unless Mint is told; nil: "icefield".
	Audience []string
	// Clients may ask the token endpoint, by their ids; nil: none.
	Clients map[string]Client
	// NoExchange leaves the grant of RFC 8693 out, of discovery too.
	NoExchange bool
}

// Client is who may ask for tokens.
type Client struct {
	Secret string
	// Claims are in its tokens, over those that every token has.
	Claims map[string]any
}

// Issuer is a running issuer. It is safe for concurrent use.
type Issuer struct {
	opt    Options
	server *httptest.Server

	mu        sync.Mutex
	serial    int
	signing   *key
	published []*key
	requests  map[string]int
	forms     []Form
	fault     func(w http.ResponseWriter, r *http.Request) bool
}

type key struct {
	id      string
	private *ecdsa.PrivateKey
}

// New starts an issuer that ends with the test.
func New(tb testing.TB, opt Options) *Issuer {
	tb.Helper()
	i, err := Start(opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(i.Close)
	return i
}

// Start starts an issuer; Close ends it.
func Start(opt Options) (*Issuer, error) {
	if opt.Audience == nil {
		opt.Audience = []string{"icefield"}
	}
	i := &Issuer{opt: opt, requests: map[string]int{}}
	if err := i.Rotate(); err != nil {
		return nil, err
	}
	i.server = httptest.NewUnstartedServer(http.HandlerFunc(i.serve))
	i.server.Config.ErrorLog = quiet()
	if opt.TLS {
		i.server.StartTLS()
	} else {
		i.server.Start()
	}
	return i, nil
}

// Close ends the issuer.
func (i *Issuer) Close() { i.server.Close() }

// URL is the issuer, as its tokens have it.
func (i *Issuer) URL() string { return i.server.URL + i.opt.Path }

// CAFile writes the authority of an issuer with TLS into a folder and returns
// the file.
func (i *Issuer) CAFile(folder string) (string, error) {
	path := filepath.Join(folder, "issuer-ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.server.Certificate().Raw})
	return path, os.WriteFile(path, text, 0o600)
}

// Rotate makes a new key, publishes it beside the earlier ones and signs with it
// from now on.
func (i *Issuer) Rotate() error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.serial++
	i.signing = &key{id: fmt.Sprintf("key-%d", i.serial), private: private}
	i.published = append(i.published, i.signing)
	return nil
}

// Revoke publishes a key no more. The one that signs can be revoked too.
func (i *Issuer) Revoke(kid string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.published = slices.DeleteFunc(slices.Clone(i.published), func(k *key) bool { return k.id == kid })
}

// KeyID is the id of the key that signs.
func (i *Issuer) KeyID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.signing.id
}

// Fault lets a function answer requests in the issuer's place: where it returns
// true it has. Nil ends that.
func (i *Issuer) Fault(f func(w http.ResponseWriter, r *http.Request) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fault = f
}

// Down makes every request fail with 503, until Fault(nil).
func (i *Issuer) Down() {
	i.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "down for maintenance", http.StatusServiceUnavailable)
		return true
	})
}

// The paths below the issuer's URL.
const (
	DiscoveryPath = "/.well-known/openid-configuration"
	KeysPath      = "/keys"
	TokenPath     = "/token"
)

// Requests counts what a path was asked, failures included.
func (i *Issuer) Requests(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests[path]
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if n := len(i.opt.Path); len(path) >= n {
		path = path[n:]
	}
	i.mu.Lock()
	i.requests[path]++
	fault := i.fault
	i.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	switch path {
	case DiscoveryPath:
		write(w, http.StatusOK, i.discovery())
	case KeysPath:
		write(w, http.StatusOK, i.keys())
	case TokenPath:
		i.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (i *Issuer) discovery() map[string]any {
	grants := []string{"client_credentials", "refresh_token"}
	if !i.opt.NoExchange {
		grants = append(grants, grantExchange)
	}
	return map[string]any{
		"issuer": i.URL(), "jwks_uri": i.URL() + KeysPath, "token_endpoint": i.URL() + TokenPath,
		"authorization_endpoint": i.URL() + "/authorize", "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"},
		"grant_types_supported": grants, "token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
	}
}

func (i *Issuer) keys() jose.JSONWebKeySet {
	i.mu.Lock()
	defer i.mu.Unlock()
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range i.published {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: &k.private.PublicKey, KeyID: k.id, Algorithm: "ES256", Use: "sig"})
	}
	return set
}

// Mint signs a token with the issuer's claims and these over them. A nil value
// leaves a claim out.
func (i *Issuer) Mint(claims map[string]any) string {
	return i.Sign(nil, i.Claims(claims))
}

// Claims are the claims that Mint signs: issuer, audience, a subject, and an
// hour's life.
func (i *Issuer) Claims(over map[string]any) map[string]any {
	now := time.Now()
	all := map[string]any{"iss": i.URL(), "aud": i.opt.Audience, "sub": "somebody", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(all, over)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// Sign signs claims, or any payload given as a string or bytes, as they are,
// with more headers beside "alg" and "kid".
func (i *Issuer) Sign(headers map[string]any, claims any) string {
	i.mu.Lock()
	k := i.signing
	i.mu.Unlock()
	opt := &jose.SignerOptions{}
	opt.WithHeader("kid", k.id).WithHeader("typ", "JWT")
	for name, value := range headers {
		if value == nil {
			delete(opt.ExtraHeaders, jose.HeaderKey(name))
		} else {
			opt.WithHeader(jose.HeaderKey(name), value)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k.private}, opt)
	if err != nil {
		panic(err)
	}
	var payload []byte
	switch c := claims.(type) {
	case string:
		payload = []byte(c)
	case []byte:
		payload = c
	default:
		if payload, err = json.Marshal(claims); err != nil {
			panic(err)
		}
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		panic(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return text
}
