package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reference is the configuration with every key that doc.go shows.
func reference(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(text), "all keys there are")
	require.True(t, ok)
	example := regexp.MustCompile(`(?m)^//\tserver \{\n(//(\t.*)?\n)+`).FindString(after)
	return regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(example, "")
}

func TestTheReferenceNamesEveryKey(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(doc), "all keys there are")
	named := func(key string) { assert.Regexp(t, `\b`+key+`\b`, text) }
	for _, key := range serverShape.attrs {
		named(key)
	}
	for _, k := range kinds() {
		for _, key := range k.shape().attrs {
			named(key)
		}
		for _, block := range k.shape().blocks {
			named(block.Type)
		}
	}
	for _, s := range []shape{oauth2Shape, exchangeShape, sigv4Shape, quirksShape, cacheShape, serverShape, tlsShape, rateShape, lockoutShape,
		rootShape, loginShape, oidcShape, apiKeyShape, certificateShape, anonymousShape, policyShape, tenantShape, auditShape,
		vendAWSShape, vendGCSShape, vendAzureShape} {
		for _, key := range s.attrs {
			named(key)
		}
		for _, block := range s.blocks {
			named(block.Type)
		}
	}
	for _, kind := range VendingKinds() {
		assert.Contains(t, text, `vending "`+kind+`" {`)
	}
	for _, sink := range []string{SinkFile, SinkStdout, SinkNone} {
		assert.Contains(t, text, `"`+sink+`"`)
	}
	for _, kind := range AuthKinds() {
		assert.Contains(t, text, `"`+kind+`"`)
	}
}

func TestTheReferenceShowsTheDefaults(t *testing.T) {
	secrets := Options{LookupEnv: func(string) (string, bool) { return "a-secret-that-is-long-enough", true }}
	shown, report := Parse("/etc/icefield/doc.hcl", []byte(reference(t)), secrets)
	require.False(t, report.HasErrors(), text(t, report))
	plain, report := Parse("/etc/icefield/doc.hcl", []byte(`
server {
  secret_env = "ICEFIELD_SECRET"
  rate_limit {
    requests_per_second = 200
  }
  tenant_rate_limit {
    requests_per_second = 1000
  }
  trusted_proxies = ["10.0.0.0/8", "2001:db8::1"]
}
auth {
  oidc "corp" {
    issuer         = "https://idp.example.com/realms/corp"
    jwks_url       = "https://idp.example.com/realms/corp/keys"
    audience       = ["icefield"]
    tenant_claim   = "tenant"
    operator_roles = ["platform"]
    token_relay    = true
    relay_scope    = "icefield"
  }
  api_key "ci" {
    tenant  = "acme"
    roles   = ["writer"]
    key_env = "ICEFIELD_CI_KEY"
  }
  api_key "admin" {
    operator = true
    hash     = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  }
  anonymous {
    tenant = "acme"
    roles  = ["reader"]
  }
}
policy {
  files = ["policies/*.cedar"]
}
tenant "acme" {
  policies = ["policies/acme/*.cedar"]
}
audit {
  sink = "file"
  path = "/var/log/icefield/audit.jsonl"
}
mount "/" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///var/lib/icefield/root.db"
  warehouse_location = "s3://lake/warehouse"
  storage            = { "s3.region" = "eu-central-1" }
  vending "aws" {
    role_arn = "arn:aws:iam::123456789012:role/lake"
  }
}
mount "partner" {
  backend     = "rest"
  catalog_url = "https://catalog.partner.example/api/catalog"
  warehouse   = "sales"
  owner       = "acme"
  auth "oauth2" {
    token_url         = "https://idp.partner.example/token"
    client_id         = "icefield"
    client_secret_env = "PARTNER_SECRET"
    scope             = "PRINCIPAL_ROLE:ALL"
    audience          = "catalog"
    resource          = "https://catalog.partner.example"
  }
  profile             = "polaris"
  namespace_separator = "%1F"
  namespace_levels    = 16
  headers             = { "Polaris-Realm" = "sales" }
  allowed_locations   = ["s3://partner-lake"]
}
`), secrets)
	require.False(t, report.HasErrors(), text(t, report))
	for _, quirk := range []**bool{&shown.Mounts[1].Rest.Quirks.MissingLists, &shown.Mounts[1].Rest.Quirks.ThrottlesWith400, &shown.Mounts[1].Rest.Quirks.NoHEAD} {
		require.NotNil(t, *quirk)
		assert.False(t, **quirk)
		*quirk = nil // left out, the profile decides
	}
	assert.Equal(t, plain, shown)
}
