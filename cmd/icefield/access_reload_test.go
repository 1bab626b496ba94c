package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

// readersMay lets readers of acme read, or not; and writers change things.
func readersMay(read bool) []byte {
	text := "permit(principal in Icefield::Group::\"acme/writer\", action, resource in Icefield::Tenant::\"acme\");\n"
	if read {
		text += "permit(principal in Icefield::Group::\"acme/reader\", action in [Icefield::Action::\"list\", Icefield::Action::\"read\"], resource in Icefield::Tenant::\"acme\");\n"
	}
	return []byte(text)
}

func TestPoliciesChangeUnderLoadAsAWholeAndABrokenFileChangesNothing(t *testing.T) {
	dir := t.TempDir()
	putFiles(t, dir, map[string][]byte{"a.cedar": readersMay(true)})
	s, log := started(t, load(t, dir, "policy {\n  files = [\"*.cedar\"]\n}\n"+authText("")+twoTenants()))
	must(t, s.url(), "acme-writer", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	must(t, s.url(), "acme-writer", "POST", "/v1/namespaces/prod%1Fshop/tables", createOrders)
	generation := s.catalogs.current.Load()

	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	statuses := map[int]int{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				status, text := as(t, s.url(), "acme-reader", "GET", "/v1/namespaces/prod%1Fshop/tables/orders", "")
				mu.Lock()
				statuses[status]++
				mu.Unlock()
				if status == 404 {
					assert.Contains(t, text, "NoSuchTableException")
				}
			}
		})
	}
	now := func() int {
		status, _ := as(t, s.url(), "acme-reader", "GET", "/v1/prod/namespaces/shop", "")
		return status
	}
	until := func(want int) {
		t.Helper()
		require.Eventually(t, func() bool { return now() == want }, 30*time.Second, 20*time.Millisecond)
	}
	until(200)
	putFiles(t, dir, map[string][]byte{"a.cedar": readersMay(false)})
	until(404)
	putFiles(t, dir, map[string][]byte{"a.cedar": readersMay(true)})
	until(200)

	putFiles(t, dir, map[string][]byte{"a.cedar": []byte("permit(principal, action, resource) when { resource.nonsense };")})
	ready := func() (string, string) {
		return componentIn(t, must(t, s.url(), "operator", "GET", "/ready", ""), "policies")
	}
	require.Eventually(t, func() bool { state, _ := ready(); return state == "refused" }, 30*time.Second, 20*time.Millisecond)
	assert.Equal(t, 200, now())
	_, reason := ready()
	assert.NotEmpty(t, reason)
	assert.NotContains(t, reason, dir)
	assert.Contains(t, must(t, s.url(), "operator", "GET", "/metrics", ""), "icefield_policy_last_reload_successful 0")
	assert.Contains(t, log.String(), "nonsense")
	putFiles(t, dir, map[string][]byte{"a.cedar": readersMay(false)})
	until(404)
	state, _ := ready()
	assert.Equal(t, "ok", state)

	stop()
	group.Wait()
	assert.Same(t, generation, s.catalogs.current.Load(), "policies need no other mount table")
	assert.Greater(t, statuses[200], 100)
	assert.Greater(t, statuses[404], 10)
	assert.Len(t, statuses, 2, "a request was neither permitted nor denied: %v", statuses)
}

// reconfigured is a server whose configuration the test changes, and with it who may
// do what.
func reconfigured(t *testing.T, text string) (s *server, change func(string) error) {
	t.Helper()
	dir := t.TempDir()
	s, _ = started(t, load(t, dir, text))
	listen := s.cfg.Server.Listen
	return s, func(text string) error {
		t.Helper()
		cfg, report := config.Parse(filepath.Join(dir, "icefield.hcl"), []byte(text), config.Options{})
		require.False(t, report.HasErrors(), report.Findings)
		cfg.Server.Listen = listen
		require.Empty(t, s.catalogs.current.Load().cfg.Server.NeedsRestart(cfg.Server))
		_, err := s.catalogs.replace(t.Context(), cfg)
		return err
	}
}

