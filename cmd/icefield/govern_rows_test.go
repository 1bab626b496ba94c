package main

import (
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
)

// Who may do something in the own tenant, as the built-in policies have it.
const (
	readers = "reader writer admin"
	writers = "writer admin"
	admins  = "admin"
)

// Kinds of places that tables lie in: a registry that hands out access to storage,
// a remote catalog, and the shared registry underneath, which hands out none.
const (
	kindGrants = "kindGrants"
	kindRelays = "kindRelays"
	kindBare   = "plain"
)

// expected is what one route answers. {shop} is a namespace as a path and {in} as
// JSON, {o} the object and {x} what prepare found.
type expected struct {
	path, body string
	headers    []string
	// only names the kind of place that this is about; empty: all.
	only string
	// may is who gets ok, and says part of that answer. The others of the tenant
	// get a 403, everybody else a 404 of the type absent.
	may    string
	ok     int
	says   string
	absent string
	// wide is what only those find in it who may write.
	wide string
	// o is the object, or what to make a fresh one with for each call; makes tells
	// that it is not there yet.
	o       string
	prepare func(t testing.TB, c *spotInRealm) (x string)
	makes   bool
	// look is a path whose answer a denial must not change.
	look string
}

const (
	aTable   = `{"name":"{o}","schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","type":"long","required":false}]}}`
	aView    = `{"name":"{o}","schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","type":"long","required":false}]},"properties":{},` + aVersion + `}`
	aVersion = `"view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,"summary":{"engine-name":"spark"},"default-namespace":[{in}],"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}`
	set      = `"requirements":[],"updates":[{"action":"set-properties","updates":{"seen":"yes"}}]`
	ident    = `{"namespace":[{in}],"name":"{o}"}`
	rename   = `{"source":{"namespace":[{in}],"name":"{o}"},"destination":{"namespace":[{in}],"name":"{o}z"}}`
	tables   = "/namespaces/{shop}/tables"
	table    = tables + "/{o}"
	views    = "/namespaces/{shop}/views"
	view     = views + "/{o}"
	inner    = "/namespaces/{shop}%1F{o}"
	toSign   = `{"region":"us-east-1","method":"GET","uri":"{x}/data/f.parquet","headers":{}}`
	toWrite  = `{"region":"us-east-1","method":"PUT","uri":"{x}/data/f.parquet","headers":{}}`
	report   = `{"report-type":"scan-report","table-name":"{o}","snapshot-id":1,"filter":{"type":"true"},"schema-id":0,"projected-field-ids":[],"projected-field-names":[],"metrics":{}}`

	noNamespace = "NoSuchNamespaceException"
	noTable     = "NoSuchTableException"
	noView      = "NoSuchViewException"
	noFunction  = "NoSuchFunctionException"
)

