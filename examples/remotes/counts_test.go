//go:build peers

package remotes

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/examples/internal/wire"
)

// counter stands in front of a remote and notes what is asked of it, settings excepted, which are looked at in the
// background.
type counter struct {
	url  string
	mu   sync.Mutex
	seen []string
}

func count(t *testing.T, remote string) *counter {
	t.Helper()
	target, err := url.Parse(remote)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/config" {
			kind := r.Method
			if r.Header.Get("If-None-Match") != "" {
				kind = "conditional " + kind
			}
			c.mu.Lock()
			c.seen = append(c.seen, kind)
			c.mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// of returns what is asked of the remote during a call.
func (c *counter) of(call func()) string {
	c.mu.Lock()
	c.seen = nil
	c.mu.Unlock()
	call()
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.seen, ", ")
}

// TestRemoteCallsOfAClientCall counts, in front of Iceberg's Java server, what one call of a client costs there.
func TestRemoteCallsOfAClientCall(t *testing.T) {
	java := peers.StartJavaServer(t)
	counter := count(t, java.URL)
	seed(t, icebergJava(), &remote{direct: direct(t, java.URL, "")})
	config := filepath.Join(t.TempDir(), "counts.hcl")
	text := fmt.Sprintf(`server {
  name   = "lake"
  listen = env("LAKE_LISTEN")
}
mount "plain" {
  backend     = "rest"
  catalog_url = %[1]q
  owner       = "remotes"
}
mount "held" {
  backend     = "rest"
  catalog_url = %[1]q
  owner       = "remotes"
  cache {
    ttl = "1h"
  }
}
`, counter.url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := launch.FreeAddress(t)
	env := []string{"LAKE_LISTEN=" + address}
	launch.Check(t, env, config)
	launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", config}, Env: env,
		Ready: "http://" + address + "/ready",
	})
	plain, held := wire.New("http://"+address, "plain"), wire.New("http://"+address, "held")
	ask := func(catalog *wire.Catalog, status int, header http.Header, method, path string) *wire.Answer {
		t.Helper()
		a, err := catalog.CallWithHeader(header, method, path, nil)
		if err != nil || a.Status != status {
			t.Fatalf("%s %s: %v, %v", method, path, a, err)
		}
		return a
	}
	orders := plain.Table("orders", sales)
	first := ask(plain, 200, nil, "GET", orders) // whatever is opened for the first call is open now
	ask(held, 200, nil, "GET", orders)
	tagged := http.Header{"If-None-Match": {first.Header.Get("ETag")}}

	type row struct {
		name, want string
		call       func()
	}
	var table strings.Builder
	for _, r := range []row{
		{"load, warm", "GET", func() { ask(plain, 200, nil, "GET", plain.Table("returns", sales)) }},
		{"load again, whole", "conditional GET", func() { ask(plain, 200, nil, "GET", orders) }},
		{"load again, with the client's ETag", "conditional GET", func() { ask(plain, 304, tagged, "GET", orders) }},
		{"load inside the ttl", "", func() { ask(held, 200, nil, "GET", orders) }},
		{"listing, one page", "GET", func() { ask(plain, 200, nil, "GET", plain.Namespace(paged)+"/tables?pageToken=&pageSize=2") }},
		{"listing, 3 pages of 2", "GET, GET, GET", func() {
			if _, pages, err := plain.Tables(paged).Walk(2); err != nil || pages != 3 {
				t.Fatalf("%d pages, %v", pages, err)
			}
		}},
		{"table exists", "HEAD", func() { ask(plain, 204, nil, "HEAD", orders) }},
		{"namespace exists", "GET", func() { ask(plain, 204, nil, "HEAD", plain.Namespace(sales)) }},
		{"credentials", "GET", func() { ask(plain, 200, nil, "GET", orders+"/credentials") }},
	} {
		got := counter.of(r.call)
		if got != r.want {
			t.Errorf("%s: asked of the remote: %q, want %q", r.name, got, r.want)
		}
		if got == "" {
			got = "none"
		}
		fmt.Fprintf(&table, "| %s | %s |\n", r.name, got)
	}
	t.Logf("calls of the remote:\n| call of the client | through Icefield |\n| --- | --- |\n%s", &table)
}
