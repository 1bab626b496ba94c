package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

// outcome is everything that a mount's settings come to, as text.
func outcome(t *testing.T, m config.Mount) string {
	t.Helper()
	c, err := restConfig(m, surroundings{})
	require.NoError(t, err)
	c.Observe = nil
	opt := options(m, surroundings{})
	return fmt.Sprintf("%+v\n%+v\n%+v", c, c.Auth, opt)
}

// another changes a field to a value that it does not have.
func another(t *testing.T, field reflect.Value, name string) {
	t.Helper()
	switch field.Interface().(type) {
	case string:
		field.SetString(field.String() + "polaris")
	case bool:
		field.SetBool(!field.Bool())
	case int, int64, time.Duration:
		field.SetInt(field.Int() + 7)
	case *bool:
		yes := true
		field.Set(reflect.ValueOf(&yes))
	case []string:
		field.Set(reflect.ValueOf([]string{"s3://partner-lake"}))
	case map[string]string:
		field.Set(reflect.ValueOf(map[string]string{"X-Realm": "sales"}))
	default:
		t.Fatalf("%s: a kind of setting that this test does not know: %s", name, field.Type())
	}
}

// A setting that does nothing must not exist.
func TestEverySettingOfARemoteMountDoesSomething(t *testing.T) {
	ca, err := filepath.Abs("internal/config/testdata/good/ca.pem")
	require.NoError(t, err)
	t.Setenv("KEYpolaris", "a secret")
	base := func(kind string) config.Mount {
		return config.Mount{Name: "partner", ViewName: "partner", Kind: config.KindRest, Owner: "acme", ReadOnly: true, Request: time.Second, InFlight: 3,
			Breaker: config.Breaker{Failures: 2, OpenFor: time.Second},
			Rest:    &config.Rest{URL: "https://catalog.example", Connect: time.Second, MaxResponse: 1 << 20, SettingsRefresh: time.Minute, Auth: config.Auth{Kind: kind}}}
	}
	// try changes each field of a struct of the mount in turn.
	try := func(what, kind string, of func(*config.Mount) reflect.Value, but ...string) {
		fields := of(ptr(base(kind))).Type()
		for i := range fields.NumField() {
			name := fields.Field(i).Name
			if contains(but, name) {
				continue
			}
			m := base(kind)
			before := outcome(t, m)
			switch name {
			case "CAFile":
				m.Rest.CAFile = ca
			case "RelayedAccess":
				m.Rest.RelayedAccess = config.AccessWrite
			default:
				another(t, of(&m).Field(i), what+name)
			}
			assert.NotEqual(t, before, outcome(t, m), "%s%s does nothing", what, name)
		}
	}
	try("", config.AuthNone, func(m *config.Mount) reflect.Value { return reflect.ValueOf(m).Elem() }, "Kind", "Native", "Rest", "Breaker")
	try("breaker.", config.AuthNone, func(m *config.Mount) reflect.Value { return reflect.ValueOf(&m.Breaker).Elem() })
	// CASum tells whether the mount has to be made anew.
	try("rest.", config.AuthNone, func(m *config.Mount) reflect.Value { return reflect.ValueOf(m.Rest).Elem() }, "Auth", "Quirks", "Cache", "CASum")
	try("quirks.", config.AuthNone, func(m *config.Mount) reflect.Value { return reflect.ValueOf(&m.Rest.Quirks).Elem() })
	try("cache.", config.AuthNone, func(m *config.Mount) reflect.Value { return reflect.ValueOf(&m.Rest.Cache).Elem() })

	auth := func(m *config.Mount) reflect.Value { return reflect.ValueOf(&m.Rest.Auth).Elem() }
	// Where a secret is does not show in what is made of it: see below.
	token := []string{"Kind", "TokenEnv", "TokenFile"}
	client := []string{"TokenURL", "ClientID", "ClientSecretEnv", "ClientSecretFile", "Scope", "Audience", "Resource", "Basic", "Refresh"}
	keys := []string{"Service", "Region", "RoleARN", "STSEndpoint"}
	t.Setenv("polaris", "a secret") // what another environment variable is called
	secretKeys := []string{"ExternalIDEnv", "AccessKeyIDEnv", "SecretAccessKeyEnv", "SessionTokenEnv"}
	try("oauth2.", config.AuthOAuth2, auth, append(append(token, keys...), append(secretKeys, "ClientSecretEnv", "ClientSecretFile")...)...)
	try("exchange.", config.AuthExchange, auth, append(append(token, keys...), append(secretKeys, "ClientSecretEnv", "ClientSecretFile", "Refresh")...)...)
	try("sigv4.", config.AuthSigV4, auth, append(token, client...)...)
	for _, kind := range config.AuthKinds() {
		if kind != config.AuthNone {
			assert.NotEqual(t, outcome(t, base(config.AuthNone)), outcome(t, base(kind)), kind)
		}
	}
}

func TestSecretsAreReadFromWhereTheyAreSaidToBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("of a file\n"), 0o600))
	t.Setenv("ICEFIELD_TEST_SECRET", "of a variable")
	for want, a := range map[string]config.Auth{
		"of a file":     {TokenFile: file, ClientSecretFile: file},
		"of a variable": {TokenEnv: "ICEFIELD_TEST_SECRET", ClientSecretEnv: "ICEFIELD_TEST_SECRET"},
	} {
		for _, read := range []func() (string, error){a.Token(), a.ClientSecret()} {
			got, err := read()
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	}
	assert.Nil(t, config.Auth{Kind: config.AuthExchange}.ClientSecret())
	_, err := signature(config.Auth{AccessKeyIDEnv: "ICEFIELD_TEST_UNSET"})
	assert.ErrorContains(t, err, "ICEFIELD_TEST_UNSET")
}

func TestAProfileIsOverriddenKeyByKey(t *testing.T) {
	no := false
	preset := profile(&config.Rest{Profile: "unity"})
	require.Equal(t, "unity", preset.Name)
	own := profile(&config.Rest{Profile: "unity", Separator: "%2E", Levels: 7, Quirks: config.Quirks{NoHEAD: &no}})
	assert.Equal(t, "%2E", own.Separator)
	assert.Equal(t, 7, own.Levels)
	assert.False(t, own.NoHEAD)
	own.Separator, own.Levels, own.NoHEAD = preset.Separator, preset.Levels, preset.NoHEAD
	assert.Equal(t, preset, own)
}

func ptr[T any](v T) *T { return &v }

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
