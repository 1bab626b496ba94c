package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/capabilities"
)

// canary is in everything of acme that no request of these tests names: in
// properties, columns, comments, and in names beside those that globex knows.
const canary = "c4n4ry"

// greedyPolicies are what a tenant may upload, and what it would like them to do.
const greedyPolicies = `
permit(principal, action, resource);
permit(principal, action, resource == Icefield::Table::"prod/vault/gold");
permit(principal, action, resource in Icefield::Tenant::"acme");
permit(principal, action, resource in Icefield::Mount::"prod");
permit(principal, action, resource in Icefield::Mount::"%2F");
permit(principal in Icefield::Tenant::"globex", action, resource in Icefield::Namespace::"ours");
permit(principal in Icefield::Group::"acme/admin", action, resource);
permit(principal, action == Icefield::Action::"inspect", resource == Icefield::Server::"server");
permit(principal, action == Icefield::Action::"readMetrics", resource);
permit(principal, action == Icefield::Action::"vendRestricted", resource);
forbid(principal in Icefield::Group::"acme/admin", action, resource);
forbid(principal == Icefield::User::"corp/acme-reader", action, resource);
forbid(principal, action, resource in Icefield::Mount::"prod");
forbid(principal, action, resource) when { resource has tenant && resource.tenant == Icefield::Tenant::"acme" };
forbid(principal, action, resource in Icefield::Namespace::"ours");
`

// rivals is a server of two tenants that share a bucket and the catalog underneath,
// of which globex has such policies.
func rivals(t testing.TB) (r *realm, store string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "globex.cedar"), []byte(greedyPolicies), 0o600))
	store, sts := bucket(t)
	r = newRealmIn(t, dir, "policy {\n  builtin = true\n}\ntenant \"globex\" {\n  policies = [\"globex.cedar\"]\n}\n"+
		ownedText("/", "")+grantingText("prod", "acme", store, sts)+grantingText("lake", "globex", store, sts))
	for _, own := range []struct{ who, levels, note string }{
		{"acme-admin", `"ours"`, canary}, {"acme-admin", `"ours","vault"`, canary}, {"acme-admin", `"ours","` + canary + `"`, canary}, {"acme-admin", `"` + canary + `-top"`, canary},
		{"acme-admin", `"prod","vault"`, canary}, {"acme-admin", `"prod","vault","` + canary + `"`, canary},
		{"globex-admin", `"theirs"`, ""}, {"globex-admin", `"theirs","desk"`, ""}, {"globex-admin", `"lake","desk"`, ""},
	} {
		r.do(t, own.who, "POST", "/v1/namespaces", fmt.Sprintf(`{"namespace":[%s],"properties":{"note":%q}}`, own.levels, own.note))
	}
	for _, ns := range []string{"ours%1Fvault", "prod%1Fvault"} {
		for _, name := range []string{"gold", canary + "_t"} {
			r.do(t, "acme-admin", "POST", "/v1/namespaces/"+ns+"/tables", tableOf(name, canary, ""))
		}
		in := `"` + strings.ReplaceAll(ns, "%1F", `","`) + `"`
		r.do(t, "acme-admin", "POST", "/v1/namespaces/"+ns+"/views", strings.NewReplacer("{o}", "silver", "{in}", in, "SELECT 1", "SELECT '"+canary+"'").Replace(aView))
	}
	for _, ns := range []string{"theirs", "theirs%1Fdesk", "lake%1Fdesk"} {
		r.do(t, "globex-admin", "POST", "/v1/namespaces/"+ns+"/tables", tableOf("t", "own", ""))
	}
	// Callers of globex, and of tenants that are called nearly as the other, whose
	// names and roles are made up to look like somebody of acme.
	for name, claims := range map[string]map[string]any{
		"sub":    {"sub": "acme-admin", "tenant": "globex", "roles": []string{"admin"}},
		"path":   {"sub": "../acme/admin", "tenant": "globex", "roles": []string{"admin", "acme/admin", `Icefield::Group::"acme/admin"`}},
		"blank":  {"sub": "x", "tenant": "acme ", "roles": []string{"admin"}},
		"case":   {"sub": "x", "tenant": "Acme", "roles": []string{"admin"}},
		"slash":  {"sub": "x", "tenant": "acme/admin", "roles": []string{"admin", ""}},
		"escape": {"sub": "x", "tenant": "%61cme", "roles": []string{"admin"}},
		"other":  {"sub": "x", "tenant": "\u0430cme", "roles": []string{"admin"}},
	} {
		r.tokens[name] = r.issuer.Mint(claims)
	}
	return r, store
}

