package rest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/rest"
)

const vendedKeys = `"s3.access-key-id":"ASIAVENDED","s3.secret-access-key":"vended-secret","s3.session-token":"vended-token"`

// TestNobodyIsSentElsewhere is every way in which a remote can name another place:
// in its settings, by a redirect, in what it says of a table.
func TestNobodyIsSentElsewhere(t *testing.T) {
	ok := text(loaded(`,"config":{"uri":"{elsewhere}"}`))
	t.Run("settings", func(t *testing.T) {
		for _, config := range []string{
			`{"defaults":{},"overrides":{"uri":"{elsewhere}"}}`,
			`{"defaults":{"uri":"{elsewhere}"},"overrides":{}}`,
			`{"overrides":{"uri":"{elsewhere}/","oauth2-server-uri":"{elsewhere}/token","token":"x","credential":"a:b"}}`,
			`{"overrides":{"oauth2-server-uri":"{elsewhere}/token","rest.auth.type":"oauth2","scope":"x"}}`,
			`{"overrides":{"s3.signer.uri":"{elsewhere}","s3.signer.endpoint":"{elsewhere}/sign","client.refresh-credentials-endpoint":"{elsewhere}/c"}}`,
			`{"overrides":{"rest.client.proxy.hostname":"127.0.0.1","rest.client.proxy.port":"1","header.Host":"{elsewhere}"}}`,
			`{"overrides":{"header.Authorization":"Bearer x","header.Cookie":"a","header.X-Evil":"1"}}`,
		} {
			h := attacked(t, attack{config: config, answer: ok})
			status, header, answer, grown := h.do(t, "GET", ordersPath, "")
			if status != 200 {
				t.Errorf("%s: status %d: %s", config, status, answer)
			}
			h.unharmed(t, header, answer, grown)
			status, header, answer, grown = h.do(t, "POST", ordersPath+"/sign", `{"region":"x","uri":"https://b.s3.amazonaws.com/x","method":"GET","headers":{}}`)
			if status < 400 {
				t.Errorf("%s: signed: %s", config, answer)
			}
			h.unharmed(t, header, answer, grown)
		}
	})
	t.Run("settings that cannot be used", func(t *testing.T) {
		for _, config := range []string{
			`{"overrides":{"prefix":"//{host}/x"}}`, `{"overrides":{"prefix":"../../.."}}`, `{"overrides":{"prefix":"a/../../b"}}`,
			`{"overrides":{"prefix":"%2e%2e/x"}}`, `{"overrides":{"prefix":"x?y=http://{host}"}}`, `{"overrides":{"prefix":"x#y"}}`,
			`{"overrides":{"prefix":"@{host}/"}}`, `{"overrides":{"prefix":"x\r\nX-Evil: 1"}}`, `{"overrides":{"prefix":"x\u0000y"}}`,
			`{"overrides":{"namespace-separator":"/../../"}}`, `{"overrides":{"namespace-separator":"?"}}`, `{"overrides":{"namespace-separator":"\r\n"}}`,
			`{"overrides":{"namespace-separator":"` + strings.Repeat("x", 100_000) + `"}}`, `{"overrides":{"prefix":"` + strings.Repeat("x/", 100_000) + `"}}`,
			`{"overrides":` + strings.Repeat(`{"a":`, 20_000), `{"defaults":[],"overrides":{}}`, `[]`, ``, `{"overrides":{"uri":"` + strings.Repeat("x", 1<<20) + `"}}`,
			`{"endpoints":[` + strings.Repeat(`"GET /v1/x",`, 1_000_000) + `"x"]}`,
		} {
			away := newElsewhere(t)
			var paths []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/v1/config") {
					io.WriteString(w, strings.ReplaceAll(config, "{host}", strings.TrimPrefix(away.url, "http://")))
					return
				}
				paths = append(paths, r.RequestURI)
				io.WriteString(w, loaded(""))
			}))
			b, err := rest.Open(context.Background(), rest.Config{URL: srv.URL + "/api", Request: 5 * time.Second, MaxResponse: hostileLimit,
				Auth: rest.Bearer(func() (string, error) { return mountSecret, nil })})
			if err == nil {
				// What is not refused must stay in its place.
				invoke(b, orderLoad())
				b.Close()
			} else if len(err.Error()) > 4000 || strings.Contains(err.Error(), mountSecret) {
				t.Errorf("%.60s: the error is %.300s", config, err)
			}
			srv.Close()
			for _, path := range paths {
				if !strings.HasPrefix(path, "/api/v1/") || strings.Contains(path, "/../") || strings.Contains(path, "?") {
					t.Errorf("%.60s leads to %.200s", config, path)
				}
			}
			if n := away.connections.Load(); n != 0 {
				t.Errorf("%.60s: %d connections went elsewhere", config, n)
			}
		}
	})
	t.Run("redirects", func(t *testing.T) {
		for _, status := range []int{300, 301, 302, 303, 305, 307, 308} {
			var h *hostile
			h = attacked(t, attack{answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", h.away.url+r.RequestURI)
				w.Header().Set("Refresh", "0; url="+h.away.url)
				w.Header().Set("Set-Cookie", "session=remote-cookie")
				w.WriteHeader(status)
			}})
			for _, c := range [][3]string{{"GET", ordersPath}, {"HEAD", ordersPath}, {"GET", listPath}, {"POST", ordersPath, commitBody},
				{"DELETE", ordersPath}, {"GET", ordersPath + "/credentials"}} {
				got, header, answer, grown := h.do(t, c[0], c[1], c[2])
				if got < 500 || header.Get("Location") != "" || header.Get("Set-Cookie") != "" {
					t.Errorf("%d, %s %s: status %d, %v", status, c[0], c[1], got, header)
				}
				h.unharmed(t, header, answer, grown)
			}
		}
	})
	t.Run("what is said of a table", func(t *testing.T) {
		var h *hostile
		h = attacked(t, attack{answer: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.ReplaceAll(loaded(`,"config":{"token":"remote","uri":"{e}","oauth2-server-uri":"{e}","header.X-Evil":"1","s3.endpoint":"https://minio.partner.example",
				"s3.signer.uri":"{e}","s3.signer.endpoint":"{e}/sign","s3.remote-signing-enabled":"true","client.refresh-credentials-endpoint":"{e}/c",
				"gcs.oauth2.refresh-credentials-endpoint":"{e}/c","adls.refresh-credentials-endpoint":"{e}/c",
				"rest.client.proxy.hostname":"{e}",`+vendedKeys+`},
				"storage-credentials":[{"prefix":"s3://partner/t","config":{"client.refresh-credentials-endpoint":"{e}/c","uri":"{e}",`+vendedKeys+`}}]`), "{e}", h.away.url))
		}})
		status, header, answer, grown := h.do(t, "GET", ordersPath, "")
		if status != 200 && status != 502 {
			t.Errorf("status %d: %s", status, answer)
		}
		if strings.Contains(answer, `"token":"remote"`) {
			t.Errorf("the client is told the remote's token: %s", answer)
		}
		h.unharmed(t, header, answer, grown)
		for _, c := range [][3]string{{"GET", ordersPath + "/credentials"}, {"POST", ordersPath + "/sign", `{"region":"x","uri":"https://b.s3.amazonaws.com/x","method":"GET","headers":{}}`}} {
			_, header, answer, grown = h.do(t, c[0], c[1], c[2])
			h.unharmed(t, header, answer, grown)
		}
	})
}

