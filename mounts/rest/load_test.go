package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
)

func TestAWarmLoadCostsOneCallAndItsMetadataPassesByteForByte(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	odd := json.RawMessage(`{ "format-version":9, "x":1.0e2, "n":9007199254740993, "dup":1, "dup":2, "html":"<&>", "esc":"\u00e9\/" }`)
	b.srv.PutTable(shared, "odd", remote.Table{MetadataLocation: "s3://b/m.json", ETag: `W/"t1"`,
		Body: []byte("{\"x-new\" : [1, 2 ],\"metadata\":" + string(odd) + ",\n\"metadata-location\":\"s3://b/m.json\",\"remote-signing-config\":{\"headers\":{\"a\":[\"secret\"]}}}\n")})
	table, err := b.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: shared, Name: "odd"}})
	if err != nil {
		t.Fatal(err)
	}
	b.calls.take()
	if !bytes.Equal(table.Metadata, odd) || table.MetadataLocation != "s3://b/m.json" {
		t.Errorf("metadata %s at %s", table.Metadata, table.MetadataLocation)
	}
	if len(table.Extra) != 1 || string(table.Extra["x-new"]) != "[1, 2 ]" {
		t.Errorf("extra %v", table.Extra)
	}
	b.srv.Forget()
	if _, err := b.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: orders, Snapshots: mounts.SnapshotsRefs, Delegation: "vended-credentials"}); err != nil {
		t.Fatal(err)
	}
	if n, last := b.srv.Count(remote.AnyOp), b.srv.Last(); n != 1 || last.Query != "snapshots=refs" || last.Header.Get("X-Iceberg-Access-Delegation") != "vended-credentials" {
		t.Errorf("%d calls, query %s, header %v", n, last.Query, last.Header)
	}
	calls := b.calls.take()
	if len(calls) != 1 || calls[0].Kind != "catalog" || calls[0].Op.String() != "loadTable" || calls[0].Status != 200 || calls[0].Duration <= 0 {
		t.Errorf("observed %+v", calls)
	}
}

func TestOnlyStorageHintsPassAndNoSecretDoes(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	pass := map[string]string{"s3.region": "eu", "client.region": "eu", "s3.endpoint": "http://minio:9000", "s3.path-style-access": "true",
		"io-impl": "x.S3FileIO", "py-io-impl": "y", "s3.cross-region-access-enabled": "true", "scan-planning-mode": "server"}
	drop := map[string]string{"uri": "u", "prefix": "p", "warehouse": "w", "token": "secret", "credential": "a:secret", "oauth2-server-uri": "u",
		"rest.sigv4-enabled": "true", "header.Authorization": "secret", "s3.signer.uri": "u", "s3.signer.endpoint": "e", "signer.uri": "u",
		"client.refresh-credentials-endpoint": "e", "s3.access-key-id": "AKIA", "s3.secret-access-key": "secret", "s3.session-token": "secret",
		"s3.remote-signing-enabled": "true", "gcs.oauth2.token": "secret", "adls.sas-token.acc": "secret", "s3.sse.key": "secret",
		"urn:ietf:params:oauth:token-type:jwt": "secret", "vendor.unknown": "?", "S3.REGION": "no"}
	config := maps.Clone(pass)
	maps.Copy(config, drop)
	put := func(config map[string]string) map[string]string {
		t.Helper()
		b.srv.PutTable(shared, "orders", remote.Table{MetadataLocation: "s3://b/m.json", Metadata: remote.Metadata("s3://b", 0), Config: config,
			Credentials: json.RawMessage(`[{"prefix":"s3://b","config":{"s3.secret-access-key":"secret"}}]`)})
		table, err := b.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: orders})
		if err != nil {
			t.Fatal(err)
		}
		if table.StorageCredentials != nil || table.Extra != nil {
			t.Errorf("credentials %v, extra %v", table.StorageCredentials, table.Extra)
		}
		return table.Config
	}
	if got := put(config); !maps.Equal(got, pass) {
		t.Errorf("the config is %v", got)
	}
	if got := put(map[string]string{"s3.endpoint": "https://key:secret@minio/", "s3.region": strings.Repeat("x", 9000), "io-impl": "http://h/?sig=secret"}); len(got) != 0 {
		t.Errorf("the config is %v", got)
	}
}