// tableOf is the body that creates a table with a column and a property of that
// name, at a location if one is given.
func tableOf(name, mark, location string) string {
	at := ""
	if location != "" {
		at = fmt.Sprintf(`"location":%q,`, location)
	}
	return fmt.Sprintf(`{"name":%q,%s"properties":{%q:"1"},"schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":%q,"type":"long","required":false}]}}`, name, at, mark, mark)
}

// everythingOf is all that a tenant has, as its admin sees it.
func (r *realm) everythingOf(t testing.TB, who, mine string) string {
	t.Helper()
	var b strings.Builder
	var walk func(levels []string)
	walk = func(levels []string) {
		joined := strings.Join(levels, "%1F")
		note := func(path string) string {
			text := r.do(t, who, "GET", path, "")
			fmt.Fprintln(&b, path, text)
			return text
		}
		at := "/v1/namespaces"
		if len(levels) > 0 {
			note(at + "/" + joined)
			var p page
			for _, kind := range []string{"tables", "views"} {
				if len(levels) == 1 && (levels[0] == "prod" || levels[0] == "lake") {
					continue // the root of a mount
				}
				require.NoError(t, json.Unmarshal([]byte(note(at+"/"+joined+"/"+kind)), &p))
				for _, id := range p.Identifiers {
					note(at + "/" + joined + "/" + kind + "/" + id.Name)
				}
			}
			at += "?parent=" + joined
		}
		var p page
		text := r.do(t, who, "GET", at, "")
		require.NoError(t, json.Unmarshal([]byte(text), &p))
		for _, n := range p.Namespaces {
			if len(levels) > 0 || strings.Contains(mine, " "+n[0]+" ") {
				walk(n)
			}
		}
	}
	walk(nil)
	return b.String()
}

const ofAcme, ofGlobex = " prod ours " + canary + "-top ", " lake theirs "

// spellings are raw path segments that some layer could read as a namespace of acme.
var spellings = []string{ // read only
	"prod%1Fvault", "prod%1fvault", "%70rod%1Fvault", "prod%251Fvault", "prod.vault", "prod%2Evault", "prod%2Fvault", "prod%252Fvault", "prod%00vault", "prod%1F%1Fvault",
	"%1Fprod%1Fvault", "prod%1Fvault%1F", "PROD%1Fvault", "Prod%1FVault", "prod%20%1Fvault", "prod+%1Fvault", "%20prod%1Fvault", "lake%1F..%1Fprod%1Fvault",
	"lake%1Fprod%1Fvault", "..%1Fprod%1Fvault", ".%1Fprod%1Fvault", "lake%2F..%2Fprod%1Fvault", "%2E%2E%1Fprod%1Fvault", "%2F%1Fprod%1Fvault", "root%1Fours%1Fvault",
	"%EF%BD%90rod%1Fvault", "pr%D0%BEd%1Fvault", "prod%E2%80%8B%1Fvault", "prod%CC%81%1Fvault", "prod%C0%AFvault", "Mount::%22prod%22%1Fvault", "Mount::%22prod%22",
	"Icefield::Namespace::%22prod/vault%22", "prod%1Fvault%2Fgold", "prod%2Fvault%2Fgold", "acme%1Fprod%1Fvault", "ours%1Fvault", "Ours%1Fvault", "ours%20%1Fvault",
	"ours%1Fvault%20", "%6Furs%1F%76ault", "ours%2Fvault", "ours.vault", "our%C5%BF%1Fvault", "theirs%1F..%1Fours%1Fvault", "theirs%2F..%2Fours%1Fvault", "", "%1F", "ours", "prod",
}

