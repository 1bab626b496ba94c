package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts/mounttest/remote"
)

func TestMountsAreAddedChangedAndRemovedWhileTheServerRuns(t *testing.T) {
	partner, other := remote.New(t, remote.Options{}), remote.New(t, remote.Options{})
	partner.AddTable([]string{"shared"}, "orders")
	other.AddTable([]string{"new"}, "orders")
	root := nativeText("/", "root")
	a := serveAlive(t, root)
	known := func(warehouse string) int {
		status, _ := get(t, http.DefaultClient, a.url()+"/v1/config?warehouse="+warehouse)
		return status
	}
	assert.Equal(t, 404, known("partner"))

	a.applied(root + restText("partner", partner.URL, ""))
	assert.Equal(t, 200, known("partner"))
	status, text := send(t, "GET", a.url()+"/v1/namespaces/partner%1Fshared/tables/orders", "")
	assert.Equal(t, 200, status, text)
	assert.Contains(t, a.log.String(), "added=partner")
	assert.Contains(t, a.mountsShown(), "partner")
	assert.Equal(t, 1.0, a.metric(`icefield_mount_up{mount="partner"}`))

	a.applied(root + restText("partner", other.URL, ""))
	status, _ = send(t, "GET", a.url()+"/v1/namespaces/partner%1Fshared/tables/orders", "")
	assert.Equal(t, 404, status)
	status, _ = send(t, "GET", a.url()+"/v1/partner/namespaces/new/tables/orders", "")
	assert.Equal(t, 200, status)
	assert.Contains(t, a.log.String(), "changed=partner")

	a.applied(root)
	assert.Equal(t, 404, known("partner"))
	assert.Contains(t, a.log.String(), "removed=partner")
	assert.NotContains(t, a.mountsShown(), "partner")
	assert.Eventually(t, func() bool { return !strings.Contains(scrape(t, a.url()), "partner") }, 30*time.Second, 10*time.Millisecond,
		"what was counted for the mount is still there")
	assert.Contains(t, scrape(t, a.url()), `catalog="icefield"`)
	status, _ = send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":["partner"]}`)
	assert.Equal(t, 200, status, "the name of a mount that is gone is free")

	a.change(root)
	assert.Equal(t, 1.0, a.metric(`icefield_config_reloads_total{outcome="unchanged"}`))
}

func TestSettingsOfTheServerAreTakenOverToo(t *testing.T) {
	a := serveAlive(t, nativeText("/", "root"))
	a.applied("server {\n  listen = \"127.0.0.1:0\"\n  name = \"lake\"\n  max_body = \"64KiB\"\n  shutdown_grace = \"1s\"\n}\n" + nativeText("/", "root"))
	status, _ := get(t, http.DefaultClient, a.url()+"/v1/config?warehouse=lake")
	assert.Equal(t, 200, status)
	status, _ = get(t, http.DefaultClient, a.url()+"/v1/config?warehouse=icefield")
	assert.Equal(t, 404, status)
	status, _ = send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":["`+strings.Repeat("x", 70000)+`"]}`)
	assert.Equal(t, 413, status)
	assert.Equal(t, time.Second, a.settings().ShutdownGrace)
	assert.NotContains(t, scrape(t, a.url()), `catalog="icefield"`)
}

