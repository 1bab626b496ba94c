//go:build peers

package governed

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/wire"
)

// crafted is a request to the store that somebody wants signed.
type crafted struct {
	what    string
	method  string
	url     string // after the store's address
	headers map[string][]string
	body    string
	status  int // of the signer's answer
}

// testCraftedRequests asks for signatures that nobody should get, by the table's own route and by the old one, and uses one
// that a writer should.
func testCraftedRequests(t *testing.T, s *scene) {
	reader, writer := s.as(t, "reader", "signed"), s.as(t, "writer", "signed")
	_, g := writer.ask(t, 200, signing, "GET", orders, nil)
	_, other := writer.ask(t, 200, signing, "GET", "/namespaces/sales/tables/others", nil)
	if g.Config["s3.signer.endpoint"] != "v1/signed"+orders+"/sign" || g.Config["s3.remote-signing-enabled"] != "true" {
		t.Fatalf("signing: %v", g.Config)
	}
	for _, name := range secretKeys {
		if g.Config[name] != "" {
			t.Errorf("%s comes with signing", name)
		}
	}
	in := func(location string) string { return "/" + bucket + "/" + *key(t, location) }
	table, metadata, foreign := in(g.Metadata.Location), in(g.MetadataLocation), in(other.MetadataLocation)
	pond := in(s.location(t, "globex", "pond", "fish", "stock"))
	requests := []crafted{
		{what: "another table's file", method: "GET", url: foreign, status: 403},
		{what: "a write into another table", method: "PUT", url: foreign + ".x", status: 403},
		{what: "the other company's file", method: "GET", url: pond, status: 403},
		{what: "a sibling whose name begins alike", method: "PUT", url: table + "2/x", status: 403},
		{what: "a way out of the table", method: "GET", url: table + "/../" + strings.TrimPrefix(foreign, "/governed/signed/sales/"), status: 403},
		{what: "an encoded way out of the table", method: "GET", url: table + "/%2e%2e/x", status: 403},
		{what: "an ACL of the table's file", method: "PUT", url: metadata + "?acl=", status: 403},
		{what: "an ACL in a header", method: "PUT", url: table + "/data/x", headers: map[string][]string{"x-amz-acl": {"public-read"}}, status: 403},
		{what: "the bucket's policy", method: "PUT", url: "/" + bucket + "?policy=", status: 403},
		{what: "the bucket's listing", method: "GET", url: "/" + bucket + "?list-type=2", status: 403},
		{what: "a copy from another table", method: "PUT", url: table + "/data/x", headers: map[string][]string{"x-amz-copy-source": {foreign}}, status: 403},
		{what: "a copy from the other company", method: "PUT", url: table + "/data/x", headers: map[string][]string{"x-amz-copy-source": {pond}}, status: 403},
		{what: "many deletions", method: "POST", url: "/" + bucket + "?delete=", status: 403,
			body: "<Delete><Object><Key>" + strings.TrimPrefix(foreign, "/governed/") + "</Key></Object></Delete>"},
		{what: "another host", method: "GET", url: "@127.0.0.2/x", status: 403},
	}
	fixed := &catalog{wire.New(s.url, ""), writer.token}
	for _, r := range requests {
		for route, path := range map[string]struct {
			c    *catalog
			path string
		}{"the table's route": {writer, orders + "/sign"}, "the old route": {fixed, "/aws/s3/sign"}} {
			a := sign(t, s, path.c, path.path, r)
			ok := a.Status == 403 || a.Status == 400
			if route == "the old route" { // there is no table that the request is confined to but the one it names
				own := r.url == foreign || r.url == foreign+".x"
				ok = ok || a.Status == 404 || own && a.Status == 200
			}
			if !ok {
				t.Errorf("%s, by %s: %v", r.what, route, a)
				continue
			}
			t.Logf("%s, by %s: %d %s", r.what, route, a.Status, a.Message)
		}
	}
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "PUT": 403, "DELETE": 403} {
		for what, path := range map[string]struct {
			c    *catalog
			path string
		}{"the table's route": {reader, orders + "/sign"}, "the old route": {&catalog{wire.New(s.url, ""), reader.token}, "/aws/s3/sign"}} {
			a := sign(t, s, path.c, path.path, crafted{method: method, url: metadata})
			if a.Status != want {
				t.Errorf("the reader's %s by %s: %v", method, what, a)
			}
			t.Logf("the reader's %s, by %s: %d %s", method, what, a.Status, a.Message)
		}
	}
	// A signature is good for what was asked and for nothing else.
	a := sign(t, s, reader, orders+"/sign", crafted{method: "GET", url: metadata})
	for what, want := range map[string]struct {
		method, url string
		status      int
	}{
		"sent as it was signed":      {"GET", metadata, 200},
		"sent for another file":      {"GET", foreign, 403},
		"sent as a deletion":         {"DELETE", metadata, 403},
		"sent with another question": {"GET", metadata + "?acl=", 403},
	} {
		if got := send(t, s, a, want.method, want.url); got != want.status {
			t.Errorf("a signature for a GET, %s: %d from the store", what, got)
		} else {
			t.Logf("a signature for a GET, %s: %d from the store", what, got)
		}
	}
	globex := s.as(t, "globex", "")
	if a := sign(t, s, globex, "/namespaces/signed%1Fsales/tables/orders/sign", crafted{method: "GET", url: metadata}); a.Status != 404 {
		t.Errorf("the other company: %v", a)
	}
	if a := sign(t, s, globex, "/aws/s3/sign", crafted{method: "GET", url: metadata}); a.Status != 403 && a.Status != 404 {
		t.Errorf("the other company by the old route: %v", a)
	} else {
		t.Logf("the other company, by the old route: %d %s", a.Status, a.Message)
	}
}

func sign(t *testing.T, s *scene, c *catalog, path string, r crafted) *wire.Answer {
	t.Helper()
	headers := map[string][]string{"x-amz-content-sha256": {"UNSIGNED-PAYLOAD"}}
	for name, values := range r.headers {
		headers[name] = values
	}
	body := map[string]any{"region": "us-east-1", "method": r.method, "uri": s.store.S3 + r.url, "headers": headers, "provider": "s3"}
	if r.body != "" {
		body["body"] = r.body
	}
	a, err := c.CallWithHeader(http.Header{"Authorization": {"Bearer " + c.token}}, "POST", path, body)
	if err != nil {
		t.Fatalf("%s: %v", r.what, err)
	}
	return a
}

// send sends a request to the store with the headers of a signature.
func send(t *testing.T, s *scene, signed *wire.Answer, method, url string) int {
	t.Helper()
	var answer struct {
		Headers http.Header
	}
	if err := json.Unmarshal(signed.Body, &answer); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.store.S3+url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-amz-content-sha256", "UNSIGNED-PAYLOAD") // as it said when it asked
	for name, values := range answer.Headers {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	return got.StatusCode
}
