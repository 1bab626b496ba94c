package authn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

func relaying(t *testing.T, opt authntest.Options, change func(o *OIDC)) (*Authn, *authntest.Issuer) {
	t.Helper()
	if opt.Clients == nil {
		opt.Clients = map[string]authntest.Client{
			"etl":      {Secret: "s3cr:t/+ %", Claims: map[string]any{"tenant": "acme", "roles": "writer"}},
			"id:colon": {Secret: "plain", Claims: map[string]any{"tenant": "acme"}},
		}
	}
	issuer := authntest.New(t, opt)
	o := corp(issuer)
	o.Relay = true
	if change != nil {
		change(&o)
	}
	return opened(t, Config{OIDC: []OIDC{o}, Keys: []Key{ci(t)}}, quickPace()), issuer
}

func answerOf(t *testing.T, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	var answer map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	require.Equal(t, "bearer", answer["token_type"])
	require.Equal(t, accessTokenType, answer["issued_token_type"])
	return answer
}

func failureOf(t *testing.T, w *httptest.ResponseRecorder) (int, string) {
	t.Helper()
	var answer map[string]string
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	require.NotEmpty(t, answer["error_description"])
	require.NotContains(t, answer["error_description"], "internal detail")
	require.Len(t, answer, 2)
	return w.Code, answer["error"]
}

func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

func logsIn(t *testing.T, a *Authn, token any) *policy.Principal {
	t.Helper()
	p, err := a.Authenticate(context.Background(), bearerOf(token.(string)))
	require.NoError(t, err)
	return p
}

func TestAnAPIKeyAsClientSecretIsTheToken(t *testing.T) {
	a, issuer := relaying(t, authntest.Options{}, nil)
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"catalog"}}
	withSecret := url.Values{"grant_type": {"client_credentials"}, "client_secret": {ciKey}, "scope": {"catalog"}}
	withBoth := url.Values{"grant_type": {"client_credentials"}, "client_id": {"whoever"}, "client_secret": {ciKey}}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"PyIceberg: id and secret": ask(t, a, withBoth),
		"Java: secret alone":       ask(t, a, withSecret),
		"DuckDB: Basic":            ask(t, a, form, "Authorization", basic("whoever", ciKey)),
		"Basic without an id":      ask(t, a, form, "Authorization", basic("", ciKey)),
		"Basic and form, the same": ask(t, a, withBoth, "Authorization", basic("whoever", ciKey)),
		"encoded":                  ask(t, a, form, "Authorization", basic("who%20ever", strings.ReplaceAll(ciKey, "_", "%5F"))),
	} {
		answer := answerOf(t, w)
		require.Equal(t, ciKey, answer["access_token"], name)
		require.Equal(t, 3600.0, answer["expires_in"], "PyIceberg insists on an expiry")
		require.Equal(t, "key/ci", logsIn(t, a, answer["access_token"]).ID)
	}
	require.Zero(t, issuer.Requests(authntest.TokenPath), "the issuer is not told of API keys")
	status, code := failureOf(t, ask(t, a, url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {"icf_ci_a-key-that-was-withdrawn"}}))
	require.Equal(t, 401, status)
	require.Equal(t, "invalid_client", code)
	require.Zero(t, issuer.Requests(authntest.TokenPath), "nor of those that are no longer valid")
}

