package remote

import (
	"encoding/json"

	"github.com/icefield/icefield/capabilities"
)

// What remotes say in /v1/config (wire 1.2, 2.13).
func configHabits() []Switch {
	return []Switch{
		{Name: "none", Why: "the spec", Set: func(*Quirks) {}},
		{Name: "no defaults", Why: "BigLake; wire 2.13", Set: func(q *Quirks) { q.NoDefaults = true }},
		{Name: "no overrides", Why: "BigLake; wire 2.13", Set: func(q *Quirks) { q.NoOverrides = true }},
		{Name: "null maps", Why: "servers written in Go; wire R6", Set: func(q *Quirks) { q.NullMaps = true }},
		{Name: "numbers in config", Why: "values that are no strings; wire 1.5", Set: func(q *Quirks) {
			q.ConfigMembers = map[string]any{"defaults": map[string]any{"clients": 20, "rest-page-size": 3, "s3.path-style-access": true, "x": nil}}
		}},
		{Name: "members nobody knows", Why: "vendor extensions; wire R30", Set: func(q *Quirks) {
			q.ConfigMembers = map[string]any{"id": "x", "mode": map[string]any{"overrides": []int{1}}}
		}},
		{Name: "login in config", Why: "keys that are not for a proxy; wire 5.1", Set: func(q *Quirks) {
			q.Overrides = map[string]string{"token": "remote-token", "credential": "a:b", "scope": "x", "warehouse": "s3://elsewhere/",
				"header.Authorization": "Bearer remote-token", "header.X-Icefield-Via": "front-1", "rest.auth.type": "oauth2",
				"rest.sigv4-enabled": "true", "rest.signing-name": "glue", "rest.client.proxy.hostname": "127.0.0.1", "rest.client.proxy.port": "1"}
		}},
		{Name: "no endpoints", Why: "catalogs before the list; wire 1.2", Set: func(q *Quirks) { q.NoEndpoints = true }},
		{Name: "views by property", Why: "view-endpoints-supported; wire 1.2", Set: func(q *Quirks) {
			q.NoEndpoints, q.Defaults = true, map[string]string{"view-endpoints-supported": "true"}
		}},
		{Name: "endpoints null", Why: "wire 1.2", Set: func(q *Quirks) { q.Endpoints = json.RawMessage(`null`) }},
		{Name: "endpoints empty", Why: "an empty list counts as absent; wire 1.2", Set: func(q *Quirks) { q.Endpoints = json.RawMessage(`[]`) }},
		{Name: "endpoints malformed", Why: "nothing left counts as absent; design 4", Set: func(q *Quirks) {
			q.Endpoints = json.RawMessage(`["GET", "", 7, null, {"a":1}, "GET  /v1/{prefix}/namespaces", "/v1/{prefix}/namespaces"]`)
		}},
		{Name: "endpoints of the vendor", Why: "Polaris' own routes among the spec's; wire 1.2", Set: func(q *Quirks) {
			list := append(capabilities.All().Without(accessOps()).Endpoints(), "GET /polaris/v1/{prefix}/policies", "POST /v1/{prefix}/namespaces/{namespace}/generic-tables",
				"get /v1/x", "GET\t/v1/{prefix}/namespaces")
			q.Endpoints, _ = json.Marshal(list)
		}},
		{Name: "reads only", Why: "OSS Unity's list; wire 2.12", Set: func(q *Quirks) {
			q.Lacks = capabilities.Changes().Union(capabilities.Of(capabilities.ReportMetrics))
		}},
		{Name: "page size advised", Why: "rest-page-size; wire 1.2", Set: func(q *Quirks) { q.Overrides = map[string]string{"rest-page-size": "2"} }},
		{Name: "page size nonsense", Why: "rest-page-size; wire 1.2", Set: func(q *Quirks) { q.Overrides = map[string]string{"rest-page-size": "-many"} }},
		{Name: "key lifetime nonsense", Why: "idempotency-key-lifetime that is no period; wire 1.2", Set: func(q *Quirks) { q.KeyLifetime = json.RawMessage(`"half an hour"`) }},
		{Name: "key lifetime a number", Why: "idempotency-key-lifetime that is no text; wire 1.2", Set: func(q *Quirks) { q.KeyLifetime = json.RawMessage(`1800`) }},
		{Name: "key lifetime zero", Why: "idempotency-key-lifetime; wire 1.2", Set: func(q *Quirks) { q.KeyLifetime = json.RawMessage(`"PT0S"`) }},
		{Name: "keys honoured", Why: "Polaris, Lakekeeper; wire 1.3", Set: func(*Quirks) {}},
		{Name: "key lifetime a day", Why: "idempotency-key-lifetime; wire 1.2", Set: func(q *Quirks) { q.KeyLifetime = json.RawMessage(`"P1DT0.5S"`) }},
		{Name: "keys not honoured", Why: "most catalogs; wire 1.3", Set: func(q *Quirks) { q.IgnoreKeys = true }},
	}
}

