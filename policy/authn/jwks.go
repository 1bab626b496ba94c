package authn

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/go-jose/go-jose/v4"
)

const (
	// maxPublished bounds the keys of one set.
	maxPublished = 100
	// RSA keys are used between these sizes: shorter ones can be broken, and longer
	// ones cost too much to check.
	minRSA, maxRSA = 2048, 8192
)

// publicKey is a key that an issuer publishes. The same key stays the same value
// from one set to the next.
type publicKey struct {
	id, alg string
	public  crypto.PublicKey
	thumb   string
	// gone tells that it is published no more: what it signed is not believed.
	gone atomic.Bool
}

// fits tells whether the key is for an algorithm.
func (k *publicKey) fits(alg string) bool {
	if k.alg != "" && k.alg != alg {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return alg[0] == 'R' || alg[0] == 'P'
	case *ecdsa.PublicKey:
		return map[string]int{"ES256": 256, "ES384": 384, "ES512": 521}[alg] == public.Curve.Params().BitSize
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// fetchKeys gets a key set. What no signature can be checked with is left out, as
// RFC 7517 (section 5) wants.
func fetchKeys(ctx context.Context, client *http.Client, url string) ([]*publicKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	req.Header.Set("Cache-Control", "no-cache")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with status %d instead of keys", url, resp.StatusCode)
	}
	var set struct {
		Keys *[]json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return nil, fmt.Errorf("%s answers with something that is not a key set: %w", url, err)
	}
	switch {
	case set.Keys == nil:
		return nil, fmt.Errorf("%s answers with something that is not a key set", url)
	case len(*set.Keys) > maxPublished:
		return nil, fmt.Errorf("%s has more than %d keys", url, maxPublished)
	}
	var keys []*publicKey
	for _, raw := range *set.Keys {
		if k := parseKey(raw); k != nil {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// parseKey returns nil for a key that is not for checking signatures, or that
// should not be: a symmetric one, a private one that everybody can read, a weak
// one.
func parseKey(raw json.RawMessage) *publicKey {
	var meta struct {
		Ops []string `json:"key_ops"`
	}
	var jwk jose.JSONWebKey
	if json.Unmarshal(raw, &meta) != nil || json.Unmarshal(raw, &jwk) != nil {
		return nil
	}
	usable := jwk.Valid() && jwk.IsPublic() && (jwk.Use == "" || jwk.Use == "sig") && (meta.Ops == nil || slices.Contains(meta.Ops, "verify")) &&
		(jwk.Algorithm == "" || slices.Contains(Algorithms(), jwk.Algorithm))
	if rsaKey, ok := jwk.Key.(*rsa.PublicKey); ok && usable {
		usable = rsaKey.N.BitLen() >= minRSA && rsaKey.N.BitLen() <= maxRSA
	}
	if !usable {
		return nil
	}
	thumb, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil
	}
	return &publicKey{id: jwk.KeyID, alg: jwk.Algorithm, public: jwk.Key, thumb: string(thumb)}
}
