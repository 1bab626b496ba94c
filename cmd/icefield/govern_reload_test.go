package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/cedar"
)

// oneOf are policies of two generations, each of which permits what the other does
// not: the one to load and list alpha and to rename, the other beta and to create.
func oneOf(second bool) string {
	table, action := "alpha", "renameTable"
	if second {
		table, action = "beta", "createTable"
	}
	return fmt.Sprintf(`
permit(principal in Icefield::Group::"acme/writer", action in [Icefield::Action::"listTables", Icefield::Action::"namespaceExists", Icefield::Action::"loadNamespace"], resource in Icefield::Mount::"prod");
permit(principal in Icefield::Group::"acme/writer", action in Icefield::Action::"read", resource == Icefield::Table::"prod/shop/%[1]s");
permit(principal in Icefield::Group::"acme/writer", action == Icefield::Action::"commitTable", resource == Icefield::Table::"prod/shop/%[1]s");
permit(principal in Icefield::Group::"acme/writer", action == Icefield::Action::"commitTransaction", resource);
permit(principal in Icefield::Group::"acme/writer", action == Icefield::Action::%[2]q, resource in Icefield::Namespace::"prod/shop");
`, table, action)
}

// twoGenerations is a server with the tables alpha and beta, and the policies of
// the first generation.
func twoGenerations(t testing.TB) (r *realm, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "rules.cedar")
	require.NoError(t, os.WriteFile(file, []byte(oneOf(false)), 0o600))
	r = newRealmIn(t, dir, "policy {\n  files = [\"*.cedar\"]\n}\n"+ownedText("prod", "acme")+ownedText("/", ""))
	r.do(t, "operator", "POST", "/v1/namespaces", `{"namespace":["prod","shop"]}`)
	for _, name := range []string{"alpha", "beta"} {
		r.do(t, "operator", "POST", "/v1/namespaces/prod%1Fshop/tables", tableOf(name, "x", ""))
	}
	return r, file
}

// probes are requests of which no mixture of the two generations answers as one of
// them does.
var probes = []struct { // read only
	verb, path, body string
	// one and other are what the generations answer: a status, and a part of the body.
	one, other string
}{
	{"GET", "/v1/namespaces/prod%1Fshop/tables", "", `200 {"identifiers":[{"namespace":["prod","shop"],"name":"alpha"}]}`, `200 {"identifiers":[{"namespace":["prod","shop"],"name":"beta"}]}`},
	{"GET", "/v1/namespaces/prod%1Fshop/tables/alpha", "", `200 {"metadata-location"`, `404 {"error":{"message":"Table does not exist: prod.shop.alpha"`},
	{"POST", "/v1/tables/rename", `{"source":{"namespace":["prod","shop"],"name":"alpha"},"destination":{"namespace":["prod","shop"],"name":"gamma"}}`,
		`403 {"error":`, `404 {"error":`},
	{"POST", "/v1/transactions/commit", `{"table-changes":[{"identifier":{"namespace":["prod","shop"],"name":"alpha"},"requirements":[],"updates":[]},{"identifier":{"namespace":["prod","shop"],"name":"beta"},"requirements":[],"updates":[]}]}`,
		`404 {"error":{"message":"Table does not exist: prod.shop.beta"`, `404 {"error":{"message":"Table does not exist: prod.shop.alpha"`},
}

// probe asks one of them and tells which generation answered.
func (r *realm) probe(t testing.TB, i int) (second bool, mixed string) {
	p := probes[i%len(probes)]
	a := r.ask(t, "acme-writer", p.verb, p.path, p.body)
	text := fmt.Sprint(a.status, " ", a.body)
	switch {
	case strings.HasPrefix(text, p.one):
		return false, ""
	case strings.HasPrefix(text, p.other):
		return true, ""
	}
	return false, p.verb + " " + p.path + ": " + text
}