func TestClientCredentialsAreRelayedToTheIssuer(t *testing.T) {
	a, issuer := relaying(t, authntest.Options{}, nil)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {"s3cr:t/+ %"}, "scope": {"PRINCIPAL_ROLE:ALL"}, "evil": {"1"}, "audience": {"a", "b"}, "assertion": {"x"}}
	answer := answerOf(t, ask(t, a, form, "Authorization", "Bearer current", "Cookie", "c=1", "X-Forwarded-For", "1.2.3.4"))
	require.Equal(t, "corp/etl", logsIn(t, a, answer["access_token"]).ID)
	require.Equal(t, 3600.0, answer["expires_in"])
	require.Equal(t, "refresh-etl", answer["refresh_token"])
	require.Equal(t, "PRINCIPAL_ROLE:ALL", answer["scope"])

	sent := issuer.Forms()[0]
	require.Equal(t, url.Values{"grant_type": {"client_credentials"}, "scope": {"PRINCIPAL_ROLE:ALL"}, "client_id": {"etl"}, "client_secret": {"s3cr:t/+ %"}, "audience": {"a", "b"}}, sent.Values)
	for _, name := range []string{"Authorization", "Cookie", "X-Forwarded-For"} {
		require.Empty(t, sent.Header.Get(name), "no header of the client's travels on")
	}

	// By Basic, encoded as RFC 6749 wants, and as clients do that do not know it.
	form = url.Values{"grant_type": {"client_credentials"}}
	encoded := basic(url.QueryEscape("etl"), url.QueryEscape("s3cr:t/+ %"))
	require.Equal(t, "corp/etl", logsIn(t, a, answerOf(t, ask(t, a, form, "Authorization", encoded))["access_token"]).ID)
	require.NotEmpty(t, issuer.Forms()[1].Header.Get("Authorization"))
	require.Empty(t, issuer.Forms()[1].Values.Get("client_secret"))
	require.Equal(t, "corp/id:colon", logsIn(t, a, answerOf(t, ask(t, a, form, "Authorization", basic("id%3Acolon", "plain")))["access_token"]).ID)
	require.Equal(t, "corp/etl", logsIn(t, a, answerOf(t, ask(t, a, form, "Authorization", basic("etl", "s3cr:t/+ %")))["access_token"]).ID)
}

func TestTheScopeOfIcebergIsReplacedWhereTheIssuerDoesNotKnowIt(t *testing.T) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {"s3cr:t/+ %"}, "scope": {"catalog"}}
	a, _ := relaying(t, authntest.Options{}, nil)
	status, code := failureOf(t, ask(t, a, form))
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_scope", code)
	for _, scope := range []string{"", "openid icefield"} {
		a, issuer := relaying(t, authntest.Options{}, func(o *OIDC) { o.RelayScope = &scope })
		answerOf(t, ask(t, a, form))
		require.Equal(t, scope, issuer.Forms()[0].Values.Get("scope"))
		require.Equal(t, scope != "", issuer.Forms()[0].Values.Has("scope"))
	}
}

func TestTokensAreExchanged(t *testing.T) {
	a, issuer := relaying(t, authntest.Options{}, nil)
	good, expired := issuer.Mint(with(map[string]any{"exp": time.Now().Add(10 * time.Minute).Unix()})), issuer.Mint(with(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}))
	form := func(subject string, more ...string) url.Values {
		v := url.Values{"grant_type": {grantExchange}, "subject_token": {subject}, "subject_token_type": {accessTokenType}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}

	// Java renews the token of an API key with itself.
	answer := answerOf(t, ask(t, a, form(ciKey, "scope", "catalog"), "Authorization", "Bearer "+ciKey))
	require.Equal(t, ciKey, answer["access_token"])

	// A good token without a client to ask the issuer for: it stays as it is, for
	// as long as it lasts.
	answer = answerOf(t, ask(t, a, form(good), "Authorization", "Bearer "+good))
	require.Equal(t, good, answer["access_token"])
	require.InDelta(t, 600, answer["expires_in"], 5)
	require.Zero(t, issuer.Requests(authntest.TokenPath))

	// As Trino does: the user's token and the catalog's own, with the client.
	answer = answerOf(t, ask(t, a, form(good, "actor_token", ciKey, "actor_token_type", accessTokenType), "Authorization", basic("etl", url.QueryEscape("s3cr:t/+ %"))))
	require.NotEqual(t, good, answer["access_token"])
	require.Equal(t, "corp/alice", logsIn(t, a, answer["access_token"]).ID)
	sent := issuer.Forms()[0].Values
	require.Equal(t, good, sent.Get("subject_token"))
	require.Equal(t, ciKey, sent.Get("actor_token"))

	// The issuer says no, and the token is good as it is.
	answer = answerOf(t, ask(t, a, form(good, "client_id", "nobody", "client_secret", "x")))
	require.Equal(t, good, answer["access_token"])

	// Of a token that is expired only the issuer can make another one.
	answer = answerOf(t, ask(t, a, form(expired, "client_id", "etl", "client_secret", "s3cr:t/+ %")))
	require.Equal(t, "corp/alice", logsIn(t, a, answer["access_token"]).ID)

	for name, c := range map[string]struct {
		form   url.Values
		status int
		code   string
	}{
		"without a subject":   {url.Values{"grant_type": {grantExchange}}, 400, "invalid_request"},
		"without its type":    {url.Values{"grant_type": {grantExchange}, "subject_token": {good}}, 400, "invalid_request"},
		"unsigned, of Trino":  {form(b64(map[string]any{"alg": "none"})+"."+b64(map[string]any{"sub": "alice", "iss": "trino"})+".", "client_id", "etl", "client_secret", "s3cr:t/+ %"), 400, "invalid_request"},
		"wrong client":        {form(expired, "client_id", "etl", "client_secret", "wrong"), 401, "invalid_client"},
		"a refresh token":     {form(good, "requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token"), 400, "invalid_request"},
		"a withdrawn API key": {form("icf_ci_a-key-that-was-withdrawn"), 400, "invalid_request"},
	} {
		status, code := failureOf(t, ask(t, a, c.form))
		require.Equal(t, c.status, status, name)
		require.Equal(t, c.code, code, name)
	}

	// An issuer without the grant is not asked.
	a, issuer = relaying(t, authntest.Options{NoExchange: true}, nil)
	good = issuer.Mint(with(nil))
	answer = answerOf(t, ask(t, a, form(good, "client_id", "etl", "client_secret", "s3cr:t/+ %")))
	require.Equal(t, good, answer["access_token"])
	require.Zero(t, issuer.Requests(authntest.TokenPath))
}

