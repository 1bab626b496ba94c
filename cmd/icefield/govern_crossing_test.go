package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loadedTable is what of a loaded table these tests look at.
type loadedTable struct {
	At       string `json:"metadata-location"`
	Metadata struct {
		Location string
	}
	Credentials []struct{ Prefix string } `json:"storage-credentials"`
}

func (r *realm) load(t testing.TB, who, ns, name string) (l loadedTable) {
	t.Helper()
	text := r.do(t, who, "GET", "/v1/namespaces/"+ns+"/tables/"+name, "", "X-Iceberg-Access-Delegation", "vended-credentials")
	require.NoError(t, json.Unmarshal([]byte(text), &l))
	return l
}

// crossing is one request of globex's admin that would like to get at acme's.
type crossing struct {
	verb, path, body string
	headers          []string
	// statuses it may be answered with.
	statuses []int
}

func TestNoRequestCrossesFromOneTenantToAnother(t *testing.T) {
	r, store := rivals(t)
	before := r.everythingOf(t, "acme-admin", ofAcme)
	own := r.everythingOf(t, "globex-admin", ofGlobex)
	gold, shared := r.load(t, "acme-admin", "prod%1Fvault", "gold"), r.load(t, "acme-admin", "ours%1Fvault", "gold")
	require.NotEmpty(t, gold.Credentials)
	idOf := func(mount, ns string) string {
		return between(t, r.do(t, "operator", "GET", "/admin/v1/commits?mount="+mount+"&namespace="+ns+"&table=gold", ""), `"object":"`, `"`)
	}
	goldID, sharedID := idOf("prod", "vault"), idOf("root", "ours%1Fvault")
	object := func(location string) string { return store + "/" + strings.TrimPrefix(location, "s3://") }
	const desk, their = "/v1/namespaces/lake%1Fdesk", "/v1/namespaces/theirs"
	move := func(from, to string) string {
		id := func(s string) string {
			levels := strings.Split(s, ".")
			in, _ := json.Marshal(levels[:len(levels)-1])
			return fmt.Sprintf(`{"namespace":%s,"name":%q}`, in, levels[len(levels)-1])
		}
		return fmt.Sprintf(`{"source":%s,"destination":%s}`, id(from), id(to))
	}
	commit := func(ids ...string) string {
		var changes []string
		for _, id := range ids {
			levels := strings.Split(id, ".")
			in, _ := json.Marshal(levels[:len(levels)-1])
			changes = append(changes, fmt.Sprintf(`{"identifier":{"namespace":%s,"name":%q},"requirements":[],"updates":[{"action":"set-properties","updates":{"crossed":"yes"}}]}`, in, levels[len(levels)-1]))
		}
		return `{"table-changes":[` + strings.Join(changes, ",") + `]}`
	}
	sign := func(verb, uri, more string) string {
		return fmt.Sprintf(`{"region":"us-east-1","method":%q,"uri":%q,"headers":{%s}}`, verb, uri, more)
	}
	update := func(action string) string { return `{"requirements":[],"updates":[` + action + `]}` }
	register := func(at string) string { return fmt.Sprintf(`{"name":"stolen","metadata-location":%q}`, at) }
	var all []crossing
	add := func(verb, path, body string, statuses ...int) {
		all = append(all, crossing{verb: verb, path: path, body: body, statuses: statuses})
	}
	// What exists at acme, and what does not, from and to the own.
	for _, kind := range []string{"/v1/tables/rename", "/v1/views/rename", "/v1/root/tables/rename"} {
		add("POST", kind, move("theirs.t", "ours.vault.t"), 404)
		add("POST", kind, move("ours.vault.gold", "theirs.stolen"), 404)
		add("POST", kind, move("ours.vault.gold", "theirs.t"), 404)
		add("POST", kind, move("ours.vault.gold", "ours.vault.other"), 404)
	}
	add("POST", "/v1/tables/rename", move("lake.desk.t", "prod.vault.t"), 404)
	add("POST", "/v1/tables/rename", move("prod.vault.gold", "lake.desk.stolen"), 404)
	add("POST", "/v1/transactions/commit", commit("theirs.t", "ours.vault.gold"), 404)
	add("POST", "/v1/transactions/commit", commit("ours.vault.gold", "theirs.t"), 404)
	add("POST", "/v1/transactions/commit", commit("lake.desk.t", "prod.vault.gold"), 404)
	add("POST", "/v1/root/transactions/commit", commit("theirs.t", "ours.vault.gold"), 404)
	add("POST", "/v1/root/transactions/commit", commit("theirs.t", "theirs.desk.t", "ours.vault.nothing"), 404)
	// The path names the own table, the body another's.
	add("POST", desk+"/tables/none", `{"identifier":{"namespace":["prod","vault"],"name":"gold"},"requirements":[],"updates":[]}`, 404)
	// Places of acme, for tables and metadata of the own.
	for _, at := range []string{gold.At, shared.At, strings.Replace(gold.At, "s3:", "s3a:", 1), strings.Replace(gold.At, "/prod/", "/lake/../prod/", 1),
		strings.Replace(gold.At, "/prod/", "/lake/%2e%2e/prod/", 1), strings.Replace(gold.At, "/prod/", "//prod/", 1)} {
		for _, ns := range []string{desk, their, their + "%1Fdesk"} {
			add("POST", ns+"/register", register(at), 400, 404)
			add("POST", ns+"/register", strings.Replace(register(at), `"stolen"`, `"t","overwrite":true`, 1), 400, 404)
			add("POST", ns+"/register-view", register(at), 400, 404)
		}
	}
	for _, at := range []string{gold.Metadata.Location, shared.Metadata.Location, "s3://lake/prod", "s3://lake/prod/x", "s3://lake/lake/../prod/x", "s3://lake", "s3://lake/",
		shared.Metadata.Location + "/data", shared.Metadata.Location[:strings.LastIndex(shared.Metadata.Location, "/")] + "/beside"} {
		for _, ns := range []string{desk, their} {
			add("POST", ns+"/tables", tableOf("placed", "own", at), 400)
			add("POST", ns+"/tables", strings.Replace(tableOf("placed", "own", at), `{"name"`, `{"stage-create":true,"name"`, 1), 400)
			add("POST", ns+"/tables/t", update(fmt.Sprintf(`{"action":"set-location","location":%q}`, at)), 400)
		}
	}
	// Storage.
	for _, uri := range []string{object(gold.Metadata.Location) + "/data/f", object(gold.At), store + "/lake/lake/../prod/x", store + "/lake?list-type=2&prefix=prod/",
		store + "/lake/?prefix=", "https://lake.s3.amazonaws.com/prod/x"} {
		add("POST", desk+"/tables/t/sign", sign("GET", uri, ""), 400, 403)
		add("POST", desk+"/tables/t/sign", sign("PUT", uri, ""), 400, 403)
		add("POST", "/v1/aws/s3/sign", sign("GET", uri, ""), 400, 403)
		add("POST", "/v1/lake/aws/s3/sign", sign("DELETE", uri, ""), 400, 403, 404)
		add("POST", "/v1/namespaces/prod%1Fvault/tables/gold/sign", sign("GET", uri, ""), 404)
	}
	mine := r.load(t, "globex-admin", "lake%1Fdesk", "t")
	add("POST", desk+"/tables/t/sign", sign("PUT", object(mine.Metadata.Location)+"/data/f", fmt.Sprintf(`"x-amz-copy-source":[%q]`, strings.TrimPrefix(gold.At, "s3:/"))), 400, 403)
	// The server.
	for _, mount := range []string{"prod", "root", "/", "%2F", "PROD", "prod%00", "lake", "lake&mount=prod"} {
		for _, query := range []string{"&namespace=vault&table=gold", "&namespace=ours%1Fvault&table=gold", "&object=" + goldID, "&object=" + sharedID} {
			add("GET", "/admin/v1/commits?mount="+mount+query, "", map[bool][]int{false: {404}, true: {200, 404}}[strings.HasPrefix(mount, "lake")]...)
		}
		add("GET", "/admin/v1/jobs?mount="+mount, "", map[bool][]int{false: {404}, true: {200}}[strings.HasPrefix(mount, "lake")]...)
	}
	add("GET", "/v1/config?warehouse=prod", "", 404)
	// Names of mounts, underneath.
	for _, name := range []string{"prod", "lake", "ours"} {
		add("POST", "/v1/root/namespaces", `{"namespace":["`+name+`"]}`, 403, 409)
		add("POST", "/v1/namespaces", `{"namespace":["`+name+`"]}`, 403, 409)
		add("POST", "/v1/root/namespaces", `{"namespace":["`+name+`","x"]}`, map[string]int{"prod": 404, "lake": 404, "ours": 404}[name])
	}
	// A view that it says it comes through.
	all = append(all, crossing{verb: "GET", path: desk + "/tables/t?referenced-by=prod%1Fvault.silver,ours%1Fvault.silver", statuses: []int{200}},
		crossing{verb: "GET", path: "/v1/namespaces/prod%1Fvault/tables/gold?referenced-by=lake%1Fdesk.v", statuses: []int{404}, headers: []string{"X-Iceberg-Access-Delegation", "vended-credentials"}})
	for _, c := range all {
		a := r.ask(t, "globex-admin", c.verb, c.path, c.body, c.headers...)
		what := fmt.Sprintf("%s %s %s: %s", c.verb, c.path, c.body, a.body)
		assert.Contains(t, c.statuses, a.status, what)
		assert.NotContains(t, lineOf(a), canary, what)
		assert.NotContains(t, a.body, `"generation"`, what)
	}
	assert.Equal(t, before, r.everythingOf(t, "acme-admin", ofAcme))
	assert.Equal(t, own, r.everythingOf(t, "globex-admin", ofGlobex), "half of something was done to the own side")
}

