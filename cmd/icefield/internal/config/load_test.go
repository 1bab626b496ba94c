package config

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// environment is what the configurations of testdata are read in.
var environment = Options{LookupEnv: func(name string) (string, bool) {
	value, ok := map[string]string{
		"LONG": "a secret that is long enough hunter2", "KEY": "longenoughhunter2", "SHORT": "hunter2", "EMPTY": "", "TOKEN": "hunter2",
		"SECRET_URL": "https://admin:hunter2@c.partner.example", "HOST": "db",
		"DATABASE": "postgres://icefield:hunter2@db/prod", "BROKEN_DATABASE": "postgres://icefield:hunter2@db:port/prod",
	}[name]
	return value, ok
}}

func text(t *testing.T, r *Report) string {
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	wd, err := os.Getwd()
	require.NoError(t, err)
	return strings.ReplaceAll(b.String(), wd, "$PWD")
}

func TestBrokenConfigurationsSayWhereAndWhatToDo(t *testing.T) {
	entries, err := os.ReadDir("testdata/broken")
	require.NoError(t, err)
	cases := 0
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".golden" {
			continue
		}
		cases++
		t.Run(entry.Name(), func(t *testing.T) {
			path := filepath.Join("testdata/broken", entry.Name())
			cfg, report := Load(path, environment)
			assert.True(t, report.HasErrors())
			assert.Nil(t, cfg)
			got := text(t, report)
			if *update {
				require.NoError(t, os.WriteFile(path+".golden", []byte(got), 0o644))
			}
			want, err := os.ReadFile(path + ".golden")
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
			assert.NotContains(t, strings.ToLower(got), "hunter2", "a secret is in the report")
			for _, f := range report.Findings {
				assert.NotContains(t, strings.ToLower(f.Source+f.Detail+f.Summary), "hunter2")
				if f.File != "" {
					assert.Positive(t, strings.Count(f.Caret, "^"), "%s: no caret", f.Summary)
				}
			}
		})
	}
	assert.GreaterOrEqual(t, cases, 20)
}

func TestGoodConfigurations(t *testing.T) {
	for _, name := range []string{"minimal.hcl", "full.hcl", "full.hcl.json", "folder"} {
		cfg, report := Load("testdata/good/"+name, environment)
		assert.False(t, report.HasErrors(), "%s: %s", name, text(t, report))
		assert.NotNil(t, cfg, name)
	}
}

func TestJSONSyntaxMeansTheSameAsNativeSyntax(t *testing.T) {
	native, _ := Load("testdata/good/full.hcl", environment)
	json, _ := Load("testdata/good/full.hcl.json", environment)
	require.NotNil(t, native)
	require.NotNil(t, json)
	assert.ElementsMatch(t, native.Mounts, json.Mounts)
	native.Mounts, json.Mounts, native.Files, json.Files = nil, nil, nil, nil
	assert.Equal(t, native, json)
}

