package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// serverRow is what a route of the server itself answers. Statuses are those for
// everybody of acme in the order reader, writer, admin, then for an admin of
// another tenant and for the operator.
type serverRow struct {
	verb, path, body string
	// open: whoever calls, even nobody, gets what the reader gets.
	open     bool
	statuses [5]int
	// kind is the type of the errors; says and hides are about the answers that are
	// no errors: of the admin, and of the admin of the other tenant.
	kind, says, hides string
	// twin is the path with a name of nothing that there is.
	twin string
}

var (
	everybody = [5]int{200, 200, 200, 200, 200}
	inspect   = [5]int{403, 403, 200, 200, 200}
	operators = [5]int{403, 403, 403, 403, 200}
)

func serverRows() []serverRow {
	const form = "grant_type=client_credentials&client_id=" + loginID + "&client_secret="
	return []serverRow{
		{verb: "GET", path: "/v1/config", statuses: everybody, says: `"endpoints":["`, hides: "prod"},
		{verb: "GET", path: "/v1/config?warehouse=icefield", statuses: everybody, says: `"overrides":{}`},
		{verb: "GET", path: "/v1/config?warehouse=prod", twin: "/v1/config?warehouse=prud", statuses: [5]int{200, 200, 200, 404, 200},
			kind: "NoSuchWarehouseException", says: `"prefix":"prod"`},
		{verb: "POST", path: "/v1/oauth/tokens", body: form + loginSecret, open: true, statuses: everybody, says: "access_token"},
		{verb: "POST", path: "/v1/prod/v1/oauth/tokens", body: form + "wrong", open: true, statuses: [5]int{401, 401, 401, 401, 401}},
		{verb: "GET", path: "/health", open: true, statuses: everybody, says: "alive"},
		{verb: "HEAD", path: "/health", open: true, statuses: everybody},
		{verb: "GET", path: "/ready", statuses: everybody, says: `"components":[`, hides: "prod"},
		{verb: "HEAD", path: "/ready", statuses: everybody},
		{verb: "GET", path: "/metrics", statuses: operators, kind: "ForbiddenException"},
		{verb: "GET", path: "/admin/v1/mounts", statuses: inspect, kind: "ForbiddenException", says: `"prod"`, hides: "prod"},
		{verb: "GET", path: "/admin/v1/jobs", statuses: inspect, kind: "ForbiddenException", says: `"jobs":[`, hides: "prod"},
		{verb: "GET", path: "/admin/v1/jobs?mount=prod", twin: "/admin/v1/jobs?mount=prud", statuses: [5]int{404, 404, 200, 404, 200},
			kind: "NoSuchWarehouseException", says: `"jobs":[`},
		{verb: "GET", path: "/admin/v1/jobs?mount=root", statuses: [5]int{404, 404, 404, 404, 200}, kind: "NoSuchWarehouseException"},
		{verb: "GET", path: "/admin/v1/commits?mount=prod&namespace=shop&table=orders", twin: "/admin/v1/commits?mount=prud&namespace=shop&table=orders",
			statuses: [5]int{404, 404, 200, 404, 200}, kind: "NoSuchWarehouseException", says: `"generation":1`},
		{verb: "GET", path: "/admin/v1/policy", statuses: operators, kind: "ForbiddenException"},
		{verb: "GET", path: "/admin/v1/audit", statuses: operators, kind: "ForbiddenException"},
		{verb: "POST", path: "/v1/aws/s3/sign", body: `{"region":"us-east-1","method":"GET","uri":"{x}/data/f","headers":{}}`,
			statuses: [5]int{200, 200, 200, 403, 200}, kind: "ForbiddenException", says: "Authorization"},
		{verb: "POST", path: "/v1/aws/s3/sign", body: `{"region":"us-east-1","method":"PUT","uri":"{x}/data/f","headers":{}}`,
			statuses: [5]int{403, 200, 200, 403, 200}, kind: "ForbiddenException", says: "Authorization"},
		{verb: "GET", path: "/v1/no-such-thing", statuses: [5]int{404, 404, 404, 404, 404}, kind: "NoSuchRouteException"},
		{verb: "GET", path: "/console", statuses: [5]int{404, 404, 404, 404, 404}, kind: "NoSuchRouteException"},
		{verb: "PUT", path: "/v1/namespaces", statuses: [5]int{405, 405, 405, 405, 405}, kind: "MethodNotAllowedException"},
	}
}

func TestEveryRouteOfTheServerAnswersEachCallerAsItsRowSays(t *testing.T) {
	store, sts := bucket(t)
	r := newRealm(t, grantingText("prod", "acme", store, sts)+ownedText("/", "")+ownedText("lake", "globex"))
	shop := spotInRealm{realm: r, store: store, kind: kindGrants, levels: []string{"prod"}, shop: "shop"}
	stock(t, shop)
	shop.o = "orders"
	shop.x = located(t, &shop)
	nobody := lineOf(r.ask(t, "", "GET", "/v1/config", ""))
	for _, row := range serverRows() {
		what := row.verb + " " + row.path
		body, headers := shop.fill(row.body), []string(nil)
		if row.open && row.body != "" {
			headers = []string{"Content-Type", "application/x-www-form-urlencoded"}
		}
		for _, who := range strangers {
			a := r.ask(t, who, row.verb, row.path, body, headers...)
			switch {
			case row.open, row.path == "/ready": // which says nothing to whom it does not know
				assert.Equal(t, row.statuses[0], a.status, "%s as %q: %s", what, who, a.body)
				assert.NotContains(t, a.body, "prod")
			case row.verb == "HEAD":
				assert.Equal(t, 401, a.status, what)
			default:
				assert.Equal(t, nobody, lineOf(a), "%s as %q", what, who)
			}
		}
		for i, who := range []string{"acme-reader", "acme-writer", "acme-admin", "globex-admin", "operator"} {
			a := r.ask(t, who, row.verb, row.path, body, headers...)
			switch want := row.statuses[i]; {
			case want >= 400 && row.kind != "":
				refused(t, row.verb, a, want, row.kind, what+" as "+who)
			default:
				assert.Equal(t, want, a.status, "%s as %s: %s", what, who, a.body)
				if who == "acme-admin" {
					assert.Contains(t, a.body, row.says, what)
				}
			}
			if who == "globex-admin" {
				if row.hides != "" {
					assert.NotContains(t, a.body, row.hides, what)
				}
				if row.twin != "" {
					b := r.ask(t, who, row.verb, row.twin, body)
					assert.Equal(t, a.status, b.status, what)
					assert.Equal(t, a.body, strings.ReplaceAll(b.body, "prud", "prod"), what)
				}
			}
		}
	}
	// What lies in the table of another tenant is as what lies in none, and so is a
	// store that nobody here has.
	ask := func(uri string) string {
		return lineOf(r.ask(t, "globex-admin", "POST", "/v1/aws/s3/sign", `{"region":"us-east-1","method":"GET","uri":"`+uri+`","headers":{}}`))
	}
	there := ask(shop.x + "/data/f")
	assert.Equal(t, there, ask(store+"/lake/prod/nothing/data/f"))
	assert.Equal(t, there, ask(store+"/other/prod/nothing/data/f"))
}
