package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/authn/authntest"
)

// estate is a configuration with a secret in every key that can hold one.
type estate struct {
	*plants
	*hostile
	dir, path string
	issuer    *authntest.Issuer
	ca        *authority
	// mounts are the names of those that it has.
	mounts []string
	stores int // so many of them are registries, with stores
	text   string
}

func newEstate(t *testing.T) *estate {
	e := &estate{plants: &plants{t: t, values: map[string]string{}}, dir: t.TempDir(), ca: newAuthority(t)}
	e.path = filepath.Join(e.dir, "icefield.hcl")
	e.hostile = newHostile(t, e.of("token of a service"))
	e.issuer = authntest.New(t, authntest.Options{Clients: map[string]authntest.Client{"spark": {Secret: e.of("client at the issuer"),
		Claims: map[string]any{"tenant": "acme", "roles": []string{"reader"}}}}})
	cert, key := e.ca.issue("server")
	e.values["tls key"] = strings.Split(string(key), "\n")[1]
	putFiles(t, e.dir, map[string][]byte{"tls.crt": cert, "tls.key": key})
	// Azure's login goes where this says; nobody trusts what is there.
	t.Setenv("AZURE_AUTHORITY_HOST", "https://"+e.listenTLS())
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	e.text = e.server() + e.logins() + e.natives() + e.remotes()
	require.NoError(t, os.WriteFile(e.path, []byte(e.text), 0o600))
	return e
}

func (e *estate) server() string {
	return fmt.Sprintf(`
server {
  listen     = "127.0.0.1:0"
  secret_env = %q
  request_timeout = "1s"
  tls {
    cert_file = "tls.crt"
    key_file  = "tls.key"
  }
  login_lockout {
    failures = 10000
    window   = "1m"
  }
}
audit {
  sink = "file"
  path = "audit.jsonl"
}
`, e.env("server secret"))
}

func (e *estate) logins() string {
	known := sha256.Sum256([]byte(e.of("api key hashed")))
	e.values["api key hash"] = fmt.Sprintf("%x", known)
	return fmt.Sprintf(`
auth {
  oidc "corp" {
    issuer       = %q
    audience     = ["icefield"]
    tenant_claim = "tenant"
    roles_claim  = "roles"
  }
  api_key "one" {
    tenant  = "acme"
    roles   = ["admin"]
    key_env = %q
  }
  api_key "two" {
    tenant   = "acme"
    roles    = ["reader"]
    key_file = %q
  }
  api_key "three" {
    operator = true
    hash     = "sha256:%x"
  }
}
`, e.issuer.URL(), e.env("api key env"), e.file(e.dir, "api key file"), known)
}

// native is a native mount on a store, with more keys.
func (e *estate) native(name, warehouse, more string) string {
	e.mounts = append(e.mounts, name)
	return fmt.Sprintf("\nmount %q {\n  backend = \"native\"\n  owner = \"acme\"\n  required = false\n  timeout {\n    request = \"300ms\"\n  }\n  catalog_url = \"bolt://%s.db\"\n  warehouse_location = %q\n%s}\n", name, name, warehouse, more)
}

