package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/audit/audittest"
)

func TestEachCallerMayDoWhatItsRoleInItsTenantSays(t *testing.T) {
	s, log := started(t, load(t, t.TempDir(), authText("")+twoTenants()))
	assert.Contains(t, log.String(), "7 api_key")
	assert.NotContains(t, log.String(), "operator (anonymous principal)")
	url := s.url()
	must(t, url, "acme-admin", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	must(t, url, "acme-writer", "POST", "/v1/namespaces/prod%1Fshop/tables", createOrders)
	must(t, url, "globex-writer", "POST", "/v1/namespaces", `{"namespace":["scratch"]}`) // is globex's from now on
	const table, view = "/v1/namespaces/prod%1Fshop/tables/orders", "/v1/prod/namespaces/shop/tables/orders"
	for _, c := range []struct {
		who, method, path, body string
		status                  int
		says                    string
	}{
		{"", "GET", "/v1/config", "", 401, "NotAuthorizedException"},
		{"nobody", "GET", "/v1/config", "", 401, "NotAuthorizedException"},
		{"", "GET", "/health", "", 200, "alive"},
		{"", "GET", "/ready", "", 200, "authentication"},
		{"", "GET", "/metrics", "", 401, ""},
		{"acme-reader", "GET", table, "", 200, "metadata-location"},
		{"acme-reader", "GET", view, "", 200, "metadata-location"},
		{"acme-reader", "DELETE", table, "", 403, "ForbiddenException"},
		{"acme-writer", "DELETE", table, "", 403, "ForbiddenException"},
		{"acme-reader", "POST", "/v1/namespaces/prod%1Fshop/tables", createOrders, 403, "ForbiddenException"},
		{"globex-admin", "GET", table, "", 404, "NoSuchTableException"},
		{"globex-admin", "DELETE", table, "", 404, "NoSuchTableException"},
		{"globex-admin", "GET", view, "", 404, ""},
		{"globex-admin", "GET", "/v1/config?warehouse=prod", "", 404, "NoSuchWarehouseException"},
		{"acme-reader", "GET", "/v1/config?warehouse=prod", "", 200, `"prefix":"prod"`},
		{"acme-admin", "GET", "/v1/namespaces/scratch", "", 404, "NoSuchNamespaceException"},
		{"globex-reader", "GET", "/v1/namespaces/scratch", "", 200, "scratch"},
		{"acme-admin", "GET", "/metrics", "", 403, "ForbiddenException"},
		{"operator", "GET", "/metrics", "", 200, "icefield_mount_up"},
		{"operator", "GET", "/admin/v1/mounts", "", 200, `"lake"`},
		{"operator", "GET", "/admin/v1/policy", "", 200, `"builtin":true`},
		{"operator", "GET", "/admin/v1/audit", "", 200, `"none"`},
		{"operator", "GET", table, "", 200, "metadata-location"},
		{"acme-admin", "DELETE", table, "", 204, ""},
	} {
		status, text := as(t, url, c.who, c.method, c.path, c.body)
		assert.Equal(t, c.status, status, "%s %s as %q: %s", c.method, c.path, c.who, text)
		assert.Contains(t, text, c.says, "%s %s as %q", c.method, c.path, c.who)
	}
	// A listing shows what its caller may see, and nothing tells of the rest.
	assert.Equal(t, `{"namespaces":[["prod"]]}`, must(t, url, "acme-reader", "GET", "/v1/namespaces", ""))
	assert.Equal(t, `{"namespaces":[["lake"],["scratch"]]}`, must(t, url, "globex-reader", "GET", "/v1/namespaces", ""))
	_, ready := as(t, url, "", "GET", "/ready", "")
	assert.NotContains(t, ready, "prod")
	assert.NotContains(t, log.String(), "0123456789abcdef")
}

func TestAnonymousCallersAreWhoTheConfigurationSays(t *testing.T) {
	s, log := started(t, load(t, t.TempDir(), authText("  anonymous {\n    tenant = \"acme\"\n    roles  = [\"reader\"]\n  }\n")+twoTenants()))
	assert.Contains(t, log.String(), `anonymous as tenant`)
	assert.Equal(t, `{"namespaces":[["prod"]]}`, must(t, s.url(), "", "GET", "/v1/namespaces", ""))
	status, text := as(t, s.url(), "", "POST", "/v1/namespaces", `{"namespace":["prod","x"]}`)
	assert.Equal(t, 403, status, text)
	status, text = as(t, s.url(), "wrong", "GET", "/v1/namespaces", "")
	assert.Equal(t, 401, status, "a wrong key is taken for none: "+text)
	must(t, s.url(), "acme-writer", "POST", "/v1/namespaces", `{"namespace":["prod","x"]}`)
}

func TestAClientCertificateIsALogin(t *testing.T) {
	dir, ca, stranger := t.TempDir(), newAuthority(t), newAuthority(t)
	cert, key := ca.issue("server")
	putFiles(t, dir, map[string][]byte{"tls.crt": cert, "tls.key": key, "clients.crt": ca.pem})
	text := fmt.Sprintf(tlsServer, "    client_ca_file = \"clients.crt\"\n") + authText(`  certificate "etl" {
    tenant   = "acme"
    roles    = ["writer"]
    dns_name = "etl.acme.example"
  }
`)
	s, _ := started(t, load(t, dir, text+twoTenants()))
	client := func(by *authority, name string) *http.Client {
		cert, key := by.issue(name)
		pair, err := tls.X509KeyPair(cert, key)
		require.NoError(t, err)
		c, _ := trusting(t, []tls.Certificate{pair}, ca)
		return c
	}
	status, body := call(t, client(ca, "etl.acme.example"), "POST", s.url()+"/v1/namespaces", "", `{"namespace":["prod","x"]}`)
	assert.Equal(t, 200, status, body)
	status, body = call(t, client(ca, "other.acme.example"), "GET", s.url()+"/v1/namespaces", "", "")
	assert.Equal(t, 401, status, body)
	none, _ := trusting(t, nil, ca)
	status, body = call(t, none, "GET", s.url()+"/v1/namespaces", "", "")
	assert.Equal(t, 401, status, body)
	status, body = call(t, none, "GET", s.url()+"/v1/namespaces", keyOf("acme-reader"), "")
	assert.Equal(t, 200, status, body)
	_, err := client(stranger, "etl.acme.example").Get(s.url() + "/v1/namespaces")
	assert.Error(t, err, "a certificate of an authority that nobody named is taken")
}

func TestTheAuditTrailHoldsWhatWasDoneAndDenied(t *testing.T) {
	dir := t.TempDir()
	s, log := started(t, load(t, dir, "audit {\n  sink = \"file\"\n  path = \"audit.jsonl\"\n}\n"+authText("")+twoTenants()))
	must(t, s.url(), "acme-writer", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	status, _ := as(t, s.url(), "globex-admin", "DELETE", "/v1/namespaces/prod%1Fshop", "")
	assert.Equal(t, 404, status)
	as(t, s.url(), "nobody", "GET", "/v1/namespaces", "")
	require.NoError(t, os.Rename(filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "audit.old")))
	s.catalogs.reopen(t.Context())
	must(t, s.url(), "acme-writer", "POST", "/v1/namespaces", `{"namespace":["prod","more"]}`)
	require.NoError(t, s.close())
	before, err := os.ReadFile(filepath.Join(dir, "audit.old"))
	require.NoError(t, err)
	lines, torn, err := audittest.Read(filepath.Join(dir, "audit.jsonl"))
	require.NoError(t, err)
	assert.Zero(t, torn)
	require.NotEmpty(t, lines)
	all := string(before)
	for _, want := range []string{`"principal":"key/acme-writer"`, `"outcome":"permitted"`, `"outcome":"done"`, `"outcome":"denied"`, `"outcome":"refused"`, `"operation":"authenticate"`} {
		assert.Contains(t, all, want)
	}
	after, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	require.NoError(t, err)
	assert.Contains(t, string(after), "prod/more")
	assert.NotContains(t, all+string(after)+log.String(), "0123456789abcdef")
}

func TestAClientThatAsksTooOftenIsToldToWait(t *testing.T) {
	s, _ := started(t, load(t, t.TempDir(), "server {\n  listen = \"127.0.0.1:0\"\n  rate_limit {\n    requests_per_second = 0.01\n    burst = 3\n  }\n  trusted_proxies = [\"127.0.0.1\"]\n}\n"+twoTenants()))
	var statuses []int
	ask := func(from string) (int, string) {
		req, err := http.NewRequest("GET", s.url()+"/v1/config", nil)
		require.NoError(t, err)
		req.Header.Set("X-Forwarded-For", from)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, resp.Header.Get("Retry-After")
	}
	var wait string
	for range 4 {
		status, after := ask("192.0.2.1")
		statuses, wait = append(statuses, status), after
	}
	assert.Equal(t, []int{200, 200, 200, 429}, statuses)
	assert.NotEmpty(t, wait)
	status, _ := ask("192.0.2.2")
	assert.Equal(t, 200, status)
}

func TestCommandsLogIn(t *testing.T) {
	s, _ := started(t, load(t, t.TempDir(), authText("")+twoTenants()))
	t.Setenv("ICEFIELD_API_KEY", "")
	code, _, stderr := cli(t, "mounts", "--url", s.url())
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "401")
	assert.Contains(t, stderr, "ICEFIELD_API_KEY")
	t.Setenv("ICEFIELD_API_KEY", keyOf("acme-reader"))
	code, _, stderr = cli(t, "jobs", "--url", s.url())
	assert.Equal(t, exitFailed, code, "a reader may inspect nothing")
	assert.Contains(t, stderr, "operators")
	t.Setenv("OTHER", keyOf("operator"))
	code, stdout, stderr := cli(t, "mounts", "--url", s.url(), "--api-key-env", "OTHER")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "globex")
	t.Setenv("ICEFIELD_API_KEY", "not-a-key-of-this-server")
	_, _, stderr = cli(t, "mounts", "--url", s.url())
	assert.Contains(t, stderr, "not, or no longer, one that the server knows")
	assert.NotContains(t, stderr, "not-a-key-of-this-server")
	_, _, stderr = cli(t, "mounts", "--url", "http://192.0.2.1:1")
	assert.Contains(t, stderr, "use https")
	_, _, stderr = cli(t, "mounts", "--url", s.url(), "--api-key-env", "ICEFIELD_TEST_UNSET")
	assert.Contains(t, stderr, "ICEFIELD_TEST_UNSET is not set")

	dir, ca := t.TempDir(), newAuthority(t)
	cert, key := ca.issue("server")
	putFiles(t, dir, map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.pem": ca.pem})
	secure, _ := started(t, load(t, dir, fmt.Sprintf(tlsServer, "")+authText("")+twoTenants()))
	t.Setenv("ICEFIELD_API_KEY", keyOf("operator"))
	_, _, stderr = cli(t, "mounts", "--url", secure.url())
	assert.Contains(t, stderr, "--ca-file")
	code, stdout, stderr = cli(t, "mounts", "--url", secure.url(), "--ca-file", filepath.Join(dir, "ca.pem"))
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "prod")
}
