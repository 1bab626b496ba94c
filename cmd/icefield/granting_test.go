package main

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
)

func TestEverySettingOfARoleDoesSomething(t *testing.T) {
	ca, err := filepath.Abs("internal/config/testdata/good/ca.pem")
	require.NoError(t, err)
	t.Setenv("polaris", "a secret")
	base := func() *config.Native {
		return &config.Native{Warehouse: "s3://lake/x", Vending: &config.Vending{Kind: config.VendAWS, Duration: time.Hour, RoleARN: "arn:aws:iam::123456789012:role/lake"}}
	}
	plain, err := roleOptions(base())
	require.NoError(t, err)
	// What says which kind it is, is for other kinds, or tells whether the mount has
	// to be made anew.
	but := []string{"Kind", "CASum", "CredentialsFile", "ProjectID", "TenantID", "ClientID", "ClientSecretEnv"}
	fields := reflect.TypeFor[config.Vending]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if contains(but, name) {
			continue
		}
		n := base()
		if name == "CAFile" {
			n.Vending.CAFile = ca
		} else {
			another(t, reflect.ValueOf(n.Vending).Elem().Field(i), name)
		}
		opt, err := roleOptions(n)
		require.NoError(t, err, name)
		assert.NotEqual(t, plain, opt, "%s does nothing", name)
	}
	_, err = roleOptions(&config.Native{Vending: &config.Vending{ExternalIDEnv: "ICEFIELD_TEST_UNSET"}})
	assert.ErrorContains(t, err, "ICEFIELD_TEST_UNSET")
}

func TestTheLoginOfTheStorageAssumesTheRoleUnlessAnotherIsNamed(t *testing.T) {
	t.Setenv("ID", "other-id")
	t.Setenv("KEY", "other-key")
	n := &config.Native{Storage: map[string]string{"s3.access-key-id": "id", "s3.secret-access-key": "key", "s3.session-token": "token", "client.region": "eu-central-1"},
		Vending: &config.Vending{Kind: config.VendAWS}}
	opt, err := roleOptions(n)
	require.NoError(t, err)
	assert.Equal(t, []string{"id", "key", "token", "eu-central-1"}, []string{opt.AccessKeyID, opt.SecretAccessKey, opt.SessionToken, opt.Region})
	n.Vending.AccessKeyIDEnv, n.Vending.SecretAccessKeyEnv, n.Vending.Region = "ID", "KEY", "us-east-1"
	opt, err = roleOptions(n)
	require.NoError(t, err)
	assert.Equal(t, []string{"other-id", "other-key", "", "us-east-1"}, []string{opt.AccessKeyID, opt.SecretAccessKey, opt.SessionToken, opt.Region})
}

func TestMountsThatVendAndSignSaySo(t *testing.T) {
	t.Setenv("KEY", "a-secret-key")
	s3 := func(name, more string) string {
		return `
mount "` + name + `" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://` + name + `.db"
  warehouse_location = "s3://` + name + `/warehouse"
  storage = {
    "s3.endpoint"          = "http://127.0.0.1:1"
    "s3.region"            = "eu-central-1"
    "s3.access-key-id"     = env("KEY")
    "s3.secret-access-key" = env("KEY")
  }
` + more + "}\n"
	}
	vending := "  vending \"aws\" {\n    role_arn = \"arn:aws:iam::123456789012:role/lake\"\n    sts_endpoint = \"http://127.0.0.1:1\"\n  }\n"
	s, log := started(t, load(t, t.TempDir(), s3("plain", "")+s3("vends", vending)+s3("signs", "  signing = true\n")+s3("both", vending+"  signing = true\n")))
	for name, want := range map[string][2]bool{"plain": {false, false}, "vends": {true, false}, "signs": {false, true}, "both": {true, true}} {
		endpoints := must(t, s.url(), "", "GET", "/v1/config?warehouse="+name, "")
		has := func(endpoint string) bool { return strings.Contains(endpoints, endpoint) }
		assert.Equal(t, want, [2]bool{has("GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"), has("POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign")}, name)
		// What stands around a registry hides nothing of it.
		m := s.catalogs.current.Load().find(name).row
		assert.NotNil(t, m.Jobs, name)
		assert.NotNil(t, m.Log, name)
		assert.NotNil(t, m.TableAt, name)
	}
	assert.NotContains(t, log.String(), "a-secret-key")
}

func TestRelayedCredentialsAreAsWideAsTheMountSays(t *testing.T) {
	rest := func(access string) config.Mount {
		return config.Mount{Kind: config.KindRest, Rest: &config.Rest{RelayedAccess: access}}
	}
	assert.Equal(t, mounts.ReadStorage, relays(rest(config.AccessRead)))
	assert.Equal(t, mounts.WriteStorage, relays(rest(config.AccessWrite)))
	assert.Equal(t, mounts.NoStorage, relays(rest("")), "the remote decides for each caller")
	assert.Equal(t, mounts.NoStorage, relays(config.Mount{Kind: config.KindNative, Native: &config.Native{}}))
}

func TestMountsSayWhatTheyDoForClientsWithoutKeys(t *testing.T) {
	for want, n := range map[string]*config.Native{
		"": {}, "vend": {Vending: &config.Vending{}}, "sign": {Signing: true}, "vend, sign": {Vending: &config.Vending{}, Signing: true},
	} {
		assert.Equal(t, want, options(config.Mount{Kind: config.KindNative, Native: n}, surroundings{}).Credentials)
	}
}
