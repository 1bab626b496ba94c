package authn

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
)

func TestAPIKeysAreKnownByTheirHash(t *testing.T) {
	other := Key{Name: "a/b", Operator: true}
	var err error
	other.Hash, err = HashKey("0123456789abcdef")
	require.NoError(t, err)
	a := opened(t, Config{Keys: []Key{ci(t), other}}, quickPace())
	p, err := a.Authenticate(context.Background(), &policy.Credentials{APIKey: ciKey})
	require.NoError(t, err)
	require.Equal(t, &policy.Principal{ID: "key/ci", Name: "ci", Tenant: "acme", Roles: []string{"reader", "writer"}, Login: "api_key"}, p)
	p, err = a.Authenticate(context.Background(), bearerOf("0123456789abcdef"))
	require.NoError(t, err)
	require.Equal(t, "key/a%2Fb", p.ID)
	require.True(t, p.Operator)
	require.False(t, p.Forwardable, "an API key is for this server alone")
	for _, key := range []string{ciKey[:len(ciKey)-1], ciKey + "x", strings.ToUpper(ciKey), " " + ciKey, "", "0123456789abcde", fmt.Sprintf("%x", other.Hash), string(other.Hash[:])} {
		_, err := a.Authenticate(context.Background(), &policy.Credentials{APIKey: key})
		refused(t, err)
	}
}

func TestAShortKeyNeverLogsInHoweverItWasHashed(t *testing.T) {
	for _, key := range []string{"", "secret", "fifteen-chars-1", strings.Repeat("k", MaxKey+1), "with a blank in it", "tab\tin-the-middle", "schlüssel-mit-umlaut"} {
		_, err := HashKey(key)
		require.Error(t, err)
		if key != "" {
			require.NotContains(t, err.Error(), key)
		}
	}
	short := ci(t)
	short.Hash = hashOf("fifteen-chars-1")
	a := opened(t, Config{Keys: []Key{short}}, quickPace())
	_, err := a.Authenticate(context.Background(), &policy.Credentials{APIKey: "fifteen-chars-1"})
	refused(t, err)
}
