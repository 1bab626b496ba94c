package warehouse

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestLocationsKeepTheirSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"/data/lake":                   "file:///data/lake",
		"file:/data/lake":              "file:/data/lake",
		"file:///data/lake//":          "file:///data/lake",
		"file:///":                     "file:///",
		"s3://bucket/a/b/":             "s3://bucket/a/b",
		"s3a://bucket/a b/é🧊+%20 'x'":  "s3a://bucket/a b/é🧊+%20 'x'",
		"s3n://bu.ck-et_1":             "s3n://bu.ck-et_1/",
		"s3://bucket/a..b/...":         "s3://bucket/a..b/...",
		"s3://bucket/100%":             "s3://bucket/100%",
		"s3://bucket/year=2026/%zz/%2": "s3://bucket/year=2026/%zz/%2",
	} {
		l, err := Parse(text)
		if err != nil || l.String() != want {
			t.Errorf("%q became %q (%v), want %q", text, l, err, want)
		}
		again, err := Parse(l.String())
		if err != nil || again.String() != l.String() {
			t.Errorf("%q is read again as %q (%v)", l, again, err)
		}
	}
}

// outside are locations that must not be used by a client of the warehouse
// s3://lake/wh, or of file:///data/lake where they are files.
var outside = []string{
	"", " ", "relative", "relative/path", "./x", "s3", "s3:", "s3:/", "s3:/lake/wh/t", "s3://", "s3:///wh/t", "S3://lake/wh/t",
	"s3://lake", "s3://lake/", "s3://lake/wh", "s3://lake/wh/", "s3://lake/wh2/t", "s3://lake/w/t", "s3://lake/wh.old/t", "s3://lake/WH/t",
	"s3://lake2/wh/t", "s3://lak/wh/t", "s3://user@lake/wh/t", "s3://lake:443/wh/t", "s3://lake%2fwh/t",
	"s3://lake/wh/..", "s3://lake/wh/../x", "s3://lake/wh/t/../../x", "s3://lake/wh/.", "s3://lake/wh/./t", "s3://lake/x/../wh/t",
	"s3://lake//wh/t", "s3://lake/wh//t", "s3://lake/wh/t//u",
	"s3://lake/wh/%2e%2e/x", "s3://lake/wh/%2E%2E/x", "s3://lake/wh/.%2e/x", "s3://lake/wh/t%2f..%2fx", "s3://lake/wh/t%2Fx", "s3://lake/wh/t%5cx",
	"s3://lake/wh/%252e%252e/x", "s3://lake/wh/t%00", "s3://lake/wh/t%0a", "s3://lake/wh/t%7f", "s3://lake/wh/t%3fx", "s3://lake/wh/t%23x",
	`s3://lake/wh\..\x`, `s3://lake/wh/t\x`, "s3://lake/wh/t?x=y", "s3://lake/wh/t#x", "s3://lake/wh/t\x00", "s3://lake/wh/t\nx", "s3://lake/wh/t\x7f",
	"s3://lake/wh/\xff", "s3://lake/wh/" + strings.Repeat("x", maxLocation),
	"gs://lake/wh/t", "abfss://lake/wh/t", "http://lake/wh/t", "hdfs://lake/wh/t", "//lake/wh/t",
	"file:///data/lake", "file:///data/lake/", "file:///data/lake2/t", "file:///data/lake/../x", "file:///data/./lake/t", "file:///etc/passwd", "/etc/passwd",
	"/data/lake/%2e%2e/x", "file://host/data/lake/t", "file://localhost/data/lake/t", "file://localhost:1/data/lake/t", "/data/lake/t\u0085", "file://data/lake/t", "file:data/lake/t", "file:", "file://", "file:////data/lake/t", "//data/lake/t",
	"FILE:///data/lake/t", "file:///data/lake/t?x", "/data/lake/a/../../x",
}