func TestARefusedConfigurationLeavesEverythingAsItWas(t *testing.T) {
	partner, gone := remote.New(t, remote.Options{}), remote.New(t, remote.Options{})
	partner.AddTable([]string{"shared"}, "orders")
	gone.Stop()
	remoteURL, conns := counted(t, http.HandlerFunc(plainRemote))
	good := nativeText("/", "root") + restText("partner", partner.URL, "")
	a := serveAlive(t, good)
	status, text := send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":["taken"]}`)
	require.Equal(t, 200, status, text)
	before := a.catalogs.current.Load()
	time0 := runtime.NumGoroutine()
	for name, c := range map[string]struct{ text, reason, log string }{
		"syntax":            {good + "\nmount \"x\" {", "has a mistake", "icefield.hcl:"},
		"two mistakes":      {good + restText("x", partner.URL, "  ownr = 1\n  profil = 2"), "2 mistakes", "Did you mean"},
		"no mounts":         {"server {\n}\n", "", "no mount"},
		"listen":            {"server {\n  listen = \"127.0.0.1:1\"\n}\n" + good, "server.listen cannot change", "restart the server"},
		"two of the server": {"server {\n  listen = \"127.0.0.1:0\"\n  request_timeout = \"31s\"\n  max_memory = \"2GiB\"\n}\n" + good, "server.request_timeout, server.max_memory", "restart"},
		"unreachable":       {good + restText("fresh", remoteURL, "") + restText("x", gone.URL, ""), `cannot be opened: "x"`, "required = false"},
		"shadow":            {good + restText("taken", remoteURL, ""), `mount \"taken\" would hide`, "would hide"},
		"leads back":        {good + restText("x", a.url(), ""), `cannot be opened: "x"`, "leads back to this server"},
		"changed in vain":   {nativeText("/", "root") + restText("partner", gone.URL, ""), `cannot be opened: "partner"`, "partner"},
	} {
		t.Run(name, func(t *testing.T) {
			a.t = t
			reason := a.refused(c.text)
			assert.Contains(t, reason, strings.ReplaceAll(c.reason, `\"`, `"`))
			assert.NotContains(t, reason, a.dir, "a path in words for everybody")
			assert.NotContains(t, reason, "127.0.0.1")
			assert.Contains(t, a.log.String(), c.log)
			assert.Equal(t, 0.0, a.metric("icefield_config_last_reload_successful"))
			assert.Same(t, before, a.catalogs.current.Load())
			assert.Len(t, a.mountsShown(), 2)
			status, _ := send(t, "GET", a.url()+"/v1/namespaces/partner%1Fshared/tables/orders", "")
			assert.Equal(t, 200, status)
			for _, series := range []string{`mount="x"`, `mount="fresh"`, `mount="taken"`} {
				assert.NotContains(t, scrape(t, a.url()), series)
			}
			// The name of a mount that did not come to be is free again.
			status, _ = send(t, "GET", a.url()+"/v1/namespaces/x", "")
			assert.Equal(t, 404, status)
			assert.Eventually(t, func() bool { return conns.count() == 0 }, 30*time.Second, 10*time.Millisecond, "a mount that was opened in vain is not closed")
		})
	}
	a.t = t
	goroutinesSettle(t, time0)
	a.change(good)
	state, reason := a.configuration()
	assert.Equal(t, "ok", state)
	assert.Empty(t, reason)
	assert.Equal(t, 1.0, a.metric("icefield_config_last_reload_successful"))
}

func TestWhatIsRefusedForLongSaysSinceWhen(t *testing.T) {
	a := serveAlive(t, nativeText("/", "root"))
	since := func() string {
		_, body := get(t, http.DefaultClient, a.url()+"/ready")
		return body["components"].([]any)[0].(map[string]any)["since"].(string)
	}
	ok := since()
	a.refused("mount {")
	first := since()
	assert.NotEqual(t, ok, first)
	a.refused("mount \"/\" {")
	assert.Equal(t, first, since())
}

func TestARequestUnderWayEndsOnTheMountTableItBeganWith(t *testing.T) {
	g := newGate(t)
	root := nativeText("/", "root")
	a := serveAlive(t, root+restText("partner", g.url, ""))
	old := a.catalogs.current.Load()
	answered := g.ask(a.url())
	a.applied(root)
	status, _ := send(t, "GET", a.url()+"/v1/namespaces/partner%1Fslow", "")
	assert.Equal(t, 404, status, "the mount is gone for whoever asks now")
	select {
	case <-old.idle:
		t.Error("the mount table is over while a request is under way on it")
	case <-answered:
		t.Error("answered before the remote did")
	default:
	}
	close(g.release)
	assert.Equal(t, http.StatusOK, <-answered)
	<-old.idle
	a.catalogs.retiring.Wait()
	for _, p := range old.mounts {
		_, err := p.row.Tree.ListNamespaces(t.Context(), listRoot())
		assert.Equal(t, p.config.Name == "partner", err != nil, "%s: %v", p.config.Name, err)
	}
}

