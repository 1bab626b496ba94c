package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const somePolicies = `
@id("analysts") @description("Analysts read sales.")
permit (principal in Icefield::Group::"acme/analyst",
  action in [Icefield::Action::"list", Icefield::Action::"read"], resource in Icefield::Namespace::"prod/sales");
@id("norwegian rows") @row_filter("{\"type\": \"eq\", \"term\": \"country\", \"value\": \"NO\"}") @mask("email=replace-with-null")
permit (principal in Icefield::Group::"acme/support", action in Icefield::Action::"read", resource == Icefield::Table::"prod/crm/customers");
@id("inside only")
forbid (principal, action in Icefield::Action::"write", resource) unless { context has client && context.client.isInRange(ip("10.0.0.0/8")) };
@id("engine")
permit (principal == Icefield::User::"key/etl", action, resource) when { context.time < datetime("2030-01-01") };
`

// policyFolder is a folder with a configuration that has policies.
func policyFolder(t *testing.T, policies string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"policies.cedar": policies,
		"acme.cedar":     `@id("own") permit (principal, action == Icefield::Action::"dropTable", resource);`,
		"icefield.hcl": `
			mount "prod" {
			  backend = "native"
			  owner = "acme"
			  catalog_url = "bolt://` + dir + `/prod.db"
			  warehouse_location = "file://` + dir + `/prod"
			}
			mount "/" {
			  backend = "native"
			  catalog_url = "bolt://` + dir + `/under.db"
			  warehouse_location = "file://` + dir + `/under"
			}
			policy { files = ["policies.cedar"] }
			tenant "acme" { policies = ["acme*.cedar"] }`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPolicyCheckListsPoliciesOrSaysWhatIsWrongWhere(t *testing.T) {
	dir := policyFolder(t, somePolicies)
	code, out, errs := cli(t, "policy", "check", dir)
	if code != exitOK || errs != "" {
		t.Fatalf("%d\n%s", code, errs)
	}
	for _, want := range []string{"analysts", "Analysts read sales.", "acme/own", "tenant acme", "reads", dir + "/policies.cedar:2:1"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	code, out, _ = cli(t, "policy", "check", "-o", "json", "--policies", dir+"/policies.cedar", "--tenant-policies", "acme="+dir+"/acme.cedar", "--builtin")
	var result checkedPolicies
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != exitOK || !result.OK || len(result.Policies) != 8 || len(result.Findings) != 0 {
		t.Errorf("%d %v\n%s", code, err, out)
	}

	broken := policyFolder(t, somePolicies+"\npermit (principal, action == Icefield::Action::\"loadtable\", resource);")
	code, out, errs = cli(t, "policy", "check", broken)
	if code != exitFailed || out != "" || !strings.Contains(errs, "policies.cedar:12:1: ") || !strings.Contains(errs, "loadtable") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	code, out, _ = cli(t, "policy", "check", broken, "--output", "json")
	result = checkedPolicies{}
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != exitFailed || result.OK || len(result.Findings) == 0 || result.Findings[0].Line != 12 {
		t.Errorf("%d %v\n%s", code, err, out)
	}

	if err := os.WriteFile(filepath.Join(dir, "more.hcl"), []byte("\npolicy { files = [] }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := cli(t, "policy", "check", dir); code != exitFailed || out != "" || !strings.Contains(errs, "more.hcl") {
		t.Errorf("a configuration with mistakes: %d\n%s%s", code, out, errs)
	}
	code, out, _ = cli(t, "policy", "check", dir, "-o", "json")
	result = checkedPolicies{}
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != exitFailed || result.OK || len(result.Findings) != 1 || result.Findings[0].Line == 0 {
		t.Errorf("%d %v\n%s", code, err, out)
	}
}

func TestPolicyCommandsUsedWronglyExitWithTwo(t *testing.T) {
	dir := policyFolder(t, somePolicies)
	question := func(more ...string) []string {
		return append([]string{"policy", "explain", "--config", dir, "--principal", "corp/alice", "--tenant", "acme"}, more...)
	}
	for _, args := range [][]string{
		{"policy", "check", dir, dir},
		{"policy", "check", dir, "--policies", "x"},
		{"policy", "check", "--tenant-policies", "acme"},
		{"policy", "explain"},
		{"policy", "explain", "--principal", "corp/a", "--tenant", "acme", "--action", "loadTable", "--resource", "prod.a.t"},
		{"policy", "explain", "--config", dir, "--principal", "corp/a", "--action", "loadTable", "--resource", "prod.a.t"},
		question("--action", "loadtable", "--resource", "prod.a.t"),
		question("--action", "loadTable", "--resource", "prod"),
		question("--action", "loadTable", "--resource", "prod..t"),
		question("--action", "loadTable", "--resource", `["prod"`),
		question("--action", "loadTable", "--resource", "view:prod.a.t"),
		question("--action", "loadTable", "--resource", "/.a.t"),
		question("--action", "listTables", "--resource", "mount:other"),
		question("--action", "listTables", "--resource", "namespace:prod"),
		question("--action", "loadTable", "--resource", "prod.a.t", "--client", "here"),
		question("--action", "loadTable", "--resource", "prod.a.t", "--time", "noon"),
		question("--action", "loadTable", "--resource", "prod.a.t", "--referenced-by", "v"),
		question("--action", "loadTable", "--resource", "prod.a.t", "--owner", "acme"),
		{"policy", "test", "--config", dir},
		{"policy", "test", "table.hcl"},
		{"policy", "unknown"},
	} {
		if code, out, errs := cli(t, args...); code != exitUsage || errs == "" {
			t.Errorf("%q: %d\n%s%s", args, code, out, errs)
		}
	}
}

func TestPolicyExplainSaysWhoDecidesAndWhatComesOfIt(t *testing.T) {
	dir := policyFolder(t, somePolicies)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"--principal corp/alice --tenant acme --role analyst --action loadTable --resource prod.sales.orders",
			[]string{"allowed\n", `Icefield::Table::"prod/sales/orders", of tenant "acme"`, "permit     analysts (" + dir}},
		{"--principal corp/alice --tenant acme --role analyst --action loadTable --resource prod.hr.payroll", []string{"denied: no policy permits it\n"}},
		{"--principal corp/sam --tenant acme --role support --action loadTable --resource table:prod.crm.customers",
			[]string{"allowed\n", `rows       {"type": "eq", "term": "country", "value": "NO"}`, "column     email: replace-with-null"}},
		{"--principal key/etl --tenant acme --action commitTable --resource prod.a.t --time 2027-01-01T00:00:00Z",
			[]string{"denied: a policy forbids it\n", "forbid     inside only", "permit     engine"}},
		{"--principal key/etl --tenant acme --action commitTable --resource prod.a.t --time 2027-01-01T00:00:00Z --client 10.1.1.1",
			[]string{"allowed\n", "not met    inside only"}},
		{"--principal key/etl --tenant acme --action loadTable --resource prod.a.t --time 2031-01-01T00:00:00Z",
			[]string{"denied: no policy permits it\n", "not met    engine"}},
		{"--principal corp/eve --tenant globex --action dropTable --resource prod.a.t", []string{"allowed\n", "permit     acme/own"}},
		{"--principal corp/eve --tenant acme --action dropTable --resource events.t", []string{"denied", `Icefield::Table::"events/t", of nobody`}},
		{"--principal corp/eve --tenant acme --action dropTable --resource events.t --owner events=acme", []string{"allowed\n", `of tenant "acme"`}},
		{"--principal corp/op --operator --action inspect --resource server", []string{"allowed: the principal is an operator\n", `Icefield::Server::"server"`}},
		{"--principal corp/op --operator --action listNamespaces --resource mount:/", []string{"allowed", `Icefield::Mount::"%2F"`}},
		{"--principal corp/op --operator --action listNamespaces --resource prod", []string{"allowed", `Icefield::Mount::"prod"`}},
		{`--principal corp/op --operator --action loadTable --resource ["prod","a.b","t/u"]`, []string{"allowed", `Icefield::Table::"prod/a.b/t%2Fu"`}},
	} {
		code, out, errs := cli(t, append([]string{"policy", "explain", "--config", dir}, strings.Fields(c.args)...)...)
		if code != exitOK || errs != "" {
			t.Errorf("%s: %d\n%s", c.args, code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing:\n%s", c.args, want, out)
			}
		}
	}
	_, out, _ := cli(t, "policy", "explain", "--config", dir, "-o", "json", "--principal", "corp/sam", "--tenant", "acme", "--role", "support", "--action", "loadTable", "--resource", "prod.crm.customers")
	var e explained
	if err := json.Unmarshal([]byte(out), &e); err != nil || !e.Allowed || !slices.Equal(e.Policies, []string{"norwegian rows"}) || !e.Restricted || e.Masks["email"] != "replace-with-null" || len(e.Permits) != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

const someDecisions = `
decision "analysts read orders" {
  principal = "corp/alice"
  tenant    = "acme"
  roles     = ["analyst"]
  action    = "loadTable"
  resource  = "prod.sales.orders"
  expect    = "allow"
  policies  = ["analysts"]
  restricted = false
}
decision "others do not" {
  principal = "corp/alice"
  tenant    = "globex"
  roles     = ["analyst"]
  action    = "loadTable"
  resource  = "prod.sales.orders"
  expect    = "deny"
  policies  = []
}
decision "support sees rows" {
  principal  = "corp/sam"
  tenant     = "acme"
  roles      = ["support"]
  action     = "loadTable"
  resource   = "prod.crm.customers"
  expect     = "allow"
  restricted = true
}
`

func TestPolicyTestHoldsPoliciesToATable(t *testing.T) {
	dir, tables := policyFolder(t, somePolicies), t.TempDir()
	table := func(name, text string) string {
		path := filepath.Join(tables, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	code, out, errs := cli(t, "policy", "test", "--config", dir, table("good.hcl", someDecisions))
	if code != exitOK || out != "3 decisions, 0 failed\n" || errs != "" {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	asJSON := table("good.json", `{"decisions": [{"title": "the engine writes", "principal": "key/etl", "tenant": "acme", "action": "commitTable", "resource": "prod.a.t",
		"client": "10.0.0.1", "time": "2027-01-01T00:00:00Z", "write": true, "expect": "allow", "policies": ["engine"]}]}`)
	code, out, errs = cli(t, "policy", "test", "--config", dir, "-o", "json", asJSON)
	var result struct {
		OK        bool
		Decisions []tried
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != exitOK || !result.OK || len(result.Decisions) != 1 || result.Decisions[0].Decision != "allow" {
		t.Errorf("%d %v\n%s%s", code, err, out, errs)
	}

	bad := strings.NewReplacer(`expect    = "deny"`, `expect    = "allow"`, `["analysts"]`, `["others"]`, `restricted = true`, `restricted = false`).Replace(someDecisions) + `
		decision "nonsense" {
		  principal = "corp/alice"
		  tenant    = "acme"
		  action    = "loadTabel"
		  resource  = "prod.sales.orders"
		  expect    = "allow"
		}
		decision "perhaps" {
		  principal = "corp/alice"
		  tenant    = "acme"
		  action    = "loadTable"
		  resource  = "prod.sales.orders"
		  expect    = "maybe"
		}`
	code, out, errs = cli(t, "policy", "test", "--config", dir, table("bad.hcl", bad))
	if code != exitFailed || out != "5 decisions, 5 failed\n" {
		t.Errorf("%d\n%s", code, out)
	}
	for _, want := range []string{
		`others do not: expected allow, decided deny by no policy`,
		`analysts read orders: decided allow as expected, but by "analysts"`,
		`support sees rows: expected restricted = false; decided allow by "norwegian rows"`,
		`nonsense: there is no action "loadTabel"`, `perhaps: expect is "maybe"`,
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is missing:\n%s", want, errs)
		}
	}

	for name, text := range map[string]string{
		"empty.hcl": "", "unknown.hcl": strings.Replace(someDecisions, "tenant ", "tennant ", 1), "syntax.hcl": "decision {", "unknown.json": `{"decisions": [{"titel": "x"}]}`,
		"twice.json": `{"decisions": []} {}`, "table.yaml": "decisions: []",
	} {
		if code, out, errs := cli(t, "policy", "test", "--config", dir, table(name, text)); code != exitFailed || !strings.HasPrefix(errs, "icefield: ") {
			t.Errorf("%s: %d\n%s%s", name, code, out, errs)
		}
	}
	if code, _, _ := cli(t, "policy", "test", "--config", dir, filepath.Join(dir, "none.hcl")); code != exitFailed {
		t.Error("a table that is not there passes")
	}
}

// At night nobody remembers which roles a key has: the configuration does.
func TestPolicyExplainKnowsTheLoginsOfTheConfiguration(t *testing.T) {
	dir := policyFolder(t, somePolicies)
	auth := `
		auth {
		  oidc "corp" {
		    issuer = "https://idp.example.com"
		    audience = ["icefield"]
		    tenant = "acme"
		    operator_roles = ["platform"]
		  }
		  api_key "ci" {
		    tenant = "acme"
		    roles = ["analyst"]
		    hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
		  }
		  api_key "root" {
		    operator = true
		    hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a09"
		  }
		}`
	if err := os.WriteFile(filepath.Join(dir, "auth.hcl"), []byte(auth), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"key/ci", exitOK, "permit     analysts"},
		{"key/ci", exitOK, "principal  key/ci, of tenant \"acme\", analyst\n"},
		{"key/ci --tenant acme", exitOK, "denied: no policy permits it"},
		{"key/root", exitOK, "allowed: the principal is an operator"},
		{"key/nobody", exitUsage, `no api_key "nobody"`},
		{"key/nobody --tenant acme --role analyst", exitOK, "permit     analysts"},
		{"certificate/etl", exitUsage, `no certificate "etl"`},
		{"corp/alice --role analyst", exitOK, "permit     analysts"},
		{"corp/alice", exitOK, "denied: no policy permits it"},
		{"corp/pat --role platform", exitOK, "allowed: the principal is an operator"},
		{"partner/bob", exitUsage, "say which (--tenant"},
	} {
		args := append([]string{"policy", "explain", "-c", dir, "--action", "loadTable", "--resource", "prod.sales.orders", "--principal"}, strings.Fields(c.args)...)
		if code, out, errs := cli(t, args...); code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: %d\n%s%s", c.args, code, out, errs)
		}
	}
	only := write(t, "only.hcl", auth+nativeText("prod", "prod"))
	if code, _, errs := cli(t, "policy", "explain", "-c", only, "--action", "loadTable", "--resource", "prd.sales.orders", "--principal", "key/ci"); code != exitUsage || !strings.Contains(errs, `no mount "prd"`) {
		t.Errorf("%d\n%s", code, errs)
	}
	table := write(t, "table.hcl", "decision \"ci reads\" {\n  principal = \"key/ci\"\n  action = \"loadTable\"\n  resource = \"prod.sales.orders\"\n  expect = \"allow\"\n}\n")
	if code, out, errs := cli(t, "policy", "test", "-c", dir, table); code != exitOK {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

// What somebody was denied stands in the audit trail, and is pasted from there.
func TestPolicyExplainTakesResourcesAsTheAuditTrailWritesThem(t *testing.T) {
	dir := policyFolder(t, somePolicies)
	for text, want := range map[string]string{
		`Table::"prod/crm/customers"`:           `Icefield::Table::"prod/crm/customers", of tenant "acme"`,
		`Icefield::Table::"prod/a%2Fb/c.d%25é"`: `Icefield::Table::"prod/a%2Fb/c.d%25é", of tenant "acme"`,
		`Table::"under/t"`:                      `Icefield::Table::"under/t", of nobody`,
	} {
		code, out, errs := cli(t, "policy", "explain", "-c", dir, "--principal", "corp/a", "--tenant", "acme", "--action", "loadTable", "--resource", text)
		if code != exitOK || !strings.Contains(out, "resource   "+want) {
			t.Errorf("%s: %d\n%s%s", text, code, out, errs)
		}
	}
	for _, text := range []string{`Table::"prod/a//b"`, `Table::"prod/a%zz"`, `Table::"prod/a`, `Table::"`, `Group::"acme/x"`} {
		if code, out, _ := cli(t, "policy", "explain", "-c", dir, "--principal", "corp/a", "--tenant", "acme", "--action", "loadTable", "--resource", text); code != exitUsage {
			t.Errorf("%s: %d\n%s", text, code, out)
		}
	}
}
