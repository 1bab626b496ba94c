package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plants are secrets by what they are called in keyRows, each unlike all others.
type plants struct {
	t      *testing.T
	values map[string]string
}

// of is a plant. Its characters may stand in a header, a form and a file, and are
// spelt otherwise in each.
func (p *plants) of(name string) string {
	if p.values[name] == "" {
		sum := sha256.Sum256([]byte("planted: " + name))
		text := strings.NewReplacer("+", "Q", "/", "Z").Replace(base64.RawStdEncoding.EncodeToString(sum[:]))
		p.values[name] = text[:12] + "+" + text[12:18] + "/" + text[18:30]
	}
	return p.values[name]
}

// plain is a plant of letters and digits, for what can be nothing else.
func (p *plants) plain(name string) string {
	p.values[name] = strings.NewReplacer("+", "a", "/", "b").Replace(p.of(name))
	return p.values[name]
}

// env is a plant in a variable, whose name it returns.
func (p *plants) env(name string) string { return p.variable(name, p.of(name)) }

func (p *plants) variable(name, value string) string {
	variable := "PLANT_" + strings.ToUpper(strings.NewReplacer(" ", "_", ".", "_", "-", "_").Replace(name))
	p.t.Setenv(variable, value)
	return variable
}

// file is a plant in a file of dir, whose path it returns.
func (p *plants) file(dir, name string) string {
	path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
	require.NoError(p.t, os.WriteFile(path, []byte(p.of(name)+"\n"), 0o600))
	return path
}

// googleKey is the file of a service account, of whose key a line is the plant.
func (p *plants) googleKey(name, tokens string) []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(p.t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(p.t, err)
	block := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	p.values[name] = strings.Split(block, "\n")[3]
	text, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "p", "private_key_id": p.of(name + " id"), "private_key": block,
		"client_email": "lake@p.iam.gserviceaccount.com", "client_id": "1", "token_uri": tokens})
	require.NoError(p.t, err)
	return text
}

// piece is how much of a secret may be told at most, less one: enough to tell one
// from another.
const piece = 8

// forms are what of a secret must not be found anywhere: each piece of it as it is,
// and its beginning in other spellings.
func formsOf(secret string) []string {
	var all []string
	for i := 0; i+piece <= len(secret); i++ {
		all = append(all, secret[i:i+piece])
	}
	for _, begin := range []string{secret, url.QueryEscape(secret)} {
		begin = begin[:min(len(begin), 12)]
		all = append(all, hex.EncodeToString([]byte(begin[:piece])), strings.ToUpper(hex.EncodeToString([]byte(begin[:piece]))))
		for offset := range 3 { // wherever it stands in what is encoded
			for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				encoded := e.EncodeToString([]byte(strings.Repeat("x", offset) + begin))
				all = append(all, encoded[[]int{0, 2, 3}[offset]:len(encoded)-2])
			}
		}
	}
	for _, escaped := range []string{url.QueryEscape(secret), strings.ReplaceAll(secret, "/", `\/`)} {
		if i := strings.IndexAny(escaped, `%\`); i >= 0 {
			from := max(0, min(i-4, len(escaped)-10))
			all = append(all, escaped[from:min(len(escaped), from+10)])
		}
	}
	return all
}

// hostile is everything that the server asks of others: remote catalogs, issuers
// of tokens, token services and object stores. At first it does what it is asked,
// and then refuses in one of many ways, and repeats in each what it was sent.
type hostile struct {
	*httptest.Server
	mood   atomic.Int32 // an index of moods
	minted string       // the token that it gives
}

// moods are the ways to answer.
var moods = []string{"well", "spec 400", "spec 403", "spec 404", "spec 500", "401", "html 400", "html 502", "not json", "broken json", "redirect"}

func newHostile(t *testing.T, minted string) *hostile {
	h := &hostile{minted: minted}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	mood := moods[h.mood.Load()]
	if mood == "well" {
		h.well(w, r)
		return
	}
	// What it was sent, as it is; and in other spellings, but for stores, which are
	// the operator's own.
	spiteful := strings.Contains(r.URL.Path, "/v1/") && !strings.Contains(r.URL.Path, "/storage/") || strings.HasPrefix(r.URL.Path, "/token") || strings.HasPrefix(r.URL.Path, "/sts")
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", r.Method, r.RequestURI, body)
	for name, values := range r.Header {
		fmt.Fprintf(&b, " %s: %s", name, strings.Join(values, ","))
		if !spiteful {
			continue
		}
		for _, value := range values {
			_, secret, _ := strings.Cut(value, " ")
			if decoded, err := base64.StdEncoding.DecodeString(secret); err == nil {
				fmt.Fprintf(&b, " [%s]", decoded)
			}
			fmt.Fprintf(&b, " (%s %x)", url.QueryEscape(value), value)
		}
	}
	if form, err := url.ParseQuery(string(body)); err == nil {
		fmt.Fprint(&b, form)
	}
	said := b.String()
	spec := func(status int, kind string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": said, "type": kind, "code": status, "stack": []string{said}}})
		_, _ = w.Write(text)
	}
	page := func(status int) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("X-Why", said[:min(100, len(said))])
		w.WriteHeader(status)
		fmt.Fprintf(w, "<html><title>%s</title>%s</html>", said, said)
	}
	service := strings.Contains(r.URL.Path, "/token") || strings.Contains(r.URL.Path, "/sts") || strings.HasPrefix(r.URL.Path, "/store")
	switch {
	case service && strings.HasPrefix(mood, "spec"):
		status := 400
		_, _ = fmt.Sscanf(mood, "spec %d", &status)
		if strings.Contains(r.URL.Path, "/token") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			text, _ := json.Marshal(map[string]string{"error": "invalid_client", "error_description": said, "error_uri": said})
			_, _ = w.Write(text)
			return
		}
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(status)
		text, _ := json.Marshal(said)
		format := `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`
		if strings.HasPrefix(r.URL.Path, "/store") {
			format = `<Error><Code>AccessDenied</Code><Message>%s</Message><RequestId>r</RequestId></Error>`
		}
		fmt.Fprintf(w, format, strings.NewReplacer("<", "", "&", "").Replace(string(text)))
	case strings.HasPrefix(mood, "spec"):
		status := 0
		_, _ = fmt.Sscanf(mood, "spec %d", &status)
		spec(status, map[int]string{400: "BadRequestException", 403: "ForbiddenException", 404: "NoSuchTableException",
			500: "InternalServerError"}[status])
	case mood == "401":
		w.Header().Set("WWW-Authenticate", "Bearer error=\""+strings.ReplaceAll(said[:min(200, len(said))], `"`, "")+"\"")
		spec(401, "NotAuthorizedException")
	case mood == "html 400":
		page(400)
	case mood == "html 502":
		page(502)
	case mood == "not json":
		_, _ = io.WriteString(w, said)
	case mood == "broken json":
		w.Header().Set("Content-Type", "application/json")
		text, _ := json.Marshal(said)
		_, _ = fmt.Fprintf(w, `{"defaults":%s,"namespaces":%s,"identifiers":%s,"metadata-location":%s,"metadata":{"x":%s},"access_token":7,%s`, text, text, text, text, text, text)
	case mood == "redirect":
		w.Header().Set("Location", "http://127.0.0.1:1/"+url.PathEscape(said[:min(500, len(said))]))
		w.WriteHeader(307)
	}
}

