package authn

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

// FuzzToken sends anything as a bearer token: only what the issuer signed, byte
// for byte, logs in, and every refusal is the same.
func FuzzToken(f *testing.F) {
	issuer := authntest.New(f, authntest.Options{})
	a := opened(f, Config{OIDC: []OIDC{corp(issuer)}, Keys: []Key{ci(f)}}, quickPace())
	good := issuer.Mint(with(nil))
	parts := strings.Split(good, ".")
	issuers := b64(map[string]any{"iss": issuer.URL()})
	for _, seed := range []string{good, good + "=", good + ".", "." + good, parts[0] + "." + parts[1] + ".", parts[1] + "." + parts[0] + "." + parts[2], ciKey, "", "...", "a.b.c", "..",
		b64(`{"alg":"ES256","alg":"none"}`) + "." + issuers + ".AA", b64(`{"alg":"ES256","kid":null}`) + "." + issuers + ".AA", b64(`[]`) + "." + issuers + "." + b64("x"),
		b64(`{"alg":"none"}`) + "." + issuers + ".AA", b64(strings.Repeat("[", 9000)) + "." + issuers + ".AA", b64(`{"alg":"ES256"}`) + "." + b64(strings.Repeat(`{"a":`, 2000)) + ".AA",
		b64("{\"alg\":\"ES256\",\"kid\":\"\xff\"}") + "." + issuers + ".AA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := a.Authenticate(context.Background(), &policy.Credentials{Bearer: token})
		if err == nil {
			require.True(t, token == good || token == ciKey || sameClaims(token, good), "%q logs in", token)
			require.NotEmpty(t, p.Tenant)
			return
		}
		refused(t, err)
	})
}

// sameClaims tells whether a token differs from a good one in its signature only:
// those of ECDSA can be written in two ways.
func sameClaims(token, good string) bool {
	cut := strings.LastIndexByte(good, '.')
	return strings.HasPrefix(token, good[:cut+1])
}

// FuzzTokenRoute posts anything: what is answered with 200 is the key that was
// shown, and everything else an error of OAuth.
func FuzzTokenRoute(f *testing.F) {
	a := opened(f, Config{Keys: []Key{ci(f)}}, quickPace())
	f.Add("grant_type=client_credentials&client_id=x&client_secret="+ciKey, "")
	f.Add("grant_type=client_credentials", basic("x", ciKey))
	f.Add("grant_type="+grantExchange+"&subject_token_type=x&subject_token="+ciKey, "Bearer x")
	f.Add("grant_type=refresh_token&refresh_token=x", "Basic")
	f.Add("grant_type=client_credentials&client_secret=%", "Basic Og==")
	f.Add("grant_type&&&=;", "basic "+strings.Repeat("A", 5000))
	f.Add(strings.Repeat("a=&", 30000), "\x00")
	f.Fuzz(func(t *testing.T, body, authorization string) {
		r := httptest.NewRequest(http.MethodPost, "/v1/oauth/tokens", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header["Authorization"] = []string{authorization}
		w := httptest.NewRecorder()
		a.Token(w, r, policy.Client{})
		var answer map[string]any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		if w.Code == http.StatusOK {
			require.Equal(t, ciKey, answer["access_token"])
			return
		}
		require.Contains(t, []int{400, 401, 413}, w.Code)
		require.NotEmpty(t, answer["error"])
		require.NotContains(t, w.Body.String(), ciKey)
	})
}

// FuzzClaims reads any claims: no error is anything but a sentence, and who comes
// out has a tenant and an id of his login.
func FuzzClaims(f *testing.F) {
	i := &issuer{OIDC: OIDC{Name: "corp", TenantClaim: "tenant", RolesClaim: `a\.b.roles`, NameClaim: "sub"}}
	i.tenant, _ = parsePath(i.TenantClaim)
	i.roles, _ = parsePath(i.RolesClaim)
	i.name, _ = parsePath(i.NameClaim)
	for _, seed := range []string{`{"sub":"a","tenant":"t"}`, `{"sub":"a/b","tenant":"t","a.b":{"roles":["x","x",""]}}`, `{"tenant":null}`, `{"sub":{"a":1},"tenant":"t"}`,
		`{"azp":"x","tenant":"t","a.b":{"roles":"a b  c"}}`, `{"sub":"%2F","tenant":"\u0000"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		claims := map[string]any{}
		if json.Unmarshal([]byte(text), &claims) != nil {
			return
		}
		p, why := i.principal(claims)
		if p == nil {
			require.NotEmpty(t, why)
			require.ErrorIs(t, unauthenticated(&denial{why: why}), mounts.Unauthenticated)
			return
		}
		require.NotEmpty(t, p.Tenant)
		require.True(t, strings.HasPrefix(p.ID, "corp/") && len(p.ID) > len("corp/"))
		require.LessOrEqual(t, len(p.Roles), maxRoles)
	})
}
