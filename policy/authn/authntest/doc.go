// Package authntest is an OpenID issuer on loopback for tests and examples:
// discovery, keys that rotate and can be revoked, and a token endpoint with
// client credentials, token exchange and refresh.
//
//	issuer := authntest.New(t, authntest.Options{})
//	token := issuer.Mint(map[string]any{"sub": "alice", "tenant": "acme", "roles": []string{"reader"}})
//	issuer.Rotate()
//
// It is no issuer to run: it believes every client that it was told of, forgets
// everything when it ends, and gives out tokens with whatever claims it is asked
// for.
//
// Layer: a part of policy/authn that imports nothing of ours.
package authntest