// A client that is still sending has its handler, and has asked no mount yet.
func TestARequestThatAskedNoMountYetIsServedByTheTableItBeganWith(t *testing.T) {
	a := serveAlive(t, nativeText("/", "root")+nativeText("prod", "prod"))
	old := a.catalogs.current.Load()
	body := newPacedBody(`{"namespace":`, `["prod","sales"]}`)
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Post(a.url()+"/v1/namespaces", "application/json", body)
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	require.Eventually(t, func() bool { return old.users.Load() == 2 }, 30*time.Second, time.Millisecond)
	a.applied(nativeText("/", "root"))
	close(body.rest)
	assert.Equal(t, 200, <-answered)
	<-old.idle
	a.catalogs.retiring.Wait()
	a.applied(nativeText("/", "root") + nativeText("prod", "prod"))
	status, _ := send(t, "GET", a.url()+"/v1/namespaces/prod%1Fsales", "")
	assert.Equal(t, 200, status, "what the request did is lost")
}

func TestPageTokensOfUnchangedMountsGoOnWorking(t *testing.T) {
	partner := remote.New(t, remote.Options{})
	for _, table := range []string{"a", "b", "c", "d"} {
		partner.AddTable([]string{"shared"}, table)
	}
	rest := restText("partner", partner.URL, "")
	a := serveAlive(t, nativeText("/", "root")+nativeText("prod", "prod")+rest)
	for _, ns := range []string{`["prod","a"]`, `["prod","b"]`, `["prod","c"]`} {
		status, text := send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":`+ns+`}`)
		require.Equal(t, 200, status, text)
	}
	page := func(path, token string) (names []any, next string) {
		status, body := get(t, http.DefaultClient, a.url()+path+"&pageSize=1&pageToken="+token)
		require.Equal(t, 200, status, body)
		for _, key := range []string{"namespaces", "identifiers"} {
			if list, ok := body[key].([]any); ok {
				names = list
			}
		}
		next, _ = body["next-page-token"].(string)
		return names, next
	}
	for _, path := range []string{"/v1/namespaces?parent=prod", "/v1/prod/namespaces?x=y", "/v1/namespaces/partner%1Fshared/tables?x=y"} {
		first, token := page(path, "")
		require.NotEmpty(t, token, path)
		want, _ := page(path, token)
		require.NotEqual(t, first, want)
		// Another mount comes and the one underneath changes.
		a.applied(strings.Replace(nativeText("/", "root"), "owner ", "metadata_cache = \"1MiB\"\n  owner ", 1) + nativeText("prod", "prod") + rest + nativeText("more", "more"))
		got, _ := page(path, token)
		assert.Equal(t, want, got, path)
		a.applied(nativeText("/", "root") + nativeText("prod", "prod") + rest)
		got, _ = page(path, token)
		assert.Equal(t, want, got, path)
	}
}

func TestAnUnchangedMountKeepsItsBreakerItsConnectionsAndItsBackend(t *testing.T) {
	url, conns := counted(t, http.HandlerFunc(plainRemote))
	down := remote.New(t, remote.Options{})
	slow := "  breaker {\n    failures = 1\n    open_for = \"1h\"\n  }\n"
	text := nativeText("/", "root") + restText("partner", url, "") + restText("down", down.URL, slow)
	a := serveAlive(t, text)
	status, _ := send(t, "GET", a.url()+"/v1/namespaces/partner%1Fa", "")
	require.Equal(t, 200, status)
	down.Stop()
	send(t, "GET", a.url()+"/v1/namespaces/down%1Fa", "")
	require.Equal(t, "open", a.mountsShown()["down"]["breaker"])
	before, open := a.catalogs.current.Load(), conns.count()
	a.applied(text + nativeText("more", "more"))
	for _, name := range []string{"/", "partner", "down"} {
		assert.Same(t, before.find(name), a.catalogs.current.Load().find(name))
	}
	assert.Equal(t, "open", a.mountsShown()["down"]["breaker"])
	status, _ = send(t, "GET", a.url()+"/v1/namespaces/partner%1Fa", "")
	assert.Equal(t, 200, status)
	assert.Equal(t, open, conns.count())
	// A changed limit makes that mount anew, and it alone.
	down.Start(t)
	before = a.catalogs.current.Load()
	a.applied(strings.Replace(text, "failures = 1", "failures = 2", 1) + nativeText("more", "more"))
	assert.NotSame(t, before.find("down"), a.catalogs.current.Load().find("down"))
	assert.Same(t, before.find("partner"), a.catalogs.current.Load().find("partner"))
}

