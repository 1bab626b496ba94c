package config

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestCaretStandsUnderWhatItMeans(t *testing.T) {
	for _, c := range []struct {
		line     string
		from, to int
		caret    string
	}{
		{`  ownr = "x"`, 2, 6, "  ^^^^"},
		{"\t\townr = 1", 2, 6, "\t\t^^^^"},
		{`é = "ü"`, 5, 9, "    ^^^"},
		{"short", 5, 5, "     ^"},
		{"short", 2, 99, "  ^^^"},
	} {
		source, caret := excerpt(c.line, c.from, c.to)
		assert.Equal(t, c.line, source)
		assert.Equal(t, c.caret, caret, c.line)
	}
}

func TestLongLinesAreCutAroundTheirMistake(t *testing.T) {
	line := strings.Repeat("x", 1000) + "HERE" + strings.Repeat("é", 1000)
	source, caret := excerpt(line, 1000, 1004)
	assert.LessOrEqual(t, len(source), maxLine+20)
	from, to := strings.IndexByte(caret, '^'), strings.LastIndexByte(caret, '^')
	assert.Equal(t, "HERE", string([]rune(source)[from:to+1]))
	assert.True(t, utf8.ValidString(source))
}

func TestMaskKeepsLengthAndHidesSecretsOnly(t *testing.T) {
	l := newLoader(environment)
	text := []byte(`
url       = "https://user:pw@host/x"
token     = "abc"
"s3.secret-access-key" = "def\"g"
{"password": "hij", "client_secret_env": "NAME"}
token_env = "NAME"
token_url = "https://idp/token"
secret    = env("NAME")
owner     = "acme"
`)
	got := string(l.mask("x", text))
	assert.Equal(t, len(text), len(got))
	for _, secret := range []string{"user:pw", "abc", "def", "hij"} {
		assert.NotContains(t, got, secret)
	}
	for _, rest := range []string{`"https://*******@host/x"`, `token_env = "NAME"`, `"client_secret_env": "NAME"`, `"https://idp/token"`, `env("NAME")`, `"acme"`} {
		assert.Contains(t, got, rest)
	}
}

func TestReportsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "unknown%d = 1\n", i)
	}
	_, report := Parse("x.hcl", []byte(b.String()), environment)
	assert.Len(t, report.Findings, maxFindings)
	assert.Positive(t, report.More)
	assert.Contains(t, text(t, report), fmt.Sprintf("and %d more", report.More))
}

func TestSizesNeedAUnit(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "1B": 1, "2KiB": 2048, "3kB": 3000, "64MiB": 64 << 20, "1 GiB": 1 << 30, "8TiB": 8 << 40} {
		got, ok := parseSize(s)
		assert.True(t, ok, s)
		assert.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "1", "MiB", "-1MiB", "1.5MiB", "1mib", "9999999TiB", "0x10B", "1MiBB"} {
		_, ok := parseSize(s)
		assert.False(t, ok, s)
	}
}

// FuzzParse feeds arbitrary texts, in both syntaxes: reading never panics, a
// text is either a configuration or has errors, and reports can be written.
func FuzzParse(f *testing.F) {
	f.Add("mount \"a\" {\n  backend = \"rest\"\n  owner = env(\"LONG\")\n  catalog_url = \"https://a\"\n}\n")
	f.Add(`{"mount": {"/": {"backend": "native", "catalog_url": "bolt://x", "warehouse_location": "s3://b/w", "storage": {"s3.region": "x"}}}}`)
	f.Add("server {\n  listen = \"unix:/run/x\"\n  request_timeout = \"1s\"\n}\n")
	f.Add("mount \"a\" \"b\" {\n  auth \"bearer\" {\n    token_env = \"hunter2\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"fuzz.hcl", "fuzz.hcl.json"} {
			cfg, report := Parse(name, []byte(text), environment)
			if (cfg == nil) != report.HasErrors() {
				t.Fatalf("configuration %v with errors %v", cfg != nil, report.HasErrors())
			}
			var b bytes.Buffer
			if err := report.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			if cfg != nil {
				cfg.InstanceID()
			}
		}
	})
}
