package authn

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

func TestMistakesInTheConfigurationRefuseTheStart(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	oidc := func(change func(*OIDC)) Config {
		o := corp(issuer)
		change(&o)
		return Config{OIDC: []OIDC{o}}
	}
	weak := ci(t)
	weak.Hash = [32]byte{}
	twin, nobody := ci(t), ci(t)
	twin.Name, nobody.Tenant = "twin", ""
	second := corp(issuer)
	second.Name = "second"
	etl := Certificate{Name: "etl", Tenant: "acme", DNSName: "etl.example.com"}
	changed := func(change func(*Certificate)) Config {
		c := etl
		change(&c)
		return Config{Certificates: []Certificate{etl, c}}
	}
	for want, c := range map[string]Config{
		"no way to log in":                       {},
		`"none" is not safe`:                     oidc(func(o *OIDC) { o.Algorithms = []string{"RS256", "none"} }),
		`"HS256" is not safe`:                    oidc(func(o *OIDC) { o.Algorithms = []string{"HS256"} }),
		`"hs512" is not safe`:                    oidc(func(o *OIDC) { o.Algorithms = []string{"hs512"} }),
		`no algorithm "RS255"`:                   oidc(func(o *OIDC) { o.Algorithms = []string{"RS255"} }),
		"must begin with https":                  oidc(func(o *OIDC) { o.Issuer = "http://idp.example.com" }),
		"is not a URL":                           oidc(func(o *OIDC) { o.Issuer = "idp" }),
		"has no query":                           oidc(func(o *OIDC) { o.Issuer = "https://idp.example.com?x=1" }),
		"neither a user nor":                     oidc(func(o *OIDC) { o.Issuer = "https://me:secret@idp.example.com" }),
		"needs an audience":                      oidc(func(o *OIDC) { o.Audience = nil }),
		"exclude each other":                     oidc(func(o *OIDC) { o.Tenant = "acme" }),
		"nobody of it has a tenant":              oidc(func(o *OIDC) { o.TenantClaim = "" }),
		"operator_roles need roles_claim":        oidc(func(o *OIDC) { o.RolesClaim, o.OperatorRoles = "", []string{"x"} }),
		"keys are fetched again after":           oidc(func(o *OIDC) { o.KeyRefresh = time.Millisecond }),
		"a leeway is at most":                    oidc(func(o *OIDC) { o.Leeway = time.Hour }),
		"as those of another kind":               oidc(func(o *OIDC) { o.Name = "key" }),
		`claim path "a..b"`:                      oidc(func(o *OIDC) { o.RolesClaim = "a..b" }),
		"jwks_url":                               oidc(func(o *OIDC) { o.JWKSURL = "http://keys.example.com" }),
		"there is no certificate in it":          oidc(func(o *OIDC) { o.CAFile = "doc.go" }),
		"no such file":                           oidc(func(o *OIDC) { o.CAFile = "/nowhere/ca.pem" }),
		"is that of oidc \"corp\" already":       {OIDC: []OIDC{corp(issuer), second}},
		"there is another of this name":          {OIDC: []OIDC{corp(issuer), corp(issuer)}},
		`the same key as "ci"`:                   {Keys: []Key{ci(t), twin}},
		"it has no hash":                         {Keys: []Key{weak}},
		"belongs to no tenant":                   {Keys: []Key{nobody}},
		"exactly one of subject":                 changed(func(c *Certificate) { c.Name, c.URI = "two", "spiffe://x/y" }),
		`matches the same certificates as "etl"`: changed(func(c *Certificate) { c.Name, c.DNSName = "two", "ETL.example.com" }),
	} {
		a, err := Open(context.Background(), c)
		require.ErrorContains(t, err, want)
		require.Nil(t, a)
		require.NotContains(t, err.Error(), "me:secret")
	}
}

