package router

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/pagination"
)

func TestEveryRowHasAHandlerAndEveryHandlerARow(t *testing.T) {
	table := handlers()
	for _, row := range capabilities.Operations() {
		if table[row.Op] == nil {
			t.Errorf("%s has no handler", row.Name)
		}
		delete(table, row.Op)
	}
	for op := range table {
		t.Errorf("a handler for %v, which is no row", op)
	}
}

// Each route, under the tree and under a mount's prefix, leads to the backend of
// that catalog, with the request that the HTTP message says.
func TestEveryRouteReachesItsBackendMethod(t *testing.T) {
	ab, id, v := mounts.Namespace{"a", "b"}, mounts.Identifier{Namespace: mounts.Namespace{"a", "b"}, Name: "t"}, mounts.Identifier{Namespace: mounts.Namespace{"a", "b"}, Name: "v"}
	to := mounts.Identifier{Namespace: mounts.Namespace{"a", "c"}, Name: "u"}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	change := mounts.CommitTableRequest{Table: id, Requirements: []json.RawMessage{raw(`{"type":"assert-table-uuid","uuid":"u"}`)},
		Updates: []json.RawMessage{raw(`{"action":"set-properties","updates":{"k":"v"}}`)}}
	schema := raw(`{"type":"struct","fields":[]}`)
	want := map[capabilities.Op]mounts.Request{
		capabilities.ListNamespaces:            &mounts.ListNamespacesRequest{Parent: ab, Page: pagination.Request{Token: "tok", Size: 7}},
		capabilities.LoadNamespace:             &mounts.LoadNamespaceRequest{Namespace: ab},
		capabilities.NamespaceExists:           &mounts.LoadNamespaceRequest{Namespace: ab},
		capabilities.CreateNamespace:           &mounts.CreateNamespaceRequest{Namespace: ab, Properties: map[string]string{"owner": "x"}},
		capabilities.UpdateNamespaceProperties: &mounts.UpdateNamespacePropertiesRequest{Namespace: ab, Removals: []string{"old"}, Updates: map[string]string{"owner": "x"}},
		capabilities.DropNamespace:             &mounts.DropNamespaceRequest{Namespace: ab},

		capabilities.ListTables:        &mounts.ListTablesRequest{Namespace: ab, Page: pagination.Request{Size: 3}},
		capabilities.LoadTable:         &mounts.LoadTableRequest{Table: id, Snapshots: mounts.SnapshotsRefs, IfNoneMatch: `"e0"`, Delegation: "vended-credentials"},
		capabilities.TableExists:       &mounts.TableExistsRequest{Table: id},
		capabilities.CreateTable:       &mounts.CreateTableRequest{Namespace: ab, Delegation: "vended-credentials", Name: "t", Schema: schema, StageCreate: true, Properties: map[string]string{"p": "q"}},
		capabilities.RegisterTable:     &mounts.RegisterTableRequest{Namespace: ab, Delegation: "vended-credentials", Name: "t", MetadataLocation: "s3://b/m.json", Overwrite: true},
		capabilities.UnregisterTable:   &mounts.UnregisterTableRequest{Table: id},
		capabilities.CommitTable:       &change,
		capabilities.CommitTransaction: &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{change}},
		capabilities.RenameTable:       &mounts.RenameTableRequest{Source: id, Destination: to},
		capabilities.DropTable:         &mounts.DropTableRequest{Table: id, Purge: true},
		capabilities.ReportMetrics:     &mounts.ReportMetricsRequest{Table: id, Body: raw(`{"report-type":"scan-report","snapshot-id":9007199254740993}`)},

		capabilities.ListViews:    &mounts.ListViewsRequest{Namespace: ab, Page: pagination.Request{Size: maxPage, Whole: true}},
		capabilities.LoadView:     &mounts.LoadViewRequest{View: v},
		capabilities.ViewExists:   &mounts.LoadViewRequest{View: v},
		capabilities.CreateView:   &mounts.CreateViewRequest{Namespace: ab, Name: "v", Schema: schema, ViewVersion: raw(`{"version-id":1}`)},
		capabilities.RegisterView: &mounts.RegisterViewRequest{Namespace: ab, Name: "v", MetadataLocation: "s3://b/v.json"},
		capabilities.ReplaceView:  &mounts.ReplaceViewRequest{View: v, Requirements: []json.RawMessage{}, Updates: []json.RawMessage{raw(`{"action":"set-properties","updates":{}}`)}},
		capabilities.RenameView:   &mounts.RenameViewRequest{Source: id, Destination: to},
		capabilities.DropView:     &mounts.DropViewRequest{View: v},

		capabilities.PlanScan:       &mounts.PlanScanRequest{Table: id, Delegation: "vended-credentials", Body: raw(`{"snapshot-id":9007199254740993}`)},
		capabilities.FetchPlan:      &mounts.FetchPlanRequest{Table: id, Delegation: "vended-credentials", PlanID: "p/1"},
		capabilities.CancelPlan:     &mounts.CancelPlanRequest{Table: id, PlanID: "p/1"},
		capabilities.FetchScanTasks: &mounts.FetchScanTasksRequest{Table: id, Body: raw(`{"plan-task":"x"}`)},

		capabilities.LoadCredentials: &mounts.LoadCredentialsRequest{Table: id, PlanID: "p1", Delegation: "vended-credentials",
			ReferencedBy: []mounts.Identifier{{Namespace: mounts.Namespace{"a"}, Name: "v"}}},
		capabilities.SignRequest: &mounts.SignStorageRequest{Table: id, Body: raw(`{"region":"eu","uri":"https://x","method":"GET","headers":{}}`)},

		capabilities.ListFunctions: &mounts.ListFunctionsRequest{Namespace: ab, Page: pagination.Request{Size: 3}},
		capabilities.LoadFunction:  &mounts.LoadFunctionRequest{Function: mounts.Identifier{Namespace: ab, Name: "f/1"}},
	}
	for _, prefix := range []string{"", "/prod"} {
		tree, treeBackend := scripted(typical)
		view, viewBackend := scripted(typical)
		w := serve(t, Config{Tree: Catalog{Backend: treeBackend}, Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: viewBackend}}})
		asked, idle := tree, view
		if prefix != "" {
			asked, idle = view, tree
		}
		for _, row := range capabilities.Operations() {
			c := calls()[row.Op]
			g := w.do(row.Verb, "/v1"+prefix+c.path, c.body, `If-None-Match: "e0"`, "X-Iceberg-Access-Delegation: vended-credentials")
			if g.status != 200 && g.status != 204 {
				t.Errorf("%s: %d %s", row.Name, g.status, g.body)
			}
			if got := asked.last(); !reflect.DeepEqual(got, want[row.Op]) {
				t.Errorf("%s%s: asked\n%#v, want\n%#v", prefix, row.Name, got, want[row.Op])
			}
		}
		if idle.last() != nil {
			t.Errorf("prefix %q: the other catalog was asked %#v", prefix, idle.last())
		}
	}
}