func TestAByteOrderMarkAndDOSLinesAreNoMistake(t *testing.T) {
	for _, name := range []string{"minimal.hcl", "full.hcl.json"} {
		plain, err := os.ReadFile(filepath.Join("testdata/good", name))
		require.NoError(t, err)
		dos := append([]byte("\ufeff"), bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n"))...)
		want, _ := Parse(filepath.Join("testdata/good", name), plain, environment)
		got, report := Parse(filepath.Join("testdata/good", name), dos, environment)
		require.False(t, report.HasErrors(), text(t, report))
		assert.Equal(t, want, got)
	}
}

func TestBracketsWithoutEndAreAMistakeAndNoCrash(t *testing.T) {
	const many = 1 << 20
	for name, garbage := range map[string]string{
		"a.hcl": "x = " + strings.Repeat("[", many), "b.hcl": "x = " + strings.Repeat("(", many), "c.hcl": strings.Repeat("a {\n", many),
		"d.hcl.json": strings.Repeat(`{"a":`, many), "e.hcl.json": strings.Repeat(`]`, 10) + strings.Repeat(`[`, many),
	} {
		cfg, report := Parse(name, []byte(garbage), environment)
		assert.Nil(t, cfg)
		assert.Contains(t, text(t, report), name+" opens more than 1000 brackets", name)
	}
}

func TestEverySettingArrives(t *testing.T) {
	cfg, report := Load("testdata/good/full.hcl", environment)
	require.NotNil(t, cfg, text(t, report))
	assert.Equal(t, Server{
		Name: "lake", Listen: Address{"tcp", "127.0.0.1:8282"}, SecretEnv: "LONG", Secret: []byte("a secret that is long enough hunter2"),
		RequestTimeout: time.Minute, MaxBody: 128 << 20, MaxMemory: 2 << 30, ShutdownGrace: 5 * time.Second,
		RateLimit: &Rate{PerSecond: 0.5, Burst: 1}, TenantRateLimit: &Rate{PerSecond: 1000, Burst: 1500},
		TrustedProxies: []string{"10.0.0.0/8", "192.0.2.1", "unix"},
		LoginLockout:   Lockout{Failures: 3, Window: 10 * time.Second},
	}, cfg.Server)
	owner, err := filepath.Abs("testdata/good/owner.txt")
	require.NoError(t, err)
	kept := Cache{Size: 256 << 20, Coalesce: true}
	yes, no := true, false
	usual := Breaker{Failures: 5, OpenFor: 15 * time.Second}
	assert.Equal(t, []Mount{
		{Name: "/", ViewName: "base", Kind: "native", Request: 20 * time.Second, Breaker: usual, InFlight: 256,
			Native: &Native{Registry: Registry{Bolt: "/srv/root.db"}, Warehouse: "file:///srv/root", MetadataCache: 256 << 20, KeyLifetime: 30 * time.Minute, Shared: true}},
		{Name: "prod", ViewName: "prod", Kind: "native", Owner: "acme", Required: true, ReadOnly: true, Request: 20 * time.Second, Breaker: usual, InFlight: 8,
			Native: &Native{Registry: Registry{Bolt: "/srv/prod.db"}, Warehouse: "s3://prod-bucket/warehouse", KeyLifetime: time.Hour, Signing: true, BulkDelete: true,
				Vending: &Vending{Kind: "aws", Duration: 30 * time.Minute, RoleARN: "arn:minio:iam:::role/lake", STSEndpoint: "https://sts.example.com", Region: "eu-central-1",
					CAFile: filepath.Join(filepath.Dir(owner), "ca.pem"), CASum: cfg.Mounts[5].Rest.CASum, SessionTags: true,
					KMSKeys:       []string{"arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"},
					ExternalIDEnv: "LONG", AccessKeyIDEnv: "LONG", SecretAccessKeyEnv: "LONG", SessionTokenEnv: "LONG"},
				Storage: map[string]string{"s3.region": "eu-central-1", "s3.secret-access-key": "a secret that is long enough hunter2"}}},
		{Name: "partner", ViewName: "partner", Kind: "rest", Owner: "acme", ReadOnly: true, Request: 10 * time.Second,
			Breaker: Breaker{Failures: 3, OpenFor: 90 * time.Second}, InFlight: 64,
			Rest: &Rest{URL: "https://catalog.partner.example/api/catalog", Warehouse: "sales", Connect: 2 * time.Second, MaxResponse: 1 << 30, SettingsRefresh: 5 * time.Minute, RelayedAccess: "read", Cache: kept,
				Auth: Auth{Kind: "oauth2", TokenURL: "https://idp.partner.example/token", ClientID: "icefield", ClientSecretEnv: "LONG", Scope: "PRINCIPAL_ROLE:ALL"}}},
		{Name: "file-token", ViewName: "file-token", Kind: "rest", Owner: "acme", Required: true, ReadOnly: true, Request: 10 * time.Second, Breaker: usual, InFlight: 64,
			Rest: &Rest{URL: "http://127.0.0.1:8181", Connect: 2 * time.Second, MaxResponse: 256 << 20, SettingsRefresh: 5 * time.Minute, RelayedAccess: "read", Cache: kept, Auth: Auth{Kind: "bearer", TokenFile: owner}}},
		{Name: "short", ViewName: "short", Kind: "rest", Owner: "acme", Required: true, ReadOnly: true, Request: 10 * time.Second, Breaker: usual, InFlight: 64,
			Rest: &Rest{URL: "http://catalog.partner.example", Connect: 2 * time.Second, MaxResponse: 256 << 20, SettingsRefresh: 5 * time.Minute, RelayedAccess: "read", Cache: kept, Auth: Auth{Kind: "bearer", TokenEnv: "LONG"}}},
		{Name: "writable", ViewName: "writable", Kind: "rest", Owner: "acme", Required: true, Request: 10 * time.Second, Breaker: usual, InFlight: 64,
			Rest: &Rest{URL: "https://writable.partner.example", Profile: "polaris", Connect: 2 * time.Second, MaxResponse: 256 << 20, SettingsRefresh: time.Minute,
				Headers: map[string]string{"Polaris-Realm": "sales"}, CAFile: filepath.Join(filepath.Dir(owner), "ca.pem"), CASum: cfg.Mounts[5].Rest.CASum, Separator: "%2E", Levels: 2,
				Quirks: Quirks{ThrottlesWith400: &yes, NoHEAD: &no}, Withhold: true,
				AllowedLocations: []string{"s3://partner-lake", "abfss://lake@account.dfs.core.windows.net/tables"},
				Cache:            Cache{TTL: 10 * time.Second, StaleIfDown: time.Hour, Size: 1 << 20},
				Auth: Auth{Kind: "exchange", TokenURL: "https://idp.partner.example/token", ClientID: "icefield", ClientSecretFile: owner,
					Scope: "all", Audience: "catalog", Resource: "https://catalog.partner.example"}}},
		{Name: "signed", ViewName: "signed", Kind: "rest", Owner: "acme", Required: true, ReadOnly: true, Request: 10 * time.Second, Breaker: usual, InFlight: 64,
			Rest: &Rest{URL: "https://glue.eu-central-1.amazonaws.com/iceberg", Connect: 2 * time.Second, MaxResponse: 256 << 20, SettingsRefresh: 5 * time.Minute, RelayedAccess: "read", Cache: kept,
				Auth: Auth{Kind: "sigv4", Service: "glue", Region: "eu-central-1", RoleARN: "arn:aws:iam::123456789012:role/lake", STSEndpoint: "https://sts.example.com",
					ExternalIDEnv: "LONG", AccessKeyIDEnv: "LONG", SecretAccessKeyEnv: "LONG", SessionTokenEnv: "LONG"}}},
		{Name: "named", ViewName: "named", Kind: "rest", Owner: "acme", Required: true, ReadOnly: true, Request: 10 * time.Second, Breaker: usual, InFlight: 64,
			Rest: &Rest{URL: "https://named.partner.example", Connect: 2 * time.Second, MaxResponse: 256 << 20, SettingsRefresh: 5 * time.Minute, RelayedAccess: "read", Cache: kept,
				Auth: Auth{Kind: "oauth2", ClientID: "icefield", ClientSecretFile: owner, Audience: "catalog", Resource: "https://catalog.partner.example", Basic: true, Refresh: true}}},
		{Name: "through", ViewName: "through", Kind: "rest", Owner: "acme", Required: true, ReadOnly: true, Request: 10 * time.Second, Breaker: usual, InFlight: 64,
			Rest: &Rest{URL: "https://through.partner.example", Connect: 2 * time.Second, MaxResponse: 256 << 20, SettingsRefresh: 5 * time.Minute, Cache: kept,
				Auth: Auth{Kind: "passthrough"}}},
	}, cfg.Mounts)
	dir := filepath.Dir(owner)
	assert.Equal(t, &Authentication{
		OIDC: []OIDC{
			{Name: "corp", Issuer: "https://idp.example.com/", JWKSURL: "https://idp.example.com/keys", Audience: []string{"icefield", "lake"}, TenantClaim: "tenant",
				RolesClaim: `https://acme\.example/claims.roles`, NameClaim: "sub", OperatorRoles: []string{"platform"}, Leeway: time.Minute, KeyRefresh: 90 * time.Second, Algorithms: []string{"ES256"},
				CAFile: filepath.Join(dir, "ca.pem"), CASum: cfg.Mounts[5].Rest.CASum, Relay: true, RelayScope: new(string)},
			{Name: "here", Issuer: "http://127.0.0.1:1", Audience: []string{"icefield"}, Tenant: "acme", RolesClaim: "roles", NameClaim: "name", Leeway: 30 * time.Second, KeyRefresh: 5 * time.Minute, Algorithms: Algorithms()},
		},
		Keys: []APIKey{
			{Name: "ci", Tenant: "acme", Roles: []string{"reader", "writer"}, Hash: sha256.Sum256([]byte("longenoughhunter2"))},
			{Name: "file", Tenant: "acme", Hash: sha256.Sum256([]byte("a-key-that-is-long-enough"))},
			{Name: "admin", Operator: true, Hash: sha256.Sum256([]byte("test"))},
		},
		Anonymous: &Anonymous{Tenant: "acme", Roles: []string{"reader"}},
	}, cfg.Auth)
	assert.Equal(t, Policies{Files: []string{dir + "/policies/*.cedar", "/etc/x.cedar"}, Builtin: true}, cfg.Policy)
	assert.Equal(t, []Tenant{{Name: "acme", Policies: []string{dir + "/policies/acme/*.cedar"}}}, cfg.Tenants)
	assert.Equal(t, Audit{Sink: "file", Path: dir + "/audit.jsonl", MaxSize: 1 << 20, Keep: 3, Queue: 7}, cfg.Audit)
	assert.Len(t, cfg.Mounts[5].Rest.CASum, 64)
	assert.Equal(t, []string{filepath.Join(dir, "api.key"), filepath.Join(dir, "ca.pem"), owner}, report.Included())
	var warnings []string
	for _, f := range report.Findings {
		warnings = append(warnings, f.Summary)
	}
	assert.Equal(t, []string{"Version in the URL", "Credentials in clear text"}, warnings)
}

func TestRelativePathsStartAtTheFolderOfTheirFile(t *testing.T) {
	cfg, report := Load("testdata/good/folder", environment)
	require.NotNil(t, cfg, text(t, report))
	dir, err := filepath.Abs("testdata/good/folder")
	require.NoError(t, err)
	assert.Equal(t, "unix:"+dir+"/icefield.sock", cfg.Server.Listen.String())
	assert.Equal(t, dir+"/one.db", cfg.Mounts[0].Native.Registry.Bolt)
	assert.Equal(t, "file://"+dir+"/two", cfg.Mounts[1].Native.Warehouse)
	assert.Len(t, cfg.Files, 2)
}

func TestTimeoutsFollowAShortServerTimeout(t *testing.T) {
	cfg, report := Parse("x.hcl", []byte("server {\n request_timeout = \"5s\"\n}\nmount \"a\" {\n backend = \"rest\"\n owner = \"o\"\n catalog_url = \"http://127.0.0.1:1\"\n}\n"), environment)
	require.NotNil(t, cfg, text(t, report))
	assert.Equal(t, 4*time.Second, cfg.Mounts[0].Request)
	assert.Equal(t, 2*time.Second, cfg.Mounts[0].Rest.Connect)
}

func TestTokensAreReadAtEachCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(" first\n"), 0o600))
	read := Auth{Kind: AuthBearer, TokenFile: file}.Token()
	token, err := read()
	require.NoError(t, err)
	assert.Equal(t, "first", token)
	require.NoError(t, os.WriteFile(file, []byte("second"), 0o600))
	token, err = read()
	require.NoError(t, err)
	assert.Equal(t, "second", token)
	require.NoError(t, os.Remove(file))
	_, err = read()
	assert.ErrorContains(t, err, file)

	t.Setenv("ICEFIELD_TEST_TOKEN", "third")
	read = Auth{Kind: AuthBearer, TokenEnv: "ICEFIELD_TEST_TOKEN"}.Token()
	token, err = read()
	require.NoError(t, err)
	assert.Equal(t, "third", token)
	t.Setenv("ICEFIELD_TEST_TOKEN", "")
	_, err = read()
	assert.ErrorContains(t, err, "ICEFIELD_TEST_TOKEN")
}

