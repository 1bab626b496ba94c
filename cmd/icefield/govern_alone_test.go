package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// volatile are the members of answers that differ from moment to moment.
var volatile = regexp.MustCompile(`"(latency_ms|checked_at|settings_at|next-page-token|in_flight)":("[^"]*"|[0-9.]+)`)

// A server with mounts of others, of which one is down, can do little and honours
// no keys, answers a tenant word for word as one that has only the tenant's own.
func TestATenantIsAnsweredAsIfItWereAlone(t *testing.T) {
	const dead = "http://127.0.0.1:1"
	others := relayingText("partner", "acme", dead) + restText("frozen", dead, "") // read-only
	others = strings.ReplaceAll(others, "backend = \"rest\"", "backend = \"rest\"\n  required = false") + ownedText("prod", "acme")
	crowded, alone := newRealm(t, ownedText("/", "")+ownedText("lake", "globex")+others), newRealm(t, ownedText("/", "")+ownedText("lake", "globex"))
	crowded.do(t, "operator", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	crowded.do(t, "acme-admin", "POST", "/v1/namespaces", `{"namespace":["ours"]}`)
	for _, r := range []*realm{crowded, alone} {
		r.do(t, "globex-admin", "POST", "/v1/namespaces", `{"namespace":["lake","desk"]}`)
		r.do(t, "globex-admin", "POST", "/v1/namespaces", `{"namespace":["theirs"]}`)
	}
	type request struct{ verb, path, body string }
	all := []request{{"GET", "/v1/config", ""}, {"GET", "/v1/config?warehouse=lake", ""}, {"GET", "/v1/config?warehouse=zzz", ""},
		{"GET", "/v1/namespaces", ""}, {"GET", "/v1/namespaces?pageToken=&pageSize=1", ""}, {"GET", "/v1/root/namespaces?pageToken=&pageSize=1", ""},
		{"GET", "/admin/v1/mounts", ""}, {"GET", "/admin/v1/jobs", ""}, {"GET", "/health", ""}, {"GET", "/metrics", ""}, {"POST", "/v1/views/rename", `{}`}}
	for _, name := range []string{"partner", "frozen", "prod", "ours"} {
		move := `{"source":{"namespace":["theirs"],"name":"t"},"destination":{"namespace":["` + name + `","shop"],"name":"t"}}`
		back := `{"destination":{"namespace":["theirs"],"name":"t"},"source":{"namespace":["` + name + `","shop"],"name":"t"}}`
		all = append(all, request{"GET", "/v1/config?warehouse=" + name, ""}, request{"GET", "/v1/" + name + "/namespaces", ""}, request{"GET", "/v1/" + name + "/nonsense", ""},
			request{"GET", "/v1/namespaces/" + name, ""}, request{"HEAD", "/v1/namespaces/" + name, ""}, request{"DELETE", "/v1/namespaces/" + name, ""},
			request{"GET", "/v1/namespaces?parent=" + name, ""}, request{"GET", "/v1/namespaces/" + name + "/tables", ""}, request{"GET", "/v1/namespaces/" + name + "/functions", ""},
			request{"GET", "/v1/namespaces/" + name + "%1Fshop/tables/t", ""}, request{"GET", "/v1/namespaces/" + name + "/tables/t", ""},
			request{"POST", "/v1/namespaces/" + name + "/tables", tableOf("t", "x", "")}, request{"POST", "/v1/namespaces/" + name + "%1Fshop/views", `{}`},
			request{"POST", "/v1/namespaces", `{"namespace":["` + name + `","x"]}`}, request{"POST", "/v1/namespaces/" + name + "/properties", `{"removals":["a"]}`},
			request{"POST", "/v1/tables/rename", move}, request{"POST", "/v1/tables/rename", back}, request{"POST", "/v1/views/rename", back},
			request{"POST", "/v1/transactions/commit", `{"table-changes":[{"identifier":{"namespace":["` + name + `","shop"],"name":"t"},"requirements":[],"updates":[]}]}`},
			request{"GET", "/admin/v1/jobs?mount=" + name, ""}, request{"GET", "/admin/v1/commits?mount=" + name + "&namespace=a&table=t", ""})
	}
	for _, who := range []string{"globex-admin", "globex-reader"} {
		for _, q := range all {
			with, without := crowded.ask(t, who, q.verb, q.path, q.body), alone.ask(t, who, q.verb, q.path, q.body)
			assert.Equal(t, volatile.ReplaceAllString(lineOf(without), ""), volatile.ReplaceAllString(lineOf(with), ""), "%s %s %s as %s", q.verb, q.path, q.body, who)
		}
	}
}
