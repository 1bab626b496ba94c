package rest

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzWords feeds what stands in headers and messages to everything that reads it.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		`"a"`, `W/"a", "b"`, `*`, `"g!a"`, `"n!a", W/"x"`, "", `"`, `"a" "b"`, "PT30M", "P1DT0.5S", "PT", "7", "-1", "99999999999999999999",
		"Fri, 31 Dec 9999 23:59:59 GMT", "s3://bucket/../x", "s3a://b//c/", "S3://B/%2e%2e/x", "abfss://c@a.dfs.core.windows.net/x", "file:///etc",
		"vended-credentials, remote-signing", "password=hunter2 Bearer abcdef http://10.0.0.1:80/x \x1b[31m {object}", "\xff\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, delegation := range []string{"", "vended-credentials"} {
			for _, granted := range []bool{false, true} {
				tag := marked(text, delegation, granted)
				if delegation == "" || tag == "" {
					continue
				}
				if _, _, ok := cutTag(tag); !ok {
					t.Errorf("the tag %q became %q, which is none", text, tag)
				}
			}
			if asked := conditional(text, delegation); delegation != "" && strings.Contains(asked, `"`+tagGranted) {
				t.Errorf("%q asks with the tag of an answer that came with access: %q", text, asked)
			}
		}
		splitTags(text)
		if wait := retryAfter(http.Header{"Retry-After": {text}}); wait < 0 || wait > time.Minute {
			t.Errorf("Retry-After %q is %v", text, wait)
		}
		if life, ok := lifetimeOf(text); ok && (life < 0 || life > maxLifetime) {
			t.Errorf("the lifetime %q is %v", text, life)
		}
		readWish(text)
		if p, err := readPlaces([]string{text}); err == nil && len(p) != 1 {
			t.Errorf("%q became %d places", text, len(p))
		}
		shown := plain(text, []string{"hunter2"})
		if len([]rune(shown)) > maxMessage+1 || !utf8.ValidString(shown) || strings.ContainsAny(shown, "\r\n\x00\x1b") || strings.Contains(shown, "hunter2") ||
			strings.Contains(shown, "{object}") {
			t.Errorf("%q is shown as %q", text, shown)
		}
	})
}
