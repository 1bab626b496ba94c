package router

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func TestAFaultyBodyIsRefusedNamingWhatIsWrong(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	const ns, tables, table = "/v1/namespaces", "/v1/namespaces/a/tables", "/v1/namespaces/a/tables/t"
	for _, c := range []struct{ path, body, about string }{
		{ns, "", "is empty"},
		{ns, "   \n", "is empty"},
		{ns, `{"namespace":["a"]`, "ends in the middle"},
		{ns, `{"namespace":["a"]}x`, "not valid JSON"},
		{ns, `{"namespace":["a"]}{}`, "not valid JSON"},
		{ns, `{"namespace":["a"],"namespace":["b"]}`, `"namespace" stands twice`},
		{ns, `{"namespace":["a"],"properties":{"k":"1","k":"2"}}`, `"properties.k" stands twice`},
		{ns, `{"namespace":"a"}`, `"namespace" must be an array, not a string`},
		{ns, `{"namespace":[1]}`, `"namespace.0" must be a string, not a number`},
		{ns, `{"namespace":["a"],"properties":{"k":1}}`, `"properties.k" must be a string, not a number`},
		{ns, `{"namespace":["a"],"properties":{"k":null}}`, `"properties.k" must be a string, not null`},
		{ns, `{"namespace":["a"],"properties":[]}`, `"properties" must be an object, not an array`},
		{ns, `[]`, "must be an object, not an array"},
		{ns, `<html>`, "not valid JSON"},
		{ns, "{\"namespace\":[\"\xff\"]}", "not valid JSON"},
		{ns, strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1), "nested deeper"},
		{tables, `{"name":7,"schema":{}}`, `"name" must be a string, not a number`},
		{tables, `{"name":"t"}`, "schema is missing"},
		{tables, `{"name":"t","schema":null}`, "schema is missing"},
		{tables, `{"name":"t","schema":{},"stage-create":"yes"}`, `"stage-create" must be true or false, not a string`},
		{tables, `{"name":"t","schema":{"a":1,"a":2}}`, "stands twice"},
		{"/v1/namespaces/a/register", `{"name":"t"}`, "metadata-location is missing"},
		{"/v1/namespaces/a/views", `{"name":"v","schema":{}}`, "view-version is missing"},
		{table, `{"requirements":{}}`, `"requirements" must be an array`},
		{table, `{"requirements":[null],"updates":[]}`, "requirements[0] must be an object"},
		{table, `{"requirements":[],"updates":[{},"x"]}`, "updates[1] must be an object"},
		{"/v1/transactions/commit", `{"table-changes":[]}`, "table-changes is empty"},
		{"/v1/transactions/commit", `{"table-changes":[` + strings.Repeat(`{},`, maxChanges) + `{}]}`, "more than 1000 entries"},
		{table + "/metrics", `[]`, "must be a JSON object"},
		{table + "/metrics", `{"a":1,"a":2}`, "stands twice"},
		{table + "/plan", ``, "is empty"},
		{table + "/sign", `"x"`, "must be a JSON object"},
	} {
		if message := w.do("POST", c.path, c.body).wantError(t, 400, "BadRequestException"); !strings.Contains(message, c.about) {
			t.Errorf("%s %.60q: %q does not say %q", c.path, c.body, message, c.about)
		}
	}
	if s.last() != nil {
		t.Errorf("the backend was asked for %#v", s.last())
	}
}

func TestBodiesKeepEveryDigitAndUnknownFields(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	const update = `{"action":"add-snapshot","snapshot":{"snapshot-id":9223372036854775807,"x":1.000000000000000000001,"new":{"a":null}}}`
	w.do("POST", "/v1/namespaces/a/tables/t", `{"identifier":7,"future":[1],"requirements":null,"updates":[`+update+`]}`)
	got := s.last().(*mounts.CommitTableRequest)
	if string(got.Updates[0]) != update || got.Table.String() != "a.t" || got.Requirements == nil {
		t.Errorf("commit %#v %s", got, got.Updates)
	}
	w.do("POST", "/v1/namespaces/a/tables", `{"name":"t","schema":{"n": 9007199254740993 }}`, "Content-Type: text/plain")
	if got := s.last().(*mounts.CreateTableRequest); string(got.Schema) != `{"n": 9007199254740993 }` {
		t.Errorf("schema %s", got.Schema)
	}
}

