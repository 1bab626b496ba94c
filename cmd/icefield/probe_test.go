package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
)

// accepted checks that a block is one that a configuration can hold as it is.
func accepted(t *testing.T, what, block string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "icefield.hcl")
	text := "server {\n  listen = \"127.0.0.1:0\"\n}\n" + block
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	for _, name := range regexp.MustCompile(`(?:token|client_secret)_env\s*=\s*"([^"]+)"`).FindAllStringSubmatch(block, -1) {
		if os.Getenv(name[1]) == "" {
			t.Setenv(name[1], "some-secret-of-its-own")
		}
	}
	code, stdout, stderr := cli(t, "check", path)
	require.Equal(t, exitOK, code, "%s: %s\n%s\n%s", what, stdout, stderr, block)
}

func TestProbeWritesAMountThatCheckAccepts(t *testing.T) {
	srv := remote.New(t, remote.Options{Base: "/api/catalog", Warehouse: "sales"})
	srv.AddTable([]string{"shared"}, "orders")
	srv.Tune(func(q *remote.Quirks) { q.Prefix, q.OneLevel, q.KeyLifetime = "sales", 400, json.RawMessage(`"PT30M"`) })
	bare := strings.TrimSuffix(srv.URL, "/api/catalog")
	for name, args := range map[string][]string{
		"its URL":            {srv.URL, "--warehouse", "sales"},
		"a URL with version": {srv.URL + "/v1/", "--warehouse", "sales"},
		"no path":            {bare, "--warehouse", "sales"},
	} {
		code, stdout, stderr := cli(t, append([]string{"mounts", "probe"}, args...)...)
		require.Equal(t, exitOK, code, "%s: %s", name, stderr)
		assert.Contains(t, stdout, `mount "sales" {`, name)
		assert.Regexp(t, `profile\s*= "polaris"`, stdout, name)
		assert.Contains(t, stdout, `= "`+srv.URL+`"`, name)
		assert.Regexp(t, `namespace_levels\s*= 1\b`, stdout, name)
		assert.Contains(t, stdout, "Idempotency-Key for 30m0s", name)
		assert.Contains(t, stdout, "TO DO: owner", name)
		accepted(t, name, stdout)
	}
	for _, r := range srv.Requests() {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			t.Errorf("the probe sent %s %s", r.Method, r.Path)
		}
	}
}

func TestProbeWritesJSON(t *testing.T) {
	srv := remote.New(t, remote.Options{Warehouse: "sales"})
	code, stdout, stderr := cli(t, "mounts", "probe", srv.URL, "--output", "json", "--warehouse", "sales", "--name", "partner")
	require.Equal(t, exitOK, code, stderr)
	var said struct {
		Mount string
		HCL   string   `json:"hcl"`
		ToDo  []string `json:"to_do"`
		Found rest.Found
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &said))
	assert.Equal(t, "partner", said.Mount)
	assert.True(t, said.Found.Open)
	assert.Equal(t, srv.URL, said.Found.URL)
	assert.NotEmpty(t, said.Found.Endpoints)
	assert.Len(t, said.ToDo, strings.Count(said.HCL, "TO DO:"))
	accepted(t, "json", said.HCL)
}

func TestProbeOfEveryPresetIsAccepted(t *testing.T) {
	srv := remote.New(t, remote.Options{Base: "/somewhere"})
	for _, p := range rest.Profiles() {
		code, stdout, stderr := cli(t, "mounts", "probe", srv.URL, "--profile", p.Name)
		require.Equal(t, exitOK, code, "%s: %s", p.Name, stderr)
		assert.Contains(t, stdout, `"`+p.Name+`"`)
		accepted(t, p.Name, stdout)
	}
	t.Setenv("PROBE_TOKEN", "token-of-the-probe")
	srv.Tune(func(q *remote.Quirks) { q.Bearer = "token-of-the-probe" })
	for _, p := range rest.Profiles() {
		code, stdout, stderr := cli(t, "mounts", "probe", srv.URL, "--profile", p.Name)
		require.Equal(t, exitOK, code, "%s: %s", p.Name, stderr)
		assert.Contains(t, stdout, "wants a login", p.Name)
		assert.Contains(t, stdout, "auth \"", p.Name)
		accepted(t, p.Name+", locked", stdout)

		code, stdout, stderr = cli(t, "mounts", "probe", srv.URL, "--profile", p.Name, "--token-env", "PROBE_TOKEN")
		require.Equal(t, exitOK, code, "%s: %s", p.Name, stderr)
		assert.Contains(t, stdout, `"PROBE_TOKEN"`, p.Name)
		assert.NotContains(t, stdout+stderr, "token-of-the-probe", p.Name)
		accepted(t, p.Name+", with a token", stdout)
	}
}

// The sentences for clients leave the cause out; whoever probes is after it.
func TestProbeSaysWhyThereIsNothing(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }))
	defer page.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for address, cause := range map[string]string{secure.URL: "x509: ", page.URL: "its configuration: not JSON", gone.URL: "connection refused"} {
		code, stdout, stderr := cli(t, "mounts", "probe", address+"/catalog")
		assert.Equal(t, exitFailed, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, cause)
	}
}

func TestProbeSaysThatItsTokenIsRefused(t *testing.T) {
	srv := remote.New(t, remote.Options{Base: "/somewhere"})
	srv.Tune(func(q *remote.Quirks) { q.Bearer = "token-of-somebody" })
	t.Setenv("PROBE_TOKEN", "token-of-the-probe")
	code, stdout, stderr := cli(t, "mounts", "probe", srv.URL, "--token-env", "PROBE_TOKEN")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "does not accept the token in PROBE_TOKEN")
	assert.NotContains(t, stdout, "give --token-env")
	assert.NotContains(t, stdout+stderr, "token-of-the-probe")
}