func TestClientsCannotLeaveTheWarehouse(t *testing.T) {
	roots := map[string]*Warehouse{}
	for _, root := range []string{"s3://lake/wh", "file:///data/lake"} {
		l, err := Parse(root)
		if err != nil {
			t.Fatal(err)
		}
		roots[root] = &Warehouse{root: l}
	}
	for root, w := range roots {
		for _, text := range outside {
			l, err := w.Confine(text)
			var bad *BadLocation
			if err == nil || !errors.As(err, &bad) || bad.Problem == "" {
				t.Errorf("%s let a client use %q as %q (%v)", root, text, l, err)
			}
		}
	}
	if _, err := roots["s3://lake/wh"].Confine("s3://lake/other/t"); err == nil || !strings.Contains(err.Error(), "choose one below s3://lake/wh") {
		t.Errorf("a refusal does not say where the warehouse is: %v", err)
	}
	for root, inside := range map[string][]string{
		"s3://lake/wh": {"s3://lake/wh/t", "s3a://lake/wh/a/b/c", "s3n://lake/wh/t/", "s3://lake/wh/a b", "s3://lake/wh/...", "s3://lake/wh/é%20"},
		"file:///data/lake": {"/data/lake/t", "file:/data/lake/t", "file:///data/lake/a/b",
			"/data/lake/wh/100%", "/data/lake/a b"},
	} {
		for _, text := range inside {
			if _, err := roots[root].Confine(text); err != nil {
				t.Errorf("%s refused %q: %v", root, text, err)
			}
		}
	}
}

func TestWarehouseRootsAreSpelledForEveryReader(t *testing.T) {
	dir := t.TempDir()
	for _, root := range []string{dir, "file:" + dir, "file://" + dir, "file://" + dir + "/"} {
		w, err := Open(context.Background(), root, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Root().String(); got != "file://"+dir {
			t.Errorf("%q became %q", root, got)
		}
	}
	w, err := Open(context.Background(), "s3a://bucket/wh", map[string]string{"s3.region": "us-east-1"})
	if err != nil || w.Root().String() != "s3://bucket/wh" {
		t.Fatalf("%v, %v", w, err)
	}
	t.Chdir(dir)
	w, err = Open(context.Background(), "relative/wh", nil)
	if err != nil || !strings.HasSuffix(w.Root().String(), "/relative/wh") || !strings.HasPrefix(w.Root().String(), "file:///") {
		t.Errorf("a relative folder became %v (%v)", w, err)
	}
	for _, root := range []string{"", "/", "file:///", "gs://bucket/x", "ftp://x/y", filepath.Join(dir, "a#b")} {
		if _, err := Open(context.Background(), root, nil); err == nil {
			t.Errorf("%q was accepted as a warehouse", root)
		}
	}
}

func TestSegmentsOfNamesAreSafeAndTellNamesApart(t *testing.T) {
	for _, plain := range []string{"orders", "Orders_2", "a-b", "a.b", "v1.2", "0"} {
		if got := Segment(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
	names := []string{"", ".", "..", "...", "a.", ".a", "_a", "_", "a b", "a+b", "a/b", "a%b", "a%20b", "é", "e\u0301", "🧊", "日本", "a=b", "a:b",
		"\x00", "\x1f", "a\\b", strings.Repeat("x", 255), strings.Repeat("x", 254) + "y", strings.Repeat("🧊", 255), "a?b", "a#b", "'", `"`}
	seen := map[string]string{}
	for _, name := range names {
		segment := Segment(name)
		if len(segment) > 80 || segment == "" || strings.HasPrefix(segment, ".") || strings.HasPrefix(segment, "_") || Segment(name) != segment {
			t.Errorf("%q became %q", name, segment)
		}
		for i := range len(segment) {
			if !safe(segment[i]) {
				t.Errorf("%q became %q, which holds %q", name, segment, segment[i])
			}
		}
		if other, twice := seen[segment]; twice {
			t.Errorf("%q and %q both became %q", name, other, segment)
		}
		seen[segment] = name
		l, err := Parse("s3://b/x/" + segment)
		if err != nil || l.Base() != segment {
			t.Errorf("%q became %q, which is no location: %v", name, segment, err)
		}
	}
}

func FuzzConfinedLocationsStayInside(f *testing.F) {
	for _, text := range outside {
		f.Add(text)
	}
	f.Add("s3a://lake/wh/a/b")
	root, err := Parse("s3://lake/wh")
	if err != nil {
		f.Fatal(err)
	}
	w := &Warehouse{root: root}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := w.Confine(text)
		if err != nil {
			return
		}
		rest, ok := strings.CutPrefix(l.canonical().String(), "s3://lake/wh/")
		if !ok || rest == "" || strings.Contains("/"+rest+"/", "/../") || strings.Contains("/"+rest, "//") {
			t.Errorf("%q was let in as %q", text, l)
		}
		again, err := w.Confine(l.String())
		if err != nil || again.String() != l.String() {
			t.Errorf("%q is not stable: %q, %v", text, again, err)
		}
	})
}