func TestBodiesOfReadsAndDropsAreIgnored(t *testing.T) {
	w := over(t, memoryWith(t))
	for _, verb := range []string{"GET", "HEAD", "DELETE"} {
		if g := w.do(verb, "/v1/namespaces/a/tables/t", "{not json", "Content-Type: application/json"); g.status >= 300 {
			t.Errorf("%s: %d %s", verb, g.status, g.body)
		}
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGzipBodiesAreAcceptedWithinTheCap(t *testing.T) {
	s, b := scripted(typical)
	w := serve(t, Config{Tree: Catalog{Backend: b}, MaxBody: 1000})
	if g := w.do("POST", "/v1/namespaces", zipped(t, `{"namespace":["zipped"]}`), "Content-Encoding: gzip"); g.status != 200 {
		t.Errorf("%d %s", g.status, g.body)
	}
	if got := s.last().Object().String(); got != "zipped" {
		t.Errorf("asked about %q", got)
	}
	bomb := zipped(t, `{"namespace":["`+strings.Repeat("x", 1<<20)+`"]}`)
	if len(bomb) > 1100 {
		bomb = zipped(t, strings.Repeat(" ", 100_000))
	}
	w.do("POST", "/v1/namespaces", bomb, "Content-Encoding: gzip").wantError(t, 413, "ContentTooLargeException")
	w.do("POST", "/v1/namespaces", `{"namespace":["a"]}`, "Content-Encoding: gzip").wantError(t, 400, "BadRequestException")
	w.do("POST", "/v1/namespaces", zipped(t, `{"namespace":["a"]}`)[:30], "Content-Encoding: gzip").wantError(t, 400, "BadRequestException")
	whole := zipped(t, `{"namespace":["`+strings.Repeat("abcdefgh", 40)+`"]}`)
	flipped := []byte(whole)
	for i := 10; i < len(flipped); i++ {
		flipped[i] ^= 0xff
	}
	for what, bad := range map[string]string{
		"cut off": whole[:len(whole)-9], "cut in its header": whole[:5], "altered": string(flipped), "with a tail": whole + "trailing",
	} {
		message := w.do("POST", "/v1/namespaces", bad, "Content-Encoding: gzip").wantError(t, 400, "BadRequestException")
		if !strings.Contains(message, "not the gzip") {
			t.Errorf("gzip %s, which arrived whole: %q", what, message)
		}
	}
	w.do("POST", "/v1/namespaces", `{}`, "Content-Encoding: br").wantError(t, 400, "BadRequestException")
	w.do("POST", "/v1/namespaces", `{}`, "Content-Encoding: gzip, gzip").wantError(t, 400, "BadRequestException")
}

func TestABodyOverTheCapIs413WhetherItsLengthIsDeclaredOrNot(t *testing.T) {
	s, b := scripted(typical)
	w := serve(t, Config{Tree: Catalog{Backend: b}, MaxBody: 200})
	exact := fmt.Sprintf(`{"namespace":["%s"]}`, strings.Repeat("x", 200-len(`{"namespace":[""]}`)))
	if g := w.do("POST", "/v1/namespaces", exact); g.status != 200 {
		t.Errorf("a body of exactly the limit: %d %s", g.status, g.body)
	}
	before := len(s.asked)
	w.do("POST", "/v1/namespaces", exact+" ").wantError(t, 413, "ContentTooLargeException")
	w.chunked("POST", "/v1/namespaces", exact+" ").wantError(t, 413, "ContentTooLargeException")
	if g := w.chunked("POST", "/v1/namespaces", exact); g.status != 200 {
		t.Errorf("chunked, within the limit: %d %s", g.status, g.body)
	}
	if len(s.asked) != before+1 {
		t.Error("a body over the cap reached the backend")
	}
}

func TestCommitsOfManyMegabytesPass(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	value := strings.Repeat("x", 20<<20)
	g := w.do("POST", "/v1"+calls()[capabilities.CommitTable].path, `{"requirements":[],"updates":[{"action":"set-properties","updates":{"k":"`+value+`"}}]}`)
	if g.status != 200 {
		t.Fatalf("%d %.200s", g.status, g.body)
	}
	if got := s.last().(*mounts.CommitTableRequest); len(got.Updates[0]) < len(value) {
		t.Errorf("%d bytes arrived", len(got.Updates[0]))
	}
}

// FuzzDecode: whatever the body, the answer is a success or a 400, and what was
// accepted is a request whose names are legal.
func FuzzDecodeRefusesOrUnderstands(f *testing.F) {
	for _, seed := range []string{`{"namespace":["a"],"properties":{"k":"v"}}`, `{"namespace":["a"],"namespace":[]}`, `[`, `{"namespace":[null]}`, `{"properties":null}`} {
		f.Add(seed)
	}
	s, b := scripted(typical)
	h := New(Config{Tree: Catalog{Backend: b}})
	f.Fuzz(func(t *testing.T, body string) {
		if body == "" {
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest("POST", "/v1/namespaces", strings.NewReader(body)))
		g := got{answer.Code, answer.Header(), answer.Body.String()}
		switch g.status {
		case 200:
			if flaw := namespaceFlaw(s.last().(*mounts.CreateNamespaceRequest).Namespace); flaw != "" {
				t.Errorf("%q was accepted though its namespace %s", body, flaw)
			}
			if !json.Valid([]byte(body)) {
				t.Errorf("%q is not JSON and was accepted", body)
			}
		case 400:
			g.wantError(t, 400, "BadRequestException")
		default:
			t.Errorf("%q: %d %s", body, g.status, g.body)
		}
	})
}
