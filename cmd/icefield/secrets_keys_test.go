package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/native/warehouse"
)

// keyRow says of the keys of one place of the configuration which can lead to a
// secret, and what of it is planted, by names of plants; and which cannot.
type keyRow struct {
	secret map[string][]string
	open   string
}

// keyRows has a row for every key that the configuration knows, by the name of the
// shape, or of the function that reads it. A new key needs a row, and one that can
// hold a secret needs a plant: then the server runs with it below.
func keyRows() map[string]keyRow {
	const login = "token_url client_id scope audience resource basic"
	return map[string]keyRow{
		"serverShape":      {map[string][]string{"secret_env": {"server secret"}}, "name listen request_timeout max_body max_memory shutdown_grace trusted_proxies"},
		"tlsShape":         {map[string][]string{"key_file": {"tls key"}}, "cert_file client_ca_file"},
		"rateShape":        {nil, "requests_per_second burst"},
		"lockoutShape":     {nil, "failures window"},
		"rootShape":        {},
		"loginShape":       {},
		"oidcShape":        {nil, "issuer jwks_url audience tenant tenant_claim roles_claim name_claim operator_roles leeway key_refresh algorithms ca_file token_relay relay_scope"},
		"apiKeyShape":      {map[string][]string{"key_env": {"api key env"}, "key_file": {"api key file"}, "hash": {"api key hash"}}, "tenant roles operator"},
		"certificateShape": {nil, "tenant roles operator subject dns_name uri email"},
		"anonymousShape":   {nil, "tenant roles"},
		"policyShape":      {nil, "files builtin"},
		"tenantShape":      {nil, "policies"},
		"auditShape":       {nil, "sink path fail_closed max_size keep queue"},
		"commonKeys":       {nil, "backend name owner read_only required"},
		"kind":             {nil, "backend"},
		"native": {map[string][]string{"catalog_url": {"database password", "database key password"}, "storage": nil}, // storageRows has its rows
			"warehouse_location metadata_cache idempotency_lifetime signing signing_bulk_delete"},
		"rest": {map[string][]string{"token_env": {"token env in short"}, "headers": {"header"}},
			"catalog_url warehouse profile ca_file namespace_separator namespace_levels credentials allowed_locations settings_refresh relayed_access"},
		"authBlock":     {map[string][]string{"token_env": {"bearer env"}, "token_file": {"bearer file"}}, ""},
		"oauth2Shape":   {map[string][]string{"client_secret_env": {"oauth2 env"}, "client_secret_file": {"oauth2 file"}}, login + " refresh"},
		"exchangeShape": {map[string][]string{"client_secret_env": {"exchange env"}, "client_secret_file": {"exchange file"}}, login},
		"sigv4Shape": {map[string][]string{"external_id_env": {"sigv4 external id"}, "access_key_id_env": {"sigv4 key id"},
			"secret_access_key_env": {"sigv4 key"}, "session_token_env": {"sigv4 session"}}, "service region role_arn sts_endpoint"},
		"vendAWSShape": {map[string][]string{"external_id_env": {"aws external id"}, "access_key_id_env": {"aws key id"},
			"secret_access_key_env": {"aws key"}, "session_token_env": {"aws session"}}, "role_arn duration region sts_endpoint ca_file kms_keys session_tags"},
		"vendGCSShape":   {map[string][]string{"credentials_file": {"gcs credentials"}}, "project_id sts_endpoint"},
		"vendAzureShape": {map[string][]string{"client_secret_env": {"azure client"}}, "tenant_id client_id duration"},
		"quirksShape":    {nil, "throttles_with_400 missing_lists no_head"},
		"cacheShape":     {nil, "ttl stale_if_down size coalesce"},
		"timeouts":       {nil, "request connect"},
		"breaker":        {nil, "failures open_for"},
		"limits":         {nil, "in_flight response"},
	}
}