// operationRows says what the operations of a catalog answer to whom.
func operationRows() map[capabilities.Op][]expected {
	const loc = `"metadata-location"`
	vended := []string{"X-Iceberg-Access-Delegation", "vended-credentials"}
	// missing is a row of what a place does not have: asked for by who may ask.
	missing := func(e expected, kinds ...string) (rows []expected) {
		for _, kind := range kinds {
			not := e
			not.only, not.ok, not.says, not.prepare = kind, 501, "UnsupportedOperationException", nil
			not.path = strings.Replace(not.path, "{x}", "p-1", 1)
			rows = append(rows, not)
		}
		return rows
	}
	relayed := func(e expected) []expected {
		e.only = kindRelays
		return append(missing(e, kindGrants, kindBare), e)
	}
	read := expected{path: table + "/credentials", o: "orders", may: readers, ok: 200, absent: noTable, says: "ASIAVENDED", only: kindGrants}
	wide := read
	wide.only, wide.may, wide.says = kindRelays, writers, relayedKey
	sign := expected{path: table + "/sign", body: toSign, o: "orders", prepare: located, may: readers, ok: 200, absent: noTable, says: "Authorization"}
	signWrite := sign
	signWrite.body, signWrite.may = toWrite, writers
	for _, e := range []*expected{&sign, &signWrite} {
		e.only = kindGrants
	}
	signThere, writeThere := sign, signWrite
	for _, e := range []*expected{&signThere, &writeThere} {
		e.only, e.says, e.prepare = kindRelays, relayedSign, elsewhere
	}
	return map[capabilities.Op][]expected{
		capabilities.ListNamespaces:  {{path: "/namespaces?parent={shop}", may: readers, ok: 200, absent: noNamespace, says: `"inner"`, makes: true}},
		capabilities.LoadNamespace:   {{path: inner, o: "inner", may: readers, ok: 200, absent: noNamespace, says: `"inner"`}},
		capabilities.NamespaceExists: {{path: inner, o: "inner", may: readers, ok: 204, absent: noNamespace}},
		capabilities.CreateNamespace: {{path: "/namespaces", body: `{"namespace":[{in},"{o}"]}`, may: writers, ok: 200, absent: noNamespace, makes: true, look: inner}},
		capabilities.UpdateNamespaceProperties: {{path: inner + "/properties", body: `{"updates":{"seen":"yes"}}`, prepare: newNamespace, may: writers, ok: 200,
			absent: noNamespace, says: `"updated":["seen"]`, look: inner}},
		capabilities.DropNamespace: {{path: inner, prepare: newNamespace, may: admins, ok: 204, absent: noNamespace, look: inner}},

		capabilities.ListTables: {{path: tables, may: readers, ok: 200, absent: noNamespace, says: `"orders"`, makes: true}},
		capabilities.LoadTable: {{path: table, o: "orders", may: readers, ok: 200, absent: noTable, says: loc},
			{path: table, headers: vended, o: "orders", only: kindGrants, may: readers, ok: 200, absent: noTable, says: "ASIAVENDED"},
			{path: table, headers: vended, o: "orders", only: kindRelays, may: readers, ok: 200, absent: noTable, says: loc, wide: relayedKey}},
		capabilities.TableExists: {{path: table, o: "orders", may: readers, ok: 204, absent: noTable}},
		capabilities.CreateTable: {{path: tables, body: aTable, may: writers, ok: 200, absent: noNamespace, says: loc, makes: true, look: table},
			{path: tables, body: aTable, headers: vended, only: kindGrants, may: writers, ok: 200, absent: noNamespace, says: "ASIAVENDED", makes: true, look: table}},
		capabilities.RegisterTable: {{path: "/namespaces/{shop}/register", body: `{"name":"{o}","metadata-location":"{x}"}`, prepare: forgottenTable,
			may: writers, ok: 200, absent: noNamespace, says: loc, makes: true, look: table}},
		capabilities.UnregisterTable: {{path: table + "/unregister", prepare: newTable, may: admins, ok: 200, absent: noTable, says: loc, look: table}},
		capabilities.CommitTable:     {{path: table, body: `{"identifier":` + ident + `,` + set + `}`, prepare: newTable, may: writers, ok: 200, absent: noTable, says: `"seen"`, look: table}},
		capabilities.CommitTransaction: {{path: "/transactions/commit", body: `{"table-changes":[{"identifier":` + ident + `,` + set + `}]}`, prepare: newTable,
			may: writers, ok: 204, absent: noTable, look: table}},
		capabilities.RenameTable: {{path: "/tables/rename", body: rename, prepare: newTable, may: writers, ok: 204, absent: noTable, look: table}},
		capabilities.DropTable: {{path: table, prepare: newTable, may: admins, ok: 204, absent: noTable, look: table},
			{path: table + "?purgeRequested=true", prepare: newTable, may: admins, ok: 204, absent: noTable, look: table}},
		capabilities.ReportMetrics: {{path: table + "/metrics", body: report, o: "orders", may: readers, ok: 204, absent: noTable}},

		capabilities.ListViews:  {{path: views, may: readers, ok: 200, absent: noNamespace, says: `"totals"`, makes: true}},
		capabilities.LoadView:   {{path: view, o: "totals", may: readers, ok: 200, absent: noView, says: loc}},
		capabilities.ViewExists: {{path: view, o: "totals", may: readers, ok: 204, absent: noView}},
		capabilities.CreateView: {{path: views, body: aView, may: writers, ok: 200, absent: noNamespace, says: loc, makes: true, look: view}},
		capabilities.RegisterView: {{path: "/namespaces/{shop}/register-view", body: `{"name":"{o}","metadata-location":"{x}"}`, prepare: forgottenView,
			may: writers, ok: 200, absent: noNamespace, says: loc, makes: true, look: view}},
		capabilities.ReplaceView: {{path: view, body: `{` + set + `}`, prepare: newView, may: writers, ok: 200, absent: noView, says: `"seen"`, look: view}},
		capabilities.RenameView:  {{path: "/views/rename", body: rename, prepare: newView, may: writers, ok: 204, absent: noView, look: view}},
		capabilities.DropView:    {{path: view, prepare: newView, may: admins, ok: 204, absent: noView, look: view}},

		capabilities.PlanScan:   relayed(expected{path: table + "/plan", body: `{"snapshot-id":1}`, o: "orders", may: readers, ok: 200, absent: noTable, says: "completed"}),
		capabilities.FetchPlan:  relayed(expected{path: table + "/plan/{x}", o: "orders", prepare: planned, may: readers, ok: 200, absent: noTable, says: "completed"}),
		capabilities.CancelPlan: relayed(expected{path: table + "/plan/{x}", o: "orders", prepare: planned, may: readers, ok: 204, absent: noTable}),
		capabilities.FetchScanTasks: relayed(expected{path: table + "/tasks", body: `{"plan-task":"{x}"}`, o: "orders", prepare: tasked, may: readers, ok: 200,
			absent: noTable, says: "file-scan-tasks"}),

		capabilities.LoadCredentials: append(missing(read, kindBare), read, wide),
		capabilities.SignRequest:     append(missing(sign, kindBare), sign, signWrite, signThere, writeThere),

		capabilities.ListFunctions: relayed(expected{path: "/namespaces/{shop}/functions", may: readers, ok: 200, absent: noNamespace, says: `"add_one"`, makes: true}),
		capabilities.LoadFunction:  relayed(expected{path: "/namespaces/{shop}/functions/{o}", o: "add_one", may: readers, ok: 200, absent: noFunction, says: "function-uuid"}),
	}
}