func (h *hostile) well(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case strings.Contains(path, "/token"):
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":3600,"issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}`, h.minted)
	case strings.Contains(path, "/sts"):
		w.Header().Set("Content-Type", "text/xml")
		fmt.Fprintf(w, `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIAFORAWHILE</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			h.minted, h.minted, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	case strings.HasSuffix(path, "/config"):
		fmt.Fprint(w, `{"defaults":{},"overrides":{}}`)
	case strings.HasSuffix(path, "/credentials"):
		fmt.Fprintf(w, `{"storage-credentials":[{"prefix":"s3://b/t","config":{"s3.access-key-id":"ASIA","s3.secret-access-key":%q,"s3.session-token":"t"}}]}`, h.minted)
	case strings.HasSuffix(path, "/namespaces"):
		fmt.Fprint(w, `{"namespaces":[["a"]]}`)
	case strings.HasSuffix(path, "/tables"):
		fmt.Fprint(w, `{"identifiers":[{"namespace":["a"],"name":"t"}]}`)
	case strings.Contains(path, "/tables/"):
		fmt.Fprint(w, `{"metadata-location":"s3://b/t/m.json","metadata":{"format-version":2,"table-uuid":"5f0f1b1e-1c8a-4d3c-9d2b-6a7a0a0a0a0a","location":"s3://b/t"}}`)
	default:
		fmt.Fprint(w, `{"namespace":["a"],"properties":{}}`)
	}
}

// evidence is text that somebody may read, by where it was found.
type evidence struct {
	mu    sync.Mutex
	texts map[string]*strings.Builder
}

func (e *evidence) add(where, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.texts[where] == nil {
		e.texts[where] = &strings.Builder{}
	}
	e.texts[where].WriteString(text + "\n")
}

// leaks lists where which of the plants is found. may says what is meant to be
// there.
func (e *evidence) leaks(p *plants, may func(where, plant string) bool) (found []string) {
	type form struct{ text, plant string }
	begins := map[[piece]byte][]form{}
	for name, secret := range p.values {
		for _, text := range formsOf(secret) {
			key := [piece]byte([]byte(text[:piece]))
			begins[key] = append(begins[key], form{text, name})
		}
	}
	seen := map[string]bool{}
	for where, written := range e.texts {
		text := written.String()
		for i := 0; i+piece <= len(text); i++ {
			for _, f := range begins[[piece]byte([]byte(text[i:i+piece]))] {
				if id := where + "\x00" + f.plant; strings.HasPrefix(text[i:], f.text) && !seen[id] && !may(where, f.plant) {
					seen[id] = true
					found = append(found, fmt.Sprintf("%s: %q, of the plant %q, in: %s", where, f.text, f.plant, text[max(0, i-160):min(len(text), i+100)]))
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// newTLSServer is a server whose certificate nobody trusts.
func newTLSServer(t *testing.T, h http.Handler) string {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}