func TestRefreshTokensAreRelayed(t *testing.T) {
	a, _ := relaying(t, authntest.Options{}, nil)
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"refresh-etl"}, "client_id": {"etl"}, "client_secret": {"s3cr:t/+ %"}}
	require.Equal(t, "corp/etl", logsIn(t, a, answerOf(t, ask(t, a, form))["access_token"]).ID)
	form.Set("refresh_token", "another")
	status, code := failureOf(t, ask(t, a, form))
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_grant", code)
}

func TestWithoutAnIssuerThereAreAPIKeysOnly(t *testing.T) {
	keys := opened(t, Config{Keys: []Key{ci(t)}}, quickPace())
	certificates := opened(t, Config{Certificates: []Certificate{{Name: "etl", Tenant: "acme", DNSName: "etl"}}}, quickPace())
	login := url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {"wrong-but-long-enough"}}
	for name, c := range map[string]struct {
		a      *Authn
		form   url.Values
		status int
		code   string
	}{
		"wrong key":            {keys, login, 401, "invalid_client"},
		"no secret":            {keys, url.Values{"grant_type": {"client_credentials"}}, 401, "invalid_client"},
		"no keys at all":       {certificates, login, 400, "unsupported_grant_type"},
		"refresh":              {keys, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}, 400, "unsupported_grant_type"},
		"password":             {keys, url.Values{"grant_type": {"password"}, "username": {"a"}, "password": {"b"}}, 400, "unsupported_grant_type"},
		"no grant":             {keys, url.Values{}, 400, "invalid_request"},
		"exchange for nothing": {keys, url.Values{"grant_type": {grantExchange}, "subject_token": {"x"}, "subject_token_type": {accessTokenType}}, 400, "invalid_request"},
	} {
		status, code := failureOf(t, ask(t, c.a, c.form))
		require.Equal(t, c.status, status, name)
		require.Equal(t, c.code, code, name)
	}
	w := ask(t, keys, login)
	require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
	w = ask(t, keys, url.Values{"grant_type": {"client_credentials"}}, "Authorization", basic("etl", "wrong-but-long-enough"))
	require.Equal(t, `Basic realm="icefield"`, w.Header().Get("WWW-Authenticate"))
}