// storageRows is the same for the properties of the warehouses, by their schemes.
func storageRows() map[string]keyRow {
	return map[string]keyRow{
		"s3": {map[string][]string{"s3.access-key-id": {"s3 key id"}, "s3.secret-access-key": {"s3 key"}, "s3.session-token": {"s3 session"}, "s3.proxy-uri": {"s3 proxy"}},
			"s3.endpoint s3.region client.region s3.path-style-access s3.force-virtual-addressing s3.connect-timeout s3.compat-mode"},
		"gs": {map[string][]string{"gcs.jsonkey": {"gcs json key"}, "gcs.keypath": {"gcs key file"}, "gcs.oauth2.token": {"gcs token"}},
			"gcs.endpoint gcs.service.host gcs.no-auth gcs.usejsonapi gcs.credtype gcs.oauth2.token-expires-at gcs.user-project gcs.project-id"},
		"abfss": {map[string][]string{"adls.auth.shared-key.account.key": {"adls key"}, "adls.sas-token.<account>": {"adls sas"}, "adls.connection-string.<account>": {"adls connection"}},
			"adls.endpoint adls.protocol adls.auth.shared-key.account.name adls.auth.managed-identity.enabled adls.client-id"},
	}
}

// readKeys finds the keys that the configuration's own source knows.
func readKeys(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	names, err := filepath.Glob("internal/config/*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				keysIn(d.Name.Name, d, found)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for i, value := range v.Values {
							keysIn(v.Names[i].Name, value, found)
						}
					}
				}
			}
		}
	}
	return found
}

func keysIn(place string, node ast.Node, found map[string][]string) {
	add := func(place string, list ast.Node) {
		ast.Inspect(list, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				found[place] = append(found[place], text)
			}
			return true
		})
	}
	if list, ok := node.(*ast.CompositeLit); ok && place == "commonKeys" {
		add(place, list)
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "shape" {
				if _, seen := found[place]; !seen && place != "shape" {
					found[place] = nil
				}
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "attrs" {
						add(place, kv.Value)
					}
				}
			}
			if place == "kinds" && len(n.Elts) == 4 && n.Type == nil { // one of them: its name, its keys, its blocks, its reader
				name := strings.ToLower(strings.TrimPrefix(n.Elts[0].(*ast.Ident).Name, "Kind"))
				add(name, n.Elts[1])
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "append" && len(n.Args) > 1 {
				if s, ok := n.Args[0].(*ast.SelectorExpr); ok && s.Sel.Name == "attrs" {
					for _, arg := range n.Args[1:] {
						add(place, arg)
					}
				}
			}
		}
		return true
	})
}

func TestEveryKeyOfTheConfigurationIsKnownToHoldASecretOrNot(t *testing.T) {
	rows := keyRows()
	found := readKeys(t)
	require.Greater(t, len(found), 20)
	for place, keys := range found {
		row, ok := rows[place]
		if !assert.True(t, ok, "%s: say in keyRows which of %v can hold a secret", place, keys) {
			continue
		}
		known := strings.Fields(row.open)
		for key := range row.secret {
			known = append(known, key)
		}
		slices.Sort(keys)
		slices.Sort(known)
		if len(keys)+len(known) == 0 {
			continue
		}
		assert.Equal(t, slices.Compact(keys), known, "%s: say in keyRows which keys can hold a secret", place)
	}
	for place := range rows {
		assert.Contains(t, found, place, "keyRows has a row for what is not there")
	}
	for scheme, location := range map[string]string{"s3": "s3://b/x", "gs": "gs://bucket/x", "abfss": "abfss://container@a.dfs.core.windows.net/x"} {
		root, err := warehouse.Parse(location)
		require.NoError(t, err)
		row := storageRows()[scheme]
		known := strings.Fields(row.open)
		for key := range row.secret {
			known = append(known, key)
		}
		slices.Sort(known)
		assert.Equal(t, slices.Sorted(slices.Values(warehouse.Properties(root))), known, "%s: say in storageRows which properties can hold a secret", scheme)
	}
}
