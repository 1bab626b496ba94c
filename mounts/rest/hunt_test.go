package rest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// spelling is one way to repeat a secret.
type spelling struct {
	name string
	of   func(secret string) string
}

func spellings() []spelling {
	std := base64.StdEncoding.EncodeToString
	return []spelling{
		{"as it is", func(s string) string { return s }},
		{"in quotes", func(s string) string { return `{"secret": "` + s + `"}` }},
		{"the front", func(s string) string { return s[:len(s)*3/4] + "… is not good" }},
		{"the end", func(s string) string { return "…" + s[len(s)/4:] }},
		{"escaped", url.QueryEscape},
		{"escaped small", func(s string) string { return strings.ToLower(url.QueryEscape("/")) + lowerHex(url.QueryEscape(s)) }},
		{"escaped path", url.PathEscape},
		{"escaped twice", func(s string) string { return url.QueryEscape(url.QueryEscape(s)) }},
		{"form", func(s string) string { return "grant_type=x&assertion=" + url.QueryEscape(s) + "&scope=y" }},
		{"JSON", func(s string) string { raw, _ := json.Marshal(s); return string(raw) }},
		{"JSON with slashes", func(s string) string {
			raw, _ := json.Marshal(s)
			return strings.ReplaceAll(string(raw), "/", `\/`)
		}},
		{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
		{"Base64", func(s string) string { return std([]byte(s)) }},
		{"Basic", func(s string) string { return "login " + std([]byte("icefield:"+s)) }},
		{"Basic, escaped", func(s string) string { return "login " + std([]byte("icefield:"+url.QueryEscape(s))) }},
		{"Base64 one on", func(s string) string { return std([]byte("x" + s + "yz")) }},
		{"Base64 two on", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("xy" + s + "z")) }},
		{"after much", func(s string) string { return strings.Repeat("word ", 470) + s }},
	}
}

// spot is one place of an answer to repeat something in.
type spot struct {
	name string
	put  func(w http.ResponseWriter, status int, text string)
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	raw, _ := json.Marshal(body)
	_, _ = w.Write(raw)
}

// hijacked writes raw bytes as the answer.
func hijacked(w http.ResponseWriter, raw string) {
	conn, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = bufio.NewWriter(buf).WriteString("")
	_, _ = conn.Write([]byte(raw))
}

func oneLine(s string) string { return strings.NewReplacer("\r", "", "\n", " ").Replace(s) }

func places() []spot {
	return []spot{
		{"message", func(w http.ResponseWriter, status int, text string) {
			answerJSON(w, status, map[string]any{"error": map[string]any{"message": text, "type": "SomeException", "code": status}})
		}},
		{"type", func(w http.ResponseWriter, status int, text string) {
			answerJSON(w, status, map[string]any{"error": map[string]any{"message": "no", "type": text, "code": status}})
		}},
		{"OAuth error", func(w http.ResponseWriter, status int, text string) {
			answerJSON(w, status, map[string]any{"error": text, "error_description": text, "error_uri": text})
		}},
		{"Unity error", func(w http.ResponseWriter, status int, text string) {
			answerJSON(w, status, map[string]any{"error_code": text, "message": text, "details": []string{text}})
		}},
		{"page", func(w http.ResponseWriter, status int, text string) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>" + text))
		}},
		{"headers", func(w http.ResponseWriter, status int, text string) {
			for _, name := range []string{"Location", "Retry-After", "Www-Authenticate", "X-Amzn-Errortype", "Etag", "Content-Encoding", "Warning", "X-Request-Id"} {
				w.Header()[name] = []string{oneLine(text)}
			}
			w.WriteHeader(status)
		}},
		{"XML", func(w http.ResponseWriter, status int, text string) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>", text, text)
		}},
	}
}