// fake serves a discovery document, with {URL} for its own URL.
func fake(t *testing.T, document string, keys string) string {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			fmt.Fprint(w, keys)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, strings.ReplaceAll(document, "{URL}", server.URL))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAnIssuerThatIsBrokenRefusesTheStartAndIsNamed(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	redirecting := httptest.NewServer(http.RedirectHandler("https://login.example.com/", http.StatusFound))
	t.Cleanup(redirecting.Close)
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html>"+strings.Repeat("x", 5000))
	}))
	t.Cleanup(html.Close)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	tls := authntest.New(t, authntest.Options{TLS: true})
	issuer := authntest.New(t, authntest.Options{})
	document := `{"issuer":"{URL}","jwks_uri":"{URL}/keys","token_endpoint":"{URL}/token"}`
	weak := `{"keys":[{"kty":"RSA","kid":"a","e":"AQAB","n":"` + strings.Repeat("vx7agoebGcQSuu", 10) + `"},{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQ"},
		{"kty":"OKP","crv":"Ed448","x":"AAAA"},{"kty":"EC","crv":"P-256","use":"enc","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}`
	keys := `{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}`
	for name, c := range map[string]struct{ url, want string }{
		"unreachable":             {gone.URL, "cannot be reached"},
		"redirects away":          {redirecting.URL, "redirects to another host"},
		"answers with a page":     {html.URL, "cannot be read"},
		"never ends":              {endless.URL, "longer than"},
		"unknown authority":       {tls.URL(), "certificate"},
		"another issuer":          {issuer.URL() + "/", "says that it is the issuer"},
		"says it is another":      {fake(t, `{"issuer":"https://idp.example.com","jwks_uri":"{URL}/keys"}`, keys), "says that it is the issuer"},
		"without keys":            {fake(t, `{"issuer":"{URL}"}`, keys), "no jwks_uri"},
		"keys over http":          {fake(t, `{"issuer":"{URL}","jwks_uri":"http://idp.example.com/keys"}`, keys), "jwks_uri"},
		"keys in a file":          {fake(t, `{"issuer":"{URL}","jwks_uri":"file:///etc/passwd"}`, keys), "jwks_uri"},
		"tokens over http":        {fake(t, `{"issuer":"{URL}","jwks_uri":"{URL}/keys","token_endpoint":"http://idp.example.com/token"}`, keys), "token_endpoint"},
		"no token endpoint":       {fake(t, `{"issuer":"{URL}","jwks_uri":"{URL}/keys"}`, keys), "no token_endpoint"},
		"keys that are none":      {fake(t, document, `<html>`), "not a key set"},
		"keys that are missing":   {fake(t, document, `{}`), "not a key set"},
		"no keys":                 {fake(t, document, `{"keys":[]}`), "no key that tokens"},
		"keys for something else": {fake(t, document, weak), "no key that tokens"},
		"too many keys":           {fake(t, document, `{"keys":[`+strings.Repeat("{},", 200)+`{}]}`), "more than 100 keys"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := Open(context.Background(), Config{OIDC: []OIDC{{Name: "corp", Issuer: c.url, Audience: []string{"x"}, Tenant: "acme", Relay: true}}})
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, `oidc "corp": issuer `+c.url)
			require.Nil(t, a)
			require.Less(t, len(err.Error()), 600)
		})
	}
	a := opened(t, Config{OIDC: []OIDC{{Name: "corp", Issuer: fake(t, document, keys), Audience: []string{"x"}, Tenant: "acme", Relay: true}}}, quickPace())
	require.Len(t, *a.ordered[0].source.keys.Load(), 1)
}

func TestKeysMayLieElsewhereThanDiscoverySays(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	o := corp(issuer)
	o.Issuer, o.JWKSURL = "https://idp.example.com", issuer.URL()+authntest.KeysPath
	a := opened(t, Config{OIDC: []OIDC{o}}, quickPace())
	require.Zero(t, issuer.Requests(authntest.DiscoveryPath))
	_, err := a.Authenticate(context.Background(), bearerOf(issuer.Mint(with(map[string]any{"iss": o.Issuer}))))
	require.NoError(t, err)
}

func TestEveryIssuerHasItsOwnUsers(t *testing.T) {
	one, two := authntest.New(t, authntest.Options{}), authntest.New(t, authntest.Options{})
	first, second := corp(one), corp(two)
	second.Name, second.TenantClaim, second.Tenant = "partner", "", "globex"
	a := opened(t, Config{OIDC: []OIDC{first, second}}, quickPace())
	p, err := a.Authenticate(context.Background(), bearerOf(one.Mint(with(nil))))
	require.NoError(t, err)
	require.Equal(t, "corp/alice", p.ID)
	p, err = a.Authenticate(context.Background(), bearerOf(two.Mint(with(nil))))
	require.NoError(t, err)
	require.Equal(t, "partner/alice", p.ID)
	require.Equal(t, "globex", p.Tenant)
}