func TestAChangedMountTakesItsOpenRegistryOver(t *testing.T) {
	text := nativeText("/", "root") + nativeText("prod", "prod")
	a := serveAlive(t, text)
	status, answer := send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":["prod","a"]}`)
	require.Equal(t, 200, status, answer)
	for i, changed := range []string{
		strings.ReplaceAll(text, "owner ", "metadata_cache = \"1MiB\"\n  owner "),
		strings.ReplaceAll(text, `"prod" {`, `"sales" {`), // a mount that is renamed keeps its registry
		strings.ReplaceAll(text, "owner ", "read_only = true\n  owner "),
		text,
	} {
		old := a.catalogs.current.Load()
		a.applied(changed)
		mount := "prod"
		if strings.Contains(changed, `"sales" {`) {
			mount = "sales"
		}
		status, answer = send(t, "GET", a.url()+"/v1/namespaces/"+mount+"%1Fa", "")
		assert.Equal(t, 200, status, "%d: %s", i, answer)
		status, _ = send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":["`+mount+`","`+string(rune('b'+i))+`"]}`)
		assert.Equal(t, strings.Contains(changed, "read_only"), status != 200, "%d: %d", i, status)
		<-old.idle
		a.catalogs.retiring.Wait()
		assert.Len(t, a.catalogs.stores.held, 2)
	}
	a.applied(nativeText("/", "root"))
	a.catalogs.retiring.Wait()
	assert.Len(t, a.catalogs.stores.held, 1)
	// The file is closed: another process could have it.
	started(t, load(t, a.dir, nativeText("elsewhere", "prod")))
}

func TestReloadsLeaveNoGoroutineAndNoConnectionBehind(t *testing.T) {
	url, conns := counted(t, http.HandlerFunc(plainRemote))
	root := nativeText("/", "root")
	a := serveAlive(t, root)
	before := goroutinesSteady(t)
	for i := range 30 {
		text := root + restText("partner", url, "") + nativeText("prod", "prod")
		switch i % 3 {
		case 1:
			text = root + restText("partner", url, "  warehouse = \"w\"") + restText("later", "http://127.0.0.1:9", "  required = false")
		case 2:
			text += "mount"
		}
		a.change(text)
		status, _ := send(t, "GET", a.url()+"/v1/namespaces/partner%1Fa", "")
		require.Equal(t, 200, status)
	}
	assert.Equal(t, 20.0, a.metric(`icefield_config_reloads_total{outcome="applied"}`))
	assert.Equal(t, 10.0, a.metric(`icefield_config_reloads_total{outcome="refused"}`))
	a.applied(root)
	a.catalogs.retiring.Wait()
	assert.Eventually(t, func() bool { return conns.count() == 0 }, 30*time.Second, 10*time.Millisecond, "connections are left")
	goroutinesSettle(t, before)
	assert.Len(t, a.catalogs.live, 1)
	assert.Len(t, a.catalogs.stores.held, 1)
}

func TestShutdownGivesAReloadUp(t *testing.T) {
	reached := make(chan struct{})
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done()
	}))
	defer hung.Close()
	a := serveAlive(t, nativeText("/", "root"))
	a.write(nativeText("/", "root") + restText("partner", hung.URL, "  timeout {\n    request = \"20s\"\n  }"))
	ctx, stop := context.WithCancel(t.Context())
	a.stopKeeping = stop
	a.keeping.Go(func() { a.run(ctx) })
	a.tell()
	<-reached
	start := time.Now()
	require.NoError(t, a.close())
	assert.Less(t, time.Since(start), 10*time.Second)
	assert.Contains(t, a.log.String(), "given up")
	assert.NotContains(t, a.log.String(), "is refused")
}