// damages are answers that are not HTTP, or not JSON: package http and the JSON
// library show pieces of what they cannot read.
func damages() []spot {
	return []spot{
		{"status line", func(w http.ResponseWriter, _ int, text string) { hijacked(w, oneLine(text)+" 200 OK\r\n\r\n") }},
		{"status", func(w http.ResponseWriter, _ int, text string) { hijacked(w, "HTTP/1.1 "+oneLine(text)+"\r\n\r\n") }},
		{"header line", func(w http.ResponseWriter, _ int, text string) {
			hijacked(w, "HTTP/1.1 200 OK\r\n"+oneLine(text)+"\r\n\r\n")
		}},
		{"length", func(w http.ResponseWriter, _ int, text string) {
			hijacked(w, "HTTP/1.1 200 OK\r\nContent-Length: "+oneLine(text)+"\r\n\r\n")
		}},
		{"transfer", func(w http.ResponseWriter, _ int, text string) {
			hijacked(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: "+oneLine(text)+"\r\n\r\n")
		}},
		{"chunk", func(w http.ResponseWriter, _ int, text string) {
			hijacked(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+oneLine(text)+"\r\n")
		}},
		{"member", func(w http.ResponseWriter, _ int, text string) {
			name, _ := json.Marshal(text)
			_, _ = fmt.Fprintf(w, `{%s:1,%s:{"a":[}`, name, name)
		}},
		{"inner member", func(w http.ResponseWriter, _ int, text string) {
			name, _ := json.Marshal(text)
			_, _ = fmt.Fprintf(w, `{"metadata":{%s:[x]},"config":{%s:7},"access_token":{%s:7},"error":{"message":{%s:7}}}`, name, name, name, name)
		}},
		{"value", func(w http.ResponseWriter, _ int, text string) {
			value, _ := json.Marshal(text)
			_, _ = fmt.Fprintf(w, `{"metadata":%s,"config":%s,"expires_in":%s,"access_token":%s}`, value, value, value, value)
		}},
		{"no JSON", func(w http.ResponseWriter, _ int, text string) { _, _ = w.Write([]byte(text)) }},
	}
}

// hostile is a server that repeats what it is told to, once it is told to.
type hostile struct {
	*httptest.Server
	mu      sync.Mutex
	repeat  func(http.ResponseWriter)
	healthy http.HandlerFunc
	hits    int
}

func newHostile(t *testing.T, healthy http.HandlerFunc) *hostile {
	h := &hostile{healthy: healthy}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		h.mu.Lock()
		repeat := h.repeat
		h.hits++
		h.mu.Unlock()
		if repeat != nil {
			repeat(w)
			return
		}
		healthy(w, r)
	}))
	h.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	h.Start()
	t.Cleanup(h.Close)
	return h
}

func (h *hostile) say(f func(http.ResponseWriter)) { h.mu.Lock(); defer h.mu.Unlock(); h.repeat = f }

func (h *hostile) count() int { h.mu.Lock(); defer h.mu.Unlock(); return h.hits }

// The secrets of the hunt. All have characters that are escaped somewhere.
const (
	huntClient  = "cl1ent/S3cret+w1th=0dd&chars%41!"
	huntIssued  = "1ssued-t0ken/for=the+m0unt~Qx9"
	huntCaller  = "c4ller.0wn_t0ken+of=alice/Zz77"
	huntBearer  = "st4tic/bearer+t0ken==of.the-m0unt"
	huntKey     = "aws5ecret/Acc3ss+Key/EXAMPLE=="
	huntSession = "aws/s3ssion+T0ken//of=the.role"
	huntRoleKey = "assumed/S3cret+key/0f.the=role"
	huntExtern  = "ext3rnal-1d/of+the=partner.x"
)

// quarry is one kind of login and the secrets that it knows.
type quarry struct {
	name    string
	auth    func(tokens string) Auth
	secrets []string
	// ctx is the call's; background if nil.
	caller string
	// role logins speak to an STS.
	role bool
	// idle logins have no endpoint.
	idle bool
}