func TestCredentialsAreTakenInOneOrder(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	c := Config{OIDC: []OIDC{corp(issuer)}, Keys: []Key{ci(t)}, Certificates: []Certificate{{Name: "etl", Tenant: "acme", DNSName: "etl"}}}
	a := opened(t, c, quickPace())
	ctx, token := context.Background(), issuer.Mint(with(nil))
	chain := []*x509.Certificate{{DNSNames: []string{"etl"}, NotAfter: time.Now().Add(time.Hour)}}
	for name, in := range map[string]struct {
		c  policy.Credentials
		id string
	}{
		"token":                       {policy.Credentials{Bearer: token}, "corp/alice"},
		"key as bearer":               {policy.Credentials{Bearer: ciKey}, "key/ci"},
		"key":                         {policy.Credentials{APIKey: ciKey}, "key/ci"},
		"certificate":                 {policy.Credentials{Certificates: chain}, "certificate/etl"},
		"token over certificate":      {policy.Credentials{Bearer: token, Certificates: chain}, "corp/alice"},
		"key over certificate":        {policy.Credentials{APIKey: ciKey, Certificates: chain}, "key/ci"},
		"bad token over certificate":  {policy.Credentials{Bearer: token + "x", Certificates: chain}, ""},
		"bad key over certificate":    {policy.Credentials{APIKey: ciKey + "x", Certificates: chain}, ""},
		"token and key":               {policy.Credentials{Bearer: token, APIKey: ciKey}, ""},
		"the same key twice":          {policy.Credentials{Bearer: ciKey, APIKey: ciKey}, ""},
		"malformed, with certificate": {policy.Credentials{Malformed: true, Certificates: chain}, ""},
		"token as key":                {policy.Credentials{APIKey: token}, ""},
		"nothing":                     {policy.Credentials{}, ""},
	} {
		p, err := a.Authenticate(ctx, &in.c)
		if in.id == "" {
			refused(t, err)
			require.Nil(t, p, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, in.id, p.ID, name)
	}

	c.Anonymous = &policy.Principal{ID: "anonymous", Tenant: "acme", Login: "anonymous"}
	a = opened(t, c, quickPace())
	p, err := a.Authenticate(ctx, &policy.Credentials{})
	require.NoError(t, err)
	require.Equal(t, "anonymous", p.ID)
	_, err = a.Authenticate(ctx, &policy.Credentials{Bearer: "not a key of anybody"})
	refused(t, err)
	_, err = a.Authenticate(ctx, &policy.Credentials{Malformed: true})
	refused(t, err)
}

func TestCountersGoOnWhenTheConfigurationIsReadAgain(t *testing.T) {
	reg := prometheus.NewRegistry()
	for n := range 3 {
		a, err := Open(context.Background(), Config{Keys: []Key{ci(t)}, Metrics: reg})
		require.NoError(t, err)
		_, err = a.Authenticate(context.Background(), bearerOf(ciKey))
		require.NoError(t, err)
		require.Equal(t, float64(n+1), testutil.ToFloat64(a.counters.logins.WithLabelValues("api_key", "accepted")))
		require.NoError(t, a.Close())
	}
	reg = prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "icefield_logins_total", Help: "Somebody else's."}))
	_, err := Open(context.Background(), Config{Keys: []Key{ci(t)}, Metrics: reg})
	require.ErrorContains(t, err, "icefield_logins_total")
}

func TestAFailedStartLeavesNothingRunning(t *testing.T) {
	good, gone := authntest.New(t, authntest.Options{}), authntest.New(t, authntest.Options{})
	second := corp(gone)
	second.Name = "partner"
	gone.Close()
	before := runtime.NumGoroutine()
	for range 5 {
		_, err := Open(context.Background(), Config{OIDC: []OIDC{corp(good), second}})
		require.ErrorContains(t, err, `oidc "partner"`)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+4 }, 10*time.Second, time.Millisecond, "connections end by themselves, and nothing else is left")
}

func TestTheErrorSaysNothingOfTheCause(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, quickPace())
	seen := map[string]bool{}
	for _, c := range []*policy.Credentials{{}, {Malformed: true}, bearerOf(issuer.Mint(with(map[string]any{"exp": 1}))), bearerOf("some key or other")} {
		_, err := a.Authenticate(context.Background(), c)
		e := mounts.AsError(err)
		e.Err = nil
		text, _ := json.Marshal(e)
		seen[string(text)] = true
	}
	require.Len(t, seen, 1)
}
