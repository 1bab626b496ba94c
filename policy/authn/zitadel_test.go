package authn

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

// PyIceberg's credential=id:secret, DuckDB's Basic and Trino's exchange against a
// provider that is not ours, while its keys rotate.
func TestARealProviderLetsEveryKindOfClientIn(t *testing.T) {
	z := authntest.NewProvider(t)
	none := ""
	a := opened(t, Config{OIDC: []OIDC{{Name: "corp", Issuer: z.URL(), Audience: []string{"icefield"}, TenantClaim: "tenant", RolesClaim: "realm_access.roles",
		Leeway: DefaultLeeway, Relay: true, RelayScope: &none}}, Keys: []Key{ci(t)}}, quickPace())
	want := &policy.Principal{ID: "corp/etl", Name: "etl", Tenant: "acme", Roles: []string{"writer"}, Login: "oidc", Forwardable: true}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"etl"}, "client_secret": {authntest.ProviderSecret}, "scope": {"catalog"}}
	for range 3 {
		first := answerOf(t, ask(t, a, form))
		require.Equal(t, want, logsIn(t, a, first["access_token"]))
		require.Positive(t, first["expires_in"])

		require.NoError(t, z.Rotate())
		second := answerOf(t, ask(t, a, url.Values{"grant_type": {"client_credentials"}}, "Authorization", basic("etl", url.QueryEscape(authntest.ProviderSecret))))
		require.Equal(t, want, logsIn(t, a, second["access_token"]), "signed with a key that was not there when the server started")
		require.Equal(t, want, logsIn(t, a, first["access_token"]))

		token := second["access_token"].(string)
		exchanged := answerOf(t, ask(t, a, url.Values{"grant_type": {grantExchange}, "subject_token": {token}, "subject_token_type": {accessTokenType}, "audience": {"icefield"}},
			"Authorization", basic("etl", url.QueryEscape(authntest.ProviderSecret))))
		require.NotEqual(t, token, exchanged["access_token"])
		p := logsIn(t, a, exchanged["access_token"])
		require.Equal(t, "acme", p.Tenant)
		require.Equal(t, "etl", p.Name)

		// Java's clients name no audience when they renew a token, and the provider's token is then for the client itself.
		renewed := answerOf(t, ask(t, a, url.Values{"grant_type": {grantExchange}, "subject_token": {token}, "subject_token_type": {accessTokenType}},
			"Authorization", basic("etl", url.QueryEscape(authntest.ProviderSecret))))
		require.Equal(t, want, logsIn(t, a, renewed["access_token"]))
	}
	form.Set("client_secret", "wrong")
	status, code := failureOf(t, ask(t, a, form))
	require.Equal(t, 401, status)
	require.Equal(t, "invalid_client", code)
}