// TestNoVendForWhatIsNotTheRemotes: credentials pass for the table's own location
// alone, inside what the mount allows, and never for a warehouse of ours.
func TestNoVendForWhatIsNotTheRemotes(t *testing.T) {
	at := func(location, prefix string) string {
		return fmt.Sprintf(`{"metadata-location":"%s/metadata/0.metadata.json","metadata":{"format-version":2,"location":%q},"config":{%s},`+
			`"storage-credentials":[{"prefix":%q,"config":{%s}}]}`, location, location, vendedKeys, prefix, vendedKeys)
	}
	inOurs := func(location string) bool {
		return strings.HasPrefix(strings.Replace(location, "s3a://", "s3://", 1), "s3://ours/")
	}
	for name, c := range map[string]struct {
		body    string
		allowed []string
		vends   bool
	}{
		"its own table":                         {at("s3://partner/t", "s3://partner/t"), nil, true},
		"inside what is allowed":                {at("s3://partner/t", "s3://partner/t"), []string{"s3://partner/"}, true},
		"a location in our warehouse":           {at("s3://ours/lake/t", "s3://ours/lake/t"), nil, false},
		"our warehouse by another scheme":       {at("s3a://ours/lake/t", "s3a://ours/lake/t"), nil, false},
		"a prefix in our warehouse":             {at("s3://partner/t", "s3://ours/lake/"), nil, false},
		"a location outside of what is allowed": {at("s3://elsewhere/t", "s3://elsewhere/t"), []string{"s3://partner/"}, false},
		"a prefix outside of what is allowed":   {at("s3://partner/t", "s3://elsewhere/"), []string{"s3://partner/"}, false},
		"a prefix broader than what is allowed": {at("s3://partner/t", "s3://"), []string{"s3://partner/"}, false},
		"a bucket with a longer name":           {at("s3://partner-evil/t", "s3://partner-evil/t"), []string{"s3://partner"}, false},
		"a way out by dots":                     {at("s3://partner/../ours/t", "s3://partner/../ours/t"), []string{"s3://partner/"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := attacked(t, attack{answer: text(c.body)}, func(r *rest.Config) {
				r.Ours, r.AllowedLocations = inOurs, c.allowed
			})
			for _, path := range []string{ordersPath, ordersPath + "/credentials"} {
				status, header, answer, grown := h.do(t, "GET", path, "")
				h.unharmed(t, header, answer, grown)
				if strings.Contains(answer, "vended-secret") && !c.vends {
					t.Errorf("%s: status %d, vended: %s", path, status, answer)
				}
				if c.vends && path == ordersPath && !strings.Contains(answer, "vended-secret") {
					t.Errorf("%s: status %d, not vended: %s", path, status, answer)
				}
			}
		})
	}
}

