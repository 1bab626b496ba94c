// Package authn finds out who calls: by tokens of OpenID issuers, by API keys and
// by TLS client certificates.
//
//	logins, err := authn.Open(ctx, authn.Config{
//		OIDC: []authn.OIDC{{Name: "corp", Issuer: "https://idp.example.com/realms/corp", Audience: []string{"icefield"},
//			TenantClaim: "tenant", RolesClaim: "realm_access.roles", Leeway: authn.DefaultLeeway, Relay: true}},
//		Keys: []authn.Key{{Name: "ci", Tenant: "acme", Roles: []string{"writer"}, Hash: hash}},
//	})
//	principal, err := logins.Authenticate(ctx, credentials)
//
// # Which login decides
//
// A bearer token, or an X-Api-Key header: both at once are refused. A bearer
// token whose "iss" is exactly that of a configured issuer is that issuer's and
// no other login is tried; every other one is looked up as an API key. A client
// certificate decides where there is neither.
//
// # Tokens
//
// A token is a JWT in compact form, of at most 16 KiB, signed with an algorithm of
// the list (never "none" or HS*) by a key that its issuer publishes at this time.
// ID tokens and access tokens are both taken, if "aud" names one of the audiences:
// the header's "typ" may be absent, "JWT" or "at+jwt". Logout tokens (an "events"
// claim) are not; tokens that are bound to a client certificate (RFC 8705) are
// taken with that certificate only, and those bound in another way never. "exp" is
// required. Headers that name keys (jku, jwk, x5u, x5c) are ignored, "crit" is
// refused, claims that stand twice are refused.
//
// Claims are named by paths: "tenant" or "realm_access.roles". A claim whose own
// name is the whole path is taken first; elsewhere a dot leads into the claim, and
// "\." is a dot in a name, "\\" a backslash: `https://example\.com/claims.tenant`.
//
// Keys are fetched again when a token names one that is not known, at most every
// two seconds however many ask, and every five minutes (KeyRefresh), so that this is
// how long a key lives on after its issuer has withdrawn it. While the issuer cannot be
// reached the keys that are known stay in use, and what would need another is
// answered with Unavailable. A verified token is remembered by its hash for up to
// five minutes, never longer than it is valid nor than its key is published.
//
// # Names
//
// A principal's id is EntityID(login, name): "corp/alice", "key/ci",
// "certificate/etl". The name is the name claim ("sub"); a token without it has an
// id of three parts, as "corp/client_id/etl", so that it is nobody else's.
//
// # Old clients
//
// [Authn.Token] is POST /v1/oauth/tokens. An API key given as client secret (the
// client id is ignored) or as subject token comes back as the access token.
// Everything else goes to the one issuer that relays.
//
// What is not here: sessions, log-in pages, token introspection, encrypted tokens.
//
// Layer: a part of policy; below router.
package authn
