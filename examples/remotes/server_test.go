//go:build peers

package remotes

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// server is a kind of catalog to mount.
type server struct {
	name  string
	start func(t *testing.T) *remote
	// flat servers have one level of namespaces.
	flat bool
	// noViews is set for servers without views.
	noViews bool
	// refuses is the awkward names that the server does not take itself, or takes and then does not find again.
	refuses []string
	// gaps is what does not work through Icefield, by step.
	gaps  map[string]gap
	heavy bool // runs in a Java machine of its own
}

// gap is a step that fails, and why.
type gap struct {
	shows  string // what the failure says
	reason string
}

// remote is a server that runs.
type remote struct {
	url       string // what a mount's catalog_url is
	past      string // where clients reach it past Icefield, without a login; url if empty
	warehouse string // what a mount's warehouse is
	mount     string // more for the mount's block
	env       []string
	// direct is the same catalog as the mount's, past Icefield.
	direct *wire.Catalog
	// own is what names the remote and must not come back through Icefield.
	own   []string
	files map[string]string // what PyIceberg needs to reach the remote's files, past Icefield and through it
}

// The two mounts of a remote.
const (
	shelf = "shelf" // read only
	desk  = "desk"  // to be written as well
)

// config is a mount table with the remote under both names.
func (r *remote) config() string {
	var text strings.Builder
	text.WriteString("server {\n  name   = \"lake\"\n  listen = env(\"LAKE_LISTEN\")\n}\n")
	for _, mount := range []string{shelf, desk} {
		fmt.Fprintf(&text, "mount %q {\n  backend = \"rest\"\n  catalog_url = %q\n  owner = \"remotes\"\n", mount, r.url)
		if r.warehouse != "" {
			fmt.Fprintf(&text, "  warehouse = %q\n", r.warehouse)
		}
		if mount == desk {
			text.WriteString("  read_only = false\n")
		}
		text.WriteString(r.mount + "\n}\n")
	}
	return text.String()
}

// lake is an Icefield in front of a remote.
type lake struct {
	url    string
	remote *remote
	leaks  *leaks
}

// serve starts an Icefield in front of the remote.
func serve(t *testing.T, r *remote) *lake {
	t.Helper()
	config := filepath.Join(t.TempDir(), "lake.hcl")
	if err := os.WriteFile(config, []byte(r.config()), 0o600); err != nil {
		t.Fatal(err)
	}
	address := launch.FreeAddress(t)
	env := append([]string{"LAKE_LISTEN=" + address}, r.env...)
	launch.Check(t, env, config)
	launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", config}, Env: env,
		Ready: "http://" + address + "/ready",
	})
	return &lake{url: "http://" + address, remote: r, leaks: &leaks{own: r.own}}
}

// leaks is what came back and names the remote.
type leaks struct {
	own   []string
	mu    sync.Mutex
	found []string
}

func (l *leaks) watch(request *http.Request, a *wire.Answer) {
	for _, own := range l.own {
		where := ""
		for name, values := range a.Header {
			if strings.Contains(strings.Join(values, "\n"), own) {
				where = "header " + name
			}
		}
		if i := strings.Index(string(a.Body), own); i >= 0 {
			where = fmt.Sprintf("…%s…", a.Body[max(0, i-80):min(len(a.Body), i+80)])
		}
		if where != "" {
			l.mu.Lock()
			l.found = append(l.found, fmt.Sprintf("%s %s names the remote (%s): %s", request.Method, request.URL.Path, own, where))
			l.mu.Unlock()
		}
	}
}

// take returns what was found since the last time.
func (l *leaks) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.found
	l.found = nil
	return slices.Compact(found)
}

// kit is what a step has: a catalog as a client of Icefield sees it, and the same one past Icefield.
type kit struct {
	server  *server
	lake    *lake
	scope   string   // "tree" or "view"
	mount   string   // shelf or desk
	under   []string // what stands before the remote's names in this scope
	catalog *wire.Catalog
	direct  *wire.Catalog
}

// kits are the two scopes in which a mount is seen.
func (l *lake) kits(s *server, mount string) []*kit {
	tree := wire.New(l.url, "").Watched(l.leaks.watch)
	view := wire.New(l.url, mount).Watched(l.leaks.watch)
	return []*kit{
		{s, l, "tree", mount, []string{mount}, tree, l.remote.direct},
		{s, l, "view", mount, nil, view, l.remote.direct},
	}
}

// at is the levels of one of the remote's namespaces in this scope.
func (k *kit) at(levels ...string) []string { return append(slices.Clone(k.under), levels...) }

// failure is how a step fails.
type failure string

func (k *kit) failf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// no fails the step if there is an error.
func (k *kit) no(err error, doing string) {
	if err != nil {
		k.failf("%s: %v", doing, err)
	}
}

// call sends a request through Icefield and fails the step unless the status is the one that is wanted.
func (k *kit) call(status int, method, path string, body any) *wire.Answer {
	return k.callWith(nil, status, method, path, body)
}

func (k *kit) callWith(header http.Header, status int, method, path string, body any) *wire.Answer {
	a, err := k.catalog.CallWithHeader(header, method, path, body)
	k.no(err, method+" "+path)
	if a.Status != status {
		k.failf("%s %s: want %d, got %v", method, path, status, a)
	}
	return a
}

// refused is call for an error of the given type, whose message names every one of names.
func (k *kit) refused(status int, kind, method, path string, body any, names ...string) {
	a := k.call(status, method, path, body)
	if method == http.MethodHead {
		return
	}
	if a.Type != kind {
		k.failf("%s %s: want %s, got %v", method, path, kind, a)
	}
	for _, name := range names {
		if !strings.Contains(a.Message, name) {
			k.failf("%s %s: the message does not name %q: %s", method, path, name, a.Message)
		}
	}
}

// identifier is the body that names a table or view in this scope.
func (k *kit) identifier(name string, levels ...string) map[string]any {
	return map[string]any{"namespace": k.at(levels...), "name": name}
}

// direct connects to a remote's catalog as its own clients do: with the prefix and the separator that it says.
func direct(t *testing.T, uri, warehouse string) *wire.Catalog {
	t.Helper()
	config, err := wire.New(uri, "").Config(warehouse)
	if err != nil {
		t.Fatal(err)
	}
	say := func(key string) string {
		value := config.Defaults[key]
		if over, there := config.Overrides[key]; there {
			value = over
		}
		plain, err := url.PathUnescape(value)
		if err != nil {
			t.Fatal(err)
		}
		return plain
	}
	catalog := wire.New(uri, say("prefix"))
	if separator := say("namespace-separator"); separator != "" {
		catalog = catalog.WithSeparator(separator)
	}
	return catalog
}

// host is the part of a URL that names a server.
func host(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
