package rest

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
)

const (
	testKeyID  = "AKIDEXAMPLE"
	testSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// signedRemote is a remote that verifies what it gets.
type signedRemote struct {
	*httptest.Server
	mu     sync.Mutex
	verify verifier
	errs   []error
	uris   []string
	bodies [][]byte
	// refuse, if set, answers instead of a 200.
	refuse func(w http.ResponseWriter) bool
}

func newSignedRemote(t *testing.T, v verifier) *signedRemote {
	t.Helper()
	s := &signedRemote{verify: v}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, err := s.verify.check(r)
		s.errs, s.uris, s.bodies = append(s.errs, err), append(s.uris, r.RequestURI), append(s.bodies, body)
		if s.refuse != nil && s.refuse(w) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(s.Close)
	return s
}

// seen returns what arrived since the last time.
func (s *signedRemote) seen() (uris []string, errs []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uris, errs = s.uris, s.errs
	s.uris, s.errs = nil, nil
	return uris, errs
}

// isolate hides the machine's own AWS configuration, and the metadata service.
func isolate(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
		"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_CA_BUNDLE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "credentials"))
}

// signing opens a client on it.
func signing(t *testing.T, base string, c SigV4Config) *client {
	t.Helper()
	isolate(t)
	config, err := Config{URL: base, Auth: SigV4(c), Request: 5 * time.Second}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	k := newClient(config)
	t.Cleanup(k.close)
	return k
}

func staticKeys(service string) SigV4Config {
	return SigV4Config{Service: service, Region: "eu-central-1", AccessKeyID: testKeyID, SecretAccessKey: testSecret}
}

func TestSignedRequestsVerifyForEveryPathAndService(t *testing.T) {
	targets := []string{
		"/v1/config?warehouse=arn%3Aaws%3As3tables%3Aeu-central-1%3A123%3Abucket%2Fx",
		"/v1/namespaces", "/v1/namespaces?pageToken=&pageSize=100",
		"/v1/namespaces?pageSize=7&pageToken=a%2Bb%2F%3D%3D%26c&parent=a%1Fb",
		"/v1/namespaces/a%1Fb/tables/x", "/v1/namespaces/a%1fb/tables/x",
		"/v1/namespaces/100%25/tables/a%2Fb%3F%23", "/v1/namespaces/%25%31%46/tables/%252F",
		"/v1/namespaces/a%20b+c/tables/caf%C3%A9%F0%9F%A7%8A", "/v1/catalogs/123456789012:lake/namespaces/it's(x)*!$&,;=@~",
		"/v1/main%7Cwarehouse/namespaces/n/tables/t?snapshots=refs", "/v1/namespaces/a%1Fb/views/x?referenced-by=a%1Fb,c",
		"/", "",
	}
	for _, service := range []string{"glue", "s3tables", "execute-api", "s3"} {
		remote := newSignedRemote(t, verifier{service: service, region: "eu-central-1", once: service == "s3", keys: map[string]string{testKeyID: testSecret}})
		k := signing(t, remote.URL, staticKeys(service))
		for _, target := range targets {
			for _, c := range []call{
				{method: http.MethodGet, ifNoneMatch: `W/"a  b"`},
				{method: http.MethodHead},
				{method: http.MethodDelete},
				{method: http.MethodPost, body: []byte(`{"a":1}`), key: "0191d0c2-7f0e-7a10-9a3c-1c2d3e4f5a6b", delegation: "vended-credentials"},
			} {
				c.op, c.kind, c.url = capabilities.LoadTable, kindCatalog, remote.URL+target
				a, err := k.do(context.Background(), c)
				if err != nil || a.status != http.StatusOK {
					t.Fatalf("%s %s %s: %v, %v", service, c.method, target, a, err)
				}
				uris, errs := remote.seen()
				if len(errs) != 1 || errs[0] != nil {
					t.Errorf("%s %s %s arrived as %v: %v", service, c.method, target, uris, errs)
				}
				sent, _, _ := strings.Cut(uris[0], "?")
				asked, _, _ := strings.Cut(target, "?")
				if asked == "" {
					asked = "/"
				}
				if service != "s3" && sent != asked {
					t.Errorf("%s: the path %s was sent as %s", service, asked, sent)
				}
				if a, b := unescaped(t, sent), unescaped(t, asked); a != b {
					t.Errorf("%s: %s means %s", service, asked, a)
				}
				if c.body != nil && !bytes.Equal(remote.bodies[len(remote.bodies)-1], c.body) {
					t.Errorf("the body arrived as %s", remote.bodies[len(remote.bodies)-1])
				}
			}
		}
	}
}

func unescaped(t *testing.T, path string) string {
	t.Helper()
	words := strings.Split(path, "/")
	for i := range words {
		word, err := url.PathUnescape(words[i])
		if err != nil {
			t.Fatal(err)
		}
		words[i] = strings.ReplaceAll(word, "/", "\x00")
	}
	return strings.Join(words, "/")
}

func TestAnUnsignableQueryIsAnErrorBeforeSending(t *testing.T) {
	remote := newSignedRemote(t, verifier{})
	k := signing(t, remote.URL, staticKeys("glue"))
	_, err := k.do(context.Background(), call{method: http.MethodGet, url: remote.URL + "/v1/x?a;b=1"})
	if uris, _ := remote.seen(); err == nil || len(uris) != 0 {
		t.Errorf("%v after %v", err, uris)
	}
}

func TestTheHostIsSignedAsItIsSent(t *testing.T) {
	for host, want := range map[string]string{"https://h.example:443": "h.example", "http://h.example:80": "h.example", "https://h.example:80": "h.example:80",
		"https://[::1]:443": "[::1]", "http://h.example:8443": "h.example:8443"} {
		s := &signature{config: staticKeys("glue")}
		s = s.config.open(loginDeps{base: host, now: time.Now, timeout: time.Second}).(*signature)
		r := httptest.NewRequest(http.MethodGet, host+"/v1/config", nil)
		r.Host = ""
		p, err := s.authorize(context.Background(), r, nil)
		if err != nil || r.Host != want || p.used != testKeyID {
			t.Errorf("%s: %q, %v", host, r.Host, err)
		}
		r.RequestURI = "/v1/config"
		if _, err := (verifier{service: "glue", region: "eu-central-1", keys: map[string]string{testKeyID: testSecret}}).check(r); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		s.close()
	}
}

func TestTheSessionTokenIsSignedAndSent(t *testing.T) {
	remote := newSignedRemote(t, verifier{service: "glue", region: "eu-central-1", token: "session/token+==", keys: map[string]string{testKeyID: testSecret}})
	c := staticKeys("glue")
	c.SessionToken = "session/token+=="
	k := signing(t, remote.URL, c)
	if _, err := k.do(context.Background(), call{method: http.MethodGet, url: remote.URL + "/v1/config"}); err != nil {
		t.Fatal(err)
	}
	if _, errs := remote.seen(); errs[0] != nil {
		t.Error(errs[0])
	}
}

func TestServiceAndRegionAreReadFromAnAmazonHost(t *testing.T) {
	for base, want := range map[string][2]string{
		"https://glue.eu-west-1.amazonaws.com/iceberg":                {"glue", "eu-west-1"},
		"https://s3tables.us-east-1.amazonaws.com/iceberg":            {"s3tables", "us-east-1"},
		"https://abc123.execute-api.us-gov-west-1.amazonaws.com/prod": {"execute-api", "us-gov-west-1"},
		"https://glue.cn-north-1.amazonaws.com.cn/iceberg":            {"glue", "cn-north-1"},
		"https://vpce-1-x.glue.eu-west-1.vpce.amazonaws.com/iceberg":  {"glue", "eu-west-1"},
		"https://glue.eu-west-1.amazonaws.com.evil.example/iceberg":   {"", ""},
		"https://catalog.example":                                     {"", ""},
		"https://GLUE.EU-WEST-1.AMAZONAWS.COM":                        {"glue", "eu-west-1"},
		"https://glueXeu-west-1.amazonaws.com":                        {"", ""},
		"https://evil.example/glue.eu-west-1.amazonaws.com":           {"", ""},
		"https://s3tables.ap-southeast-2.api.aws":                     {"s3tables", "ap-southeast-2"},
		"https://evil.example#glue.eu-west-1.amazonaws.com":           {"", ""},
		"https://glue.eu-west-1.amazonaws.com:443/iceberg":            {"glue", "eu-west-1"},
	} {
		if c := (SigV4Config{}).at(base); c.Service != want[0] || c.Region != want[1] {
			t.Errorf("%s: %q in %q", base, c.Service, c.Region)
		}
	}
	if c := (SigV4Config{Service: "a", Region: "b"}).at("https://glue.eu-west-1.amazonaws.com"); c.Service != "a" || c.Region != "b" {
		t.Errorf("the host won over the configuration: %+v", c)
	}
}

func TestAWrongSigV4ConfigIsRefused(t *testing.T) {
	for name, c := range map[string]SigV4Config{
		"no service":     {Region: "x"},
		"bad service":    {Service: "a/b"},
		"bad region":     {Service: "a", Region: "b c"},
		"half a key":     {Service: "a", AccessKeyID: "x"},
		"other half":     {Service: "a", SecretAccessKey: "hunter2"},
		"token alone":    {Service: "a", SessionToken: "hunter2"},
		"external id":    {Service: "a", ExternalID: "hunter2"},
		"sts endpoint":   {Service: "a", STSEndpoint: "https://sts.example"},
		"no ARN":         {Service: "a", RoleARN: "role"},
		"sts by a file":  {Service: "a", RoleARN: "arn:aws:iam::1:role/x", STSEndpoint: "file:///x"},
		"sts in clear":   {Service: "a", RoleARN: "arn:aws:iam::1:role/x", STSEndpoint: "http://sts.example"},
		"sts with login": {Service: "a", RoleARN: "arn:aws:iam::1:role/x", STSEndpoint: "https://a:hunter2@sts.example"},
	} {
		err := SigV4(c).check("https://catalog.example")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
