package vendors

import (
	"net/http"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/wire"
)

// testRefusals asserts status, type and what the message names for what the tree does not do, and that nothing changed.
// The partner must hold shared.customers, and prod and sister sales.orders.
func testRefusals(t *testing.T, s *scenario) {
	type object = map[string]any
	id := func(name string, levels ...string) object { return object{"namespace": levels, "name": name} }
	rename := func(from, to object) object { return object{"source": from, "destination": to} }
	change := func(identifier object) object {
		set := object{"action": "set-properties", "updates": object{"touched": "yes"}}
		return object{"identifier": identifier, "requirements": []any{}, "updates": []any{set}}
	}
	table := func(name string) object { return object{"name": name, "schema": wire.Schema()} }
	const notHere = "UnsupportedOperationException"
	partner, prod := s.tree.Namespace("partner", "shared"), s.tree.Namespace("prod", "sales")

	for name, refusal := range map[string]struct {
		method, path string
		body         any
		status       int
		kind         string
		names        []string // what the message must name
	}{
		"create under a read-only mount":           {"POST", partner + "/tables", table("new"), 501, notHere, []string{"partner"}},
		"commit under a read-only mount":           {"POST", s.tree.Table("customers", "partner", "shared"), change(id("customers", "partner", "shared")), 501, notHere, []string{"partner"}},
		"drop under a read-only mount":             {"DELETE", s.tree.Table("customers", "partner", "shared"), nil, 501, notHere, []string{"partner"}},
		"create namespace under a read-only mount": {"POST", "/namespaces", object{"namespace": []string{"partner", "new"}}, 501, notHere, []string{"partner"}},
		"drop namespace under a read-only mount":   {"DELETE", partner, nil, 501, notHere, []string{"partner"}},
		"rename between mounts":                    {"POST", "/tables/rename", rename(id("orders", "prod", "sales"), id("orders2", "sister", "sales")), 501, notHere, []string{"prod", "sister"}},
		"rename out of a mount":                    {"POST", "/tables/rename", rename(id("orders", "prod", "sales"), id("orders2", "names")), 501, notHere, []string{"prod", "root"}},
		"rename into a mount":                      {"POST", "/tables/rename", rename(id("plain", "names"), id("orders2", "prod", "sales")), 501, notHere, []string{"prod", "root"}},
		"transaction between mounts": {"POST", "/transactions/commit", object{"table-changes": []any{
			change(id("orders", "prod", "sales")), change(id("orders", "sister", "sales"))}}, 501, notHere, []string{"prod", "sister"}},
		"transaction with the catalog underneath": {"POST", "/transactions/commit", object{"table-changes": []any{
			change(id("orders", "prod", "sales")), change(id("plain", "names"))}}, 501, notHere, []string{"prod", "root"}},
		"table in a mount's root":          {"POST", s.tree.Namespace("prod") + "/tables", table("orders"), 400, "", []string{"prod"}},
		"rename into a mount's root":       {"POST", "/tables/rename", rename(id("orders", "prod", "sales"), id("orders", "prod")), 400, "", []string{"prod"}},
		"load from a mount's root":         {"GET", s.tree.Table("orders", "prod"), nil, 404, "NoSuchTableException", []string{"prod.orders"}},
		"namespace named like a mount":     {"POST", "/namespaces", object{"namespace": []string{"prod"}}, 409, "AlreadyExistsException", []string{"prod"}},
		"like a read-only mount":           {"POST", "/namespaces", object{"namespace": []string{"partner"}}, 409, "AlreadyExistsException", []string{"partner"}},
		"underneath, named like a mount":   {"POST", "", nil, 409, "AlreadyExistsException", []string{"prod"}}, // in the view of "/"
		"drop a mount":                     {"DELETE", s.tree.Namespace("prod"), nil, 501, notHere, []string{"prod"}},
		"properties of a mount":            {"POST", s.tree.Namespace("prod") + "/properties", object{"updates": object{"a": "b"}}, 501, notHere, []string{"prod"}},
		"unknown warehouse":                {"GET", "/config?warehouse=nowhere", nil, 404, "NoSuchWarehouseException", []string{"nowhere", "prod", "partner", "sister", "root", "lake"}},
		"unknown route":                    {"GET", "/nothing/of/the/kind", nil, 404, "", nil},
		"unknown prefix":                   {"GET", "/nowhere/namespaces", nil, 404, "", nil},
		"separator in a name":              {"POST", "/namespaces", object{"namespace": []string{"a\x1fb"}}, 400, "", nil},
		"empty level":                      {"POST", "/namespaces", object{"namespace": []string{"prod", ""}}, 400, "", nil},
		"separator in a table's name":      {"POST", prod + "/tables", table("a\x1fb"), 400, "", nil},
		"empty table name":                 {"POST", prod + "/tables", table(""), 400, "", nil},
		"load with an empty namespace":     {"GET", "/namespaces//tables/nyc", nil, 404, "NoSuchTableException", nil},
		"table in a missing namespace":     {"POST", s.tree.Namespace("prod", "nowhere") + "/tables", table("t"), 404, "NoSuchNamespaceException", []string{"prod.nowhere"}},
		"load from a missing namespace":    {"GET", s.tree.Table("t", "prod", "nowhere"), nil, 404, "NoSuchTableException", []string{"prod.nowhere.t"}},
		"load from a missing one, partner": {"GET", s.tree.Table("t", "partner", "nowhere"), nil, 404, "NoSuchTableException", []string{"partner.nowhere.t"}},
	} {
		t.Run(name, func(t *testing.T) {
			catalog, path, body := s.tree, refusal.path, refusal.body
			if path == "" {
				catalog, path, body = s.view("root"), "/namespaces", object{"namespace": []string{"prod"}}
			}
			answer, err := catalog.Call(refusal.method, path, body)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Status != refusal.status || refusal.kind != "" && answer.Type != refusal.kind {
				t.Fatalf("got %v, want %d %s", answer, refusal.status, refusal.kind)
			}
			for _, name := range refusal.names {
				if !strings.Contains(answer.Message, name) {
					t.Errorf("the message does not name %s: %s", name, answer.Message)
				}
			}
		})
	}

	for mount, at := range map[string][3]string{"prod": {"prod", "sales", "orders"}, "sister": {"sister", "sales", "orders"}, "partner": {"partner", "shared", "customers"}} {
		loaded, err := s.tree.LoadTable(at[2], at[0], at[1])
		if err != nil || loaded.Metadata.Properties["touched"] != "" {
			t.Errorf("%s is not as it was: %+v, %v", mount, loaded, err)
		}
	}
	for _, path := range []string{s.tree.Table("orders2", "sister", "sales"), s.tree.Table("orders2", "prod", "sales"), s.tree.Table("orders2", "names"), s.tree.Table("new", "partner", "shared")} {
		if answer, err := s.tree.Call(http.MethodHead, path, nil); err != nil || answer.Status != http.StatusNotFound {
			t.Errorf("%s is there: %v, %v", path, answer, err)
		}
	}
}