func TestTokenRequestsThatAreNoneAreRefused(t *testing.T) {
	a, issuer := relaying(t, authntest.Options{}, nil)
	send := func(method, kind, body string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/v1/oauth/tokens?grant_type=client_credentials&client_secret="+ciKey, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		a.Token(w, r, policy.Client{})
		return w
	}
	const form = "application/x-www-form-urlencoded"
	login := "grant_type=client_credentials&client_id=etl&client_secret=x"
	for name, c := range map[string]struct {
		w      *httptest.ResponseRecorder
		status int
	}{
		"GET":                    {send(http.MethodGet, form, login), 405},
		"JSON":                   {send(http.MethodPost, "application/json", `{"grant_type":"client_credentials"}`), 400},
		"no type":                {send(http.MethodPost, "", login), 400},
		"secrets in the URL":     {send(http.MethodPost, form, ""), 400},
		"broken encoding":        {send(http.MethodPost, form, "grant_type=%zz"), 400},
		"semicolons":             {send(http.MethodPost, form, "grant_type=a;b=c"), 400},
		"grant twice":            {send(http.MethodPost, form, login+"&grant_type=x"), 400},
		"secret twice":           {send(http.MethodPost, form, login+"&client_secret=x"), 400},
		"too many audiences":     {send(http.MethodPost, form, login+strings.Repeat("&audience=x", 9)), 400},
		"too long":               {send(http.MethodPost, form, login+"&scope="+strings.Repeat("x", maxForm)), 413},
		"Basic that is none":     {send(http.MethodPost, form, login, "Authorization", "Basic %%%"), 400},
		"Basic without a colon":  {send(http.MethodPost, form, login, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("etl"))), 400},
		"two Basics":             {send(http.MethodPost, form, "grant_type=client_credentials", "Authorization", basic("a", "b"), "Authorization", basic("a", "b")), 400},
		"another client in each": {send(http.MethodPost, form, login, "Authorization", basic("other", "x")), 400},
		"another secret in each": {send(http.MethodPost, form, login, "Authorization", basic("etl", "y")), 400},
	} {
		status, code := failureOf(t, c.w)
		require.Equal(t, c.status, status, name)
		require.Equal(t, "invalid_request", code, name)
	}
	require.Zero(t, issuer.Requests(authntest.TokenPath))
}

func TestWhatTheIssuerAnswersIsNotPassedOnUnseen(t *testing.T) {
	a, issuer := relaying(t, authntest.Options{}, nil)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {"s3cr:t/+ %"}}
	answering := func(status int, body string, headers ...string) *httptest.ResponseRecorder {
		issuer.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
			return true
		})
		return ask(t, a, form)
	}
	for name, c := range map[string]struct {
		w      *httptest.ResponseRecorder
		status int
		code   string
	}{
		"page":                 {answering(200, "<html>login</html>"), 503, "temporarily_unavailable"},
		"empty":                {answering(200, ""), 503, "temporarily_unavailable"},
		"without a token":      {answering(200, `{"token_type":"bearer"}`), 503, "temporarily_unavailable"},
		"bound token":          {answering(200, `{"access_token":"x","token_type":"DPoP"}`), 503, "temporarily_unavailable"},
		"token with a break":   {answering(200, `{"access_token":"x\r\ny","token_type":"bearer"}`), 503, "temporarily_unavailable"},
		"endless":              {answering(200, `{"access_token":"`+strings.Repeat("x", 1<<20)), 503, "temporarily_unavailable"},
		"long token":           {answering(200, `{"access_token":"`+strings.Repeat("x", 20<<10)+`","token_type":"bearer"}`), 503, "temporarily_unavailable"},
		"down":                 {answering(503, "internal detail"), 503, "temporarily_unavailable"},
		"broken":               {answering(500, `{"error":"invalid_client"}`), 503, "temporarily_unavailable"},
		"redirect":             {answering(307, "", "Location", "https://evil.example/token"), 503, "temporarily_unavailable"},
		"busy":                 {answering(429, `{}`), 429, "temporarily_unavailable"},
		"forbidden, a page":    {answering(403, "internal detail"), 503, "temporarily_unavailable"},
		"unauthorized, a page": {answering(401, "internal detail"), 401, "invalid_client"},
		"an error of its own":  {answering(400, `{"error":"internal detail","error_description":"internal detail"}`), 503, "temporarily_unavailable"},
		"target":               {answering(400, `{"error":"invalid_target","error_description":"internal detail"}`), 400, "invalid_target"},
	} {
		status, code := failureOf(t, c.w)
		require.Equal(t, c.status, status, name)
		require.Equal(t, c.code, code, name)
		require.Equal(t, status == 503 || status == 429, c.w.Header().Get("Retry-After") != "", name)
	}
	w := answering(200, `{"access_token":"x","token_type":"BEARER","expires_in":"300","id_token":"secret","session_state":"secret","scope":"a"}`, "Set-Cookie", "s=1")
	require.JSONEq(t, `{"access_token":"x","token_type":"bearer","expires_in":300,"issued_token_type":"`+accessTokenType+`","scope":"a"}`, w.Body.String())
	require.Empty(t, w.Header().Get("Set-Cookie"))

	issuer.Close()
	status, code := failureOf(t, ask(t, a, form))
	require.Equal(t, 503, status)
	require.Equal(t, "temporarily_unavailable", code)
}