func (e *estate) natives() string {
	store, sts := e.URL+"/store", e.URL+"/sts"
	google := e.googleKey("gcs json key", e.URL+"/token/google")
	files := map[string][]byte{"google.json": e.googleKey("gcs key file", e.URL+"/token/google"), "vend.json": e.googleKey("gcs credentials", e.URL+"/token/google")}
	putFiles(e.t, e.dir, files)
	pg := "postgres://icefield:" + strings.NewReplacer("+", "%2B", "/", "%2F").Replace(e.of("database password")) +
		"@127.0.0.1:1/lake?sslmode=disable&sslpassword=" + strings.NewReplacer("+", "%2B", "/", "%2F").Replace(e.of("database key password"))
	proxy := strings.Replace(e.URL, "http://", "http://user:"+strings.NewReplacer("+", "%2B", "/", "%2F").Replace(e.of("s3 proxy"))+"@", 1)
	account := strings.NewReplacer("+", "%2B", "/", "%2F").Replace(e.of("adls sas"))
	connection := "DefaultEndpointsProtocol=https;AccountName=lake;AccountKey=" + e.of("adls connection") + "w=="
	keys := fmt.Sprintf(`    "s3.endpoint" = %q
    "s3.region" = "us-east-1"
    "s3.access-key-id" = env(%q)
    "s3.secret-access-key" = env(%q)
`, store, e.variable("s3 key id", e.plain("s3 key id")), e.env("s3 key"))
	session := fmt.Sprintf("    \"s3.session-token\" = env(%q)\n", e.env("s3 session"))
	text := e.native("lake", "s3://lake/lake", "  storage = {\n"+keys+session+"  }\n  signing = true\n"+fmt.Sprintf(`  vending "aws" {
    role_arn = "arn:aws:iam::123456789012:role/lake"
    sts_endpoint = %q
    external_id_env = %q
    access_key_id_env = %q
    secret_access_key_env = %q
    session_token_env = %q
  }
`, sts, e.env("aws external id"), e.variable("aws key id", e.plain("aws key id")), e.env("aws key"), e.env("aws session")))
	text += e.native("proxied", "s3://lake/proxied", "  storage = {\n"+keys+fmt.Sprintf("    \"s3.proxy-uri\" = env(%q)\n  }\n", e.variable("s3 proxy", proxy)))
	text += e.native("google", "gs://bucket/google", fmt.Sprintf(`  storage = {
    "gcs.endpoint" = %q
    "gcs.jsonkey" = env(%q)
  }
  vending "gcs" {
    credentials_file = "vend.json"
    sts_endpoint = %q
  }
`, store+"/", e.variable("gcs json key", string(google)), sts))
	text += e.native("google2", "gs://bucket/google2", fmt.Sprintf("  storage = {\n    \"gcs.endpoint\" = %q\n    \"gcs.keypath\" = \"google.json\"\n  }\n", store+"/"))
	text += e.native("google3", "gs://bucket/google3", fmt.Sprintf("  storage = {\n    \"gcs.endpoint\" = %q\n    \"gcs.oauth2.token\" = env(%q)\n  }\n", store+"/", e.env("gcs token")))
	azure := func(name, more string) string {
		return e.native(name, "abfss://container@lake.dfs.core.windows.net/"+name, "  storage = {\n    \"adls.endpoint\" = "+fmt.Sprintf("%q", e.URL+"/store/azure")+"\n"+more)
	}
	text += azure("azure", fmt.Sprintf(`    "adls.auth.shared-key.account.name" = "lake"
    "adls.auth.shared-key.account.key" = env(%q)
  }
  vending "azure" {
    tenant_id = "00000000-0000-0000-0000-000000000001"
    client_id = "00000000-0000-0000-0000-000000000002"
    client_secret_env = %q
  }
`, e.variable("adls key", e.of("adls key")+"w=="), e.env("azure client")))
	text += azure("azure2", fmt.Sprintf("    \"adls.sas-token.lake\" = env(%q)\n  }\n", e.variable("adls sas", "sv=2022-11-02&ss=b&sig="+account)))
	text += azure("azure3", fmt.Sprintf("    \"adls.connection-string.lake\" = env(%q)\n  }\n", e.variable("adls connection", connection)))
	e.mounts = append(e.mounts, "pg")
	e.stores = len(e.mounts)
	return text + fmt.Sprintf("\nmount \"pg\" {\n  backend = \"native\"\n  owner = \"acme\"\n  required = false\n  timeout {\n    request = \"300ms\"\n  }\n  catalog_url = env(%q)\n  warehouse_location = \"pg\"\n}\n", e.variable("database password", pg))
}

