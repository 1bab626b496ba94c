package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/pagination"
)

// said is what a remote answers next, whatever it is asked.
type said struct {
	status            int
	etag, retry, kind string
	body              []byte
}

func (s *said) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h["Etag"], h["Retry-After"], h["Content-Type"], h["Cache-Control"] = []string{s.etag}, []string{s.retry}, []string{s.kind}, []string{s.kind}
	w.WriteHeader(s.status)
	w.Write(s.body)
}

// headerSafe keeps what net/http lets a server send.
func headerSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// FuzzCalls answers every operation with the same status, headers and body, loads,
// listings, views, credentials, signing, plans and changes alike. Whatever comes
// of it keeps the contract of package mounts.
func FuzzCalls(f *testing.F) {
	table := `"metadata-location":"s3://partner/t/m.json","metadata":{"format-version":2,"location":"s3://partner/t"}`
	for _, seed := range []string{
		`{` + table + `,"config":{"s3.access-key-id":"a","token":"t","uri":"http://x/"},"storage-credentials":[{"prefix":"s3://partner/t","config":{"s3.secret-access-key":"b"}}]}`,
		`{` + table + `,"config":{"s3.remote-signing-enabled":"true","s3.signer.uri":"http://x","s3.signer.endpoint":"/sign?a=b"},"remote-signing-config":{"properties":{},"headers":{"A":["b"]}}}`,
		`{"metadata-location":"s3://partner/v.json","metadata":{"versions":[{"default-namespace":["a","b"]},{"default-namespace":null}],"current-version-id":1}}`,
		`{"namespaces":[["fixture","a"]],"next-page-token":"x"}`, `{"identifiers":[{"namespace":["x"],"name":"t"}]}`, `{"namespace":["fixture"],"properties":{"a":"b","c":null}}`,
		`{"storage-credentials":[{"prefix":"s3://","config":{"s3.session-token":"c","s3.session-token-expires-at-ms":1}}]}`, `{"updated":["a"],"removed":[],"missing":null}`,
		`{"uri":"https://b.s3.amazonaws.com/x","headers":{"Authorization":["x"],"A\r\nB":["c"]}}`, `{"status":"completed","plan-id":"p","plan-tasks":["a"],"storage-credentials":[]}`,
		`{"status":"submitted","plan-id":"a/b"}`, `{"status":"failed","error":{"message":"x","type":"y","code":500}}`,
		`{"error":{"message":"Namespace does not exist: a.b","type":"NoSuchNamespaceException","code":404}}`, `{"__type":"x#ThrottlingException","Message":"m"}`,
		`<html>`, ``, "\xef\xbb\xbf{}", `{"metadata":{"a":` + strings.Repeat("[", 200),
	} {
		for _, status := range []int{200, 404} {
			f.Add(uint16(status), `"tag"`, "7", []byte(seed))
		}
	}
	f.Add(uint16(503), `W/"a", "b"`, "Fri, 31 Dec 9999 23:59:59 GMT", []byte(`{}`))
	f.Add(uint16(409), "", "-99999999999999999999", []byte(`{"error":{"message":"\u001b[31m {object}","type":"CommitFailedException","code":409}}`))
	now := &atomic.Pointer[said]{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/v1/config") {
			io.WriteString(w, `{"defaults":{},"overrides":{}}`)
			return
		}
		now.Load().ServeHTTP(w, r)
	}))
	f.Cleanup(srv.Close)
	b, err := rest.Open(context.Background(), rest.Config{URL: srv.URL, Mount: "m", Writable: true, MaxResponse: 1 << 20, Request: 10 * time.Second,
		AllowedLocations: []string{"s3://partner/"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { b.Close() })
	f.Fuzz(func(t *testing.T, status uint16, etag, retry string, body []byte) {
		// Informational statuses and those without a body are net/http's own.
		code := 200 + int(status)%400
		if code == 204 || code == 304 || len(body) > 64<<10 {
			return
		}
		now.Store(&said{status: code, etag: headerSafe(etag), retry: headerSafe(retry), kind: "application/json", body: body})
		for _, req := range mounttest.Requests() {
			if load, is := req.(*mounts.LoadTableRequest); is {
				load.Delegation = "vended-credentials,remote-signing"
			}
			got, err := mounts.Invoke(context.Background(), b, req)
			if err != nil {
				checkError(t, req, err)
				continue
			}
			checkAnswer(t, req, got)
		}
	})
}

func checkError(t *testing.T, req mounts.Request, err error) {
	e := mounts.AsError(err)
	text := e.Message()
	if e.Op != req.Op() || e.Kind == mounts.Internal || len(text) > 4000 || !utf8.ValidString(text) || strings.ContainsAny(text, "\r\n\x00\x1b") {
		t.Errorf("%v: %+v: %q", req.Op(), e, text)
	}
	if e.RetryAfter < 0 || e.RetryAfter > time.Minute {
		t.Errorf("%v: retry after %v", req.Op(), e.RetryAfter)
	}
	if e.OutcomeUnknown && e.Kind == mounts.Unavailable {
		t.Errorf("%v: sent, and said to be safe to send again: %v", req.Op(), err)
	}
}

func checkAnswer(t *testing.T, req mounts.Request, got mounts.Response) {
	credentials := func(list []mounts.StorageCredential) {
		for _, c := range list {
			if !strings.HasPrefix(c.Prefix, "s3://partner") && !strings.HasPrefix(c.Prefix, "s3a://partner") && !strings.HasPrefix(c.Prefix, "s3n://partner") {
				t.Errorf("%v: credentials for %q passed", req.Op(), c.Prefix)
			}
		}
	}
	config := func(entries map[string]string) {
		for name := range entries {
			if name == "uri" || name == "token" || name == "credential" || name == "warehouse" || strings.HasPrefix(name, "header.") || strings.HasPrefix(name, "rest.") {
				t.Errorf("%v: the key %q passed", req.Op(), name)
			}
		}
	}
	switch a := got.(type) {
	case *mounts.Table:
		if !json.Valid(a.Metadata) || len(bytes.TrimSpace(a.Metadata)) == 0 || a.MetadataLocation == "" {
			t.Errorf("%v: a table of %q with %.200q", req.Op(), a.MetadataLocation, a.Metadata)
		}
		config(a.Config)
		credentials(a.StorageCredentials)
	case *mounts.View:
		if !json.Valid(a.Metadata) || a.MetadataLocation == "" {
			t.Errorf("%v: a view with %.200q", req.Op(), a.Metadata)
		}
		config(a.Config)
	case *mounts.Credentials:
		credentials(a.StorageCredentials)
	case *mounts.Document:
		if !json.Valid(a.Body) {
			t.Errorf("%v: a document of %.200q", req.Op(), a.Body)
		}
		credentials(a.StorageCredentials)
	case *mounts.NamespaceInfo:
		if a.Properties == nil {
			t.Errorf("%v: properties are nil", req.Op())
		}
	case *pagination.Page[mounts.Identifier]:
		for _, id := range a.Items {
			if !id.Namespace.Equal(mounts.Namespace{"fixture"}) || id.Name == "" || !utf8.ValidString(id.Name) {
				t.Errorf("%v: the row %q", req.Op(), id)
			}
		}
	case *pagination.Page[mounts.Namespace]:
		for _, n := range a.Items {
			if len(n) != 2 || n[0] != "fixture" || n[1] == "" {
				t.Errorf("%v: the row %q", req.Op(), n)
			}
		}
	}
}

// FuzzLogins answers a token request, and a settings request under that token: a
// login succeeds with the token that was given or not at all.
func FuzzLogins(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"abc","token_type":"bearer","expires_in":3600}`, `{"access_token":"abc","token_type":"N_A","expires_in":"3600"}`,
		`{"access_token":"a\r\nX-Evil: 1","token_type":"bearer"}`, `{"access_token":"","token_type":"bearer"}`, `{"access_token":null}`, `[]`, `<html>`,
		`{"error":"invalid_client","error_description":"client x with secret y"}`, `{"access_token":"a","expires_in":-1,"refresh_token":"r","issued_token_type":"x"}`,
		`{"access_token":"a","expires_in":1e300}`, `{"access_token":"a","access_token":"b"}`,
	} {
		f.Add(uint16(200), []byte(seed), []byte(`{"defaults":{},"overrides":{}}`))
		f.Add(uint16(400), []byte(seed), []byte(`{"overrides":{"prefix":"a/b","uri":"http://localhost:1/"},"endpoints":["GET /v1/{prefix}/namespaces"]}`))
	}
	f.Fuzz(func(t *testing.T, status uint16, token, config []byte) {
		code := 200 + int(status)%400
		if code == 204 || code == 304 || len(token)+len(config) > 64<<10 {
			return
		}
		var bearer atomic.Pointer[string]
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/oauth/tokens") {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
				w.Write(token)
				return
			}
			login := r.Header.Get("Authorization")
			bearer.Store(&login)
			w.Write(config)
		}))
		defer srv.Close()
		b, err := rest.Open(context.Background(), rest.Config{URL: srv.URL, Request: 10 * time.Second, Auth: rest.OAuth2(rest.OAuth2Config{
			ClientID: "fuzz-client", ClientSecret: func() (string, error) { return "fuzz-client-secret", nil }})})
		if err == nil {
			b.Close()
		} else if e := mounts.AsError(err); strings.Contains(e.Error(), "fuzz-client-secret") || len(e.Message()) > 4000 || strings.ContainsAny(e.Message(), "\r\n\x1b") {
			t.Errorf("the error is %q", e.Error())
		}
		if used := bearer.Load(); used != nil {
			var said struct {
				Token string `json:"access_token"`
			}
			if code > 299 || json.Unmarshal(token, &said) != nil || said.Token == "" || *used != "Bearer "+strings.TrimSpace(said.Token) && *used != "Bearer "+said.Token {
				t.Errorf("after %d %q the login is %q", code, token, *used)
			}
		}
	})
}
