package rest_test

import (
	"context"
	"encoding/json"
	"hash/crc32"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/router"
	"github.com/icefield/icefield/router/federate"
)

// setUp is what the operator must have said for a switch; the others need nothing.
func setUp(t testing.TB, name string, c *rest.Config) {
	t.Helper()
	oauth := rest.OAuth2Config{ClientID: remote.TestClient, ClientSecret: func() (string, error) { return remote.TestSecret, nil }}
	switch {
	case name == "bearer":
		c.Auth = rest.Bearer(func() (string, error) { return remote.TestToken, nil })
	case name == "oauth2":
		oauth.Scope = "PRINCIPAL_ROLE:ALL"
		c.Auth = rest.OAuth2(oauth)
	case name == "oauth2 by Basic only":
		oauth.Basic = true
		c.Auth = rest.OAuth2(oauth)
	case name == "oauth2 with token exchange":
		oauth.Refresh = true
		c.Auth = rest.OAuth2(oauth)
	case strings.HasPrefix(name, "oauth2"):
		c.Auth = rest.OAuth2(oauth)
	case name == "sigv4":
		c.Auth = sigV4(t, rest.SigV4Config{Service: "glue", Region: "eu-central-1"})
	case strings.HasPrefix(name, "sigv4"):
		c.Auth = sigV4(t, rest.SigV4Config{Service: "execute-api", Region: "us-gov-west-1", SessionToken: remote.TestToken})
	case strings.HasPrefix(name, "one level"):
		c.Profile.Levels = 1
	case name == "no lists when empty":
		c.Profile.MissingLists = true
	case name == "HEAD in the list, 404 without the route":
		c.Profile.NoHEAD = true
	case name == "400 for throttling in AWS's shape":
		c.Profile.ThrottlesWith400 = true
	}
}

func sigV4(t testing.TB, c rest.SigV4Config) rest.Auth {
	t.Helper()
	c.AccessKeyID, c.SecretAccessKey = remote.TestClient, remote.TestSecret
	return rest.SigV4(c)
}

// odd is a whole catalog in memory behind a remote with a switch on, and the
// client of it.
type odd struct {
	*rest.Backend
	srv     *remote.Server
	catalog mounts.Backend
}

func behind(t testing.TB, sw remote.Switch, catalog mounts.Backend, change ...func(*rest.Config)) odd {
	t.Helper()
	inner := router.New(router.Config{Tree: router.Catalog{Name: "icefield", Backend: catalog}, InstanceID: "remote"})
	srv := remote.New(t, remote.Options{Base: sw.Base, Catalog: inner})
	if sw.Set != nil {
		srv.Tune(sw.Set)
	}
	c, _, _ := config(srv)
	c.Writable, c.InFlight = true, 8
	setUp(t, sw.Name, &c)
	for _, f := range change {
		f(&c)
	}
	b, err := rest.Open(context.Background(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { b.Close() })
	return odd{Backend: b, srv: srv, catalog: catalog}
}

func whole() mounts.Backend { return memory.New(memory.Options{Files: map[string]json.RawMessage{}}) }

// gapsOf spells a switch's gaps out.
func gapsOf(sw remote.Switch) map[string]string {
	all := map[string]string{}
	for name, why := range sw.Gaps {
		if begin, many := strings.CutSuffix(name, "*"); many {
			for _, subtest := range mounttest.Subtests() {
				if strings.HasPrefix(subtest, begin) {
					all[subtest] = why
				}
			}
			continue
		}
		all[name] = why
	}
	return all
}

// part is what of the suite a habit is run with: all of it would take too long
// for each, so the name matrix goes with the habits that spell names, the races
// with those that a race could lose on, and the rest with everybody.
func part(sw remote.Switch) func(string) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(sw.Name, word) })
	}
	names := has("none", "prefix with a pipe", "ARN", "separator", "one level", "lower-cased", "ascii", "sigv4")
	races := has("none", "page cap of one", "keys honoured", "dropped when idle", "token that ends", "prefix of one word")
	types := has("none", "ascii", "indented", "backwards", "gzip", "201", "errors", "requirement", "numbers")
	return func(subtest string) bool {
		switch group, _, _ := strings.Cut(subtest, "/"); group {
		case "names":
			return names || subtest == "names/dots and levels"
		case "concurrent":
			return races
		case "create", "commits", "views":
			return types || len(subtest)%3 == 0
		}
		return true
	}
}

