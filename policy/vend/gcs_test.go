package vend

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// googleService is Google's login and its security token service.
type googleService struct {
	*httptest.Server
	mu     sync.Mutex
	form   url.Values
	logins int
	login  http.HandlerFunc
	cut    http.HandlerFunc
}

func newGoogle(t testing.TB) *googleService {
	t.Helper()
	g := &googleService{
		login: func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, `{"access_token":"whole-token-of-the-mount","token_type":"Bearer","expires_in":3600}`)
		},
		cut: func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, `{"access_token":"cut-down-token","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer","expires_in":3000}`)
		},
	}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		g.mu.Lock()
		answer := g.cut
		if r.URL.Path == "/login" {
			g.logins++
			answer = g.login
		} else {
			g.form = r.PostForm
		}
		g.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func writeJSON(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// accountKeyOnce is one key for all tests: they take long to make.
var accountKeyOnce = sync.OnceValues(func() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), err
})

func accountKeyPEM(t testing.TB) string {
	t.Helper()
	text, err := accountKeyOnce()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// provider logs in with a service account's key of its own.
func (g *googleService) provider(t testing.TB) Provider {
	t.Helper()
	document, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "p", "private_key_id": "k", "client_email": "icefield@p.iam.gserviceaccount.com",
		"private_key": accountKeyPEM(t), "token_uri": g.URL + "/login"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, document, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := GCS(t.Context(), GCSOptions{CredentialsFile: file, ProjectID: "billed", STSEndpoint: g.URL + "/sts"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestGoogleTokensAreCutDownToOneFolder(t *testing.T) {
	g := newGoogle(t)
	p := g.provider(t)
	for access, role := range map[mounts.StorageAccess]string{mounts.ReadStorage: "inRole:roles/storage.objectViewer", mounts.WriteStorage: "inRole:roles/storage.objectUser"} {
		m, err := p.Mint(t.Context(), Ask{Location: "gs://lake/wh/o'rders/t1/", Access: access, Principal: "corp/alice"})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": "whole-token-of-the-mount",
			"subject_token_type": "urn:ietf:params:oauth:token-type:access_token", "requested_token_type": "urn:ietf:params:oauth:token-type:access_token"} {
			if g.form.Get(name) != value {
				t.Errorf("%s is %q", name, g.form.Get(name))
			}
		}
		var options struct {
			AccessBoundary struct {
				AccessBoundaryRules []struct {
					AvailableResource     string
					AvailablePermissions  []string
					AvailabilityCondition struct{ Expression string }
				}
			}
		}
		if err := json.Unmarshal([]byte(g.form.Get("options")), &options); err != nil || len(options.AccessBoundary.AccessBoundaryRules) != 1 {
			t.Fatalf("%s: %v", g.form.Get("options"), err)
		}
		rule := options.AccessBoundary.AccessBoundaryRules[0]
		if rule.AvailableResource != "//storage.googleapis.com/projects/_/buckets/lake" || len(rule.AvailablePermissions) != 1 || rule.AvailablePermissions[0] != role {
			t.Errorf("%+v", rule)
		}
		if want := `resource.name.startsWith('projects/_/buckets/lake/objects/wh/o\'rders/t1/') || api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('wh/o\'rders/t1/')`; rule.AvailabilityCondition.Expression != want {
			t.Errorf("the condition is\n%s, want\n%s", rule.AvailabilityCondition.Expression, want)
		}
		if m.Prefix != "gs://lake/wh/o'rders/t1" || len(m.Config) != 3 || m.Config["gcs.oauth2.token"] != "cut-down-token" || m.Config["gcs.oauth2.token-expires-at"] != millis(m.Expires) || m.Config["gcs.project-id"] != "billed" {
			t.Errorf("%+v", m)
		}
		if left := time.Until(m.Expires); left < 49*time.Minute || left > 50*time.Minute {
			t.Errorf("good for %v", left)
		}
	}
	if g.logins != 2 {
		t.Errorf("%d logins for two tokens, each of which ends with its own", g.logins)
	}
	for _, location := range []string{"gs://lake", "gs://lake/", "s3://lake/t", "gs://LAKE/t", "gs://lake/a/../b"} {
		if _, err := p.Mint(t.Context(), Ask{Location: location, Access: mounts.ReadStorage}); err == nil {
			t.Errorf("%q has a token", location)
		}
	}
}

func TestConditionsOfGoogleQuoteWhatStandsInThem(t *testing.T) {
	for text, want := range map[string]string{"a": "'a'", "a'b": `'a\'b'`, `a\`: `'a\\'`, `a\'`: `'a\\\''`, `') || true || ('`: `'\') || true || (\''`} {
		if got := quoteCEL(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestFailuresOfGoogleHaveTheirReasons(t *testing.T) {
	says := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, status, text) }
	}
	for name, row := range map[string]struct {
		login, cut http.HandlerFunc
		reason     Reason
	}{
		"login refused":    {says(400, `{"error":"invalid_grant","error_description":"whole-token-of-the-mount"}`), nil, Login},
		"login down":       {says(503, `oops`), nil, Unreachable},
		"login throttled":  {says(429, `oops`), nil, Throttled},
		"exchange refused": {nil, says(403, `{"error":"access_denied whole-token-of-the-mount"}`), Denied},
		"exchange invalid": {nil, says(400, `{"error":"invalid_request"}`), Broken},
		"throttled":        {nil, says(429, `{}`), Throttled},
		"down":             {nil, says(500, `{}`), Unreachable},
		"not JSON":         {nil, says(200, `<html>`), Broken},
		"no token":         {nil, says(200, `{}`), Broken},
		"the whole token":  {nil, says(200, `{"access_token":"whole-token-of-the-mount","expires_in":3000}`), Broken},
		"a redirect": {nil, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/login", http.StatusTemporaryRedirect)
		}, Broken},
		"huge": {nil, says(200, `{"access_token":"`+strings.Repeat("x", 2*maxAnswer)+`"}`), Broken},
	} {
		g := newGoogle(t)
		if row.login != nil {
			g.login = row.login
		}
		if row.cut != nil {
			g.cut = row.cut
		}
		_, err := g.provider(t).Mint(t.Context(), Ask{Location: "gs://lake/t", Access: mounts.ReadStorage})
		var f *Failure
		if !errors.As(err, &f) || f.Reason != row.reason {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if row.cut != nil && strings.Contains(err.Error(), "whole-token-of-the-mount") {
			t.Errorf("%s: the token is in %v", name, err)
		}
	}
	g := newGoogle(t)
	p := g.provider(t)
	g.Close()
	_, err := p.Mint(t.Context(), Ask{Location: "gs://lake/t", Access: mounts.ReadStorage})
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != Unreachable {
		t.Errorf("gone: %v", err)
	}
}

func TestOptionsOfGoogleAreChecked(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"nothing": "", "text": "secret", "unknown": `{"type":"secret"}`, "large": `{"type":"service_account","x":"` + strings.Repeat("x", maxCredentials) + `"}`} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := GCS(t.Context(), GCSOptions{CredentialsFile: file}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := GCS(t.Context(), GCSOptions{CredentialsFile: filepath.Join(folder, "absent")}); err == nil {
		t.Error("a file that is not there was accepted")
	}
	if _, err := GCS(t.Context(), GCSOptions{STSEndpoint: "sts"}); err == nil {
		t.Error("a word was accepted as an endpoint")
	}
}