func TestWhoMayDoWhatChangesWithTheConfiguration(t *testing.T) {
	base := twoTenants()
	s, change := reconfigured(t, authText("")+base)
	url := s.url()
	must(t, url, "acme-writer", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	logins := s.catalogs.current.Load().access.logins

	require.NoError(t, change("server {\n  max_body = \"1MiB\"\n}\n"+authText("")+base))
	assert.Same(t, logins, s.catalogs.current.Load().access.logins, "logins that mean the same are kept")

	// A key that is taken out is one no more, its tenant's other keys are.
	without := strings.Replace(authText(""), `api_key "acme-writer"`, `api_key "renamed"`, 1)
	require.NoError(t, change(without+base))
	assert.Contains(t, s.catalogs.current.Load().cfg.Auth.Keys[1].Name, "renamed")
	require.NoError(t, change(strings.ReplaceAll(authText(""), `tenant = "acme"`, `tenant = "globex"`)+base))
	status, _ := as(t, url, "acme-admin", "GET", "/v1/namespaces/prod%1Fshop", "")
	assert.Equal(t, 404, status, "the key is of another tenant now")
	status, _ = as(t, url, "acme-admin", "GET", "/v1/namespaces/lake", "")
	assert.Equal(t, 200, status)
}

func TestAConfigurationWhoseAccessCannotBeOpenedIsRefusedWhole(t *testing.T) {
	base := twoTenants()
	s, change := reconfigured(t, authText("")+base)
	before := s.catalogs.current.Load()
	for name, text := range map[string]string{
		"an issuer that does not answer": authText("  oidc \"corp\" {\n    issuer   = \"http://127.0.0.1:1\"\n    audience = [\"icefield\"]\n    tenant   = \"acme\"\n  }\n") + base,
		"policies that are not there":    "policy {\n  files = [\"no-such.cedar\"]\n}\n" + authText("") + base,
		"a trail without a folder":       "audit {\n  sink = \"file\"\n  path = \"no-such-folder/audit.jsonl\"\n}\n" + authText("") + base,
	} {
		err := change(text)
		require.Error(t, err, name)
		reason := reasonOf(err)
		assert.NotEqual(t, reasonOf(assert.AnError), reason, name)
		assert.NotContains(t, reason, filepath.Dir(before.cfg.Mounts[0].Native.Registry.Bolt), name)
		assert.Same(t, before, s.catalogs.current.Load(), name)
		must(t, s.url(), "acme-reader", "GET", "/v1/namespaces", "")
	}
	cfg := load(t, t.TempDir(), authText("  oidc \"corp\" {\n    issuer   = \"http://127.0.0.1:1\"\n    audience = [\"icefield\"]\n    tenant   = \"acme\"\n  }\n")+base)
	_, err := openCatalogs(t.Context(), cfg, nil, slog.New(slog.DiscardHandler))
	assert.ErrorContains(t, err, "corp")
}

func TestAWalkGoesOnWhenLoginsChange(t *testing.T) {
	base := twoTenants()
	s, change := reconfigured(t, authText("")+base)
	for i := range 5 {
		must(t, s.url(), "acme-writer", "POST", "/v1/namespaces", fmt.Sprintf(`{"namespace":["prod","n%d"]}`, i))
	}
	for _, listing := range []string{"/v1/namespaces?parent=prod&pageSize=2", "/v1/prod/namespaces?pageSize=2"} {
		first := must(t, s.url(), "acme-reader", "GET", listing+"&pageToken=", "")
		_, token, found := strings.Cut(first, `"next-page-token":"`)
		require.True(t, found, first)
		token, _, _ = strings.Cut(token, `"`)
		require.NoError(t, change(authText("  anonymous {\n    tenant = \"acme\"\n  }\n")+base))
		second := must(t, s.url(), "acme-reader", "GET", listing+"&pageToken="+url.QueryEscape(token), "")
		assert.Contains(t, second, "n2", "the walk began again")
		assert.NotContains(t, second, "n0")
		require.NoError(t, change(authText("")+base))
	}
}

func TestLimitsChangeWhileTheServerRuns(t *testing.T) {
	base := twoTenants()
	s, change := reconfigured(t, base)
	limited := "server {\n  rate_limit {\n    requests_per_second = 0.01\n    burst = 2\n  }\n}\n"
	require.NoError(t, change(limited+base))
	last := 0
	for range 4 {
		last, _ = call(t, http.DefaultClient, "GET", s.url()+"/v1/config", "", "")
	}
	assert.Equal(t, 429, last)
	require.NoError(t, change(base))
	last, _ = call(t, http.DefaultClient, "GET", s.url()+"/v1/config", "", "")
	assert.Equal(t, 200, last)
	// Authentication comes and goes, and the catalog underneath with it.
	require.NoError(t, change(authText("")+base))
	last, _ = call(t, http.DefaultClient, "GET", s.url()+"/v1/config", "", "")
	assert.Equal(t, 401, last)
	require.NoError(t, change(base))
	last, _ = call(t, http.DefaultClient, "GET", s.url()+"/v1/config", "", "")
	assert.Equal(t, 200, last)
}

func TestCheckConnectTriesWhoMayDoWhat(t *testing.T) {
	text := authText("  oidc \"corp\" {\n    issuer   = \"http://127.0.0.1:1\"\n    audience = [\"icefield\"]\n    tenant   = \"acme\"\n  }\n") +
		"policy {\n  files = [\"*.cedar\"]\n}\naudit {\n  sink = \"file\"\n  path = \"no-such-folder/audit.jsonl\"\n}\n" + twoTenants()
	path := write(t, "icefield.hcl", text)
	code, _, stderr := cli(t, "check", "--connect", path)
	assert.Equal(t, exitFailed, code)
	for _, want := range []string{"error: authentication: ", "corp", "error: policies: ", "error: audit: ", "no-such-folder"} {
		assert.Contains(t, stderr, want)
	}
	// Without --connect nobody is asked, and the policies are read all the same: no
	// server would start with them.
	dir := filepath.Dir(path)
	code, _, stderr = cli(t, "check", path)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "error: policies: "+filepath.Join(dir, "*.cedar")+": there is no such file: correct the path, or remove it from the configuration\n", stderr)
	putFiles(t, dir, map[string][]byte{"a.cedar": []byte("permti (principal, action, resource);\npermit (principal, action == Icefield::Action::\"loadTabel\", resource);\n")})
	code, stdout, stderr := cli(t, "check", "--output", "json", path)
	assert.Equal(t, exitFailed, code, stderr)
	assert.Contains(t, stdout, "permti")
	putFiles(t, dir, map[string][]byte{"a.cedar": readersMay(true)})
	code, stdout, stderr = cli(t, "check", path)
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "ok     policies, ")

	putFiles(t, dir, map[string][]byte{"a.cedar": readersMay(true), "icefield.hcl": []byte("policy {\n  files = [\"*.cedar\"]\n}\naudit {\n  sink = \"file\"\n  path = \"audit.jsonl\"\n}\n" + authText("") + twoTenants())})
	code, stdout, stderr = cli(t, "check", "--connect", path)
	assert.Equal(t, exitOK, code, stderr)
	for _, want := range []string{"ok     authentication, ", "ok     policies, ", "ok     audit, "} {
		assert.Contains(t, stdout, want)
	}
	assert.NoFileExists(t, filepath.Join(dir, "audit.jsonl"))
}