// A namespace's property says where tables are put: not where another's are.
func TestAPropertyLeadsNoTableToAnotherTenantsPlace(t *testing.T) {
	r, _ := rivals(t)
	gold, shared := r.load(t, "acme-admin", "prod%1Fvault", "gold"), r.load(t, "acme-admin", "ours%1Fvault", "gold")
	made := 0
	for i, at := range []string{gold.Metadata.Location, shared.Metadata.Location, "s3://lake/prod/", "s3://lake/"} {
		for _, ns := range []string{"lake%1Fdesk", "theirs"} {
			r.ask(t, "globex-admin", "POST", "/v1/namespaces/"+ns+"/properties", fmt.Sprintf(`{"updates":{"location":%q}}`, at))
			name := fmt.Sprint("led", i)
			r.ask(t, "globex-admin", "POST", "/v1/namespaces/"+ns+"/tables", tableOf(name, "own", ""))
			for _, property := range []string{"write.data.path", "write.metadata.path", "write.object-storage.path"} {
				r.ask(t, "globex-admin", "POST", "/v1/namespaces/"+ns+"/tables/"+name, fmt.Sprintf(`{"requirements":[],"updates":[{"action":"set-properties","updates":{%q:%q}}]}`, property, at))
			}
			a := r.ask(t, "globex-admin", "GET", "/v1/namespaces/"+ns+"/tables/"+name, "", "X-Iceberg-Access-Delegation", "vended-credentials")
			if a.status != http.StatusOK {
				continue // it could not be made
			}
			made++
			var l loadedTable
			require.NoError(t, json.Unmarshal([]byte(a.body), &l))
			for _, place := range append([]string{l.Metadata.Location, l.At}, prefixesOf(l)...) {
				for _, theirs := range []string{"s3://lake/prod", gold.Metadata.Location, shared.Metadata.Location} {
					assert.False(t, strings.HasPrefix(place+"/", theirs+"/") || strings.HasPrefix(theirs+"/", strings.TrimRight(place, "/")+"/"), "%s reaches %s", place, theirs)
				}
			}
		}
	}
	assert.NotZero(t, made)
}