// accessOps are the operations that the catalog behind does not have.
func accessOps() capabilities.Set {
	return capabilities.Of(capabilities.ListFunctions, capabilities.LoadFunction, capabilities.LoadCredentials, capabilities.SignRequest, capabilities.PlanScan, capabilities.FetchPlan,
		capabilities.CancelPlan, capabilities.FetchScanTasks)
}

// Where remotes are and how they spell paths (wire 1.2, 2.12, 2.13, 5.5).
func addressHabits() []Switch {
	prefix := func(name, why, prefix string) Switch {
		return Switch{Name: "prefix " + name, Why: why, Set: func(q *Quirks) { q.Prefix = prefix }}
	}
	dotted := gaps("a dot in a name cannot be told from the separator in `parent`", "names/dots and levels", "names/namespace/dot", "names/namespace/dot-inside",
		"names/namespace/dotdot", "names/namespace/dotdot-inside", "names/namespace/dot-first")
	return []Switch{
		prefix("of one word", "Polaris: the catalog's name; wire 2.13", "sales"),
		prefix("with a slash", "Databricks, Glue: catalogs/<name>; wire 2.12", "catalogs/sales"),
		prefix("with a pipe", "Nessie: main|warehouse; wire 2.13", "main|warehouse"),
		prefix("with an encoded pipe", "Nessie: main%7Cwarehouse; wire 2.13", "main%7Cwarehouse"),
		prefix("that is an ARN", "S3 Tables: an URL-encoded ARN; wire 2.13", "arn%3Aaws%3As3tables%3Aeu-central-1%3A123456789012%3Abucket%2Flake"),
		prefix("that is a UUID", "Lakekeeper; wire 2.13", "0198c6f2-7a52-7d0e-9a57-0c1a3c7f5b11"),
		prefix("with a path word", "a catalog named like a route", "namespaces"),
		prefix("with a blank", "a catalog's name as it is", "my lake"),
		{Name: "prefix among the defaults", Why: "either map may have it; wire 1.2", Set: func(q *Quirks) {
			q.Prefix, q.ConfigMembers = "sales", map[string]any{"defaults": map[string]any{"prefix": "sales"}, "overrides": map[string]any{}}
		}},
		{Name: "base path", Why: "every vendor has one; wire 2.13", Base: "/api/2.1/unity-catalog/iceberg-rest", Set: func(q *Quirks) { q.Prefix = "catalogs/main" }},
		{Name: "uri on the same host", Why: "Nessie, Databricks send their own address; wire 5.1", Set: func(q *Quirks) { q.URI, q.ExtraBase = "{url}/moved/", "/moved" }},
		{Name: "uri elsewhere", Why: "not followed; wire 5.1", Set: func(q *Quirks) { q.URI = "http://catalog.internal.example:9000/" }},
		{Name: "uri on another host of this machine", Why: "not followed; wire 5.1", Set: func(q *Quirks) { q.URI = "http://localhost:1/" }},
		{Name: "uri of another scheme", Why: "not followed; design 5", Set: func(q *Quirks) { q.URI = "ftp://127.0.0.1/" }},
		{Name: "uri among the defaults", Why: "the mount says where the remote is; design 5", Set: func(q *Quirks) { q.DefaultURI = "http://127.0.0.1:1/" }},
		{Name: "separator dot", Why: "%2E; design 11.2", Set: func(q *Quirks) { q.Separator = "%2E" }, Gaps: dotted},
		{Name: "separator raw dot", Why: "a separator that was not encoded; wire 5.5", Set: func(q *Quirks) { q.Separator = "." }, Gaps: dotted},
		{Name: "separator said as usual", Why: "%1f in lower case; wire 1.2", Set: func(q *Quirks) { q.Separator = "%1f" }},
		{Name: "separator of two letters", Why: "wire 1.2", Set: func(q *Quirks) { q.Separator = "%3A%3A" }},
	}
}