// TestARemotesHeadersAndWordsAreNotRepeated: no header passes unread, and no
// message holds a secret, an address, markup or a terminal's control sequences.
func TestARemotesHeadersAndWordsAreNotRepeated(t *testing.T) {
	injected := []string{
		"HTTP/1.1 200 OK\r\nETag: \"a\"\rX-Evil: 1\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\nETag: \"a\nX-Evil: 1\"\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\nETag: \"a\x00b\"\r\nContent-Length: %d\r\n\r\n%s",
		"HTTP/1.1 200 OK\r\nETag: W/\"a\" , \"b\r\nContent-Length: %d\r\n\r\n%s",
		"HTTP/1.1 200 OK\r\nETag: " + strings.Repeat("x", 500_000) + "\r\nContent-Length: %d\r\n\r\n%s",
		"HTTP/1.1 200 OK\r\nETag: \"é\x1b[31m\x7f\"\r\nContent-Length: %d\r\n\r\n%s",
		"HTTP/1.1 200 OK\r\nCache-Control: public, max-age=99999\r\nX-Evil: 1\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: %d\r\n\r\n%s",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n%s",
		"HTTP/1.1 503 X-Evil\r\nRetry-After: 99999999999999999999999\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 503 X-Evil\r\nRetry-After: -1\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 429 X-Evil\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 999 X-Evil\r\nContent-Length: 0\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "X-Evil", "\x16\x03\x01", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
		strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000) + "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s",
		strings.Repeat("HTTP/1.1 103 Early Hints\r\nX-Evil: 1\r\n\r\n", 1000) + "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s",
	}
	for i, raw := range injected {
		if strings.Contains(raw, "%d") {
			raw = fmt.Sprintf(raw, len(loaded("")), loaded(""))
		}
		h := attacked(t, attack{answer: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			io.WriteString(conn, raw)
			conn.Close()
		}})
		status, header, answer, grown := h.do(t, "GET", ordersPath, "")
		h.unharmed(t, header, answer, grown)
		if status != 200 && status != 502 && status != 503 && status != 429 && status != 504 || len(header.Get("ETag")) > 4096 {
			t.Errorf("%d: status %d, %v", i, status, header)
		}
		if strings.Contains(header.Get("Cache-Control"), "public") || header.Get("Content-Type") == "text/html" {
			t.Errorf("%d: the remote's own headers pass: %v", i, header)
		}
		if retry := header.Get("Retry-After"); len(retry) > 3 {
			t.Errorf("%d: Retry-After %s", i, retry)
		}
	}
	words := "\x1b[2J\u202e<script>alert(1)</script> Bearer " + mountSecret + " X-Evil\r\nSet-Cookie: a=b password=hunter2 http://10.1.2.3:8080/x {object} " + strings.Repeat("long ", 2000)
	for _, status := range []int{400, 401, 403, 404, 406, 409, 412, 419, 422, 429, 500, 501, 502, 503, 504} {
		h := attacked(t, attack{answer: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":%s,"type":%s,"code":%d,"stack":["X-Evil %s"]}}`, quoted(words), quoted("T "+words), status, mountSecret)
		}})
		for _, c := range [][3]string{{"GET", ordersPath}, {"GET", listPath}, {"POST", ordersPath, commitBody}, {"DELETE", ordersPath}} {
			_, header, answer, grown := h.do(t, c[0], c[1], c[2])
			answer = strings.ReplaceAll(answer, "X-Evil", "") // as a word it is harmless
			h.unharmed(t, header, answer, grown)
			for _, bad := range []string{"\x1b", "hunter2", "10.1.2.3", "\u202e", "\r"} {
				if strings.Contains(answer, bad) {
					t.Errorf("%d, %s %s: the client is told %q: %s", status, c[0], c[1], bad, answer)
				}
			}
			if len(answer) > 2000 || header.Get("Content-Type") != "application/json" || header.Get("Set-Cookie") != "" {
				t.Errorf("%d, %s %s: %d bytes, %v", status, c[0], c[1], len(answer), header)
			}
		}
	}
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < 0x20 || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String() + `"`
}

// Nobody's settings are as large as a table's metadata may be, and they are asked
// for again and again.
func TestEndlessSettingsAreGivenUpEarly(t *testing.T) {
	sent := make(chan int, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		block, n := strings.Repeat("x", 64<<10), 0
		io.WriteString(w, `{"defaults":{"a":"`)
		for err := error(nil); err == nil && n < 256<<20; n += len(block) {
			_, err = io.WriteString(w, block)
		}
		sent <- n
	}))
	defer srv.Close()
	_, err := rest.Open(context.Background(), rest.Config{URL: srv.URL, Request: 20 * time.Second, MaxResponse: 1 << 30})
	if e := wantKind(t, err, mounts.BadGateway); !strings.Contains(e.Message(), "configuration is larger") {
		t.Errorf("the error says %q", e.Message())
	}
	if n := <-sent; n > 64<<20 { // some of it is on the way
		t.Errorf("%d MiB were taken", n>>20)
	}
}