func (e *estate) remotes() string {
	var text string
	remote := func(name, more string) {
		e.mounts = append(e.mounts, name)
		text += fmt.Sprintf("\nmount %q {\n  backend = \"rest\"\n  owner = \"acme\"\n  required = false\n  read_only = false\n  catalog_url = %q\n  breaker {\n    failures = 10000\n  }\n  timeout {\n    request = \"300ms\"\n  }\n%s}\n", name, e.URL+"/"+name, more)
	}
	auth := func(kind, format string, args ...any) string {
		return fmt.Sprintf("  auth %q {\n%s  }\n", kind, fmt.Sprintf(format, args...))
	}
	remote("short", fmt.Sprintf("  token_env = %q\n  headers = { \"Polaris-Realm\" = env(%q) }\n", e.env("token env in short"), e.env("header")))
	remote("bearer1", auth("bearer", "    token_env = %q\n", e.env("bearer env")))
	remote("bearer2", auth("bearer", "    token_file = %q\n", e.file(e.dir, "bearer file")))
	remote("oauth1", auth("oauth2", "    token_url = %q\n    client_id = \"icefield\"\n    client_secret_env = %q\n", e.URL+"/token/o1", e.env("oauth2 env")))
	remote("oauth2", auth("oauth2", "    token_url = %q\n    client_id = \"icefield\"\n    basic = true\n    client_secret_file = %q\n", e.URL+"/token/o2", e.file(e.dir, "oauth2 file")))
	remote("swap1", auth("exchange", "    token_url = %q\n    client_id = \"icefield\"\n    client_secret_env = %q\n", e.URL+"/token/x1", e.env("exchange env")))
	remote("swap2", auth("exchange", "    token_url = %q\n    client_id = \"icefield\"\n    basic = true\n    client_secret_file = %q\n", e.URL+"/token/x2", e.file(e.dir, "exchange file")))
	keys := fmt.Sprintf("    service = \"glue\"\n    region = \"us-east-1\"\n    access_key_id_env = %q\n    secret_access_key_env = %q\n    session_token_env = %q\n",
		e.variable("sigv4 key id", e.plain("sigv4 key id")), e.env("sigv4 key"), e.env("sigv4 session"))
	remote("signed1", auth("sigv4", "%s", keys))
	remote("signed2", auth("sigv4", "%s    role_arn = \"arn:aws:iam::123456789012:role/lake\"\n    external_id_env = %q\n    sts_endpoint = %q\n", keys, e.env("sigv4 external id"), e.URL+"/sts"))
	remote("through", auth("passthrough", ""))
	return text
}

// listenTLS is another server, whose certificate nobody trusts.
func (e *estate) listenTLS() string {
	other := newTLSServer(e.t, e.hostile)
	return strings.TrimPrefix(other, "https://")
}

// requests are what is asked of each mount, right and wrong.
func requests(mount string) [][3]string {
	ns, table := "/v1/"+mount+"/namespaces", "/v1/"+mount+"/namespaces/a/tables/t"
	return [][3]string{
		{"GET", "/v1/config?warehouse=" + mount, ""},
		{"GET", ns, ""},
		{"POST", ns, `{"namespace":["a"]}`},
		{"GET", ns + "/a", ""},
		{"POST", ns + "/a/properties", `{"updates":{"a":"b"}}`},
		{"GET", ns + "/a/tables", ""},
		{"POST", ns + "/a/tables", strings.Replace(createOrders, "orders", "t", 1)},
		{"POST", ns + "/a/tables", `{"name":`},
		{"POST", ns + "/a/register", `{"name":"r","metadata-location":"s3://lake/x.metadata.json"}`},
		{"GET", table, ""},
		{"HEAD", table, ""},
		{"POST", table, setProperty},
		{"GET", table + "/credentials", ""},
		{"POST", table + "/sign", `{"region":"us-east-1","method":"GET","uri":"https://b.s3.amazonaws.com/t/x","headers":{}}`},
		{"POST", table + "/plan", `{}`},
		{"DELETE", table, ""},
	}
}