func TestProbeGuessesTheVendorFromWhatItSays(t *testing.T) {
	for name, c := range map[string]struct {
		base, config, server, want string
	}{
		"nessie, by its keys":      {"/iceberg/main", `{"defaults":{},"overrides":{"prefix":"main%7Clake","nessie.is-nessie-catalog":"true"}}`, "", "nessie"},
		"nessie, by its prefix":    {"/iceberg", `{"defaults":{},"overrides":{"prefix":"main|lake"}}`, "", "nessie"},
		"lakekeeper, by its path":  {"/catalog", `{"defaults":{},"overrides":{"prefix":"0190a1b2-0000-7000-8000-000000000001"}}`, "", "lakekeeper"},
		"lakekeeper, by a UUID":    {"/x", `{"defaults":{},"overrides":{"prefix":"0190a1b2-0000-7000-8000-000000000001"}}`, "", "lakekeeper"},
		"unity, by its prefix":     {"/x", `{"defaults":{},"overrides":{"prefix":"catalogs/main"}}`, "", "unity"},
		"unity, by its server":     {"/x", `{"defaults":{},"overrides":{}}`, "databricks", "unity"},
		"unity, the open one":      {"/api/2.1/unity-catalog/iceberg", `{"defaults":{},"overrides":{}}`, "", "unity"},
		"polaris, by its list":     {"/x", `{"defaults":{},"overrides":{},"endpoints":["GET /v1/{prefix}/namespaces","GET /polaris/v1/{prefix}/policies"]}`, "", "polaris"},
		"s3tables, behind a proxy": {"/x", `{"defaults":{},"overrides":{"prefix":"arn%3Aaws%3As3tables%3Aeu-west-1%3A1%3Abucket%2Flake"}}`, "", "s3tables"},
		"oss-tables, likewise":     {"/x", `{"defaults":{},"overrides":{"prefix":"acs%3Aosstables%3Acn-hangzhou%3A1%3Abucket%2Flake"}}`, "", "oss-tables"},
		"nobody's":                 {"/iceberg", `{"defaults":{},"overrides":{}}`, "", ""},
		"biglake, by its path":     {"/iceberg/v1/restcatalog", `{"overrides":{"prefix":"projects/p/catalogs/c"}}`, "", "biglake"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if c.server != "" {
				w.Header().Set("Server", c.server)
			}
			switch r.URL.Path {
			case c.base + "/v1/config":
				_, _ = w.Write([]byte(c.config))
			default:
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`{"message":"no such thing"}`))
			}
		}))
		code, stdout, stderr := cli(t, "mounts", "probe", srv.URL+c.base)
		srv.Close()
		require.Equal(t, exitOK, code, "%s: %s", name, stderr)
		if c.want == "" {
			assert.NotRegexp(t, `(?m)^\s*profile\b`, stdout, name)
		} else {
			assert.Regexp(t, `profile\s*= "`+c.want+`"`, stdout, name)
		}
		accepted(t, name, stdout)
	}
}

func TestProbeOfAHostileCatalogWritesNoSettingOfItsOwn(t *testing.T) {
	evil := "x\"\n}\nmount \"evil\" {\n  backend = \"rest\"\n}\n# \u2028${env(\"HOME\")} %{if true}\x1b[31m"
	text, err := json.Marshal(map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{
		"prefix": "ok", "uri": "http://" + evil, "namespace-separator": "%2E"}})
	require.NoError(t, err)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/c/v1/config" {
			_, _ = w.Write(text)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": evil, "type": evil, "code": 403}})
		_, _ = w.Write(body)
	}))
	defer srv.Close()
	code, stdout, stderr := cli(t, "mounts", "probe", srv.URL+"/c", "--warehouse", `x" ${env("HOME")} %{if true}\`)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, 1, len(regexp.MustCompile(`(?m)^mount `).FindAllString(stdout, -1)), stdout)
	assert.NotContains(t, stdout, "\x1b")
	accepted(t, "hostile", stdout)
}

func TestProbeSaysWhatIsMissing(t *testing.T) {
	srv := remote.New(t, remote.Options{Warehouse: "sales"})
	code, stdout, stderr := cli(t, "mounts", "probe", srv.URL)
	if code == exitOK {
		assert.Contains(t, stdout, "wants to be asked for a warehouse")
		accepted(t, "no warehouse", stdout)
	} else {
		t.Errorf("without a warehouse: %s", stderr)
	}

	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusNotFound) }))
	defer web.Close()
	code, stdout, stderr = cli(t, "mounts", "probe", web.URL)
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "no catalog was found")

	for name, args := range map[string][]string{
		"no URL": {}, "two": {"http://a", "http://b"}, "not a URL": {"catalog"}, "a password": {"http://user:hunter2@127.0.0.1/"},
		"an unknown profile": {srv.URL, "--profile", "polari"}, "an unset variable": {srv.URL, "--token-env", "ICEFIELD_PROBE_UNSET"},
		"a bad name": {srv.URL, "--name", "a/b"}, "a line break": {srv.URL, "--warehouse", "a\nb"}, "no time": {srv.URL, "--timeout", "0s"}, "a bad flag": {srv.URL, "--nope"},
	} {
		code, stdout, stderr := cli(t, append([]string{"mounts", "probe"}, args...)...)
		assert.Equal(t, exitUsage, code, "%s: %s", name, stderr)
		assert.Empty(t, stdout, name)
		assert.NotContains(t, stderr, "hunter2", name)
	}
}