func TestUnknownPathsAndVerbsAreAnsweredAsErrorsOfTheProtocol(t *testing.T) {
	w := serve(t, Config{Tree: Catalog{Backend: memory.New(memory.Options{})},
		Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: memory.New(memory.Options{})}}})
	for _, c := range []struct {
		verb, path   string
		status       int
		name, allows string
	}{
		{"GET", "/", 404, "NoSuchRouteException", ""},
		{"GET", "/v1", 404, "NoSuchRouteException", ""},
		{"GET", "/nope", 404, "NoSuchRouteException", ""},
		{"POST", "/v1/oauth/tokens", 404, "NoSuchRouteException", ""},
		{"GET", "/iceberg/v1/config", 404, "NoSuchRouteException", ""},
		{"GET", "/v1/namespaces/a/nope", 404, "NoSuchRouteException", ""},
		{"GET", "/v1/prod/config", 404, "NoSuchRouteException", ""},
		{"GET", "/v1/prod/health", 404, "NoSuchRouteException", ""},
		{"GET", "/v1/namespaces/{object}/nope", 404, "NoSuchRouteException", ""},
		{"GET", "/v1/nope/namespaces", 404, "NoSuchWarehouseException", ""},
		{"GET", "/v1/nope/namespaces/a/tables/t", 404, "NoSuchWarehouseException", ""},
		{"PUT", "/v1/config", 405, "MethodNotAllowedException", "GET"},
		{"PATCH", "/v1/namespaces/a", 405, "MethodNotAllowedException", "DELETE, GET, HEAD"},
		{"OPTIONS", "/v1/prod/namespaces/a/tables/t", 405, "MethodNotAllowedException", "DELETE, GET, HEAD, POST"},
		{"GET", "/v1/tables/rename", 405, "MethodNotAllowedException", "POST"},
		{"POST", "/ready", 405, "MethodNotAllowedException", "GET, HEAD"},
	} {
		g := w.do(c.verb, c.path, "")
		g.wantError(t, c.status, c.name)
		if got := g.header.Get("Allow"); got != c.allows {
			t.Errorf("%s %s: Allow %q, want %q", c.verb, c.path, got, c.allows)
		}
	}
	if message := w.do("GET", "/v1/nope/namespaces", "").wantError(t, 404, "NoSuchWarehouseException"); !strings.Contains(message, "icefield, prod") {
		t.Errorf("%q does not name the catalogs there are", message)
	}
}