// Secrets are planted in every key that can hold one, the server is brought into
// every trouble that others can make, and nothing that anybody reads has one.
func TestNoSecretOfTheConfigurationIsEverTold(t *testing.T) {
	e := newEstate(t)
	for place, row := range keyRows() {
		for key, names := range row.secret {
			for _, name := range names {
				require.Contains(t, e.values, name, "%s: nothing is planted for %s", place, key)
			}
		}
	}
	for scheme, row := range storageRows() {
		for key, names := range row.secret {
			for _, name := range names {
				require.Contains(t, e.values, name, "%s: nothing is planted for %s", scheme, key)
			}
		}
	}
	found := &evidence{texts: map[string]*strings.Builder{}}
	command := func(name string, args ...string) {
		code, stdout, stderr := cli(t, args...)
		found.add("command "+name, fmt.Sprintf("%d %s %s", code, stdout, stderr))
	}
	command("check", "check", e.path)
	command("check --connect, well", "check", "--connect", e.path)

	log := &journal{}
	from := newOrigin(e.path)
	cfg, report := from.read()
	var said strings.Builder
	require.NoError(t, report.WriteText(&said))
	require.False(t, report.HasErrors(), said.String())
	s, err := startServer(cfg, slog.New(discreet{slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})}))
	require.NoError(t, err)
	closed := false
	defer func() {
		if !closed {
			_ = s.close()
		}
	}()
	require.NoError(t, s.open(t.Context()))
	client, _ := trusting(t, nil, e.ca)
	token := e.issuer.Mint(map[string]any{"sub": "alice", "tenant": "acme", "roles": []string{"admin"}})
	e.values["a caller's token"] = token[strings.LastIndex(token, ".")+1:]
	callers := map[string][2]string{
		"nobody": {}, "admin": {"X-Api-Key", e.of("api key env")}, "reader": {"Authorization", "Bearer " + e.of("api key file")},
		"operator": {"X-Api-Key", e.of("api key hashed")}, "alice": {"Authorization", "Bearer " + token},
		"somebody": {"X-Api-Key", e.of("no key of anybody")}, "impostor": {"Authorization", "Bearer " + token + "x"},
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	ask := func(where, who, method, path, body string, headers ...string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, s.url()+path, strings.NewReader(body))
		if !assert.NoError(t, err) {
			return ""
		}
		if h := callers[who]; h[0] != "" {
			req.Header.Set(h[0], h[1])
		}
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := client.Do(req)
		if !assert.NoError(t, err, "%s %s", method, path) {
			return ""
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		assert.NoError(t, err)
		var head bytes.Buffer
		assert.NoError(t, resp.Header.Write(&head))
		mu.Lock()
		statuses[resp.StatusCode]++
		mu.Unlock()
		found.add(where, fmt.Sprintf("%s %s: %d %s %s", method, strings.Split(path, "?")[0], resp.StatusCode, head.String(), text))
		return string(text)
	}
	look := func(mood string) {
		for _, who := range []string{"operator", "admin", "nobody"} {
			for _, path := range []string{"/ready", "/health", "/admin/v1/mounts", "/admin/v1/policy", "/admin/v1/audit", "/admin/v1/jobs?mount=lake", "/v1/config"} {
				ask("status pages, "+mood, who, "GET", path, "")
			}
		}
	}
	metrics := func() { ask("metrics", "operator", "GET", "/metrics", "") }
	// The exceptions: what is asked for with this header is access to storage, and
	// this route gives the caller's own key back, or a token of its own.
	const access, tokens = "access to storage that was permitted", "the token route"
	for i, mood := range moods {
		e.mood.Store(int32(i))
		var asking sync.WaitGroup
		for n, mount := range e.mounts {
			// The libraries of the stores try for long, whatever the reason.
			if n < e.stores && !slices.Contains([]string{"well", "spec 403", "not json"}, mood) {
				continue
			}
			asking.Go(func() {
				for _, r := range requests(mount) {
					where := "answers, " + mood
					if strings.HasSuffix(r[1], "/credentials") {
						where = access
					}
					ask(where, "alice", r[0], r[1], r[2])
				}
				ask(access, "alice", "GET", "/v1/"+mount+"/namespaces/a/tables/t", "", "X-Iceberg-Access-Delegation", "vended-credentials")
				ask("answers, "+mood, "admin", "GET", "/v1/"+mount+"/namespaces/a", "")
				ask("answers, "+mood, "reader", "POST", "/v1/"+mount+"/namespaces", `{"namespace":["b"]}`)
				ask("answers, "+mood, "somebody", "GET", "/v1/"+mount+"/namespaces", "")
			})
		}
		asking.Wait()
		look(mood)
		metrics()
	}
	t.Run("tokens", func(t *testing.T) {
		form := func(id, secret string) string {
			return "grant_type=client_credentials&client_id=" + id + "&client_secret=" + queryOf(secret)
		}
		const kind, value = "Content-Type", "application/x-www-form-urlencoded"
		assert.Contains(t, ask(tokens, "nobody", "POST", "/v1/oauth/tokens", form("one", e.of("api key env")), kind, value), "access_token")
		assert.Contains(t, ask(tokens, "nobody", "POST", "/v1/oauth/tokens", form("spark", e.of("client at the issuer")), kind, value), "access_token")
		ask("answers, tokens", "nobody", "POST", "/v1/oauth/tokens", form("spark", e.of("no secret of anybody")), kind, value)
		ask("answers, tokens", "nobody", "POST", "/v1/oauth/tokens?client_secret="+queryOf(e.of("client at the issuer")), "", kind, value)
		e.issuer.Fault(func(w http.ResponseWriter, r *http.Request) bool { e.ServeHTTP(w, r); return true })
		for _, mood := range []string{"spec 400", "401", "html 502", "not json"} {
			e.mood.Store(int32(slices.Index(moods, mood)))
			ask("answers, tokens", "nobody", "POST", "/v1/oauth/tokens", form("spark", e.of("client at the issuer")), kind, value)
			ask("answers, tokens", "impostor", "GET", "/v1/config", "")
		}
		e.issuer.Fault(nil)
	})
	e.mood.Store(0)
	t.Run("reloads", func(t *testing.T) {
		r := newReloader(s, from.read)
		for name, mistake := range e.mistakes() {
			require.NoError(t, os.WriteFile(e.path, []byte(mistake), 0o600))
			_, report := newOrigin(e.path).read()
			require.True(t, report.HasErrors(), name)
			command("check of a mistake: "+name, "check", e.path)
			command("check of a mistake: "+name, "check", "-o", "json", e.path)
			r.reload(t.Context())
			look("mistake: " + name)
		}
		require.NoError(t, os.WriteFile(e.path, []byte(strings.Replace(e.text, `roles   = ["admin"]`, `roles   = ["admin", "x"]`, 1)), 0o600))
		r.reload(t.Context())
		look("reloaded")
		metrics()
	})
	e.mood.Store(int32(slices.Index(moods, "spec 403")))
	command("check --connect, refused", "check", "--connect", e.path)
	t.Setenv("ICEFIELD_API_KEY", e.of("api key hashed"))
	ca := filepath.Join(e.dir, "ca.pem")
	require.NoError(t, os.WriteFile(ca, e.ca.pem, 0o600))
	for _, key := range []string{"api key hashed", "api key env", "no key of anybody"} {
		t.Setenv("ICEFIELD_API_KEY", e.of(key))
		command("mounts", "mounts", "--url", s.url(), "--ca-file", ca)
		command("mounts", "mounts", "-o", "json", "--url", s.url(), "--ca-file", ca)
		command("jobs", "jobs", "--url", s.url(), "--ca-file", ca)
	}
	command("policy check", "policy", "check", e.path)
	command("policy explain", "policy", "explain", "--config", e.path, "--principal", "key/one", "--tenant", "acme", "--role", "admin", "--action", "loadTable", "--resource", "lake.a.t")
	command("migrate", "migrate", "--from", "env:PLANT_DATABASE_PASSWORD", "--to", "bolt://"+filepath.Join(e.dir, "moved.db"))
	command("migrate", "migrate", "status", "env:PLANT_DATABASE_PASSWORD")

	closed = true
	require.NoError(t, s.close())
	found.add("log", log.String())
	trail, err := os.ReadFile(filepath.Join(e.dir, "audit.jsonl"))
	require.NoError(t, err)
	found.add("audit trail", string(trail))

	assert.Greater(t, len(statuses), 8, "the troubles were few: %v", statuses)
	for _, where := range []string{"log", "audit trail", "command check", "status pages, well", access, tokens} {
		assert.Contains(t, found.texts, where)
	}
	leaks := found.leaks(e.plants, func(where, plant string) bool {
		switch where {
		case access: // keys of the store, which were minted for the caller; never those of the server
			return plant == "token of a service"
		case tokens: // who sent the key has it
			return plant == "api key env"
		case "audit trail": // as whom a remote was called is a field of it, and the id of a key is no secret
			return plant == "sigv4 key id"
		}
		return false
	})
	assert.Empty(t, leaks, "%d leaks", len(leaks))
	total := 0
	for _, text := range found.texts {
		total += text.Len()
	}
	t.Logf("%d plants, %d texts of %d bytes, statuses %v", len(e.values), len(found.texts), total, statuses)
}

