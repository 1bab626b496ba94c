package authn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

func TestATokenOfTheIssuerLogsIn(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{Path: "/realms/corp", TLS: true})
	o := corp(issuer)
	var err error
	o.CAFile, err = issuer.CAFile(t.TempDir())
	require.NoError(t, err)
	a := opened(t, Config{OIDC: []OIDC{o}}, quickPace())
	p, err := a.Authenticate(context.Background(), bearerOf(issuer.Mint(with(map[string]any{"roles": []string{"writer", "reader", "writer"}}))))
	require.NoError(t, err)
	require.Equal(t, &policy.Principal{ID: "corp/alice", Name: "alice", Tenant: "acme", Roles: []string{"reader", "writer"}, Login: "oidc", Forwardable: true}, p)
}

func b64(v any) string {
	raw, ok := v.(string)
	if !ok {
		text, _ := json.Marshal(v)
		raw = string(text)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(raw))
}

func TestBadTokensAreRefusedAllInOneWay(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	other := authntest.New(t, authntest.Options{})
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}, Keys: []Key{ci(t)}}, quickPace())
	now := time.Now()
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	mint := func(over map[string]any) string { return issuer.Mint(with(over)) }
	good := mint(nil)
	parts := strings.Split(good, ".")
	claims := issuer.Claims(with(nil))
	header := func(h map[string]any) string { return issuer.Sign(h, claims) }
	public := publishedKey(t, issuer)
	hs256 := func(secret []byte) string {
		signed := b64(map[string]any{"alg": "HS256", "kid": issuer.KeyID(), "typ": "JWT"}) + "." + b64(claims)
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	der, err := x509.MarshalPKIXPublicKey(public.Key)
	require.NoError(t, err)
	jwk, err := public.MarshalJSON()
	require.NoError(t, err)
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	forged := func(headers map[string]any, embed bool) string {
		opt := &jose.SignerOptions{EmbedJWK: embed}
		for k, v := range headers {
			opt.WithHeader(jose.HeaderKey(k), v)
		}
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: mine}, opt)
		require.NoError(t, err)
		text, _ := json.Marshal(claims)
		signed, err := signer.Sign(text)
		require.NoError(t, err)
		compact, err := signed.CompactSerialize()
		require.NoError(t, err)
		return compact
	}
	flipped := parts[2][:10] + string(parts[2][10]^1) + parts[2][11:]

	cases := map[string]struct{ token, why string }{
		"alg none":                        {b64(map[string]any{"alg": "none"}) + "." + parts[1] + ".", "no API key"},
		"alg none with a signature":       {b64(map[string]any{"alg": "none"}) + "." + parts[1] + "." + parts[2], "algorithm"},
		"alg None":                        {b64(map[string]any{"alg": "nOnE"}) + "." + parts[1] + "." + parts[2], "algorithm"},
		"HS256 with the public key (PEM)": {hs256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), "algorithm"},
		"HS256 with the public key (DER)": {hs256(der), "algorithm"},
		"HS256 with the public key (JWK)": {hs256(jwk), "algorithm"},
		"another algorithm of the list":   {b64(map[string]any{"alg": "RS256", "kid": issuer.KeyID()}) + "." + parts[1] + "." + parts[2], "no key"},
		"of an issuer nobody knows":       {other.Mint(with(nil)), "no API key"},
		"signed by another issuer":        {other.Mint(with(map[string]any{"iss": issuer.URL()})), "no key"},
		"issuer with a slash too many":    {mint(map[string]any{"iss": issuer.URL() + "/"}), "no API key"},
		"issuer that is a list":           {mint(map[string]any{"iss": []string{issuer.URL()}}), "no API key"},
		"without an issuer":               {mint(map[string]any{"iss": nil}), "no API key"},
		"for another audience":            {mint(map[string]any{"aud": "billing"}), "audience"},
		"for an audience with our prefix": {mint(map[string]any{"aud": []string{"icefield2", "ICEFIELD"}}), "audience"},
		"for nobody":                      {mint(map[string]any{"aud": nil}), "audience"},
		"expired":                         {mint(map[string]any{"exp": at(-time.Minute)}), "expired"},
		"without expiry":                  {mint(map[string]any{"exp": nil}), "expiry"},
		"expiry null":                     {issuer.Sign(nil, strings.Replace(mustJSON(claims), `"exp":`, `"exp":null,"x":`, 1)), "claims"},
		"expiry that is a text":           {mint(map[string]any{"exp": "9999999999"}), "expiry"},
		"expiry beyond all time":          {mint(map[string]any{"exp": 1e300}), "expiry"},
		"not valid yet":                   {mint(map[string]any{"nbf": at(time.Hour)}), "nbf"},
		"issued in the future":            {mint(map[string]any{"iat": at(time.Hour)}), "iat"},
		"claims changed":                  {parts[0] + "." + b64(issuer.Claims(with(map[string]any{"tenant": "globex"}))) + "." + parts[2], "no key"},
		"signature changed":               {parts[0] + "." + parts[1] + "." + flipped, "no key"},
		"signature cut":                   {parts[0] + "." + parts[1] + "." + parts[2][:20], "no key"},
		"without a signature":             {parts[0] + "." + parts[1] + ".", "no API key"},
		"two parts":                       {parts[0] + "." + parts[1], "no API key"},
		"padded base64":                   {parts[0] + "=." + parts[1] + "." + parts[2], "no API key"},
		"key id that is a path":           {header(map[string]any{"kid": "../../etc/passwd"}), "no key"},
		"key id that is a URL":            {header(map[string]any{"kid": other.URL() + "/keys"}), "no key"},
		"key id that is SQL":              {header(map[string]any{"kid": "x' UNION SELECT 'key"}), "no key"},
		"key id that is a number":         {header(map[string]any{"kid": 1}), "header"},
		"key id that is huge":             {header(map[string]any{"kid": strings.Repeat("k", 4000)}), "too long"},
		"jku to somebody's keys":          {forged(map[string]any{"jku": other.URL() + "/keys", "kid": "key-1"}, false), "no key"},
		"x5u to somebody's certificate":   {forged(map[string]any{"x5u": other.URL() + "/keys", "kid": "key-1"}, false), "no key"},
		"key of its own":                  {forged(nil, true), "no key"},
		"crit":                            {header(map[string]any{"crit": []string{"exp"}, "exp": 1}), "extensions"},
		"crit with b64":                   {header(map[string]any{"crit": []string{"b64"}, "b64": true}), "extensions"},
		"typ of a logout token":           {header(map[string]any{"typ": "logout+jwt"}), "type"},
		"typ of a proof":                  {header(map[string]any{"typ": "dpop+jwt"}), "type"},
		"logout token without typ":        {mint(map[string]any{"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}), "logs out"},
		"bound to a key of the client":    {mint(map[string]any{"cnf": map[string]any{"jkt": "x"}}), "bound"},
		"bound to a certificate":          {mint(map[string]any{"cnf": map[string]any{"x5t#S256": "x"}}), "bound"},
		"claim that stands twice":         {issuer.Sign(nil, strings.Replace(mustJSON(claims), `"tenant":"acme"`, `"tenant":"acme","tenant":"globex"`, 1)), "no API key"},
		"issuer in another case twice":    {issuer.Sign(nil, strings.Replace(mustJSON(claims), `"tenant"`, `"ISS":"https://evil.example","tenant"`, 1)), "another issuer"},
		"claims that are a list":          {issuer.Sign(nil, `["`+issuer.URL()+`"]`), "no API key"},
		"nested token":                    {issuer.Sign(map[string]any{"cty": "JWT"}, good), "no API key"},
		"JSON form of a token":            {`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, "no API key"},
		"encrypted token":                 {b64(map[string]any{"alg": "RSA-OAEP", "enc": "A256GCM"}) + ".a.b.c.d", "no API key"},
		"encrypted header, three parts":   {b64(map[string]any{"alg": "ES256", "enc": "A256GCM", "kid": issuer.KeyID()}) + "." + parts[1] + "." + parts[2], "encrypted"},
		"huge":                            {mint(map[string]any{"padding": strings.Repeat("x", 20<<10)}), "too long"},
		"tenant that is a number":         {mint(map[string]any{"tenant": 7}), "tenant"},
		"tenant that is a list":           {mint(map[string]any{"tenant": []string{"acme"}}), "tenant"},
		"tenant that is an object":        {mint(map[string]any{"tenant": map[string]any{"id": "acme"}}), "tenant"},
		"tenant that is empty":            {mint(map[string]any{"tenant": ""}), "tenant"},
		"tenant with a line break":        {mint(map[string]any{"tenant": "acme\nglobex"}), "tenant"},
		"tenant that is long":             {mint(map[string]any{"tenant": strings.Repeat("a", 257)}), "tenant"},
		"tenant null":                     {mint(map[string]any{"tenant": json.RawMessage("null")}), "tenant"},
		"without a tenant":                {mint(map[string]any{"tenant": nil}), "tenant"},
		"roles that are an object":        {mint(map[string]any{"roles": map[string]any{"admin": true}}), "roles"},
		"roles of several kinds":          {mint(map[string]any{"roles": []any{"reader", 7}}), "roles"},
		"too many roles":                  {mint(map[string]any{"roles": strings.Split(strings.Repeat("r,", 600), ",")}), "roles"},
		"a name that is a number":         {mint(map[string]any{"sub": 7}), "claims"},
		"a name that is empty":            {mint(map[string]any{"sub": ""}), "name"},
		"without anybody":                 {mint(map[string]any{"sub": nil}), "nobody"},
		"dots only":                       {"..", "no API key"},
		"nothing much":                    {"x", "no API key"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 { // no refusal is remembered as anything else
				p, err := a.Authenticate(context.Background(), bearerOf(c.token))
				require.Nil(t, p)
				refused(t, err)
				require.Contains(t, why(err), c.why)
			}
		})
	}
	require.Zero(t, other.Requests(authntest.KeysPath), "nothing that a token names was fetched")
	_, err = a.Authenticate(context.Background(), bearerOf(good))
	require.NoError(t, err)
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func publishedKey(t *testing.T, i *authntest.Issuer) jose.JSONWebKey {
	t.Helper()
	resp, err := http.Get(i.URL() + authntest.KeysPath)
	require.NoError(t, err)
	defer resp.Body.Close()
	var set jose.JSONWebKeySet
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&set))
	return set.Keys[0]
}

func TestClocksMayDifferByTheLeewayAndNoMore(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	o := corp(issuer)
	o.Leeway = 30 * time.Second
	a := opened(t, Config{OIDC: []OIDC{o}}, quickPace())
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		claims map[string]any
		good   bool
	}{
		"expired within":   {map[string]any{"exp": now - 20}, true},
		"expired beyond":   {map[string]any{"exp": now - 31}, false},
		"not yet within":   {map[string]any{"nbf": now + 20}, true},
		"not yet beyond":   {map[string]any{"nbf": now + 40}, false},
		"issued within":    {map[string]any{"iat": now + 20}, true},
		"issued beyond":    {map[string]any{"iat": now + 40}, false},
		"fraction":         {map[string]any{"exp": float64(now) + 100.25}, true},
		"without issued":   {map[string]any{"iat": nil}, true},
		"far in the past":  {map[string]any{"exp": 0}, false},
		"before all times": {map[string]any{"exp": -1}, false},
	} {
		_, err := a.Authenticate(context.Background(), bearerOf(issuer.Mint(with(c.claims))))
		if c.good {
			require.NoError(t, err, name)
		} else {
			refused(t, err)
		}
	}
}

func TestIDTokensAndAccessTokensLogIn(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, quickPace())
	for _, typ := range []any{nil, "JWT", "jwt", "at+jwt", "application/at+jwt", "AT+JWT"} {
		_, err := a.Authenticate(context.Background(), bearerOf(issuer.Sign(map[string]any{"typ": typ}, issuer.Claims(with(nil)))))
		require.NoError(t, err, typ)
	}
}

func TestATokenWithoutKeyIDIsCheckedWithEveryKey(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	require.NoError(t, issuer.Rotate())
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, quickPace())
	_, err := a.Authenticate(context.Background(), bearerOf(issuer.Sign(map[string]any{"kid": nil}, issuer.Claims(with(nil)))))
	require.NoError(t, err)
}

func TestATokenBoundToACertificateComesWithIt(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, quickPace())
	mine, others := &x509.Certificate{Raw: []byte("mine")}, &x509.Certificate{Raw: []byte("another")}
	sum := sha256.Sum256(mine.Raw)
	c := bearerOf(issuer.Mint(with(map[string]any{"cnf": map[string]any{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])}})))
	for range 2 { // the second time from memory
		c.Certificates = []*x509.Certificate{mine}
		_, err := a.Authenticate(context.Background(), c)
		require.NoError(t, err)
		for _, chain := range [][]*x509.Certificate{nil, {others}, {others, mine}} {
			c.Certificates = chain
			_, err = a.Authenticate(context.Background(), c)
			refused(t, err)
		}
	}
}