func newNamespace(t testing.TB, c *spotInRealm) string {
	c.operator(t, "POST", "/namespaces", `{"namespace":[{in},"{o}"]}`)
	return ""
}

func newTable(t testing.TB, c *spotInRealm) string {
	return between(t, c.operator(t, "POST", tables, aTable), `"metadata-location":"`, `"`)
}

func newView(t testing.TB, c *spotInRealm) string {
	return between(t, c.operator(t, "POST", views, aView), `"metadata-location":"`, `"`)
}

// forgottenTable and forgottenView are metadata that may be registered.
func forgottenTable(t testing.TB, c *spotInRealm) string {
	defer c.operator(t, "POST", table+"/unregister", "")
	return newTable(t, c)
}

func forgottenView(t testing.TB, c *spotInRealm) string {
	defer c.operator(t, "DELETE", view, "")
	return newView(t, c)
}

func planned(t testing.TB, c *spotInRealm) string {
	return queryOf(between(t, c.operator(t, "POST", table+"/plan", `{"snapshot-id":1}`), `"plan-id":"`, `"`))
}

func tasked(t testing.TB, c *spotInRealm) string {
	return between(t, c.operator(t, "POST", table+"/plan", `{"snapshot-id":1}`), `"plan-tasks":["`, `"`)
}

func elsewhere(testing.TB, *spotInRealm) string {
	return "https://elsewhere.s3.amazonaws.com/shop/orders"
}

// located is where the table lies in the store, as clients call it.
func located(t testing.TB, c *spotInRealm) string {
	return c.store + between(t, c.operator(t, "GET", table, ""), `"location":"s3:/`, `"`)
}
