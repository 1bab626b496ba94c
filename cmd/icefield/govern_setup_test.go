package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/authn/authntest"
)

// realm is a whole server with an issuer, whose callers are known by their tokens:
// "acme-reader", "globex-admin", "operator" and so on. "" is nobody.
type realm struct {
	*server
	log    *journal
	dir    string
	issuer *authntest.Issuer
	tokens map[string]string
}

// The client that logs in at the token route of old clients.
const loginID, loginSecret = "spark", "a-secret-of-spark"

// newRealm starts a server with the mounts and blocks of text.
func newRealm(t testing.TB, text string) *realm { return newRealmIn(t, t.TempDir(), text) }

// newRealmIn is newRealm with the configuration's folder.
func newRealmIn(t testing.TB, dir, text string) *realm {
	t.Helper()
	r := &realm{dir: dir, tokens: map[string]string{"": ""}}
	r.issuer = authntest.New(t, authntest.Options{Clients: map[string]authntest.Client{
		loginID: {Secret: loginSecret, Claims: map[string]any{"tenant": "acme", "roles": []string{"reader"}}}}})
	text = fmt.Sprintf(`
auth {
  oidc "corp" {
    issuer         = %q
    audience       = ["icefield"]
    tenant_claim   = "tenant"
    roles_claim    = "roles"
    operator_roles = ["platform"]
  }
}
`, r.issuer.URL()) + text
	r.server, r.log = started(t, load(t, r.dir, text))
	claims := func(tenant, role string) map[string]any {
		return map[string]any{"sub": tenant + "-" + role, "tenant": tenant, "roles": []string{role}}
	}
	for _, tenant := range []string{"acme", "globex"} {
		for _, role := range []string{"reader", "writer", "admin"} {
			r.tokens[tenant+"-"+role] = r.issuer.Mint(claims(tenant, role))
		}
	}
	r.tokens["operator"] = r.issuer.Mint(map[string]any{"sub": "root", "roles": []string{"platform"}})
	// What looks like a login and is none.
	late := claims("acme", "admin")
	late["exp"], late["iat"] = time.Now().Add(-time.Hour).Unix(), time.Now().Add(-2*time.Hour).Unix()
	r.tokens["expired"] = r.issuer.Mint(late)
	other := claims("acme", "admin")
	other["aud"] = []string{"somebody-else"}
	r.tokens["wrong audience"] = r.issuer.Mint(other)
	return r
}

// said is one answer.
type said struct {
	status int
	header http.Header
	body   string
}

// wire is what tests ask with: no redirects, many connections kept.
var wire = &http.Client{ // read only
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ask asks as somebody. A path may hold any bytes: it is sent as it is.
func (r *realm) ask(t testing.TB, who, verb, path, body string, headers ...string) said {
	t.Helper()
	token, known := r.tokens[who]
	require.True(t, known, who)
	return sendTo(t, r.url(), token, verb, path, body, headers...)
}

func sendTo(t testing.TB, base, token, verb, path, body string, headers ...string) said {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), verb, base, content)
	require.NoError(t, err)
	raw, query, _ := strings.Cut(path, "?")
	req.URL.Opaque, req.URL.RawQuery = "//"+req.URL.Host+raw, query
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := wire.Do(req)
	require.NoError(t, err, "%s %s", verb, path)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return said{resp.StatusCode, resp.Header, string(text)}
}

// do is ask for what has to succeed.
func (r *realm) do(t testing.TB, who, verb, path, body string, headers ...string) string {
	t.Helper()
	a := r.ask(t, who, verb, path, body, headers...)
	require.Contains(t, []int{200, 204}, a.status, "%s %s as %s: %s", verb, path, who, a.body)
	return a.body
}

// bucket is an object store that holds the bucket "lake", and the token service in
// front of it.
func bucket(t testing.TB) (store, sts string) {
	t.Helper()
	t.Setenv("GOVERN_KEY_ID", "AKIAOFTHEMOUNT")
	t.Setenv("GOVERN_SECRET", "secret-of-the-mount")
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("lake"))
	objects := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(objects.Close)
	sessions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIAVENDED</AccessKeyId><SecretAccessKey>vended-secret</SecretAccessKey>`+
			`<SessionToken>vended-token</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	t.Cleanup(sessions.Close)
	return objects.URL, sessions.URL
}

// grantingText is a native mount in the bucket that hands out credentials and signs.
func grantingText(name, owner, store, sts string) string {
	return fmt.Sprintf(`
mount %q {
  backend            = "native"
  owner              = %q
  catalog_url        = "bolt://%s.db"
  warehouse_location = "s3://lake/%s"
  storage = {
    "s3.endpoint"          = %q
    "s3.region"            = "us-east-1"
    "s3.access-key-id"     = env("GOVERN_KEY_ID")
    "s3.secret-access-key" = env("GOVERN_SECRET")
  }
  signing = true
  vending "aws" {
    role_arn     = "arn:aws:iam::123456789012:role/lake"
    sts_endpoint = %q
  }
}
`, name, owner, name, name, store, sts)
}

// relayingText is a rest mount that lets everything pass.
func relayingText(name, owner, remote string) string {
	return strings.Replace(restText(name, remote, "  read_only = false"), `"acme"`, fmt.Sprintf("%q", owner), 1)
}

// between is the text between two others, unescaped from a JSON string.
func between(t testing.TB, text, before, after string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, before)
	require.True(t, ok, "%s in %s", before, text)
	value, _, ok := strings.Cut(rest, after)
	require.True(t, ok, "%s in %s", after, text)
	return value
}

func queryOf(s string) string { return url.QueryEscape(s) }

// pathDecoded is a path segment as it is meant; as it is, where it means nothing.
func pathDecoded(s string) string {
	if d, err := url.PathUnescape(s); err == nil && utf8.ValidString(d) {
		return d
	}
	return s
}