func TestNoOperationUnderAnyNameReachesAnotherTenant(t *testing.T) {
	r, _ := rivals(t)
	before := r.everythingOf(t, "acme-admin", ofAcme)
	require.Greater(t, strings.Count(before, canary), 20)
	var readable map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.do(t, "globex-admin", "GET", "/v1/namespaces/lake%1Fdesk/tables/t", "")), &readable), "its own policies let it in")
	for _, spelling := range spellings {
		r.resemble(t, decodedLevels(strings.Split(spelling, "%1F")))
	}
	require.Equal(t, before, r.everythingOf(t, "acme-admin", ofAcme))
	asked, succeeded := 0, map[string]int{}
	prefixes := []string{"", "/root", "/prod", "/PROD", "/lake", "/lake%2F..%2Fprod", "/%70rod", "/v1/prod"}
	for _, op := range capabilities.Operations() {
		e := operationRows()[op.Op][0]
		for i, spelling := range spellings {
			for j, prefix := range prefixes {
				if j > 1 && i%4 != j%4 { // these lead nowhere by themselves
					continue
				}
				who := []string{"globex-admin", "globex-admin", "globex-writer", "sub", "path", "blank", "case", "slash", "escape", "other"}[(i+j)%10]
				levels := strings.Split(spelling, "%1F")
				object := map[bool]string{true: "silver", false: "gold"}[strings.Contains(op.Path, "view")]
				in, err := json.Marshal(decodedLevels(levels))
				require.NoError(t, err)
				fill := strings.NewReplacer("{shop}", spelling, "{in}", strings.Trim(string(in), "[]"), "{o}", object, "{x}", "s3://lake/prod/vault/gold/metadata/00000-x.metadata.json")
				a := r.ask(t, who, op.Verb, "/v1"+prefix+fill.Replace(e.path), fill.Replace(e.body), "X-Iceberg-Access-Delegation", "vended-credentials")
				asked++
				if !assert.NotContains(t, lineOf(a), canary, "%s of %s in %q as %s", op.Name, spelling, prefix, who) {
					return
				}
				if a.status < 300 {
					succeeded[op.Name]++
				}
				assert.True(t, a.status < 500 || a.status == 501, "%s of %s in %q: %s", op.Name, spelling, prefix, a.body)
			}
		}
		require.Equal(t, before, r.everythingOf(t, "acme-admin", ofAcme), "%s has changed something", op.Name)
	}
	// Names that only look alike are the attacker's own: that these work shows that
	// the others were tried in earnest.
	for _, op := range []string{"loadTable", "createNamespace", "createView", "commitTransaction", "listTables"} {
		assert.NotZero(t, succeeded[op], succeeded)
	}
	t.Logf("%d requests, of which these were about something of the caller's own: %v", asked, succeeded)
}

// resemble makes namespaces of globex, with a table, that are called like one of
// acme, as far as they can be made.
func (r *realm) resemble(t testing.TB, levels []string) {
	for _, prefix := range []string{"/root", "/lake"} {
		for i := range levels {
			body, err := json.Marshal(map[string]any{"namespace": levels[:i+1]})
			require.NoError(t, err)
			r.ask(t, "globex-admin", "POST", "/v1"+prefix+"/namespaces", string(body))
		}
		escaped := make([]string, len(levels))
		for i, level := range levels {
			escaped[i] = url.PathEscape(level)
		}
		r.ask(t, "globex-admin", "POST", "/v1"+prefix+"/namespaces/"+strings.Join(escaped, "%1F")+"/tables", tableOf("gold", "own", ""))
	}
}

func decodedLevels(levels []string) []string {
	out := make([]string, len(levels))
	for i, level := range levels {
		out[i] = pathDecoded(level)
	}
	return out
}
