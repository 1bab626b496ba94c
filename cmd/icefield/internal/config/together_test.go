package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// summaries are the words of what a report found.
func summaries(r *Report, severity string) []string {
	var all []string
	for _, f := range r.Findings {
		if f.Severity == severity {
			all = append(all, f.Summary)
		}
	}
	return all
}

// inFolder parses a text beside some files.
func inFolder(t *testing.T, dir, text string) (*Config, *Report) {
	t.Helper()
	return Parse(filepath.Join(dir, "icefield.hcl"), []byte(text), environment)
}

// pairIn writes a certificate and its key.
func pairIn(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

const (
	keyLogin = `
  api_key "ci" {
    tenant  = "acme"
    key_env = "KEY"
  }
`
	certificateLogin = `
  certificate "etl" {
    tenant = "acme"
    email  = "etl@acme.example"
  }
`
	oneMount = `
mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/prod.db"
  warehouse_location = "s3://prod/warehouse"
}
`
)

func TestWhoMayLogInDecidesWhereTheServerListens(t *testing.T) {
	dir := t.TempDir()
	pairIn(t, dir)
	secure := "  tls {\n    cert_file = \"tls.crt\"\n    key_file = \"tls.key\"\n  }\n"
	asking := "  tls {\n    cert_file = \"tls.crt\"\n    key_file = \"tls.key\"\n    client_ca_file = \"tls.crt\"\n  }\n"
	anybody := "  anonymous {\n    tenant = \"acme\"\n  }\n"
	for name, c := range map[string]struct {
		listen, tls, auth string
		errors, warnings  []string
	}{
		"elsewhere, with a login and TLS":         {"0.0.0.0:8181", secure, keyLogin, nil, nil},
		"elsewhere, with a login and no TLS":      {"lake.example.com:8181", "", keyLogin, nil, []string{"Credentials in clear text"}},
		"every address, without a host":           {":8181", secure, keyLogin, nil, nil},
		"elsewhere, with nobody":                  {"[::]:8181", secure, "", []string{"Not a loopback address"}, nil},
		"elsewhere, with anybody":                 {"10.0.0.1:8181", secure, anybody, []string{"Not a loopback address"}, nil},
		"elsewhere, with anybody beside a login":  {"10.0.0.1:8181", secure, keyLogin + anybody, []string{"Not a loopback address"}, nil},
		"here, with anybody":                      {"127.0.0.1:8181", "", anybody, nil, nil},
		"here, in another notation":               {"127.8.9.1:8181", "", "", nil, nil},
		"a socket, with anybody":                  {"unix:s", "", keyLogin + anybody, nil, nil},
		"certificates that nobody asks for":       {"127.0.0.1:8181", secure, certificateLogin, []string{"No client certificates"}, nil},
		"certificates without TLS":                {"127.0.0.1:8181", "", certificateLogin, []string{"No client certificates"}, nil},
		"certificates that are asked for":         {"127.0.0.1:8181", asking, certificateLogin, nil, nil},
		"asking for certificates that are no use": {"127.0.0.1:8181", asking, keyLogin, nil, []string{"Certificates without a login"}},
	} {
		text := "server {\n  listen = \"" + c.listen + "\"\n" + c.tls + "}\n"
		if c.auth != "" {
			text += "auth {\n" + c.auth + "}\n"
		}
		_, report := inFolder(t, dir, text+oneMount)
		assert.Equal(t, c.errors, summaries(report, "error"), name)
		assert.Equal(t, c.warnings, summaries(report, "warning"), name)
	}
}

func TestTheFilesOfATLSBlockAreChecked(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	pairIn(t, dir)
	pairIn(t, other)
	foreign, err := os.ReadFile(filepath.Join(other, "tls.key"))
	require.NoError(t, err)
	for name, text := range map[string]string{"foreign.key": string(foreign), "none": "hunter2"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, c := range []struct{ cert, key, ca, says string }{
		{"tls.crt", "tls.key", "tls.crt", ""},
		{"tls.crt", "foreign.key", "", "the key belongs to another certificate"},
		{"tls.crt", "none", "", "the key is not one in PEM"},
		{"none", "tls.key", "", "the certificate is not one in PEM"},
		{"tls.crt", "absent", "", "there is no such file"},
		{"tls.crt", "tls.key", "none", "holds no PEM certificate"},
	} {
		more := ""
		if c.ca != "" {
			more = "    client_ca_file = \"" + c.ca + "\"\n"
		}
		cfg, report := inFolder(t, dir, "server {\n  tls {\n    cert_file = \""+c.cert+"\"\n    key_file = \""+c.key+"\"\n"+more+"  }\n}\n"+oneMount)
		if c.says == "" {
			require.False(t, report.HasErrors(), text(t, report))
			before := cfg.Server.TLS.Sum()
			files, err := cfg.Server.TLS.Read()
			require.NoError(t, err)
			assert.NotNil(t, files.ClientCAs)
			require.NoError(t, os.Chtimes(filepath.Join(dir, "tls.crt"), time.Time{}, time.Now().Add(time.Hour)))
			assert.Equal(t, before, cfg.Server.TLS.Sum(), "another time is no other content")
			continue
		}
		assert.Contains(t, text(t, report), c.says)
		assert.NotContains(t, text(t, report), "hunter2")
	}
}

func TestWhatMeansNothingIsWarnedOf(t *testing.T) {
	login := "auth {" + keyLogin + "}\n"
	tenant := "tenant \"globex\" {\n  policies = [\"x.cedar\"]\n}\n"
	shared := `
mount "/" {
  backend            = "native"
  catalog_url        = "bolt:///srv/root.db"
  warehouse_location = "s3://root/warehouse"
}
`
	for name, c := range map[string]struct {
		text     string
		warnings []string
	}{
		"policies where everybody is the operator": {"policy {\n  files = [\"x.cedar\"]\n}\n" + oneMount, []string{"Everybody is the operator"}},
		"a tenant that owns nothing":               {login + tenant + oneMount, []string{"Tenant without anything"}},
		"a tenant that may own something":          {login + tenant + shared + oneMount, nil},
		"operators out of one tenant's issuer": {"auth {\n  oidc \"acme\" {\n    issuer = \"https://idp.acme.example\"\n    audience = [\"icefield\"]\n    tenant = \"acme\"\n    operator_roles = [\"platform\"]\n  }\n}\n" + oneMount,
			[]string{"Operators of one tenant's issuer"}},
	} {
		_, report := Parse("icefield.hcl", []byte(c.text), environment)
		assert.False(t, report.HasErrors(), text(t, report))
		assert.Equal(t, c.warnings, summaries(report, "warning"), name)
	}
}

func TestWhoMayDoWhatIsNoPartOfWhatTheServerIs(t *testing.T) {
	plain := parsed(t, oneMount)
	governed := parsed(t, "server {\n  rate_limit {\n    requests_per_second = 1\n  }\n}\nauth {"+keyLogin+"}\npolicy {\n  files = [\"x.cedar\"]\n}\n"+oneMount)
	assert.Equal(t, plain.InstanceID(), governed.InstanceID())
	assert.Equal(t, plain.Material(), governed.Material())
	assert.False(t, plain.SameAccess(governed))
	vended := parsed(t, oneMount[:len(oneMount)-2]+"  signing = true\n  vending \"aws\" {\n    role_arn = \"arn:aws:iam::123456789012:role/lake\"\n  }\n}\n")
	assert.Equal(t, plain.Material(), vended.Material(), "walks of a mount go on when it begins to vend")
	assert.False(t, plain.Mounts[0].Equal(vended.Mounts[0]))
}

func TestAKeyThatIsReplacedInItsFileIsAnother(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ci.key")
	config := "auth {\n  api_key \"ci\" {\n    tenant = \"acme\"\n    key_file = \"ci.key\"\n  }\n}\n" + oneMount
	require.NoError(t, os.WriteFile(path, []byte("the-first-of-two-keys\n"), 0o600))
	first, report := inFolder(t, dir, config)
	require.False(t, report.HasErrors(), text(t, report))
	assert.Equal(t, []string{path}, report.Included())
	before := Look(dir, report.Included()).With(report)
	require.NoError(t, os.WriteFile(path, []byte("the-second-of-two-keys"), 0o600))
	assert.False(t, before.Same(Look(dir, report.Included())))
	second, _ := inFolder(t, dir, config)
	assert.False(t, first.SameAccess(second))
}
