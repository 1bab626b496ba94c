package router

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
)

// encoding is how a family of clients puts names into a URL.
type encoding struct {
	name    string
	headers []string
	segment func(string) string
	levels  func(...string) string
	parent  func(...string) string
}

func encodings() []encoding {
	quote := func(s string) string { // Python's urllib.parse.quote(s, safe="")
		var b strings.Builder
		for i := range len(s) {
			switch c := s[i]; {
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~", c) >= 0:
				b.WriteByte(c)
			default:
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		return b.String()
	}
	join := func(encode func(string) string, separator string) func(...string) string {
		return func(levels ...string) string {
			out := make([]string, len(levels))
			for i, l := range levels {
				out[i] = encode(l)
			}
			return strings.Join(out, separator)
		}
	}
	return []encoding{
		{"java", []string{"X-Client-Version: Apache Iceberg 1.9.0 (commit x)", "User-Agent: Apache-HttpClient/5.4"},
			url.QueryEscape, join(url.QueryEscape, "%1F"), join(url.QueryEscape, "%1F")},
		{"go", []string{"User-Agent: GoIceberg/0.7"},
			url.PathEscape, join(url.PathEscape, "%1f"), join(url.QueryEscape, "%1F")},
		// PyIceberg encodes each level, and its HTTP library the joined value again.
		{"pyiceberg", []string{"User-Agent: PyIceberg/0.10.0", "X-Client-Version: 0.14.1"},
			quote, join(quote, "%1F"), func(levels ...string) string { return url.QueryEscape(join(quote, "\x1f")(levels...)) }},
		// Some libraries leave alone what is legal in a path but for the slash.
		{"bare", nil, bare, join(bare, "%1F"), join(url.QueryEscape, "%1F")},
	}
}

// bare escapes only what would end the path or is not a byte of a URL at all.
func bare(s string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F", "?", "%3F", "#", "%23", " ", "%20").Replace(s)
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every name of the matrix survives each client's encoding, as a level, as an
// inner level and as a table, through every route that names it.
func TestEveryNameSurvivesEveryClientsEncoding(t *testing.T) {
	for _, e := range encodings() {
		for _, prefix := range []string{"/v1", "/v1/prod"} {
			t.Run(e.name+strings.ReplaceAll(prefix, "/", "-"), func(t *testing.T) {
				b := memory.New(memory.Options{})
				w := serve(t, Config{Tree: Catalog{Backend: b}, Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: b}}})
				do := func(verb, path, body string) got { return w.do(verb, prefix+path, body, e.headers...) }
				for _, name := range mounttest.Names() {
					x := name.Text
					for _, levels := range [][]string{{x}, {x, x}, {x, x, "in"}} {
						do("POST", "/namespaces", text(t, map[string]any{"namespace": levels})).
							want(t, 200, string(appendNamespaceInfo(nil, &mounts.NamespaceInfo{Namespace: levels})))
					}
					inner := "/namespaces/" + e.levels(x, x)
					do("GET", inner, "").want(t, 200, string(appendNamespaceInfo(nil, &mounts.NamespaceInfo{Namespace: mounts.Namespace{x, x}})))
					do("HEAD", inner, "").want(t, 204, "")
					if g := do("POST", inner+"/tables", text(t, map[string]any{"name": x, "schema": mounttest.Schema()})); g.status != 200 {
						t.Errorf("%s: create: %d %s", name.Label, g.status, g.body)
					}
					if g := do("GET", inner+"/tables/"+e.segment(x), ""); g.status != 200 {
						t.Errorf("%s: load: %d %s", name.Label, g.status, g.body)
					}
					do("HEAD", inner+"/tables/"+e.segment(x), "").want(t, 204, "")
					do("GET", inner+"/tables", "").want(t, 200,
						string(appendIdentifier([]byte(`{"identifiers":[`), mounts.Identifier{Namespace: mounts.Namespace{x, x}, Name: x}))+"]}")
					do("GET", "/namespaces?parent="+e.parent(x, x), "").want(t, 200,
						string(appendStrings([]byte(`{"namespaces":[`), []string{x, x, "in"}))+"]}")
					do("DELETE", inner+"/tables/"+e.segment(x)+"?purgeRequested=false", "").want(t, 204, "")
					do("DELETE", "/namespaces/"+e.levels(x, x, "in"), "").want(t, 204, "")
					do("DELETE", inner, "").want(t, 204, "")
					do("HEAD", inner, "").want(t, 404, "")
				}
			})
		}
	}
}

func TestAPlusIsABlankFromJavaOnly(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	const java = "X-Client-Version: Apache Iceberg 1.9.0"
	for _, c := range []struct{ path, header, want string }{
		{"/v1/namespaces/a+b/tables/c+d", java, "a b.c d"},
		{"/v1/namespaces/a%2Bb/tables/c%2bd", java, "a+b.c+d"},
		{"/v1/namespaces/a+b/tables/c+d", "X-Client-Version: 0.14.1", "a+b.c+d"},
		{"/v1//namespaces/a%2Bb/tables/c%20d/", java, "a+b.c d"},
		{`/v1/namespaces/a"+b/tables/c%2Fd`, "User-Agent: x Apache-HttpClient/5", `a" b.c/d`},
	} {
		if g := w.do("GET", c.path, "", c.header); g.status != 200 || s.last().Object().String() != c.want {
			t.Errorf("%s with %q: %d, about %q, want %q", c.path, c.header, g.status, s.last().Object(), c.want)
		}
	}
}

// What cannot be a name is not there, when asked for; a change that would need
// it is refused.
func TestImpossibleNamesAreAbsentToReadsAndRefusedToChanges(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	long := strings.Repeat("x", maxName+1)
	deep := strings.Repeat("a%1F", maxLevels) + "a"
	for _, bad := range []string{"a%00b", "a%0Ab", "%7F", "%C2%85", "%FF", long} {
		for _, path := range []string{"/v1/namespaces/" + bad + "/tables/t", "/v1/namespaces/a/tables/" + bad} {
			w.do("GET", path, "").wantError(t, 404, "NoSuchTableException")
			w.do("GET", strings.Replace(path, "/tables/", "/views/", 1), "").wantError(t, 404, "NoSuchViewException")
			w.do("DELETE", path, "").wantError(t, 400, "BadRequestException")
			w.do("POST", path, `{"updates":[]}`).wantError(t, 400, "BadRequestException")
		}
		w.do("GET", "/v1/namespaces/"+bad, "").wantError(t, 404, "NoSuchNamespaceException")
		w.do("DELETE", "/v1/namespaces/"+bad, "").wantError(t, 400, "BadRequestException")
	}
	w.do("GET", "/v1/namespaces/a/tables/b%1Fc", "").wantError(t, 404, "NoSuchTableException")
	w.do("DELETE", "/v1/namespaces/a/tables/b%1Fc", "").wantError(t, 400, "BadRequestException")
	w.do("GET", "/v1/namespaces/"+deep, "").wantError(t, 404, "NoSuchNamespaceException")
	w.do("GET", "/v1/namespaces/"+strings.Repeat("a%1F", 10_000), "").wantError(t, 404, "NoSuchNamespaceException")
	w.do("GET", "/v1/namespaces?parent="+deep, "").wantError(t, 404, "NoSuchNamespaceException")
	if s.last() != nil {
		t.Errorf("the backend was asked for %#v", s.last())
	}
}

func TestABodyWithAnImpossibleNameIsABadRequest(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	create := func(ns ...string) string { return text(t, map[string]any{"namespace": ns}) }
	rename := func(ns []string, name string) string {
		return text(t, map[string]any{"source": mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"},
			"destination": map[string]any{"namespace": ns, "name": name}})
	}
	table := func(name string) string { return text(t, map[string]any{"name": name, "schema": map[string]any{}}) }
	for _, c := range []struct{ path, body, about string }{
		{"/v1/namespaces", create(), "namespace is empty"},
		{"/v1/namespaces", `{}`, "namespace is empty"},
		{"/v1/namespaces", create(""), "level 1 is empty"},
		{"/v1/namespaces", create("a", ""), "level 2 is empty"},
		{"/v1/namespaces", create("a\x1fb"), "control character"},
		{"/v1/namespaces", create("a\nb"), "control character"},
		{"/v1/namespaces", create(strings.Repeat("x", maxName+1)), "longer than 1024"},
		{"/v1/namespaces", create(strings.Split(strings.Repeat("x.", maxLevels)+"x", ".")...), "more than 64 levels"},
		{"/v1/namespaces/a/tables", table(""), "name is empty"},
		{"/v1/namespaces/a/tables", table("a\x1fb"), "control character"},
		{"/v1/namespaces/a/register", `{"name":"","metadata-location":"s3://b/m.json"}`, "name is empty"},
		{"/v1/tables/rename", rename([]string{"a", ""}, "t"), "destination.namespace"},
		{"/v1/tables/rename", rename([]string{"a"}, ""), "destination.name"},
		{"/v1/tables/rename", rename(nil, "t"), "destination.namespace"},
		{"/v1/views/rename", `{"source":{"namespace":["a"],"name":"v"}}`, "destination"},
		{"/v1/transactions/commit", `{"table-changes":[{"updates":[]}]}`, "table-changes[0].identifier is missing"},
		{"/v1/transactions/commit", `{"table-changes":[{"identifier":{"namespace":["a"],"name":"t"}},{"identifier":{"namespace":["a\u001fb"],"name":"t"}}]}`, "table-changes[1].identifier"},
	} {
		if message := w.do("POST", c.path, c.body).wantError(t, 400, "BadRequestException"); !strings.Contains(message, c.about) {
			t.Errorf("%s %.80s: %q does not say %q", c.path, c.body, message, c.about)
		}
	}
	if s.last() != nil {
		t.Errorf("the backend was asked for %#v", s.last())
	}
}

// PyIceberg encodes `parent` twice today; a release that does not, and a
// namespace whose name looks encoded, are still found.
func TestParentOfPyIcebergIsFoundInEitherSpelling(t *testing.T) {
	b := memory.New(memory.Options{})
	w := over(t, b)
	for _, ns := range [][]string{{"a b"}, {"a b", "in"}, {"c%20d"}, {"c%20d", "in"}} {
		w.do("POST", "/v1/namespaces", text(t, map[string]any{"namespace": ns}))
	}
	for parent, want := range map[string]string{
		"a%2520b": `{"namespaces":[["a b","in"]]}`, "a+b": `{"namespaces":[["a b","in"]]}`,
		"c%252520d": `{"namespaces":[["c%20d","in"]]}`, "c%2520d": `{"namespaces":[["c%20d","in"]]}`,
	} {
		w.do("GET", "/v1/namespaces?parent="+parent, "", "User-Agent: PyIceberg/0.10.0").want(t, 200, want)
	}
	w.do("GET", "/v1/namespaces?parent=a%2520b", "").wantError(t, 404, "NoSuchNamespaceException")
	w.do("GET", "/v1/namespaces?parent=nope%2520b", "", "User-Agent: PyIceberg/0.10.0").wantError(t, 404, "NoSuchNamespaceException")
}