func TestEntityTagsPassAndANotModifiedIsOnlyBelievedWhenAskedFor(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	load := func(tag string) (*mounts.Table, error) {
		return b.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: orders, IfNoneMatch: tag})
	}
	first, err := load("")
	if err != nil || first.ETag == "" || first.NotModified {
		t.Fatalf("first load: %+v, %v", first, err)
	}
	again, err := load(first.ETag)
	if err != nil || !again.NotModified || again.ETag != first.ETag || again.Metadata != nil {
		t.Errorf("revalidated: %+v, %v", again, err)
	}
	if got := b.srv.Last().Header.Get("If-None-Match"); got == first.ETag || got[1:] != first.ETag[strings.Index(first.ETag, ".")+1:] {
		t.Errorf("sent If-None-Match %q", got)
	}
	if _, err := load("\"a\r\nX-Evil: 1\""); err != nil || b.srv.Last().Header.Get("X-Evil") != "" || b.srv.Last().Header.Get("If-None-Match") != "" {
		t.Errorf("a tag that is no header value: %v, %v", err, b.srv.Last().Header)
	}
	b.srv.Fail("loadTable", remote.Fault{Status: 304})
	_, err = load("")
	wantKind(t, err, mounts.BadGateway)
	b.srv.Heal()
	b.srv.Tune(func(q *remote.Quirks) { q.NoETag = true })
	if table, err := load(first.ETag); err != nil || table.ETag != "" || table.NotModified {
		t.Errorf("without tags: %+v, %v", table, err)
	}
}