func TestEveryKindOfWarehouseTakesItsOwnStorageProperties(t *testing.T) {
	credentials := filepath.Join(t.TempDir(), "lake.json")
	require.NoError(t, os.WriteFile(credentials, []byte("{}"), 0o600))
	cfg, report := Parse("/etc/icefield/c.hcl", []byte(`
mount "g" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://g.db"
  warehouse_location = "gs://lake/g/"
  storage = {
    "gcs.keypath"                 = "key.json"
    "gcs.oauth2.token"            = env("TOKEN")
    "gcs.oauth2.token-expires-at" = "1893456000000"
    "gcs.no-auth"                 = false
  }
  vending "gcs" {
    credentials_file = "`+credentials+`"
    project_id       = "lake"
    sts_endpoint     = "http://127.0.0.1:1"
  }
}
mount "a" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://a.db"
  warehouse_location = "abfs://lake@account.dfs.core.windows.net/a"
  storage = {
    "adls.sas-token.account.dfs.core.windows.net" = env("TOKEN")
    "adls.protocol"                               = "https"
  }
  vending "azure" {
    tenant_id         = "t"
    client_id         = "c"
    client_secret_env = "TOKEN"
    duration          = "20h"
  }
}
`), environment)
	require.False(t, report.HasErrors(), text(t, report))
	require.Len(t, cfg.Mounts, 2)
	gcs, azure := cfg.Mounts[0].Native, cfg.Mounts[1].Native
	if cfg.Mounts[0].Name != "g" {
		gcs, azure = azure, gcs
	}
	assert.Equal(t, "gs://lake/g", gcs.Warehouse)
	assert.Equal(t, map[string]string{"gcs.keypath": "/etc/icefield/key.json", "gcs.oauth2.token": "hunter2",
		"gcs.oauth2.token-expires-at": "1893456000000", "gcs.no-auth": "false"}, gcs.Storage)
	assert.Equal(t, &Vending{Kind: "gcs", CredentialsFile: credentials, ProjectID: "lake", STSEndpoint: "http://127.0.0.1:1"}, gcs.Vending)
	assert.Equal(t, &Vending{Kind: "azure", TenantID: "t", ClientID: "c", ClientSecretEnv: "TOKEN", Duration: 20 * time.Hour}, azure.Vending)
	assert.Equal(t, "abfs://lake@account.dfs.core.windows.net/a", azure.Warehouse)
	assert.Equal(t, map[string]string{"adls.sas-token.account.dfs.core.windows.net": "hunter2", "adls.protocol": "https"}, azure.Storage)
}
