package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/router"
	"github.com/icefield/icefield/router/federate"
)

// vendor is a remote that answers exactly the bytes that a test gives it, by
// verb and path behind the table ("GET ", "GET /credentials", "POST /plan").
type vendor struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	answers map[string]string
	header  http.Header
	seen    []request
}

// heard is a request that the vendor got.
type request struct {
	method, path, query, body string
	header                    http.Header
}

const vendorTable = "/v1/wh/namespaces/sales%1Feu%20west/tables/daily%2Forders"

// newVendor serves the table `daily/orders` in sales.eu west, with the given
// operations offered.
func newVendor(t *testing.T, offers ...capabilities.Op) *vendor {
	t.Helper()
	v := &vendor{t: t, answers: map[string]string{}, header: http.Header{}}
	set := capabilities.Default().Union(capabilities.Of(offers...))
	config, err := json.Marshal(map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{"prefix": "wh"}, "endpoints": set.Endpoints()})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, query, _ := strings.Cut(r.RequestURI, "?")
		w.Header().Set("Content-Type", "application/json")
		if path == "/v1/config" {
			w.Write(config)
			return
		}
		body, _ := io.ReadAll(r.Body)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.seen = append(v.seen, request{r.Method, path, query, string(body), r.Header.Clone()})
		maps.Copy(w.Header(), v.header)
		answer, ok := v.answers[r.Method+" "+strings.TrimPrefix(path, vendorTable)]
		switch {
		case !ok:
			w.WriteHeader(404)
			fmt.Fprintf(w, `{"error":{"message":"Table does not exist","type":"NoSuchTableException","code":404}}`)
		case answer == "":
			w.WriteHeader(204)
		default:
			io.WriteString(w, answer)
		}
	}))
	t.Cleanup(srv.Close)
	v.url = srv.URL
	return v
}

// says sets the answer to a call.
func (v *vendor) says(call, body string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answers[call] = body
}

func (v *vendor) last() request {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.seen) == 0 {
		return request{}
	}
	return v.seen[len(v.seen)-1]
}

func (v *vendor) heard() []request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.seen)
}

// seenAs is one of the two catalogs that a mount is seen in.
type seenAs struct {
	name string
	// table is the path of the table there, as clients spell it, and home the
	// namespace's.
	table, home string
	do          func(method, path, body string, header ...string) fetched
}

type fetched struct {
	status int
	header http.Header
	body   string
}

// front is a whole server with the vendor mounted as "partner": router, tree,
// stack and rest backend. Its scopes are the tree and the mount as a catalog of
// its own.
func front(t *testing.T, v *vendor, change ...func(*rest.Config)) []seenAs {
	t.Helper()
	ring, err := pagination.NewKeyring([]byte("a secret of sixteen bytes"), map[string][]byte{"partner": nil})
	if err != nil {
		t.Fatal(err)
	}
	c := rest.Config{URL: v.url, Mount: "partner", Ring: ring, Writable: true, Request: time.Minute}
	for _, f := range change {
		f(&c)
	}
	b, err := rest.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	stack := wrap.Stack(b, wrap.Options{Name: "partner", Timeout: time.Minute, Breaker: wrap.BreakerOptions{Failures: 1 << 20}})
	t.Cleanup(func() { stack.Close() })
	table, err := mounts.NewMap(stack.Mount())
	if err != nil {
		t.Fatal(err)
	}
	mount := stack.Mount()
	srv := httptest.NewServer(router.New(router.Config{
		Tree:  router.Catalog{Name: "icefield", Backend: federate.New(table, ring, federate.Options{Name: "icefield"})},
		Views: []router.Catalog{{Name: "partner", Prefix: "partner", Backend: mount.View}},
	}))
	t.Cleanup(srv.Close)
	do := func(method, path, body string, header ...string) fetched {
		t.Helper()
		r, err := http.NewRequest(method, srv.URL+"/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range header {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fetched{resp.StatusCode, resp.Header, string(data)}
	}
	return []seenAs{
		{"tree", "v1/namespaces/partner%1Fsales%1Feu%20west/tables/daily%2Forders", "v1/namespaces/partner%1Fsales%1Feu%20west", do},
		{"mount", "v1/partner/namespaces/sales%1Feu%20west/tables/daily%2Forders", "v1/partner/namespaces/sales%1Feu%20west", do},
	}
}

const (
	askVended  = "X-Iceberg-Access-Delegation: vended-credentials"
	askSigning = "X-Iceberg-Access-Delegation: remote-signing"
	lakeMeta   = `{"format-version":2, "location":"s3://lake/sales/orders","x":9007199254740993}`
)

// load is a LoadTableResult with further members.
func lakeLoad(more string) string {
	return `{"metadata-location":"s3://lake/sales/orders/metadata/1.json","metadata":` + lakeMeta + more + `}`
}

// soon is an expiry in an hour, past one an hour ago.
func soon() string { return fmt.Sprint(time.Now().Add(time.Hour).UnixMilli()) }
func past() string { return fmt.Sprint(time.Now().Add(-time.Hour).UnixMilli()) }

func s3Keys(expiry string) string {
	return `"s3.access-key-id":"ASIAKEY","s3.secret-access-key":"the-secret","s3.session-token":"the-token","s3.session-token-expires-at-ms":"` + expiry + `"`
}

// table is a LoadTableResult as a client reads it.
type lakeTable struct {
	Metadata    json.RawMessage            `json:"metadata"`
	Config      map[string]string          `json:"config"`
	Credentials []mounts.StorageCredential `json:"storage-credentials"`
	Signing     json.RawMessage            `json:"remote-signing-config"`
}

func (r fetched) table(t *testing.T) lakeTable {
	t.Helper()
	var out lakeTable
	if r.status != 200 || json.Unmarshal([]byte(r.body), &out) != nil {
		t.Fatalf("got %d %s", r.status, r.body)
	}
	return out
}

func (r fetched) wantError(t *testing.T, status int, parts ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("got %d %s, want %d", r.status, r.body, status)
	}
	for _, part := range parts {
		if !strings.Contains(r.body, part) {
			t.Errorf("%s does not say %q", r.body, part)
		}
	}
}