// share is one of so many shares of a part: another one for each habit, so that
// together they run all of it. Behind the build tag "peers" every habit runs with
// the whole part.
func share(habit, shares int, part func(string) bool) func(string) bool {
	if everyShare {
		return part
	}
	return func(subtest string) bool {
		return part(subtest) && int(crc32.ChecksumIEEE([]byte(subtest))%uint32(shares)) == habit%shares
	}
}

// suite is the conformance suite over what open opens, with a writer of its own
// where the remote takes no changes.
func suite(t *testing.T, sw remote.Switch, under mounts.Namespace, part func(string) bool, open func(t testing.TB, catalog mounts.Backend) mounts.Backend) {
	mounttest.Run(t, mounttest.Config{Under: under, Gaps: gapsOf(sw), Part: part, Seed: func(t testing.TB) (backend, writer mounts.Backend) {
		catalog := whole()
		if strings.HasPrefix(sw.Name, "key") {
			catalog = registry(t)
		}
		b := open(t, catalog)
		if b.Capabilities().Has(capabilities.CreateTable) {
			return b, b
		}
		if len(under) > 0 {
			return b, wrap.Prefix(catalog, under[0])
		}
		return b, catalog
	}})
}

// TestTheSuiteIsGreenOverEveryHabit: whatever a remote is used to, a client of the
// backend does not notice.
func TestTheSuiteIsGreenOverEveryHabit(t *testing.T) {
	for i, sw := range remote.Habits() {
		t.Run(sw.Name, func(t *testing.T) {
			t.Parallel()
			suite(t, sw, nil, share(i, 6, part(sw)), func(t testing.TB, catalog mounts.Backend) mounts.Backend { return behind(t, sw, catalog).Backend })
		})
	}
}

// wholeServer is the whole server over one mount "prod": router, federation and
// stack. timeout, if given, is how long its clients wait.
func wholeServer(t testing.TB, b mounts.Backend, opt wrap.Options, timeout ...time.Duration) string {
	t.Helper()
	opt.Name = "prod"
	opt.Probe.Interval = -1
	mounted := wrap.Stack(b, opt)
	t.Cleanup(func() {
		if err := mounted.Close(); err != nil {
			t.Error(err)
		}
	})
	table, err := mounts.NewMap(mounted.Mount())
	if err != nil {
		t.Fatal(err)
	}
	ring, err := pagination.NewKeyring([]byte("secret"), map[string][]byte{"prod": nil})
	if err != nil {
		t.Fatal(err)
	}
	var wait time.Duration
	if len(timeout) > 0 {
		wait = timeout[0]
	}
	srv := httptest.NewServer(router.New(router.Config{InstanceID: "front", Timeout: wait,
		Tree:  router.Catalog{Name: "icefield", Backend: federate.New(table, ring, federate.Options{Name: "icefield"})},
		Views: []router.Catalog{{Name: "prod", Prefix: "prod", Backend: wrap.Tokens(mounted.Mount().View, ring, "prod", "prod")}}}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// core is the part of the suite that each habit is run with through everything.
func core(subtest string) bool {
	switch group, rest, _ := strings.Cut(subtest, "/"); group {
	case "names", "concurrent", "create":
		return false
	case "commits", "views", "once":
		return len(rest)%4 == 0
	}
	return len(subtest)%2 == 0
}

// TestTheSuiteIsGreenOverEveryHabitThroughTheWholeServer asks as an engine does,
// over HTTP, in the names of the tree.
func TestTheSuiteIsGreenOverEveryHabitThroughTheWholeServer(t *testing.T) {
	for i, sw := range remote.Habits() {
		t.Run(sw.Name, func(t *testing.T) {
			t.Parallel()
			suite(t, sw, mounts.Namespace{"prod"}, share(i, 8, core), func(t testing.TB, catalog mounts.Backend) mounts.Backend {
				url := wholeServer(t, behind(t, sw, catalog).Backend, wrap.Options{Timeout: 20 * time.Second})
				engine, err := rest.Open(context.Background(), rest.Config{URL: url, Writable: true})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { engine.Close() })
				return engine
			})
		})
	}
}