func quarries() []quarry {
	client := secretIs(huntClient)
	keys := SigV4Config{Service: "glue", Region: "eu-central-1", AccessKeyID: "KEYID", SecretAccessKey: huntKey, SessionToken: huntSession}
	return []quarry{
		{name: "bearer", auth: func(string) Auth { return Bearer(secretIs(huntBearer)) }, secrets: []string{huntBearer}, idle: true},
		{name: "oauth2 form", auth: func(at string) Auth {
			return OAuth2(OAuth2Config{TokenURL: at, ClientID: "icefield", ClientSecret: client})
		}, secrets: []string{huntClient, huntIssued}},
		{name: "oauth2 basic", auth: func(at string) Auth {
			return OAuth2(OAuth2Config{TokenURL: at, ClientID: "icefield", ClientSecret: client, Basic: true, Refresh: true})
		}, secrets: []string{huntClient, huntIssued}},
		{name: "sigv4 keys", auth: func(string) Auth { return SigV4(keys) }, secrets: []string{huntKey, huntSession}, idle: true},
		{name: "sigv4 role", auth: func(at string) Auth {
			c := keys
			c.RoleARN, c.ExternalID, c.STSEndpoint = "arn:aws:iam::123456789012:role/lake", huntExtern, at
			return SigV4(c)
		}, secrets: []string{huntKey, huntSession, huntExtern, huntRoleKey}, role: true},
		{name: "passthrough", auth: func(string) Auth { return Passthrough() }, secrets: []string{huntCaller}, caller: huntCaller, idle: true},
		{name: "exchange", auth: func(at string) Auth {
			return Exchange(ExchangeConfig{TokenURL: at, ClientID: "icefield", ClientSecret: client})
		}, secrets: []string{huntClient, huntIssued, huntCaller}, caller: huntCaller},
	}
}

func (q quarry) context() context.Context {
	if q.caller == "" {
		return context.Background()
	}
	return as(q.caller)
}

