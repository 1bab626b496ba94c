package remote

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/icefield/icefield/capabilities"
)

// How remotes have namespaces and names (wire 2.12, 5.6).
func namespaceHabits() []Switch {
	const flat = "the remote has one level of namespaces"
	oneLevel := gaps(flat, "namespaces/nested", "namespaces/create", "namespaces/create with missing parent", "namespaces/drop", "namespaces/drop with a child",
		"names/namespace/*", "names/dots and levels", "listing/namespaces/*", "create/staged into a dropped namespace", "once/namespaces", "contract/messages of refusals",
		"listing/tables/direct entries only", "listing/views/direct entries only", "tables/load missing", "rename/across namespaces")
	folded := gaps("the remote has no upper-case letters", "names/namespace/case-upper", "names/table/case-upper", "names/view/case-upper", "names/case twins",
		"names/namespace/percent-slash", "names/table/percent-slash", "names/view/percent-slash", "namespaces/missing", "tables/load missing",
		"listing/namespaces/order", "listing/tables/order", "listing/views/order")
	untold := gaps("the remote tells no properties", "namespaces/load", "namespaces/create", "namespaces/create duplicate", "namespaces/properties",
		"namespaces/properties both set and removed", "namespaces/nested", "once/namespaces")
	return []Switch{
		{Name: "one level, 400", Why: "Glue, S3 Tables, Unity, BigLake; wire 5.6", Set: func(q *Quirks) { q.OneLevel = 400 }, Gaps: oneLevel},
		{Name: "one level, 404", Why: "wire 5.6", Set: func(q *Quirks) { q.OneLevel = 404 }, Gaps: oneLevel},
		{Name: "one level, 500", Why: "OSS Unity fails at names that it does not take; wire 2.12", Set: func(q *Quirks) { q.OneLevel = 500 }, Gaps: oneLevel},
		{Name: "lower-cased names", Why: "Glue; wire 5.6", Set: func(q *Quirks) { q.Fold = true }, Gaps: folded},
		{Name: "no properties", Why: "PyIceberg 3167; wire 2.14", Set: func(q *Quirks) { q.NoProperties = true }, Gaps: untold},
		{Name: "null properties", Why: "nullable in the spec; wire 1", Set: func(q *Quirks) { q.NullProperties = true }, Gaps: untold},
		{Name: "not empty is a 400", Why: "older catalogs; wire R25", Set: func(q *Quirks) { q.NotEmptyStatus = 400 }},
	}
}

// How remotes list (wire 1.3, 2.13; design 3.3).
func listingHabits() []Switch {
	return []Switch{
		{Name: "no paging", Why: "Polaris before 1.1, Unity; design 11.2", Set: func(q *Quirks) { q.NoPaging = true },
			Gaps: gaps("a listing is whole, so changes during a walk are seen", "listing/tables/changes during a walk", "listing/views/changes during a walk", "listing/namespaces/changes during a walk")},
		{Name: "page cap", Why: "design 11.2", Set: func(q *Quirks) { q.PageCap = 3 }},
		{Name: "page cap of one", Why: "design 11.2", Set: func(q *Quirks) { q.PageCap = 1 }},
		{Name: "pages unasked", Why: "pages for clients that ask for none; wire R11", Set: func(q *Quirks) { q.Unasked, q.PageCap = true, 2 }},
		{Name: "larger pages", Why: "pageSize taken for a hint; wire 1.3", Set: func(q *Quirks) { q.OversizePages = 2 },
			Gaps: gaps("the rest of a page is fetched again, and what was removed meanwhile shifts its rows", "listing/tables/changes during a walk",
				"listing/views/changes during a walk", "listing/namespaces/changes during a walk")},
		{Name: "last token empty", Why: "wire R10", Set: func(q *Quirks) { q.LastToken = `""` }},
		{Name: "last token null", Why: "wire R10", Set: func(q *Quirks) { q.LastToken = `null` }},
		{Name: "long tokens", Why: "tokens are opaque; wire 1.3", Set: func(q *Quirks) { q.PageCap, q.TokenPrefix = 2, "+/= é%2F\"\\"+strings.Repeat("x", 1000) }},
		{Name: "wrong namespaces in rows", Why: "Gravitino 10397, 10398; wire 5.1", Set: func(q *Quirks) { q.WrongNamespaces = true }},
		{Name: "descendants in listings", Why: "SeaweedFS lists all below a namespace, seen", Set: func(q *Quirks) { q.Descendants = true }},
		{Name: "no lists when empty", Why: "BigLake leaves empty lists out; wire 2.13", Set: func(q *Quirks) { q.NoLists = true }},
	}
}

