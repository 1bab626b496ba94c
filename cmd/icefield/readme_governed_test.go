package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/authn/authntest"
)

// governedAsInReadme writes the README's files about who may do what into a folder,
// with an issuer, certificates and an address of this machine, and mints its key.
func governedAsInReadme(t *testing.T) (dir, key string, issuer *authntest.Issuer, ca *authority) {
	t.Helper()
	dir, issuer, ca = t.TempDir(), authntest.New(t, authntest.Options{}), newAuthority(t)
	code, out, problems := cli(t, strings.Fields(readmeCommands(t, minting)[0])[1:]...)
	require.Equal(t, exitOK, code, problems)
	key = regexp.MustCompile(`icf_ci_\w+`).FindString(out)
	require.NotEmpty(t, key, out)
	table := readmeFile(t, "hcl", "governed.hcl")
	// What was minted is the README's block but for the hash.
	hash := regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	require.Contains(t, table, strings.Split(hash.ReplaceAllString(out, hash.FindString(table)), "auth {\n")[1])
	table = hash.ReplaceAllString(table, hash.FindString(out))
	table = strings.NewReplacer("/var/lib/icefield", dir, "/var/log/icefield", dir, "0.0.0.0:8181", "127.0.0.1:0",
		"https://idp.example.com/realms/corp", issuer.URL()).Replace(table)
	cert, private := ca.issue("server")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "policies"), 0o700))
	putFiles(t, dir, map[string][]byte{"governed.hcl": []byte(table), "tls.crt": cert, "tls.key": private,
		"policies/support.cedar": []byte(readmeFile(t, "cedar", "policies/support.cedar")),
		"decisions.hcl":          []byte(readmeFile(t, "hcl", "decisions.hcl"))})
	return dir, key, issuer, ca
}

const minting = "icefield token mint --name ci --tenant acme --role writer"

func TestReadmeSaysWhoMayDoWhat(t *testing.T) {
	dir, key, issuer, ca := governedAsInReadme(t)
	for line, want := range map[string]string{
		"icefield check governed.hcl":                                                         "ok     policies, ",
		"icefield policy test --config governed.hcl decisions.hcl":                            "1 decision, 0 failed\n",
		"icefield policy explain --config governed.hcl --principal key/ci --action dropTable": "denied: no policy permits it\n",
	} {
		var full string
		for _, command := range readmeCommands(t, minting) {
			if strings.HasPrefix(command, line) {
				full = command
			}
		}
		args := strings.Fields(strings.NewReplacer("governed.hcl", filepath.Join(dir, "governed.hcl"), "decisions.hcl", filepath.Join(dir, "decisions.hcl")).Replace(full))
		require.NotEmpty(t, args, line)
		code, out, problems := cli(t, args[1:]...)
		assert.Equal(t, exitOK, code, "%s\n%s%s", full, out, problems)
		assert.Contains(t, out, want, full)
	}

	s, log := started(t, load(t, dir, textOf(t, filepath.Join(dir, "governed.hcl"))))
	assert.Contains(t, log.String(), "operators=none")
	client, _ := trusting(t, nil, ca)
	ask := func(credential, method, path, body string) int {
		status, _ := call(t, client, method, s.url()+path, credential, body)
		return status
	}
	assert.Equal(t, 401, ask("", "GET", "/v1/config?warehouse=prod", ""))
	assert.Equal(t, 200, ask(key, "GET", "/v1/config?warehouse=prod", ""))
	// PyIceberg's credential = "ci:icf_ci_…".
	resp, err := client.PostForm(s.url()+"/v1/oauth/tokens", url.Values{"grant_type": {"client_credentials"}, "client_id": {"ci"}, "client_secret": {key}, "scope": {"catalog"}})
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var token struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&token))
	assert.Equal(t, 200, ask(token.Token, "POST", "/v1/prod/namespaces", `{"namespace":["crm"]}`))
	assert.Equal(t, 403, ask(key, "DELETE", "/v1/prod/namespaces/crm", ""))
	// Somebody with the role support, as the issuer's tokens say it.
	support := issuer.Mint(map[string]any{"sub": "alice", "tenant": "acme", "realm_access": map[string]any{"roles": []string{"support"}}})
	for method, want := range map[string]int{"GET": 200, "POST": 403} {
		req, err := http.NewRequestWithContext(t.Context(), method, s.url()+"/v1/prod/namespaces", strings.NewReader(`{"namespace":["x"]}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+support)
		resp, err := client.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, resp.StatusCode, method)
	}
	require.NoError(t, s.close()) // what is left of the trail is written
	assert.Contains(t, textOf(t, filepath.Join(dir, "audit.jsonl")), `"principal":"corp/alice"`)
}

// A folder or file that the README names has to be there.
func TestReadmeLeadsSomewhere(t *testing.T) {
	text := textOf(t, filepath.Join(moduleRoot(t), "README.md"))
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, links)
	for _, m := range links {
		_, err := os.Stat(filepath.Join(moduleRoot(t), m[1]))
		assert.NoError(t, err)
	}
	entries, err := os.ReadDir(filepath.Join(moduleRoot(t), "examples"))
	require.NoError(t, err)
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && name != "internal" && name != "demo" {
			assert.Contains(t, text, "(examples/"+name+")")
		}
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