func TestSlashesTooManyAreOverlookedWithoutARedirect(t *testing.T) {
	s, b := scripted(typical)
	w := serve(t, Config{Tree: Catalog{Backend: b}, Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: b}}})
	for _, path := range []string{
		"/v1/namespaces/a/tables/t", "//v1/namespaces/a/tables/t", "/v1//namespaces/a/tables/t", "/v1/namespaces/a/tables/t/",
		"/v1/v1/namespaces/a/tables/t", "/v1//v1//namespaces/a/tables/t//", "/v1/prod/namespaces/a/tables/t",
		"/v1//prod//namespaces/a/tables/t", "/v1/v1/prod///namespaces/a/tables/t/", "/v1/prod//namespaces/%61/tables/t",
	} {
		if g := w.do("GET", path, ""); g.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, g.status, g.body)
		}
		if got := s.last().Object().String(); got != "a.t" {
			t.Errorf("%s is about %q", path, got)
		}
	}
	for _, path := range []string{"/v1/v1/config", "/v1//config/", "//v1/config", "/health/", "//ready"} {
		if g := w.do("GET", path, ""); g.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, g.status, g.body)
		}
	}
}

// Java clients that probe "nyc.entries" ask for a table of the namespace "".
func TestAnEmptyNamespaceInThePathIsAnAbsenceOfTheRightType(t *testing.T) {
	w := over(t, memory.New(memory.Options{}))
	for _, c := range []struct{ verb, path, name string }{
		{"GET", "/v1/namespaces//tables/nyc", "NoSuchTableException"},
		{"GET", "/v1/namespaces/a%1F/tables/nyc", "NoSuchTableException"},
		{"GET", "/v1/namespaces/%1F/tables/nyc", "NoSuchTableException"},
		{"POST", "/v1/namespaces//tables/nyc", "NoSuchTableException"},
		{"DELETE", "/v1/namespaces//tables/nyc", "NoSuchTableException"},
		{"GET", "/v1/namespaces//views/nyc", "NoSuchViewException"},
		{"GET", "/v1/namespaces//functions/nyc", "NoSuchFunctionException"},
		{"GET", "/v1/namespaces//tables", "NoSuchNamespaceException"},
		{"GET", "/v1/namespaces//views", "NoSuchNamespaceException"},
		{"POST", "/v1/namespaces//tables", "NoSuchNamespaceException"},
		{"GET", "/v1/namespaces?parent=%1F", "NoSuchNamespaceException"},
	} {
		if c.name == "NoSuchTableException" && c.verb == "POST" {
			w.do(c.verb, c.path, `{"updates":[]}`).wantError(t, 404, c.name)
			continue
		}
		w.do(c.verb, c.path, "").wantError(t, 404, c.name)
	}
	if g := w.do("HEAD", "/v1/namespaces//tables/nyc", ""); g.status != 404 || g.body != "" {
		t.Errorf("HEAD: %d %q", g.status, g.body)
	}
}

// Whoever checks that every route is governed asks this list: it must have the
// rows of the operation table, and what only some servers have.
func TestRoutesListsEveryPathThatIsAnswered(t *testing.T) {
	has := map[Route]bool{}
	for _, r := range Routes(Config{Audit: func() AuditStatus { return AuditStatus{} }}) {
		has[r] = true
	}
	for _, row := range capabilities.Operations() {
		if r := (Route{row.Verb, pattern(row.Path)}); !has[r] {
			t.Errorf("%v is missing", r)
		}
	}
	for _, r := range []Route{{"GET", "/v1/config"}, {"HEAD", "/ready"}, {"POST", "/v1/aws/s3/sign"}, {"GET", "/admin/v1/audit"}} {
		if !has[r] {
			t.Errorf("%v is missing", r)
		}
	}
	if has[Route{"GET", "/metrics"}] {
		t.Error("lists a route that this server does not have")
	}
}
