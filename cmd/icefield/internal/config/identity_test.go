package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parsed(t *testing.T, text string) *Config {
	t.Helper()
	cfg, report := Parse("icefield.hcl", []byte(text), environment)
	var b strings.Builder
	require.NoError(t, report.WriteText(&b))
	require.NotNil(t, cfg, b.String())
	return cfg
}

func remoteMount(name, url string) string {
	return fmt.Sprintf("mount %q {\n  backend = \"rest\"\n  owner = \"acme\"\n  catalog_url = %q\n}\n", name, url)
}

func TestReplicasAreOneInstanceAndOtherServersAreNot(t *testing.T) {
	table := remoteMount("a", "https://a.example") + remoteMount("b", "https://b.example")
	id := parsed(t, table).InstanceID()
	assert.Equal(t, id, parsed(t, "# the same, written otherwise\n"+strings.ReplaceAll(table, "  ", "\t")).InstanceID())
	assert.Regexp(t, `^[0-9a-f]{32}$`, id)
	for name, other := range map[string]string{
		"another remote":  remoteMount("a", "https://a.example") + remoteMount("b", "https://c.example"),
		"another address": "server {\n  listen = \"127.0.0.1:1\"\n}\n" + table,
		"another name":    "server {\n  name = \"lake\"\n}\n" + table,
		"a secret":        "server {\n  secret_env = \"LONG\"\n}\n" + table,
	} {
		assert.NotEqual(t, id, parsed(t, other).InstanceID(), name)
	}
}

func TestChangingOneMountLeavesTheMaterialOfTheOthers(t *testing.T) {
	before := parsed(t, remoteMount("a", "https://a.example")+remoteMount("b", "https://b.example")).Material()
	after := parsed(t, "server {\n  listen = \"127.0.0.1:1\"\n}\n"+remoteMount("c", "https://c.example")+remoteMount("b", "https://b.example")+remoteMount("a", "https://a2.example")).Material()
	assert.Equal(t, before["b"], after["b"])
	assert.NotEqual(t, before["a"], after["a"])
	assert.Len(t, after, 3)
}