func TestServingGoesOnWhileAReloadHangsAndWishesAreJoined(t *testing.T) {
	reached, release := make(chan struct{}, 100), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		<-release
		plainRemote(w, r)
	}))
	defer slow.Close()
	a := serveAlive(t, nativeText("/", "root"))
	ctx, stop := context.WithCancel(t.Context())
	a.stopKeeping = stop
	a.keeping.Go(func() { a.run(ctx) })
	a.write(nativeText("/", "root") + restText("partner", slow.URL, ""))
	a.tell()
	<-reached
	for range 50 {
		a.tell()
	}
	status, _ := send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":["here"]}`)
	assert.Equal(t, 200, status)
	status, answer := send(t, "POST", a.url()+"/v1/namespaces", `{"namespace":["partner"]}`)
	assert.Equal(t, 409, status, "a namespace that the mount being opened would hide: %s", answer)
	close(release)
	require.Eventually(t, func() bool { return a.metric(`icefield_config_reloads_total{outcome="unchanged"}`) == 1 }, 30*time.Second, 10*time.Millisecond)
	assert.Equal(t, 1.0, a.metric(`icefield_config_reloads_total{outcome="applied"}`))
	assert.Empty(t, a.told)
}

// The name of this server in X-Icefield-Via follows the configuration, also for
// mounts that stay: otherwise a server that began with the same configuration
// would be taken for this one.
func TestLoopsAreNoticedAfterAReload(t *testing.T) {
	first, second := freePort(t), freePort(t)
	server := "server {\n  listen = \"" + first + "\"\n}\n"
	a := serveAlive(t, server+nativeText("/", "root")+restText("b", "http://"+second, "  required = false"))
	started(t, load(t, t.TempDir(), "server {\n  listen = \""+second+"\"\n}\n"+nativeText("/", "root")+restText("a", "http://"+first, "")))
	ready := func() bool {
		_, body := get(t, http.DefaultClient, a.url()+"/ready")
		return len(body["down"].([]any)) == 0
	}
	require.Eventually(t, ready, 30*time.Second, 20*time.Millisecond)
	a.applied(server + nativeText("/", "root") + restText("b", "http://"+second, "  required = false") + nativeText("more", "more"))
	status, body := get(t, http.DefaultClient, a.url()+"/v1/namespaces?parent=b%1Fa")
	assert.Equal(t, http.StatusLoopDetected, status, body)
	sent := sentName(t, a)
	assert.Equal(t, a.catalogs.current.Load().cfg.InstanceID(), sent)
}

func TestSecretsAreReadWhenTheyAreUsed(t *testing.T) {
	partner := remote.New(t, remote.Options{})
	partner.AddNamespace([]string{"a"}, nil)
	partner.Tune(func(q *remote.Quirks) { q.Bearer = "first" })
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(file, []byte("first\n"), 0o600))
	a := serveAlive(t, nativeText("/", "root")+restText("partner", partner.URL, "  auth \"bearer\" {\n    token_file = \""+file+"\"\n  }"))
	ask := func() int {
		status, _ := send(t, "GET", a.url()+"/v1/namespaces/partner%1Fa", "")
		return status
	}
	assert.Equal(t, 200, ask())
	partner.Tune(func(q *remote.Quirks) { q.Bearer = "second" })
	assert.Equal(t, 502, ask())
	require.NoError(t, os.WriteFile(file, []byte("second\n"), 0o600))
	before := a.catalogs.current.Load()
	assert.Equal(t, 200, ask(), "a token that was replaced is not read again")
	a.reload(t.Context())
	assert.Same(t, before, a.catalogs.current.Load())
	assert.NotContains(t, a.log.String(), "second")
}
