package commit

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

var rewrite = flag.Bool("update", false, "write the golden files anew")

// unknown finds members that nobody here knows, with what they hold.
var unknown = regexp.MustCompile(`"[xy]-[a-z-]+"\s*:\s*("[^"]*"|\{[^{}]*(\[[^\]]*\])?[^{}]*\}|\[[^\]]*\]|[^,}\]\s]+)`)

func unknowns(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range unknown.FindAllString(text, -1) {
		found[strings.Join(strings.Fields(m), "")] = true
	}
	return found
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// golden compares a document with the one on file. Both are indented for the
// eye; numbers and strings keep their spelling.
func golden(t *testing.T, name string, doc json.RawMessage) {
	t.Helper()
	text := jsontext.Value(doc).Clone()
	if err := text.Format(jsontext.PreserveRawStrings(true), jsontext.WithIndent("  "), jsontext.SpaceAfterColon(true)); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(filepath.Join("testdata", name), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, name); string(want) != string(text)+"\n" {
		t.Errorf("the result is not %s; if it is meant, run with -update\n%s", name, text)
	}
}

func kept(t *testing.T, doc json.RawMessage, sources ...[]byte) {
	t.Helper()
	after, n := unknowns(string(doc)), 0
	for _, source := range sources {
		for member := range unknowns(string(source)) {
			if n++; !after[member] {
				t.Errorf("%s is lost", member)
			}
		}
	}
	if n < 12 {
		t.Fatalf("only %d unknown members were looked for", n)
	}
}

func TestUnknownFieldsAtEveryLevelSurviveACommitThatTouchesEverySection(t *testing.T) {
	base, list := read(t, "table.json"), read(t, "table_updates.json")
	var updates []json.RawMessage
	if err := json.Unmarshal(list, &updates); err != nil {
		t.Fatal(err)
	}
	res, err := Table(&Base{Metadata: base, Location: "s3://b/db/events/metadata/2.json"},
		&mounts.CommitTableRequest{Table: ident, Updates: updates}, fixed())
	if err != nil {
		t.Fatal(err)
	}
	readable(t, res.Metadata)
	kept(t, res.Metadata, base, list)
	before, err := parseObject(jsontext.Value(base).Clone())
	if err != nil {
		t.Fatal(err)
	}
	after, err := parseObject(res.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range before.keys() {
		if changed := !same(before.get(key), after.get(key)); !changed && !strings.HasPrefix(key, "x-") && key != "format-version" && key != "table-uuid" {
			t.Errorf("the commit does not touch %s", key)
		}
	}
	golden(t, "table_after.json", res.Metadata)
}

func TestUnknownFieldsAtEveryLevelOfAViewSurvive(t *testing.T) {
	base, list := read(t, "view.json"), read(t, "view_updates.json")
	var updates []json.RawMessage
	if err := json.Unmarshal(list, &updates); err != nil {
		t.Fatal(err)
	}
	res, err := View(&Base{Metadata: base, Location: "s3://b/db/recent/metadata/2.json"},
		&mounts.ReplaceViewRequest{View: viewIdent, Updates: updates}, fixed())
	if err != nil {
		t.Fatal(err)
	}
	readableView(t, res.Metadata)
	kept(t, res.Metadata, base, list)
	golden(t, "view_after.json", res.Metadata)
}