// healthyTokens answers token requests and role requests.
func healthyTokens(w http.ResponseWriter, r *http.Request) {
	if r.PostForm.Get("Action") == "AssumeRole" {
		_, _ = fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
			<AccessKeyId>ROLEKEY</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken>
			<Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`, huntRoleKey, huntSession, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		return
	}
	answerJSON(w, 200, map[string]any{"access_token": huntIssued, "token_type": "bearer", "expires_in": 3600})
}

func healthyCatalog(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/config") {
		answerJSON(w, 200, map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{}})
		return
	}
	answerJSON(w, 404, map[string]any{"error": map[string]any{"message": "no", "type": "NoSuchTableException", "code": 404}})
}

// traces is everything that somebody may read: logs, metrics, errors.
type traces struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *traces) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *traces) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text.String()
	s.text.Reset()
	return text
}

// record writes an error down as logs and answers do, and all that it wraps.
func (s *traces) record(err error) {
	if err == nil {
		return
	}
	e := mounts.AsError(err)
	_, _ = fmt.Fprintln(s, e.Message(), e.Ident, e.To)
	slog.New(slog.NewJSONHandler(s, nil)).Error("x", slog.Any("error", err))
	for ; err != nil; err = errors.Unwrap(err) {
		_, _ = fmt.Fprintf(s, "%v %+v %#v\n", err, err, err.Error())
	}
}

// leak says which secret a text shows, in any spelling that can be undone.
func leak(text string, secrets []string) string {
	for _, secret := range secrets {
		for _, s := range spellings() {
			if s.name == "in quotes" || s.name == "after much" || s.name == "form" {
				continue
			}
			form := s.of(secret)
			if strings.HasPrefix(s.name, "Base64") || s.name == "Basic" || s.name == "Basic, escaped" {
				form = strings.TrimPrefix(form, "login ")
				form = form[8 : len(form)-8] // what stands around it differs
			}
			if strings.Contains(text, form) {
				return fmt.Sprintf("%s, %s", secret, s.name)
			}
		}
		for i := 0; i+12 <= len(secret); i++ {
			if strings.Contains(text, secret[i:i+12]) {
				return "a piece of " + secret
			}
		}
	}
	return ""
}

func (q quarry) backend(t *testing.T, catalog, tokens string, seen *traces) (*Backend, error) {
	c := Config{URL: catalog, Auth: q.auth(tokens), Writable: true, Request: 5 * time.Second,
		Logger:  slog.New(slog.NewTextHandler(seen, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Observe: func(c Call) { _, _ = fmt.Fprintf(seen, "%+v\n", c) }}
	b, err := Open(q.context(), c)
	if err == nil {
		t.Cleanup(func() { b.Close() })
	}
	return b, err
}

// TestNoSecretIsRepeatedWhateverTheRemoteSays lets a remote that knows every
// secret repeat each of them, in every spelling and every place of an answer.
func TestNoSecretIsRepeatedWhateverTheRemoteSays(t *testing.T) {
	for _, q := range quarries() {
		t.Run(q.name, func(t *testing.T) {
			isolate(t)
			seen := &traces{}
			catalog, tokens := newHostile(t, healthyCatalog), newHostile(t, healthyTokens)
			b, err := q.backend(t, catalog.URL, tokens.URL, seen)
			if err != nil {
				t.Fatal(err)
			}
			table := mounts.Identifier{Namespace: mounts.Namespace{"n"}, Name: "t"}
			try := func(p spot, status int, s spelling, secret string) {
				catalog.say(func(w http.ResponseWriter) { p.put(w, status, s.of(secret)) })
				for _, req := range []mounts.Request{&mounts.LoadTableRequest{Table: table}, &mounts.DropTableRequest{Table: table}} {
					before := catalog.count()
					_, err := mounts.Invoke(q.context(), b, req)
					seen.record(err)
					text := seen.take()
					if shown := leak(text, q.secrets); shown != "" {
						t.Fatalf("%s in %s with %d to %s shows %s:\n%s", s.name, p.name, status, req.Op(), shown, text)
					}
					if catalog.count() == before {
						t.Fatalf("%s never reached the remote: %v", req.Op(), err)
					}
				}
			}
			for _, secret := range q.secrets {
				for i, s := range spellings() {
					for _, p := range places() {
						for _, status := range []int{302, 400, 401, 403, 404, 419, 429, 500} {
							// Every place has one spelling, every spelling one place.
							if i == 0 || p.name == "message" && status%100 < 4 {
								try(p, status, s, secret)
							}
						}
					}
					for _, p := range damages() {
						if i == 0 || p.name == "header line" {
							try(p, 0, s, secret)
						}
					}
				}
			}
		})
	}
}

// TestNoSecretIsRepeatedWhateverATokenEndpointSays is the same for the endpoint
// that tokens and roles come from, which sees the client's own secret.
func TestNoSecretIsRepeatedWhateverATokenEndpointSays(t *testing.T) {
	for _, q := range quarries() {
		if q.idle {
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			isolate(t)
			seen := &traces{}
			catalog, tokens := newHostile(t, healthyCatalog), newHostile(t, healthyTokens)
			try := func(p spot, status int, s spelling, secret string) {
				tokens.say(func(w http.ResponseWriter) { p.put(w, status, s.of(secret)) })
				before := tokens.count()
				// No Open: it would be the only thing that is seen.
				c, err := Config{URL: catalog.URL, Auth: q.auth(tokens.URL), Request: time.Second,
					Logger:  slog.New(slog.NewTextHandler(seen, &slog.HandlerOptions{Level: slog.LevelDebug})),
					Observe: func(c Call) { _, _ = fmt.Fprintf(seen, "%+v\n", c) }}.withDefaults()
				if err != nil {
					t.Fatal(err)
				}
				k := newClient(c)
				defer k.close()
				a, err := k.do(q.context(), call{op: capabilities.LoadTable, kind: kindCatalog, method: http.MethodGet, url: catalog.URL + "/v1/x"})
				if err == nil && a.status == http.StatusOK {
					t.Errorf("%s in %s with %d: a login was had", s.name, p.name, status)
				}
				seen.record(err)
				text := seen.take()
				if shown := leak(text, q.secrets); shown != "" {
					t.Fatalf("%s in %s with %d shows %s:\n%s", s.name, p.name, status, shown, text)
				}
				if tokens.count() == before {
					t.Fatal("the endpoint was not asked")
				}
			}
			for _, secret := range q.secrets {
				if secret == huntRoleKey {
					continue // it was never given to this client
				}
				for i, s := range spellings() {
					for _, p := range places() {
						for _, status := range []int{200, 302, 400, 401, 500} {
							switch {
							case q.role && status == 500 && p.name != "XML": // the SDK waits before it asks again
							case i == 0, p.name == "XML" && q.role && status == 400, p.name == "OAuth error" && !q.role && status < 500:
								try(p, status, s, secret)
							}
						}
					}
					for _, p := range damages() {
						if i == 0 && (!q.role || secret == huntKey) {
							try(p, 0, s, secret)
						}
					}
				}
			}
		})
	}
}
