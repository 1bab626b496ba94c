package authn

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/policy"
)

const (
	// maxToken bounds a token; the router takes no longer one either.
	maxToken = 16 << 10
	// maxKeyID bounds the id of a key.
	maxKeyID = 512
)

// verified is a token that was found good.
type verified struct {
	principal *policy.Principal
	// expires is when it ends, by its own word.
	expires time.Time
	// until is when it is looked at again at the latest.
	until time.Time
	key   *publicKey
	// bound is the hash of the certificate that has to come with it; empty for a
	// plain bearer token.
	bound string
}

// header is what is looked at of a token's header. Members that name keys (jku,
// jwk, x5u, x5c) are not.
type header struct {
	Alg  string         `json:"alg"`
	Typ  string         `json:"typ"`
	Kid  string         `json:"kid"`
	Crit jsontext.Value `json:"crit"`
	Enc  jsontext.Value `json:"enc"`
	B64  jsontext.Value `json:"b64"`
}

// part decodes one part of a token, nil if it is none.
func part(s string) []byte {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(raw) == 0 {
		return nil
	}
	return raw
}

// split cuts a JWT in compact form into its three parts.
func split(token string) ([3]string, bool) {
	var parts [3]string
	if len(token) > maxToken || strings.Count(token, ".") != 2 {
		return parts, false
	}
	copy(parts[:], strings.Split(token, "."))
	return parts, parts[0] != "" && parts[1] != "" && parts[2] != ""
}

// issuerOf reads which issuer a bearer token claims to be from; empty for what is
// no JWT. Nothing is believed by that: it only says who is asked.
func issuerOf(token string) string {
	parts, ok := split(token)
	if !ok {
		return ""
	}
	payload := part(parts[1])
	if payload == nil || part(parts[0]) == nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	return claims.Issuer
}

// verify finds out whether a token is good. The error is a *denial, or one of
// kind Unavailable where that could not be found out.
func (i *issuer) verify(ctx context.Context, token string, now time.Time) (*verified, error) {
	deny := func(why string, guess bool) (*verified, error) {
		return nil, &denial{method: "oidc", login: i.Name, why: why, guess: guess}
	}
	parts, ok := split(token)
	if !ok {
		return deny("the token is no JWT in compact form, or too long", true)
	}
	head, why := i.header(parts[0])
	if why != "" {
		return deny(why, true)
	}
	signed := &signature{source: i.source, header: head, algs: i.algs}
	verifier := oidc.NewVerifier(i.Issuer, signed, &oidc.Config{SkipClientIDCheck: true, SkipExpiryCheck: true, SupportedSigningAlgs: i.Algorithms})
	checked, err := verifier.Verify(ctx, token)
	switch {
	case signed.unknown != nil:
		return nil, unreachable(i.Name, signed.unknown)
	case err != nil && signed.key == nil:
		return deny("the token is signed by no key that its issuer publishes", false)
	case err != nil:
		return deny("the token's claims are not what they should be, or of another issuer", false)
	}
	var payload jsontext.Value
	claims := map[string]any{}
	if checked.Claims((*rawClaims)(&payload)) != nil || json.Unmarshal(payload, &claims) != nil {
		return deny("the token's claims are no JSON object, or one stands there twice", false)
	}
	if claims["iss"] != i.Issuer {
		return deny("the token is of another issuer", false)
	}
	v := &verified{key: signed.key}
	if why := i.current(v, claims, now); why != "" {
		return deny(why, false)
	}
	if v.principal, why = i.principal(claims); why != "" {
		return deny(why, false)
	}
	return v, nil
}

// rawClaims takes the payload as it is.
type rawClaims jsontext.Value

func (r *rawClaims) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

// header checks a token's header before anything is done for it.
func (i *issuer) header(encoded string) (header, string) {
	var h header
	raw := part(encoded)
	if raw == nil || json.Unmarshal(raw, &h) != nil {
		return h, "the token's header is not one"
	}
	switch {
	case h.Enc != nil:
		return h, "the token is encrypted, which is not taken"
	case h.Crit != nil || h.B64 != nil:
		return h, "the token's header has extensions that must be understood (crit, b64), and none is"
	case !slices.Contains(i.Algorithms, h.Alg):
		return h, "the token is signed with an algorithm that is not accepted"
	case len(h.Kid) > maxKeyID:
		return h, "the id of the token's key is too long"
	}
	switch strings.ToLower(strings.TrimPrefix(strings.ToLower(h.Typ), "application/")) {
	case "", "jwt", "at+jwt":
		return h, ""
	}
	return h, "the token is of a type that is no login"
}

// shortly is a time in words that are not longer than they need to be.
func shortly(d time.Duration) string { return d.Round(time.Second).String() }

// current checks for whom and when a token is.
func (i *issuer) current(v *verified, claims map[string]any, now time.Time) string {
	if !i.audience(claims["aud"]) {
		return "the token is for another audience"
	}
	expires, present, ok := instant(claims, "exp")
	if !present || !ok {
		return "the token has no expiry"
	}
	if !now.Before(expires.Add(i.Leeway)) {
		return "the token is expired, since " + shortly(now.Sub(expires)) + " by this server's clock"
	}
	for _, name := range []string{"nbf", "iat"} {
		at, _, ok := instant(claims, name)
		if !ok {
			return "the token's " + name + " is no time"
		}
		if at.After(now.Add(i.Leeway)) {
			return "the token is not valid yet (" + name + "), for another " + shortly(at.Sub(now)) + " by this server's clock: if it is new, one of the clocks is wrong"
		}
	}
	if _, logout := claims["events"]; logout {
		return "the token is one that logs out"
	}
	if bound, there := claims["cnf"]; there {
		confirmation, _ := bound.(map[string]any)
		if v.bound, ok = confirmation["x5t#S256"].(string); !ok || v.bound == "" || len(confirmation) != 1 {
			return "the token is bound to its bearer in a way that is not supported"
		}
	}
	v.expires = expires
	v.until = expires.Add(i.Leeway)
	return ""
}

// audience tells whether one of the audiences is ours.
func (i *issuer) audience(claim any) bool {
	switch claim := claim.(type) {
	case string:
		return slices.Contains(i.Audience, claim)
	case []any:
		return slices.ContainsFunc(claim, func(one any) bool {
			s, ok := one.(string)
			return ok && slices.Contains(i.Audience, s)
		})
	}
	return false
}

// signature checks the signature of one token. It implements oidc.KeySet.
type signature struct {
	source *source
	header header
	algs   []jose.SignatureAlgorithm
	// key is the one that has signed; unknown why that could not be found out.
	key     *publicKey
	unknown error
}

var errNotSigned = errors.New("no published key has signed it")

func (s *signature) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, s.algs)
	if err != nil {
		return nil, err
	}
	var payload []byte
	s.unknown = s.source.with(ctx, func(keys []*publicKey) bool {
		for _, k := range keys {
			if s.header.Kid != "" && k.id != s.header.Kid || !k.fits(s.header.Alg) {
				continue
			}
			if signed, err := jws.Verify(k.public); err == nil {
				s.key, payload = k, signed
				return true
			}
		}
		return false
	})
	if s.key == nil {
		return nil, errNotSigned
	}
	return payload, nil
}