func prefixesOf(l loadedTable) (all []string) {
	for _, c := range l.Credentials {
		all = append(all, c.Prefix)
	}
	return all
}

func TestTokensAndKeysOfOneTenantAreWorthNothingToAnother(t *testing.T) {
	r, _ := rivals(t)
	for _, listing := range []string{"/v1/namespaces?parent=prod&", "/v1/namespaces?parent=ours&", "/v1/namespaces?", "/v1/root/namespaces?", "/v1/namespaces/ours%1Fvault/tables?"} {
		text := r.do(t, "acme-admin", "GET", listing+"pageSize=1&pageToken=", "")
		var p page
		require.NoError(t, json.Unmarshal([]byte(text), &p))
		if p.Next == "" {
			continue
		}
		for _, other := range []string{listing, "/v1/namespaces?", "/v1/namespaces?parent=lake&", "/v1/root/namespaces?", "/v1/namespaces/theirs/tables?"} {
			a := r.ask(t, "globex-admin", "GET", other+"pageSize=1&pageToken="+queryOf(p.Next), "")
			assert.NotContains(t, lineOf(a), canary, other)
			if !strings.Contains(other, "ours") { // which the answer may repeat
				assert.NotContains(t, a.body, "ours", other)
			}
		}
	}
	// A key is one tenant's: the other's request under it is one of its own.
	key := uuid.NewString()
	r.do(t, "acme-admin", "POST", "/v1/namespaces", `{"namespace":["keyed"],"properties":{"note":"`+canary+`"}}`, "Idempotency-Key", key)
	again := r.ask(t, "globex-admin", "POST", "/v1/namespaces", `{"namespace":["keyed"],"properties":{"note":"`+canary+`"}}`, "Idempotency-Key", key)
	assert.Equal(t, 403, again.status, again.body) // that the name is taken has to show
	assert.NotContains(t, lineOf(again), canary)
	sent := `{"namespace":["keyed-too"]}`
	assert.Contains(t, r.do(t, "globex-admin", "POST", "/v1/namespaces", sent, "Idempotency-Key", key), "keyed-too")
	replay := r.ask(t, "acme-admin", "POST", "/v1/namespaces", strings.Replace(sent, "too", "new", 1), "Idempotency-Key", key)
	assert.Equal(t, 422, replay.status, "acme's own key stands for acme's own request: %s", replay.body)

	// What belonged to one and belongs to the other now is given out again to nobody.
	key = uuid.NewString()
	r.do(t, "globex-admin", "POST", "/v1/namespaces", `{"namespace":["passed"]}`)
	made := r.ask(t, "globex-admin", "POST", "/v1/namespaces/passed/tables", tableOf("t", "own", ""), "Idempotency-Key", key)
	require.Equal(t, 200, made.status, made.body)
	tag := made.header.Get("ETag")
	r.do(t, "globex-admin", "DELETE", "/v1/namespaces/passed/tables/t", "")
	r.do(t, "globex-admin", "DELETE", "/v1/namespaces/passed", "")
	r.do(t, "acme-admin", "POST", "/v1/namespaces", `{"namespace":["passed"]}`)
	r.do(t, "acme-admin", "POST", "/v1/namespaces/passed/tables", tableOf("t", canary, ""))
	for _, a := range []said{
		r.ask(t, "globex-admin", "POST", "/v1/namespaces/passed/tables", tableOf("t", "own", ""), "Idempotency-Key", key),
		r.ask(t, "globex-admin", "GET", "/v1/namespaces/passed/tables/t", "", "If-None-Match", tag),
		r.ask(t, "globex-admin", "HEAD", "/v1/namespaces/passed/tables/t", ""),
		r.ask(t, "globex-admin", "GET", "/v1/namespaces/passed", ""),
	} {
		assert.Equal(t, 404, a.status, a.body)
		assert.NotContains(t, lineOf(a), canary)
	}
}

func TestWhoMakesATopLevelNamespaceFirstHasIt(t *testing.T) {
	r, _ := rivals(t)
	for i := range 12 {
		name := fmt.Sprint("raced", i)
		who, statuses := []string{"acme-admin", "globex-admin"}, make([]int, 2)
		var group sync.WaitGroup
		for j := range who {
			group.Go(func() {
				statuses[j] = r.ask(t, who[j], "POST", "/v1/namespaces", `{"namespace":["`+name+`"]}`).status
			})
		}
		group.Wait()
		won := slices.Index(statuses, 200)
		require.GreaterOrEqual(t, won, 0, statuses)
		require.Contains(t, []int{403, 409}, statuses[1-won])
		for j := range who {
			want := map[bool]int{true: 200, false: 404}[j == won]
			assert.Equal(t, want, r.ask(t, who[j], "GET", "/v1/namespaces/"+name, "").status)
			assert.Equal(t, want, r.ask(t, who[j], "GET", "/v1/root/namespaces/"+name, "").status)
		}
	}
}
