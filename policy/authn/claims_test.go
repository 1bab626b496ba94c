package authn

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

func login(t *testing.T, change func(o *OIDC), claims map[string]any) (*policy.Principal, error) {
	t.Helper()
	issuer := authntest.New(t, authntest.Options{})
	o := corp(issuer)
	change(&o)
	a := opened(t, Config{OIDC: []OIDC{o}}, quickPace())
	return a.Authenticate(context.Background(), bearerOf(issuer.Mint(claims)))
}

func TestClaimsLieAtTheEndOfPaths(t *testing.T) {
	nested := map[string]any{"sub": "alice", "org": map[string]any{"id": "acme"}, "realm_access": map[string]any{"roles": []string{"writer"}}}
	p, err := login(t, func(o *OIDC) { o.TenantClaim, o.RolesClaim = "org.id", "realm_access.roles" }, nested)
	require.NoError(t, err)
	require.Equal(t, "acme", p.Tenant)
	require.Equal(t, []string{"writer"}, p.Roles)

	literal := map[string]any{"sub": "alice", "org.id": "acme", "org": map[string]any{"id": "globex"}}
	p, err = login(t, func(o *OIDC) { o.TenantClaim = "org.id" }, literal)
	require.NoError(t, err)
	require.Equal(t, "acme", p.Tenant, "a claim that is called like the whole path comes first")

	escaped := map[string]any{"sub": "alice", "https://example.com/claims": map[string]any{"tenant": "acme", `a\b`: "x y"}}
	p, err = login(t, func(o *OIDC) {
		o.TenantClaim, o.RolesClaim = `https://example\.com/claims.tenant`, `https://example\.com/claims.a\\b`
	}, escaped)
	require.NoError(t, err)
	require.Equal(t, "acme", p.Tenant)
	require.Equal(t, []string{"x", "y"}, p.Roles)

	_, err = login(t, func(o *OIDC) { o.TenantClaim = "sub.tenant" }, nested)
	refused(t, err)
}

func TestPathsThatLeadNowhereAreRefused(t *testing.T) {
	for _, s := range []string{".", "a.", ".a", "a..b", `a\`, `a\b`, strings.Repeat("a.", 16) + "a", strings.Repeat("a", 257)} {
		_, err := parsePath(s)
		require.Error(t, err, s)
	}
}

func TestRolesWithOddCharactersSurviveExactly(t *testing.T) {
	odd := []string{"a b", "a/b", "a%2Fb", `quote"d`, "é", "e\u0301", "Reader", "reader", "emoji 🧊", "tab\there", "Icefield::Group::\"x\""}
	p, err := login(t, func(*OIDC) {}, with(map[string]any{"roles": odd}))
	require.NoError(t, err)
	require.ElementsMatch(t, odd, p.Roles)

	p, err = login(t, func(*OIDC) {}, with(map[string]any{"roles": "  writer reader  writer "}))
	require.NoError(t, err)
	require.Equal(t, []string{"reader", "writer"}, p.Roles)

	p, err = login(t, func(*OIDC) {}, with(map[string]any{"roles": nil}))
	require.NoError(t, err)
	require.Empty(t, p.Roles)
}

func TestOperatorsComeFromTheConfigurationOnly(t *testing.T) {
	claims := map[string]any{"sub": "root", "roles": []string{"platform"}, "operator": true}
	_, err := login(t, func(*OIDC) {}, claims)
	refused(t, err)
	p, err := login(t, func(o *OIDC) { o.OperatorRoles = []string{"platform"} }, claims)
	require.NoError(t, err)
	require.True(t, p.Operator)
	require.Empty(t, p.Tenant, "an operator needs no tenant")
	p, err = login(t, func(o *OIDC) { o.OperatorRoles = []string{"platform"} }, with(nil))
	require.NoError(t, err)
	require.False(t, p.Operator)
	_, err = login(t, func(o *OIDC) { o.OperatorRoles = []string{"platform"} }, map[string]any{"sub": "root", "roles": "platform", "tenant": 7})
	refused(t, err)
}

func TestATenantThatIsFixedIsEverybodys(t *testing.T) {
	p, err := login(t, func(o *OIDC) { o.TenantClaim, o.Tenant = "", "acme" }, map[string]any{"sub": "alice", "tenant": "globex"})
	require.NoError(t, err)
	require.Equal(t, "acme", p.Tenant)
}

func TestNoTwoNamesMakeOnePrincipal(t *testing.T) {
	ids := map[string]string{}
	for name, c := range map[string]struct {
		claim  string
		claims map[string]any
	}{
		"by subject":                   {"", with(nil)},
		"client without subject":       {"", with(map[string]any{"sub": nil, "client_id": "alice"})},
		"party without subject":        {"", with(map[string]any{"sub": nil, "azp": "alice"})},
		"name claim missing":           {"preferred_username", with(nil)},
		"slash in the name":            {"", with(map[string]any{"sub": "sub/alice"})},
		"slash written out":            {"", with(map[string]any{"sub": "sub%2Falice"})},
		"another case":                 {"", with(map[string]any{"sub": "Alice"})},
		"another Unicode form":         {"", with(map[string]any{"sub": "alice\u0301"})},
		"the same letter, precomposed": {"", with(map[string]any{"sub": "alicé"})},
	} {
		p, err := login(t, func(o *OIDC) { o.NameClaim = c.claim }, c.claims)
		require.NoError(t, err, name)
		require.NotContains(t, ids, p.ID, name)
		ids[p.ID] = name
		require.True(t, strings.HasPrefix(p.ID, "corp/"))
	}
	require.Equal(t, "client without subject", ids["corp/client_id/alice"])
}

func TestAnEMailThatIsNotVerifiedNamesNobody(t *testing.T) {
	byMail := func(o *OIDC) { o.NameClaim = "email" }
	_, err := login(t, byMail, with(map[string]any{"email": "a@example.com", "email_verified": false}))
	refused(t, err)
	p, err := login(t, byMail, with(map[string]any{"email": "a@example.com", "email_verified": true}))
	require.NoError(t, err)
	require.Equal(t, "corp/a@example.com", p.ID)
}