// A call that asks several questions is decided by one generation too, even if they
// change between any two of them.
func TestNoRequestIsDecidedByPartsOfTwoSetsOfPolicies(t *testing.T) {
	r, file := twoGenerations(t)
	var sets [2]*cedar.Set
	for i := range sets {
		require.NoError(t, os.WriteFile(file, []byte(oneOf(i == 1)), 0o600))
		var err error
		sets[i], err = cedar.Load(cedar.Source{Files: []string{file}})
		require.NoError(t, err)
	}
	var over atomic.Bool
	var changing, asking sync.WaitGroup
	changing.Go(func() {
		for i := 0; !over.Load(); i++ {
			r.catalogs.rules.Put(sets[i%2])
			runtime.Gosched()
		}
	})
	var counts [2]atomic.Int64
	for worker := range 4 {
		asking.Go(func() {
			for i := range 120 {
				second, mixed := r.probe(t, worker+i)
				if !assert.Empty(t, mixed, "answered by neither generation") {
					return
				}
				counts[map[bool]int{true: 1}[second]].Add(1)
			}
		})
	}
	asking.Wait()
	over.Store(true)
	changing.Wait()
	assert.Greater(t, counts[0].Load(), int64(20))
	assert.Greater(t, counts[1].Load(), int64(20))
}

func TestPolicyFilesChangeUnderTwoHundredRequestsASecond(t *testing.T) {
	t.Parallel() // it waits for files to be looked at
	r, file := twoGenerations(t)
	write := func(text string) {
		next := filepath.Join(r.dir, "next")
		require.NoError(t, os.WriteFile(next, []byte(text), 0o600))
		require.NoError(t, os.Rename(next, file))
	}
	var over atomic.Bool
	var counts [2]atomic.Int64
	var asking sync.WaitGroup
	due := make(chan int, 200)
	for range 4 {
		asking.Go(func() {
			for i := range due {
				second, mixed := r.probe(t, i)
				assert.Empty(t, mixed, "answered by neither generation")
				counts[map[bool]int{true: 1}[second]].Add(1)
			}
		})
	}
	var pace sync.WaitGroup
	pace.Go(func() {
		defer close(due)
		tick := time.NewTicker(time.Second / 200)
		defer tick.Stop()
		for i := 0; !over.Load(); i++ {
			<-tick.C
			due <- i
		}
	})
	until := func(second bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			now, mixed := r.probe(t, 0)
			return mixed == "" && now == second
		}, 30*time.Second, 10*time.Millisecond)
	}
	state := func() (state, reason string) {
		return componentIn(t, r.do(t, "operator", "GET", "/ready", ""), "policies")
	}
	reloads := func(outcome string) bool {
		return strings.Contains(r.do(t, "operator", "GET", "/metrics", ""), "icefield_policy_last_reload_successful "+outcome)
	}
	for round := range 2 {
		write(oneOf(round == 1))
		until(round == 1)
		assert.True(t, reloads("1"))
	}
	// Each of these would change what is permitted, if any of it was taken.
	for name, broken := range map[string]string{
		"one mistake among others": "permit(principal, action, resource);\n" + oneOf(false) + "permit(principal, action == Icefield::Action::\"eatTable\", resource);\n",
		"two of one name":          oneOf(false) + "@id(\"a\") permit(principal, action, resource);\n@id(\"a\") forbid(principal, action, resource);\n",
	} {
		write(broken)
		require.Eventually(t, func() bool { s, _ := state(); return s == "refused" }, 30*time.Second, 10*time.Millisecond, name)
		for i := range probes {
			second, mixed := r.probe(t, i)
			assert.Empty(t, mixed, name)
			assert.True(t, second, "%s: the policies before are not in effect", name)
		}
		_, reason := state()
		assert.NotEmpty(t, reason)
		assert.NotContains(t, reason, r.dir)
		said, hidden := componentIn(t, r.do(t, "acme-writer", "GET", "/ready", ""), "policies")
		assert.Equal(t, "refused", said)
		assert.Empty(t, hidden, "what is wrong with them is nobody's but the operator's")
		assert.True(t, reloads("0"), name)
		assert.Contains(t, r.do(t, "operator", "GET", "/admin/v1/policy", ""), `"state":"refused"`)
		write(oneOf(true))
		require.Eventually(t, func() bool { s, _ := state(); return s == "ok" }, 30*time.Second, 10*time.Millisecond, name)
		assert.True(t, reloads("1"), name)
	}
	assert.Contains(t, r.log.String(), "eatTable")
	write(oneOf(false))
	until(false)
	over.Store(true)
	pace.Wait()
	asking.Wait()
	assert.Greater(t, counts[0].Load(), int64(20))
	assert.Greater(t, counts[1].Load(), int64(20))
	t.Logf("%d requests by the one generation, %d by the other", counts[0].Load(), counts[1].Load())
}
