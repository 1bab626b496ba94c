package config

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARegistryIsPrintedWithoutItsPassword(t *testing.T) {
	cfg, report := Parse("/etc/icefield/x.hcl", []byte(`
mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = env("DATABASE")
  warehouse_location = "s3://lake/prod"
}
`), environment)
	require.NotNil(t, cfg, text(t, report))
	registry := cfg.Mounts[0].Native.Registry
	assert.Equal(t, "postgres://icefield:hunter2@db/prod", registry.Postgres)
	assert.Equal(t, "postgres://db:5432/prod", registry.Place())
	asJSON, err := json.Marshal(cfg)
	require.NoError(t, err)
	for _, printed := range []string{fmt.Sprint(registry), fmt.Sprintf("%v %+v %s", registry, *cfg.Mounts[0].Native, registry), string(asJSON), string(canonical(cfg.Mounts[0]))} {
		assert.NotContains(t, printed, "hunter2")
		assert.Contains(t, printed, "postgres://db:5432/prod")
	}
}

// Replicas may log in as different users, and a password may be changed: the
// mount stays the same one.
func TestAnotherLoginIsTheSameRegistry(t *testing.T) {
	one, err := ParseRegistry("postgres://icefield:hunter2@db/prod", "/")
	require.NoError(t, err)
	other, err := ParseRegistry("postgresql://another:changed@DB:5432/prod?sslmode=disable&schema=icefield", "/")
	require.NoError(t, err)
	elsewhere, err := ParseRegistry("postgres://icefield:hunter2@db/prod?schema=b", "/")
	require.NoError(t, err)
	assert.Equal(t, canonical(one), canonical(other))
	assert.NotEqual(t, canonical(one), canonical(elsewhere))
}