func TestLoadsThatAreNotTheProtocolAreErrors(t *testing.T) {
	const location, metadata = `"metadata-location":"s3://b/m.json"`, `"metadata":{"a":1}`
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"x%d":1,`, i)
	}
	for name, body := range map[string]string{
		"no metadata":         `{` + location + `}`,
		"null metadata":       `{` + location + `,"metadata":null}`,
		"text metadata":       `{` + location + `,"metadata":"{}"}`,
		"metadata twice":      `{` + location + `,` + metadata + `,` + metadata + `}`,
		"escaped twice":       `{` + location + `,` + metadata + `,"met\u0061data":{}}`,
		"no location":         `{` + metadata + `}`,
		"null location":       `{"metadata-location":null,` + metadata + `}`,
		"a number location":   `{"metadata-location":1,` + metadata + `}`,
		"config a list":       `{` + location + `,` + metadata + `,"config":[]}`,
		"config nested":       `{` + location + `,` + metadata + `,"config":{"a":{}}}`,
		"a list":              `[{` + location + `,` + metadata + `}]`,
		"more after it":       `{` + location + `,` + metadata + `}{}`,
		"garbage after it":    `{` + location + `,` + metadata + `}x`,
		"cut off":             `{` + location + `,` + metadata,
		"metadata is no JSON": `{` + location + `,"metadata":{"a":01}}`,
		"no UTF-8":            `{` + location + `,"metadata":{"a":"` + "\xff" + `"}}`,
		"too deep":            `{` + location + `,"metadata":{"a":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}}`,
		"too many members":    `{` + many.String() + location + `,` + metadata + `}`,
		"empty":               ` `,
		"a web page":          `<html>sign in</html>`,
	} {
		b := open(t, serve(t, remote.Options{}))
		b.srv.PutTable(shared, "orders", remote.Table{Body: []byte(body)})
		b.srv.PutView(shared, "recent", remote.Table{Body: []byte(body)})
		for _, op := range []string{"loadTable", "loadView"} {
			if err := invoke(b, reads()[op]); wantKind(t, err, mounts.BadGateway).Kind != mounts.BadGateway {
				t.Errorf("in the case %q, %s", name, op)
			}
		}
	}
}

func TestAnswersOverTheLimitAreRefusedAsSentAndAsInflated(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.PutTable(shared, "big", remote.Table{MetadataLocation: "s3://b/m", Metadata: remote.Metadata("s3://b", 40<<10)})
	big := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: shared, Name: "big"}}
	b := open(t, srv, func(c *rest.Config) { c.MaxResponse = 32 << 10 })
	if e := wantKind(t, invoke(b, big), mounts.BadGateway); !strings.Contains(e.Message(), "larger") {
		t.Errorf("the message is %q", e.Message())
	}
	srv.Tune(func(q *remote.Quirks) { q.Gzip = true }) // a few hundred bytes on the way
	wantKind(t, invoke(b, big), mounts.BadGateway)
	if err := invoke(b, reads()["loadTable"]); err != nil {
		t.Errorf("a small table: %v", err)
	}
	srv.Fail("loadTable", remote.Fault{Break: remote.Bomb})
	wantKind(t, invoke(open(t, srv, func(c *rest.Config) { c.MaxResponse = 8 << 20 }), big), mounts.BadGateway)
	if err := invoke(open(t, srv), big); err != nil {
		t.Errorf("the bomb is an answer like any other where the limit allows it: %v", err)
	}
}

func TestExistenceIsAskedByHEADWhereItIsOfferedAndElseByGET(t *testing.T) {
	absent := &mounts.TableExistsRequest{Table: mounts.Identifier{Namespace: shared, Name: "absent"}}
	for name, c := range map[string]struct {
		tune         func(*remote.Quirks)
		heads, gets  int // for a table that is there
		absent, want mounts.Kind
	}{
		"HEAD":            {func(*remote.Quirks) {}, 1, 0, mounts.NoSuchTable, 0},
		"HEAD with 200":   {func(q *remote.Quirks) { q.HEADOk = 200 }, 1, 0, mounts.NoSuchTable, 0},
		"HEAD of a page":  {func(q *remote.Quirks) { q.HEADHTML = true }, 1, 1, mounts.NoSuchTable, 0},
		"HEAD not listed": {func(q *remote.Quirks) { q.NoEndpoints = true }, 0, 1, mounts.NoSuchTable, 0},
		"HEAD refused":    {func(q *remote.Quirks) { q.NoHEAD = true }, 1, 1, mounts.NoSuchTable, 0},
		"HEAD 501":        {func(q *remote.Quirks) { q.HEADStatus = 501 }, 1, 1, mounts.NoSuchTable, 0},
		"HEAD 404":        {func(q *remote.Quirks) { q.HEADStatus = 404 }, 1, 1, mounts.NoSuchTable, 0},
	} {
		srv := serve(t, remote.Options{})
		srv.Tune(c.tune)
		b := open(t, srv)
		if err := invoke(b, reads()["tableExists"]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		heads, gets := 0, 0
		for _, seen := range srv.Requests() {
			if seen.Method == "HEAD" {
				heads++
			} else if seen.Header.Get("X-Iceberg-Access-Delegation") == "" {
				gets++
			}
		}
		if heads != c.heads || gets != c.gets {
			t.Errorf("%s: %d HEADs and %d GETs", name, heads, gets)
		}
		wantKind(t, invoke(b, absent), c.absent)
	}
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	for status, kind := range map[int]mounts.Kind{403: mounts.Forbidden, 500: mounts.BadGateway, 503: mounts.Unavailable, 429: mounts.RateLimited, 302: mounts.BadGateway} {
		srv.Fail("tableExists", remote.Fault{Status: status})
		wantKind(t, invoke(b, reads()["tableExists"]), kind)
	}
	srv.Heal()
	srv.Fail("loadTable", remote.Fault{Status: 404, HTML: true})
	wantKind(t, invoke(b, absent), mounts.BadGateway)
}

func TestOnlyNamedHeadersReachTheRemote(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	ctx := mounts.WithCaller(context.Background(), mounts.Caller{Principal: "alice", RequestID: "req-7", Via: []string{"outer", "middle"},
		TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	if _, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "icefield", "X-Request-Id": "req-7",
		"X-Icefield-Via": "outer, middle, front-1", "Traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
	got := b.srv.Last().Header
	for name, value := range want {
		if got.Get(name) != value {
			t.Errorf("%s is %q", name, got.Get(name))
		}
	}
	if len(got) != len(want) {
		t.Errorf("the headers are %v", got)
	}
	bad := mounts.WithCaller(context.Background(), mounts.Caller{RequestID: "a\r\nX-Evil: 1", TraceParent: "é", Via: []string{"a\nb"}})
	if _, err := b.LoadTable(bad, &mounts.LoadTableRequest{Table: orders}); err != nil || b.srv.Last().Header.Get("X-Request-Id") != "" || b.srv.Last().Header.Get("X-Evil") != "" {
		t.Errorf("a caller with control characters: %v, %v", err, b.srv.Last().Header)
	}
}

func TestNamespacePropertiesAreNeverNil(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	for body, ok := range map[string]bool{
		`{"namespace":["shared"],"properties":{"a":"b"}}`: true, `{"namespace":["shared"],"properties":null}`: true, `{"namespace":["shared"]}`: true,
		`{"properties":{}}`: false, `{"namespace":"shared"}`: false, `{"namespace":["shared"],"properties":[]}`: false,
	} {
		b.srv.Fail("loadNamespace", remote.Fault{Raw: []byte(body)})
		info, err := b.LoadNamespace(context.Background(), &mounts.LoadNamespaceRequest{Namespace: shared})
		if !ok {
			wantKind(t, err, mounts.BadGateway)
		} else if err != nil || info.Properties == nil || !info.Namespace.Equal(shared) {
			t.Errorf("%s gives %+v, %v", body, info, err)
		}
	}
}
