package middleware

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestSplitTakesThePrefixOffAndDropsOnlyStraySlashes(t *testing.T) {
	for _, c := range []struct{ raw, prefix, canonical string }{
		{"/v1/config", "", "/v1/config"},
		{"/v1/namespaces/a%1Fb/tables/t", "", "/v1/namespaces/a%1Fb/tables/t"},
		{"/v1/namespaces/", "", "/v1/namespaces"},
		{"//v1//namespaces//", "", "/v1/namespaces"},
		{"/v1/namespaces//tables/t", "", "/v1/namespaces//tables/t"},
		{"/v1/namespaces//tables/t/", "", "/v1/namespaces//tables/t"},
		{"/v1/prod/namespaces//tables/t", "prod", "/v1/namespaces//tables/t"},
		{"/v1//prod///namespaces", "prod", "/v1/namespaces"},
		{"/v1/pr%6Fd/namespaces", "prod", "/v1/namespaces"},
		{"/v1/v1/config", "", "/v1/config"},
		{"/v1/v1/v1//prod/views/rename", "prod", "/v1/views/rename"},
		{"/v1/namespaces/v1/tables/v1", "", "/v1/namespaces/v1/tables/v1"},
		{"/v1/namespaces/namespaces", "", "/v1/namespaces/namespaces"},
		{"/v1/prod", "prod", "/v1"},
		{"/v1", "", "/v1"},
		{"/v1/", "", "/v1"},
		{"/", "", "/"},
		{"", "", "/"},
		{"*", "", "/*"},
		{"/health/", "", "/health"},
		{"//admin/v1/mounts", "", "/admin/v1/mounts"},
		{"/v1x/config", "", "/v1x/config"},
		{"/iceberg/v1/config", "", "/iceberg/v1/config"},
		{"/v1/oauth/tokens", "", "/v1/oauth/tokens"},
		{"/v1/v1/oauth/tokens/", "", "/v1/oauth/tokens"},
		{"/v1/prod/oauth/tokens", "prod", "/v1/oauth/tokens"},
		{"/v1/prod//v1/oauth/tokens", "prod", "/v1/oauth/tokens"},
		{"/v1/aws/s3/sign", "", "/v1/aws/s3/sign"},
		{"/v1//v1/aws/s3/sign/", "", "/v1/aws/s3/sign"},
		{"/v1/prod/aws/s3/sign", "prod", "/v1/aws/s3/sign"},
		{"/v1/prod/v1/aws/s3/sign", "prod", "/v1/aws/s3/sign"},
		{"/v1/aws/aws/s3/sign", "aws", "/v1/aws/s3/sign"},
		{"/v1/aws/namespaces", "aws", "/v1/namespaces"},
		{"/v1/prod/v1/namespaces", "prod", "/v1/v1/namespaces"},
	} {
		prefix, canonical := Split(c.raw)
		if prefix != c.prefix || canonical != c.canonical {
			t.Errorf("%q: %q %q, want %q %q", c.raw, prefix, canonical, c.prefix, c.canonical)
		}
	}
}

func TestAMountCalledV1KeepsItsPaths(t *testing.T) {
	for raw, want := range map[string]string{
		"/v1/v1/namespaces": "v1 /v1/namespaces", "/v1/v1/v1/namespaces": "v1 /v1/namespaces",
		"/v1/v1/config": " /v1/config", "/v1/namespaces": " /v1/namespaces",
	} {
		prefix, canonical := split(context.Background(), raw, func(_ context.Context, p string) bool { return p == "v1" })
		if got := prefix + " " + canonical; got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestSegmentDecodesOnce(t *testing.T) {
	for _, c := range []struct {
		escaped string
		java    bool
		want    string
	}{
		{"a", false, "a"}, {"a+b", false, "a+b"}, {"a+b", true, "a b"}, {"a%2Bb+c", true, "a+b c"}, {"a%2Bb", false, "a+b"},
		{"a%252Fb", false, "a%2Fb"}, {"a%2Fb", true, "a/b"}, {"%E2%9C%93", false, "✓"}, {"", true, ""},
	} {
		if got, err := Segment(c.escaped, c.java); err != nil || got != c.want {
			t.Errorf("%q, java %v: %q %v", c.escaped, c.java, got, err)
		}
	}
	for _, bad := range []string{"%", "%z1", "%1", "+%"} {
		for _, java := range []bool{false, true} {
			if got, err := Segment(bad, java); err == nil {
				t.Errorf("%q: %q", bad, got)
			}
		}
	}
}

func TestClientsAreKnownByWhatTheySend(t *testing.T) {
	for header, want := range map[string][2]bool{
		"X-Client-Version: Apache Iceberg 1.9.0 (commit 7)": {true, false}, "User-Agent: foo Apache-HttpClient/5.4 (Java/17)": {true, false},
		"X-Client-Version: 0.14.1": {}, "User-Agent: GoIceberg/0.7.0": {}, "User-Agent: PyIceberg/0.10.0": {false, true}, "User-Agent: python-requests": {},
	} {
		h := http.Header{}
		name, value, _ := strings.Cut(header, ": ")
		h.Set(name, value)
		if got := [2]bool{JavaClient(h), PyIceberg(h)}; got != want {
			t.Errorf("%s: %v", header, got)
		}
	}
}

// FuzzPaths: whatever path a server accepts, the path that routes see is one
// that mux reads back unchanged, begins with a slash, has lost slashes only, and
// is a fixed point; names in it decode to what they decoded to before.
func FuzzPathsKeepEveryName(f *testing.F) {
	for _, seed := range []string{"/v1/namespaces/a%1Fb/tables/t", "//v1//v1/prod//namespaces//tables/a%2Fb/", "/v1/namespaces/\"%2F%2B+/x", "/%2e%2e/v1/..", "/v1/é/x", "/v1/0/v1"} {
		f.Add(seed)
	}
	none := func(context.Context, string) bool { return false }
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?") {
			return
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.URL = u
		var seen *http.Request
		Paths(none, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })).ServeHTTP(nil, r)
		routed := seen.URL.EscapedPath()
		if !strings.HasPrefix(routed, "/") {
			t.Fatalf("%q became %q", path, routed)
		}
		prefix, canonical := Split(rawPath(r))
		if escapeStray(canonical) != escapeStray(routed) {
			t.Fatalf("%q: routed %q, split %q", path, routed, canonical)
		}
		if prefix == "" {
			if p2, again := Split(canonical); p2 != "" || again != canonical {
				t.Fatalf("%q is no fixed point: %q %q", canonical, p2, again)
			}
		}
		raw := strings.Split(strings.TrimRight(canonical, "/"), "/")
		out := strings.Split(routed, "/")
		if len(raw) != len(out) && strings.Trim(canonical, "/") != "" {
			t.Fatalf("%q has other segments than %q", routed, canonical)
		}
		for i := range min(len(raw), len(out)) {
			for _, java := range []bool{false, true} {
				a, errA := Segment(raw[i], java)
				b, errB := Segment(out[i], java)
				if a != b || (errA == nil) != (errB == nil) {
					t.Fatalf("segment %q decodes to %q, was %q", out[i], b, a)
				}
			}
		}
	})
}
