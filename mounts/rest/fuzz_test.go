package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// FuzzAnswers feeds a remote's answer to everything that reads one. Whatever is
// accepted must be JSON that encoding/json reads the same way.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"metadata-location":"s3://b/m","metadata":{"a":[1,{"b":null}]},"config":{"s3.region":"x","token":1},"x":"\u00e9"}`,
		`{"identifiers":[{"namespace":["a"],"name":"t"}],"next-page-token":"x"}`, `{"namespaces":[["a"],["b"]],"next-page-token":null}`,
		`{"defaults":{},"overrides":{"prefix":"a/b","namespace-separator":"%2E"},"endpoints":["GET /v1/{prefix}/namespaces"]}`,
		`{"error":{"message":"m {object}","type":"NoSuchTableException","code":404}}`, `{"a":1,"a":2}`, `[`, ``, "\xff", `{"metadata":{}} {}`,
	} {
		f.Add([]byte(seed))
	}
	own, err := Config{URL: "https://catalog.example/api"}.withDefaults()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		original := bytes.Clone(body)
		if l, err := readLoaded(body); err == nil {
			var plain map[string]json.RawMessage
			if json.Unmarshal(body, &plain) != nil || !bytes.Equal(plain["metadata"], l.metadata) || l.location == "" {
				t.Errorf("accepted %q as metadata %q", body, l.metadata)
			}
			for name := range l.config {
				if !hint(name) {
					t.Errorf("the config key %q passed", name)
				}
			}
		}
		root := childOf(nil)
		if rows, next, err := readPage(body, "namespaces", root, len(body)%2 == 0); err == nil {
			for _, row := range rows {
				if len(row) != 1 || row[0] == "" {
					t.Errorf("accepted the row %q", row)
				}
			}
			if c := readCursor(cursor{token: next, size: 3, served: 2}.String()); c.token != next || c.size != 3 || c.served != 2 {
				t.Errorf("the token %q became %+v", next, c)
			}
		}
		readPage(body, "identifiers", named(mounts.Namespace{"a"}), false)
		if said, err := readSettings(body); err == nil {
			if s, err := said.merge(own); err == nil {
				at, err := s.object(mounts.Identifier{Namespace: mounts.Namespace{"n/1"}, Name: "t?"}, "tables", call{})
				if err == nil {
					req, err := http.NewRequest("GET", at, nil)
					if err != nil || req.URL.Hostname() != "catalog.example" || req.URL.RawQuery != "" || req.URL.String() != at {
						t.Errorf("the settings %q lead to %q: %v", body, at, err)
					}
				}
			}
		}
		for _, status := range []int{400, 404, 500} {
			err := refusal(call{op: capabilities.LoadTable, object: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"}},
				&answer{status: status, header: http.Header{}, body: body})
			if text := mounts.AsError(err).Message(); len(text) > 2000 || !utf8.ValidString(text) || bytes.ContainsAny([]byte(text), "\r\n\x00\x1b") {
				t.Errorf("the message is %q", text)
			}
		}
		if !bytes.Equal(original, body) {
			t.Error("the answer was changed")
		}
	})
}