// What is odd about what is in the answers (wire 1.5, 5.4; design 11.2).
func answerHabits() []Switch {
	entries := func(pairs ...string) map[string]json.RawMessage {
		all := map[string]json.RawMessage{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = json.RawMessage(pairs[i+1])
		}
		return all
	}
	untagged := gaps("the remote has no tags", "tables/etag", "tables/etag after a commit")
	return []Switch{
		{Name: "no etag", Why: "design 11.2", Set: func(q *Quirks) { q.NoETag = true }, Gaps: untagged},
		{Name: "weak etag", Why: "proxies in between; wire 5.4", Set: func(q *Quirks) { q.WeakETag = true }},
		{Name: "etag without quotes", Why: "wire 5.4", Set: func(q *Quirks) { q.RawETag = true }, Gaps: untagged},
		{Name: "never 304", Why: "If-None-Match ignored; wire 5.4", Set: func(q *Quirks) { q.No304 = true }, Gaps: gaps("the remote never says that nothing has changed", "tables/etag")},
		{Name: "numbers in a table's config", Why: "wire 1.5", Set: func(q *Quirks) {
			q.Entries = entries("s3.session-token-expires-at-ms", "1893456000000", "s3.path-style-access", "true", "x", "null", "client.region", `"eu-central-1"`)
		}},
		{Name: "login in a table's config", Why: "wire 5.2", Set: func(q *Quirks) {
			q.Entries = entries("token", `"remote-table-token"`, "uri", `"http://catalog.internal.example/"`, "header.Authorization", `"Bearer remote-table-token"`,
				"urn:ietf:params:oauth:token-type:jwt", `"remote-table-token"`, "oauth2-server-uri", `"http://127.0.0.1:1/"`, "credential", `"a:b"`, "warehouse", `"s3://x/"`,
				"prefix", `"other"`, "rest.auth.type", `"basic"`)
		}},
		{Name: "members nobody knows in answers", Why: "newer specs, vendors; wire R30", Set: func(q *Quirks) {
			q.Members = entries("x-vendor", `{"metadata":{"deep":[1,2]},"config":null}`, "read-restrictions", `{"row-filter":"a < 1"}`)
		}},
		{Name: "indented", Why: "JSON is laid out freely; RFC 8259", Set: func(q *Quirks) { q.Layout = Indented }},
		{Name: "ascii", Why: "JSON escapes; RFC 8259", Set: func(q *Quirks) { q.Layout = ASCII }},
		{Name: "backwards", Why: "members in another order; RFC 8259", Set: func(q *Quirks) { q.Layout = Backwards }},
		{Name: "text/plain", Why: "JSON under another type; wire 5.5", Set: func(q *Quirks) { q.ContentType = "text/plain; charset=utf-8" }},
		{Name: "no content type", Why: "JSON under another type; wire 5.5", Set: func(q *Quirks) { q.ContentType = "application/octet-stream" }},
	}
}

// What is odd about the connection (wire 5.5).
func transportHabits() []Switch {
	return []Switch{
		{Name: "gzip always", Why: "asked for or not; wire 5.5", Set: func(q *Quirks) { q.Gzip = true }},
		{Name: "chunked", Why: "wire 5.5", Set: func(q *Quirks) { q.Chunked = true }},
		{Name: "one answer a connection", Why: "wire 5.5", Set: func(q *Quirks) { q.CloseEach = true }},
		{Name: "connections dropped when idle", Why: "load balancers; only reads can be sent again; wire 5.5", Set: func(q *Quirks) {
			q.DropIdle, q.Lacks = true, capabilities.Changes().Union(capabilities.Of(capabilities.ReportMetrics))
		}},
		{Name: "early hints", Why: "a 103 before the answer; RFC 8297", Set: func(q *Quirks) { q.EarlyHints = true }},
		{Name: "cookies and headers", Why: "dropped on the way; wire 5.1", Set: func(q *Quirks) {
			q.Headers = http.Header{"Set-Cookie": {"session=remote-cookie; Path=/"}, "Www-Authenticate": {"Basic realm=x"}, "Server": {"vendor/1"},
				"Location": {"http://catalog.internal.example/"}, "Link": {"<http://catalog.internal.example/>"}, "X-Vendor": {"a", "b"}, "Vary": {"*"},
				"Strict-Transport-Security": {"max-age=1"}, "Alt-Svc": {`h2="catalog.internal.example:443"`}}
		}},
		{Name: "slow", Why: "design 11.2", Set: func(q *Quirks) { q.Latency = 3_000_000 }},
	}
}
