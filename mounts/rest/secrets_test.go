package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
)

// TestNoSecretAndNoAddressReachesAMessageOrALog lets the remote repeat in its
// errors what it knows: the token, its own address, credentials of others.
func TestNoSecretAndNoAddressReachesAMessageOrALog(t *testing.T) {
	const token = "opaque-mount-token-4711"
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.Bearer = token })
	b := open(t, srv, func(c *rest.Config) { c.Auth = rest.Bearer(func() (string, error) { return token, nil }) })
	hidden := []string{token, srv.Addr(), "hunter2", "eyJhbGciOiJIUzI1NiJ9", "AKIAIOSFODNN7EXAMPLE", "internal.example", "10.1.2.3", "deadbeef", "remote-cookie", "login.internal"}
	gossip := []string{
		"refused token " + token + " at http://" + srv.Addr() + "/v1/x",
		"connect to " + srv.Addr() + " failed",
		"jdbc:postgresql://admin:hunter2@db.internal.example/catalog refused",
		"password=hunter2 client_secret: hunter2, \"secret\":\"hunter2\"",
		"Authorization: Bearer hunter2hunter2",
		"Basic aHVudGVyMg== and Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln",
		"key AKIAIOSFODNN7EXAMPLE was refused",
		"see https://wiki.internal.example/errors?x=1 or 10.1.2.3:8080",
		"s3://bucket/key?X-Amz-Signature=deadbeef",
	}
	for _, status := range []int{400, 401, 403, 404, 406, 409, 429, 500, 503, 504} {
		for _, text := range gossip {
			srv.Fail(remote.AnyOp, remote.Fault{Status: status, Message: text, Type: "Exception " + text})
			for op, req := range reads() {
				e := mounts.AsError(invoke(b, req))
				for _, shown := range []string{e.Message(), e.Error(), fmt.Sprintf("%+v", e)} {
					for _, secret := range hidden {
						if strings.Contains(shown, secret) {
							t.Fatalf("%s answered %d shows %q: %s", op, status, secret, shown)
						}
					}
				}
			}
		}
		srv.Fail(remote.AnyOp, remote.Fault{Status: status, HTML: true, Location: "https://login.internal.example/" + token})
		for _, req := range reads() {
			e := mounts.AsError(invoke(b, req))
			for _, secret := range hidden {
				if strings.Contains(e.Error(), secret) {
					t.Fatalf("an HTML page with status %d shows %q: %v", status, secret, e)
				}
			}
		}
	}
	if strings.Contains(b.log.String(), token) {
		t.Errorf("logged %s", b.log)
	}
	for _, seen := range srv.Requests() {
		if strings.Contains(seen.Path+seen.Query, token) {
			t.Errorf("the token is in the URL %s?%s", seen.Path, seen.Query)
		}
	}
}

func TestARemotesMessageIsOneBoundedLine(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	for text, want := range map[string]string{
		"Cannot do\n\tthat\r\nnow":      "the remote catalog refused the request: Cannot do that now",
		"\x1b[31mred\x1b[0m \u202eevil": "the remote catalog refused the request: [31mred [0m evil",
		"{object} and {to}":             "the remote catalog refused the request: (object) and (to)",
		"":                              "the remote catalog refused the request",
		strings.Repeat("é", 5000):       "the remote catalog refused the request: " + strings.Repeat("é", 300) + "…",
		"bad location s3://lake/a/b":    "the remote catalog refused the request: bad location s3://lake/a/b",
	} {
		fault := remote.Fault{Status: 400, Message: text}
		if text == "" {
			fault.Body = []byte(`{"error":{"message":"","type":"BadRequestException","code":400}}`)
		}
		b.srv.Fail("loadTable", fault)
		if e := wantKind(t, invoke(b, orderLoad()), mounts.BadRequest); e.Message() != want {
			t.Errorf("%q becomes %q", text, e.Message())
		}
	}
}
