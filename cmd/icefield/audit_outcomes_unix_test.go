//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/audit/audittest"
)

// auditText is a trail in a file beside the configuration.
func auditText(failClosed bool) string {
	return fmt.Sprintf("audit {\n  sink        = \"file\"\n  path        = \"audit.jsonl\"\n  fail_closed = %t\n}\n", failClosed)
}

// asID is as under a request id, with headers.
func asID(t testing.TB, url, who, id, method, path, body string, headers ...string) said {
	t.Helper()
	return sendTo(t, url, keyOf(who), method, path, body, append(headers, "X-Request-Id", id)...)
}

const setProperty = `{"requirements":[],"updates":[{"action":"set-properties","updates":{"a":"b"}}]}`

// What comes of a change is a second line, and one that says no more than is known.
func TestTheTrailSaysWhatCameOfEachChange(t *testing.T) {
	behind, _ := started(t, load(t, t.TempDir(), nativeText("/", "root")))
	target, err := url.Parse(behind.url())
	require.NoError(t, err)
	through := httputil.NewSingleHostReverseProxy(target)
	var loses atomic.Int32 // the status that changes are answered with: 0 is the remote's own, 1 none at all
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := int(loses.Load())
		switch {
		case r.Method != http.MethodPost || status == 0:
			through.ServeHTTP(w, r)
		case status == 1: // it is made, and nobody hears of it
			through.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			http.Error(w, "no", status)
		}
	}))
	t.Cleanup(front.Close)
	dir := t.TempDir()
	s, _ := started(t, load(t, dir, auditText(true)+authText("")+ownedText("prod", "acme")+relayingText("partner", "acme", front.URL)))
	const table = "/v1/namespaces/partner%1Fshop/tables/orders"
	for _, name := range []string{"prod", "partner"} {
		must(t, s.url(), "acme-writer", "POST", "/v1/namespaces", fmt.Sprintf(`{"namespace":[%q,"shop"]}`, name))
		must(t, s.url(), "acme-writer", "POST", "/v1/namespaces/"+name+"%1Fshop/tables", createOrders)
	}
	stale := `{"requirements":[{"type":"assert-table-uuid","uuid":"00000000-0000-0000-0000-000000000000"}],"updates":[{"action":"set-properties","updates":{"a":"b"}}]}`
	type wanted struct {
		id, who, path, body string
		remote              int32
		status              int
		events              []string
	}
	object := func(op, resource string, outcomes ...string) (events []string) {
		for _, o := range outcomes {
			events = append(events, fmt.Sprintf("%s Table::%q %s", op, resource, o))
		}
		return events
	}
	rows := []wanted{
		{"done", "acme-writer", table, setProperty, 0, 200, object("commitTable", "partner/shop/orders", "permitted", "done")},
		{"refused-by-the-remote", "acme-writer", table, stale, 0, 409, object("commitTable", "partner/shop/orders", "permitted", "failed")},
		{"forbidden-by-the-remote", "acme-writer", table, setProperty, 403, 403, object("commitTable", "partner/shop/orders", "permitted", "failed")},
		{"answer-lost", "acme-writer", table, setProperty, 1, 502, object("commitTable", "partner/shop/orders", "permitted", "unknown")},
		{"answer-500", "acme-writer", table, setProperty, 500, 502, object("commitTable", "partner/shop/orders", "permitted", "unknown")},
		{"refused-here", "acme-writer", "/v1/namespaces/prod%1Fshop/tables/orders", stale, 0, 409, object("commitTable", "prod/shop/orders", "permitted", "failed")},
		{"absent", "acme-writer", "/v1/namespaces/prod%1Fshop/tables/absent", setProperty, 0, 404, object("commitTable", "prod/shop/absent", "permitted", "failed")},
		{"denied", "acme-reader", table, setProperty, 0, 403, object("commitTable", "partner/shop/orders", "denied")},
		{"not-theirs", "globex-admin", table, setProperty, 0, 404, object("commitTable", "partner/shop/orders", "denied")},
	}
	for _, c := range rows {
		loses.Store(c.remote)
		a := asID(t, s.url(), c.who, c.id, "POST", c.path, c.body)
		assert.Equal(t, c.status, a.status, "%s: %s", c.id, a.body)
	}
	require.NoError(t, s.close())
	lines, torn, err := audittest.Read(filepath.Join(dir, "audit.jsonl"))
	require.NoError(t, err)
	require.Zero(t, torn)
	for _, c := range rows {
		assert.Equal(t, c.events, audittest.Outcomes(lines, c.id), c.id)
	}
	for _, l := range lines {
		if l.RequestID == "answer-lost" && l.Outcome == "unknown" {
			assert.Equal(t, "partner", l.Mount)
		}
		if l.RequestID == "answer-500" && l.Outcome == "unknown" {
			assert.Equal(t, 500, l.RemoteStatus)
		}
	}
}

