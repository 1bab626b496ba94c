package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/capabilities"
)

// FuzzNoNameReachesAnotherTenant asks any operation, by path and by body, for
// things of any name, as somebody of a tenant of any name with any role. Levels
// are what stands between slashes; pick chooses the operation, the catalog and how
// names are written.
func FuzzNoNameReachesAnotherTenant(f *testing.F) {
	r, _ := rivals(f)
	before := r.everythingOf(f, "acme-admin", ofAcme)
	operations, rows := capabilities.Operations(), operationRows()
	prefixes := []string{"", "/root", "/prod", "/lake", "/icefield"}
	for i, seed := range [][4]string{
		{"globex", "admin", "prod/vault", "gold"}, {"globex", "admin", "ours/vault", "gold"}, {"acme ", "admin", "ours/vault", "silver"},
		{"acme/admin", "", "prod/vault", "gold"}, {"globex", `Icefield::Group::"acme/admin"`, `Icefield::Mount::"prod"`, "gold"},
		{"ACME", "admin", "PROD/Vault", "Gold"}, {"acme\x00", "admin", "prod\x1fvault", "gold"}, {"acm\u0065\u0301", "admin", "prod\u200b/vault", "gold"},
		{"globex", "admin", "theirs/../ours/vault", "../gold"}, {"globex", "admin", "lake/desk/../../prod/vault", "gold"}, {"", "admin", "prod", "vault/gold"},
		{"%61cme", "admin", "%70rod/%76ault", "%67old"}, {"globex", "admin", "\xffprod/vault", "gold\xc0\xaf"}, {"globex", "acme/admin", "ours", "vault%1Fgold"},
		{"globex\x1facme", "admin", "/", "//prod"}, {"globex", "operator", "\u0430cme/ours", "gold "},
	} {
		for j := range operations {
			if j%4 == i%4 {
				f.Add(seed[0], seed[1], seed[2], seed[3], uint16(j+len(operations)*(i+j)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, tenant, role, names, object string, pick uint16) {
		if tenant == "acme" || strings.Contains(tenant+role+names+object, canary) {
			return // no name of another tenant
		}
		n := int(pick)
		op, prefix, raw := operations[n%len(operations)], prefixes[n/len(operations)%len(prefixes)], n/(len(operations)*len(prefixes))%2 == 1
		e := rows[op.Op][n/7%len(rows[op.Op])]
		levels := strings.Split(names, "/")
		escaped := make([]string, len(levels))
		for i, level := range levels {
			if escaped[i] = url.PathEscape(level); raw && plainPath(level) {
				escaped[i] = level
			}
		}
		name := url.PathEscape(object)
		if raw && plainPath(object) {
			name = object
		}
		in, err := json.Marshal(levels)
		require.NoError(t, err)
		quoted, err := json.Marshal(object)
		require.NoError(t, err)
		token := r.issuer.Mint(map[string]any{"sub": names, "tenant": tenant, "roles": []string{role}})
		path := strings.NewReplacer("{shop}", strings.Join(escaped, "%1F"), "{o}", name, "{x}", name).Replace(e.path)
		body := strings.NewReplacer("{in}", strings.Trim(string(in), "[]"), "{o}", strings.Trim(string(quoted), `"`), "{x}", "s3://lake/prod/"+strings.Trim(string(quoted), `"`)).Replace(e.body)
		a := sendTo(t, r.url(), token, op.Verb, "/v1"+prefix+path, body, "X-Iceberg-Access-Delegation", "vended-credentials")
		require.NotContains(t, lineOf(a), canary, "%s %s %s", op.Name, path, body)
		require.True(t, a.status < 500 || a.status == 501, "%s %s %s: %s", op.Name, path, body, a.body)
		if op.Class != capabilities.Read && a.status < 300 {
			require.Equal(t, before, r.everythingOf(t, "acme-admin", ofAcme), "%s %s %s", op.Name, path, body)
		}
	})
}

// plainPath reports whether text can stand in a request line as it is.
func plainPath(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("?#\"<>\\^`{|}", r) })
}
