package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEverySettingOfTheServerIsTakenOverOrNeedsARestart(t *testing.T) {
	const full = `server {
  name            = "lake"
  listen          = "127.0.0.1:1"
  secret_env      = "LONG"
  request_timeout = "40s"
  max_body        = "1MiB"
  max_memory      = "2GiB"
  shutdown_grace  = "1s"
  trusted_proxies = ["10.0.0.0/8"]
}
`
	mount := remoteMount("a", "https://a.example")
	before := parsed(t, mount).Server
	restart := map[string]bool{"listen": true, "secret_env": true, "request_timeout": true, "max_memory": true}
	for _, key := range serverShape.attrs {
		var line string
		for l := range strings.Lines(full) {
			if strings.HasPrefix(strings.TrimSpace(l), key+" ") {
				line = l
			}
		}
		require.NotEmpty(t, line, key)
		after := parsed(t, "server {\n"+line+"}\n"+mount).Server
		require.NotEqual(t, before, after, key)
		var want []string
		if restart[key] {
			want = []string{"server." + key}
		}
		assert.Equal(t, want, before.NeedsRestart(after), key)
		assert.Empty(t, after.NeedsRestart(after), key)
	}
}

func TestAMountIsAnotherWhenWhatItsValuesCameFromChanges(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	pem, err := os.ReadFile("testdata/good/ca.pem")
	require.NoError(t, err)
	password := "one"
	read := func() Mount {
		cfg, report := Parse(filepath.Join(dir, "c.hcl"), []byte(`
mount "a" {
  backend            = "native"
  owner              = file("owner.txt")
  catalog_url        = env("URL")
  warehouse_location = "s3://bucket/a"
}
mount "b" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://b.example"
  ca_file     = "ca.pem"
  auth "bearer" {
    token_file = "token"
  }
}
`), Options{LookupEnv: func(string) (string, bool) { return "postgres://u:" + password + "@db/prod", true }})
		require.False(t, report.HasErrors(), text(t, report))
		assert.Equal(t, []string{filepath.Join(dir, "ca.pem"), filepath.Join(dir, "owner.txt")}, report.Included())
		both := cfg.Mounts[0]
		both.Rest = cfg.Mounts[1].Rest
		return both
	}
	put("owner.txt", "acme")
	put("ca.pem", string(pem))
	put("token", "one")
	first := read()
	assert.True(t, first.Equal(read()))
	put("token", "two")
	assert.True(t, first.Equal(read()), "a secret that is read at each use is no change")
	put("owner.txt", "other")
	assert.False(t, first.Equal(read()))
	put("owner.txt", "acme")
	put("ca.pem", string(pem)+"\n")
	assert.False(t, first.Equal(read()))
	put("ca.pem", string(pem))
	password = "two"
	assert.False(t, first.Equal(read()))
}