// grants are the ways to be handed access to storage.
func grants() []wayToStorage {
	loads := []string{"X-Iceberg-Access-Delegation", "vended-credentials"}
	const lake, partner = "/v1/namespaces/lake%1Fshop/tables/orders", "/v1/namespaces/partner%1Fshop/tables/orders"
	sign := `{"region":"us-east-1","method":"GET","uri":"%s/lake/lake/shop/x","headers":{}}`
	return []wayToStorage{
		{"a load of a registry's table", "GET", lake, "", loads},
		{"credentials of a registry's table", "GET", lake + "/credentials", "", nil},
		{"a signature", "POST", lake + "/sign", sign, nil},
		{"credentials of a remote's table", "GET", partner + "/credentials", "", nil},
	}
}

type wayToStorage struct {
	name, method, path, body string
	headers                  []string
}

func TestNoAccessToStorageLeavesThatTheTrailDoesNotHave(t *testing.T) {
	store, sts := bucket(t)
	dir := t.TempDir()
	text := auditText(true) + authText("") + grantingText("lake", "acme", store, sts) + relayingText("partner", "acme", withEverything(t))
	trail := filepath.Join(dir, "audit.jsonl")
	s, _ := started(t, load(t, dir, text))
	for _, name := range []string{"lake", "partner"} {
		must(t, s.url(), "acme-writer", "POST", "/v1/namespaces", fmt.Sprintf(`{"namespace":[%q,"shop"]}`, name))
		must(t, s.url(), "acme-writer", "POST", "/v1/namespaces/"+name+"%1Fshop/tables", createOrders)
	}
	location := between(t, must(t, s.url(), "acme-reader", "GET", "/v1/namespaces/lake%1Fshop/tables/orders", ""), `"location":"s3://`, `"`)
	ask := func(way wayToStorage, id string) said {
		body := way.body
		if body != "" {
			body = strings.Replace(fmt.Sprintf(body, store), "/lake/lake/shop/x", "/"+location+"/data/f.parquet", 1)
		}
		return asID(t, s.url(), "acme-writer", id, way.method, way.path, body, way.headers...)
	}
	secrets := []string{"ASIAVENDED", "vended-secret", "vended-token", relayedKey, "AWS4-HMAC-SHA256"}
	hasSecret := func(a said) bool {
		for _, secret := range secrets {
			if strings.Contains(a.body+fmt.Sprint(a.header), secret) {
				return true
			}
		}
		return false
	}
	for i, way := range grants() {
		id := fmt.Sprintf("granted-%d", i)
		a := ask(way, id)
		require.Equal(t, 200, a.status, "%s: %s", way.name, a.body)
		require.True(t, hasSecret(a), "%s gives none: %s", way.name, a.body)
		// It is written before the answer leaves, so it is there now.
		lines, _, err := audittest.Read(trail)
		require.NoError(t, err)
		issued := false
		for _, l := range lines {
			if issued = issued || l.RequestID == id && l.Outcome == "issued"; issued {
				assert.Equal(t, "key/acme-writer", l.Principal)
				assert.NotEmpty(t, l.Storage)
				break
			}
		}
		assert.True(t, issued, "%s is not in the trail", way.name)
	}
	text1, err := os.ReadFile(trail)
	require.NoError(t, err)
	assert.False(t, hasSecret(said{body: string(text1)}), "the trail holds what was handed out")

	// Nothing can be written from now on.
	breakTrail(t, trail)
	require.NoError(t, s.catalogs.current.Load().access.trail.Reopen(t.Context()))
	for _, way := range grants() {
		a := ask(way, "kept back")
		assert.Equal(t, 503, a.status, "%s: %s", way.name, a.body)
		assert.NotEmpty(t, a.header.Get("Retry-After"))
		assert.Contains(t, a.body, "no access to storage was given out")
		assert.False(t, hasSecret(a), "%s: %s", way.name, a.body)
	}
	// Reads that open nothing go on; a table is loaded without its files.
	must(t, s.url(), "acme-writer", "GET", "/v1/namespaces/lake%1Fshop/tables/orders", "")
	must(t, s.url(), "acme-writer", "GET", "/v1/namespaces", "")
	// And when there is room again, without anybody's doing, it is as before.
	mendTrail(t, trail)
	for i, way := range grants() {
		require.Eventually(t, func() bool {
			a := ask(way, fmt.Sprintf("again-%d", i))
			return a.status == 200 && hasSecret(a)
		}, 10*time.Second, 20*time.Millisecond, way.name)
	}
}