// mistakes are configurations that are refused, with a secret where it would be
// shown: in the line that the report quotes.
func (e *estate) mistakes() map[string]string {
	swap := func(old, text string) string {
		require.Contains(e.t, e.text, old)
		return strings.Replace(e.text, old, text, 1)
	}
	secret := e.of("bearer env")
	all := map[string]string{
		"a token in place of its variable":  swap(`token_env = "PLANT_BEARER_ENV"`, fmt.Sprintf("token_env = %q", secret)),
		"a token that is not named":         swap(`token_env = "PLANT_BEARER_ENV"`, fmt.Sprintf("token = %q", secret)),
		"a client secret that is not named": swap(`client_secret_env = "PLANT_OAUTH2_ENV"`, fmt.Sprintf("client_secret = %q", e.of("oauth2 env"))),
		"a key in place of its hash":        swap("hash     = \"sha256:"+e.values["api key hash"], fmt.Sprintf("hash = \"%s", e.of("api key env"))),
		"a key in a storage property":       swap(`"s3.secret-access-key" = env("PLANT_S3_KEY")`, fmt.Sprintf(`"s3.secret-access-key" = %q`, e.of("s3 key"))),
		"a password in the URL":             swap(`catalog_url = env("PLANT_DATABASE_PASSWORD")`, fmt.Sprintf(`catalog_url = "postgres://u:%s@127.0.0.1:1/d"`, e.of("database password"))),
		"a password in a remote's URL":      swap(`catalog_url = "`+e.URL+`/bearer1"`, fmt.Sprintf(`catalog_url = "http://u:%s@127.0.0.1:1/d"`, secret)),
		"a header that logs in":             swap(`headers = { "Polaris-Realm" = env("PLANT_HEADER") }`, fmt.Sprintf(`headers = { "Authorization" = "Bearer %s" }`, e.of("header"))),
		"a header that a variable breaks":   swap(`"Polaris-Realm" = env("PLANT_HEADER")`, `"Host" = env("PLANT_HEADER")`),
		"a syntax error after a secret":     swap(`token_env = "PLANT_BEARER_ENV"`, fmt.Sprintf("token_env = %q }}", secret)),
		"a secret for a number":             swap("failures = 10000\n    window", fmt.Sprintf("failures = env(%q)\n    window", "PLANT_SERVER_SECRET")),
		"a secret for a duration":           swap(`window   = "1m"`, `window = env("PLANT_SERVER_SECRET")`),
		"a secret for an address":           swap(`listen     = "127.0.0.1:0"`, `listen = env("PLANT_SERVER_SECRET")`),
		"a secret for a sink":               swap(`sink = "file"`, `sink = env("PLANT_SERVER_SECRET")`),
		"a certificate for a key":           swap(`key_file  = "tls.key"`, `key_file = file("tls.key")`),
		"a secret for a role":               swap(`role_arn = "arn:aws:iam::123456789012:role/lake"`, `role_arn = env("PLANT_AWS_KEY")`),
		"a secret for a URL":                swap(`sts_endpoint = "`, `sts_endpoint = env("PLANT_AWS_KEY") #`),
		"a key that is too short":           swap(`key_env = "PLANT_API_KEY_ENV"`, fmt.Sprintf("key_env = %q", e.variable("short", e.of("api key env")[:10]))),
	}
	return all
}
