//go:build peers

package seaweed

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/examples/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// scene is seaweed.hcl, running.
type scene struct {
	url      string
	seaweed  *peers.SeaweedFS
	icefield *launch.Process
	between  *listener
	heard    *answers
}

func begin(t *testing.T) *scene {
	t.Helper()
	s := &scene{seaweed: peers.StartSeaweedFS(t), heard: &answers{}}
	s.between = listen(t, s.seaweed.URL)
	address := launch.FreeAddress(t)
	env := []string{"LAKE_LISTEN=" + address, "SEAWEED_URL=" + s.between.url,
		"SEAWEED_KEY=" + s.seaweed.AccessKeyID, "SEAWEED_SECRET=" + s.seaweed.SecretKey}
	launch.Check(t, env, "seaweed.hcl")
	s.url = "http://" + address
	s.icefield = launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", "seaweed.hcl"}, Env: env, Ready: s.url + "/ready",
	})
	return s
}

// mount is a mount's own view, "" for the tree. All that it answers is kept.
func (s *scene) mount(name string) *wire.Catalog { return wire.New(s.url, name).Watched(s.heard.keep) }

// listener stands between Icefield and SeaweedFS and notes the secrets that pass.
type listener struct {
	url string

	mu        sync.Mutex
	tokens    []string // bearer tokens of the mounts
	keys      []string // of the store: key ids, secrets and session tokens
	delegated []string // paths of requests that asked for access
}

func listen(t *testing.T, remote string) *listener {
	t.Helper()
	target, err := url.Parse(remote)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	proxy := &httputil.ReverseProxy{
		// The host stays what the requests were signed for.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: l.note,
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

func (l *listener) note(answer *http.Response) error {
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	l.mu.Lock()
	defer l.mu.Unlock()
	if scheme, token, _ := strings.Cut(answer.Request.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "bearer") {
		l.tokens = add(l.tokens, token)
	}
	if answer.Request.Header.Get("X-Iceberg-Access-Delegation") != "" {
		l.delegated = append(l.delegated, answer.Request.Method+" "+answer.Request.URL.Path)
	}
	var said struct {
		Token string            `json:"access_token"`
		In    map[string]string `json:"config"`
	}
	if json.Unmarshal(body, &said) != nil {
		return nil
	}
	l.tokens = add(l.tokens, said.Token)
	for _, name := range secretKeys {
		l.keys = add(l.keys, said.In[name])
	}
	return nil
}

func add(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// secretKeys are the members of a config that give access.
var secretKeys = []string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token"}

// passed returns what has passed so far.
func (l *listener) passed() (tokens, keys, delegated []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tokens), slices.Clone(l.keys), slices.Clone(l.delegated)
}

// answers is all that Icefield has answered.
type answers struct {
	mu  sync.Mutex
	all []string // request, header and body
}

func (a *answers) keep(request *http.Request, answer *wire.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, fmt.Sprintf("%s %s: %d %v\n%s", request.Method, request.URL, answer.Status, answer.Header, answer.Body))
}

// hunt looks in the answers whose request holds part for each of the secrets, in the spellings that they could have.
func (a *answers) hunt(t *testing.T, part string, secrets ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	looked := 0
	for _, text := range a.all {
		if request, _, _ := strings.Cut(text, "\n"); strings.Contains(request, part) {
			looked++
			hunt(t, text, secrets...)
		}
	}
	if looked == 0 {
		t.Errorf("there is no answer to look at for %q", part)
	}
}

func hunt(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if len(secret) < 8 {
			t.Fatalf("%q is no secret", secret)
		}
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, spelling := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted[1 : len(quoted)-1]),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret))} {
			if i := strings.Index(text, spelling); i >= 0 {
				t.Errorf("%.8s… got out: …%s…", secret, text[max(0, i-200):min(len(text), i+len(spelling)+50)])
				break
			}
		}
	}
}
