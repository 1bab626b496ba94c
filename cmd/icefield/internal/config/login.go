package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/icefield/icefield/mounts"
)

var (
	loginShape = shape{blocks: []hcl.BlockHeaderSchema{
		{Type: "oidc", LabelNames: []string{"name"}}, {Type: "api_key", LabelNames: []string{"name"}},
		{Type: "certificate", LabelNames: []string{"name"}}, {Type: "anonymous"},
	}}
	oidcShape = shape{attrs: []string{"issuer", "jwks_url", "audience", "tenant", "tenant_claim", "roles_claim", "name_claim", "operator_roles",
		"leeway", "key_refresh", "algorithms", "ca_file", "token_relay", "relay_scope"}}
	apiKeyShape      = shape{attrs: []string{"tenant", "roles", "operator", "key_env", "key_file", "hash"}}
	certificateShape = shape{attrs: []string{"tenant", "roles", "operator", "subject", "dns_name", "uri", "email"}}
	anonymousShape   = shape{attrs: []string{"tenant", "roles"}}
)

// MinKey is the shortest API key, in characters.
const MinKey = 16

// authentication reads the auth block of the server; nil means none.
func (l *loader) authentication(block *hcl.Block) *Authentication {
	if block == nil {
		return nil
	}
	content := l.content(block.Body, loginShape)
	l.once(content, "anonymous")
	auth := &Authentication{}
	names := map[string]*hcl.Block{}
	for _, b := range content.Blocks {
		clear(l.meant)
		if b.Type != "anonymous" {
			l.loginName(b, names)
		}
		switch b.Type {
		case "oidc":
			auth.OIDC = append(auth.OIDC, l.oidc(b, auth.OIDC))
		case "api_key":
			auth.Keys = append(auth.Keys, l.apiKey(b, auth.Keys))
		case "certificate":
			auth.Certificates = append(auth.Certificates, l.certificate(b, auth.Certificates))
		case "anonymous":
			a := l.content(b.Body, anonymousShape).Attributes
			auth.Anonymous = &Anonymous{
				Tenant: l.tenantName(a["tenant"], l.needed(b, a["tenant"], "tenant", `Say which tenant they belong to who call without credentials: tenant = "…".`)),
				Roles:  l.roles(a["roles"]),
			}
		}
	}
	if len(content.Blocks) == 0 && !l.diags.HasErrors() {
		l.problem(block.DefRange, "Nobody can log in", `The auth block names no way to log in. Write a block oidc "NAME" { … }, api_key "NAME" { … } or certificate "NAME" { … } into it, or leave it out: then everybody is the operator, and the server listens on this machine only.`)
	}
	l.relays(content, auth)
	return auth
}

// loginName checks what a login is called, which is part of who somebody is.
func (l *loader) loginName(b *hcl.Block, names map[string]*hcl.Block) {
	name, at := b.Labels[0], b.LabelRanges[0]
	if err := mounts.CheckName(name); err != nil {
		l.problem(at, "Invalid name", fmt.Sprintf("The name of a login is part of the name of everybody who uses it, and follows the rules of a mount's: %v.", err))
		return
	}
	if taken := []string{"key", "certificate", "anonymous"}; b.Type == "oidc" && slices.Contains(taken, name) {
		l.problem(at, "Name taken", fmt.Sprintf("Users of an issuer %q could be taken for those of another kind of login, which are called %s/…. Choose another name.", name, name))
	}
	id := b.Type + " " + name
	if earlier := names[id]; earlier != nil {
		l.problem(at, "Duplicate login", fmt.Sprintf("%s %q stands already at %s. Rename one or leave it out.", b.Type, name, place(earlier.DefRange)))
	}
	names[id] = b
}

// relays decides whose tokens the server's own token route gives: of the only
// issuer, unless its keys are named because its discovery is not to be relied on,
// or of the one that says so.
func (l *loader) relays(content *hcl.BodyContent, auth *Authentication) {
	blocks := content.Blocks.OfType("oidc")
	said := -1
	for i, b := range blocks {
		attrs, _ := b.Body.JustAttributes()
		if attrs["token_relay"] == nil {
			auth.OIDC[i].Relay = len(blocks) == 1 && attrs["jwks_url"] == nil
		}
		if attrs["relay_scope"] != nil && !auth.OIDC[i].Relay {
			l.problem(attrs["relay_scope"].NameRange, "Nothing to set", "relay_scope is for the issuer whose tokens this server's own route gives. Write token_relay = true, or leave relay_scope out.")
		}
		if attrs["token_relay"] == nil {
			continue
		}
		if auth.OIDC[i].Relay && said >= 0 {
			l.problem(attrs["token_relay"].NameRange, "Two issuers for one route", fmt.Sprintf("Tokens at this server's own route come from one issuer, and that is %q at %s already.", auth.OIDC[said].Name, place(blocks[said].DefRange)))
		}
		if auth.OIDC[i].Relay {
			said = i
		}
	}
}

func (l *loader) oidc(b *hcl.Block, earlier []OIDC) OIDC {
	a := l.content(b.Body, oidcShape).Attributes
	o := OIDC{Name: b.Labels[0]}
	o.Issuer = l.issuer(a["issuer"], l.needed(b, a["issuer"], "issuer", `Say whose tokens are believed: issuer = "https://idp.example.com/realms/corp", exactly as its tokens have it.`))
	for _, other := range earlier {
		if o.Issuer != "" && o.Issuer == other.Issuer {
			l.refuse(a["issuer"], "Duplicate issuer", fmt.Sprintf("The issuer is that of oidc %q already, and a token has one login. Give one block both audiences.", other.Name))
		}
	}
	o.JWKSURL = l.issuer(a["jwks_url"], l.text(a["jwks_url"], ""))
	if a["audience"] == nil {
		l.missing(b, "audience", `Say for whom tokens have to be, or every token of the issuer, for whatever service, would be a login: audience = ["icefield"].`)
	}
	o.Audience = l.list(a["audience"], 100)
	o.Tenant = l.tenantName(a["tenant"], l.text(a["tenant"], ""))
	o.TenantClaim = l.claim(a["tenant_claim"], "")
	o.RolesClaim = l.claim(a["roles_claim"], DefaultRolesClaim)
	o.NameClaim = l.claim(a["name_claim"], DefaultNameClaim)
	o.OperatorRoles = l.roles(a["operator_roles"])
	switch {
	case a["tenant"] != nil && a["tenant_claim"] != nil:
		l.problem(a["tenant_claim"].NameRange, "Two tenants", "The tenant is the same for everybody (tenant), or stands in the token (tenant_claim), not both. Leave one out.")
	case a["tenant"] == nil && a["tenant_claim"] == nil && a["operator_roles"] == nil:
		l.missing(b, "tenant", `Say which tenant the users belong to: tenant_claim = "…", the claim that names it, or tenant = "…" for all of them.`)
	}
	if a["tenant"] != nil && a["operator_roles"] != nil {
		l.warn(a["operator_roles"], "Operators of one tenant's issuer", "An operator is an admin of every tenant, and whoever can put a role into this issuer's tokens makes one. "+
			"If the tenant runs the issuer itself, leave operator_roles out and let operators log in elsewhere.")
	}
	o.Leeway = l.duration(a["leeway"], DefaultLeeway, 0, 5*time.Minute)
	o.KeyRefresh = l.duration(a["key_refresh"], DefaultKeyRefresh, time.Second, time.Hour)
	o.Algorithms = l.algorithms(a["algorithms"])
	if o.CAFile = l.path(a["ca_file"], l.text(a["ca_file"], "")); o.CAFile != "" {
		sum := sha256.Sum256(l.authorities(a["ca_file"], o.CAFile))
		o.CASum = hex.EncodeToString(sum[:])
		if strings.HasPrefix(o.Issuer, "http:") {
			l.refuse(a["ca_file"], "Nothing to certify", "The issuer is asked over http, where there are no certificates. Leave ca_file out.")
		}
	}
	o.Relay = l.boolean(a["token_relay"], false)
	if v, ok := l.value(a["relay_scope"], cty.String); ok {
		scope := v.AsString()
		o.RelayScope = &scope
		if len(scope) > 1024 || strings.ContainsFunc(scope, func(r rune) bool { return r < ' ' || r > '~' }) {
			l.refuse(a["relay_scope"], "Invalid scope", "relay_scope is visible ASCII of at most 1024 characters; empty asks for no scope.")
		}
	}
	return o
}

// issuer checks the URL of an issuer. What says who somebody is must not be
// changed on the way, so it is not fetched over http.
func (l *loader) issuer(attr *hcl.Attribute, s string) string {
	if s == "" || l.endpoint(attr, s) == "" {
		return ""
	}
	if clearText(s) {
		l.refuse(attr, "Issuer over http", fmt.Sprintf("%s is read over http, so anybody on the way could let in whom they like. Use https; http is for an issuer on this machine only.", attr.Name))
		return ""
	}
	return s // an issuer is compared with its slash at the end
}

// claim reads the dotted path of a claim.
func (l *loader) claim(attr *hcl.Attribute, def string) string {
	s := l.text(attr, def)
	if s == "" {
		return ""
	}
	// "\." is a dot in a name, and so is any dot behind a backslash of its own.
	names := strings.NewReplacer(`\\`, "x", `\.`, "x").Replace(s)
	parts := strings.Split(names, ".")
	if len(s) > 256 || len(parts) > 16 || slices.Contains(parts, "") || strings.Contains(names, `\`) {
		l.refuse(attr, "Invalid claim", fmt.Sprintf(`%s is the name of a claim, with dots between the steps to one that lies in others: "realm_access.roles". A dot in a name is written "\\." It has at most 16 steps and 256 bytes.`, attr.Name))
		return def
	}
	return s
}

// Algorithms are those that tokens can be signed with: of the kinds where who
// checks a signature cannot make one.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

func (l *loader) algorithms(attr *hcl.Attribute) []string {
	if attr == nil {
		return Algorithms()
	}
	var all []string
	l.each(attr, len(Algorithms()), func(at hcl.Range, s string) {
		why := "There is no such algorithm."
		switch {
		case slices.Contains(Algorithms(), s):
			all = append(all, s)
			return
		case strings.EqualFold(s, "none"):
			why = "A token without a signature could be anybody's work."
		case strings.HasPrefix(strings.ToUpper(s), "HS"):
			why = "With a shared secret whoever can check a token can make one, and a public key that is known to all could be taken for the secret."
		default:
			if near := nearest(strings.ToLower(s), lower(Algorithms())); near != "" {
				why = fmt.Sprintf("There is no such algorithm. Did you mean %q?", Algorithms()[slices.Index(lower(Algorithms()), near)])
			}
		}
		l.problem(at, "Algorithm not accepted", why+" Known: "+strings.Join(Algorithms(), ", ")+".")
	})
	return all
}

func lower(all []string) []string {
	out := slices.Clone(all)
	for i := range out {
		out[i] = strings.ToLower(out[i])
	}
	return out
}

// roles reads names of roles, sorted.
func (l *loader) roles(attr *hcl.Attribute) []string {
	all := l.list(attr, 100)
	slices.Sort(all)
	for _, role := range all {
		if len(role) > 256 {
			l.refuse(attr, "Value too long", "A role's name has at most 256 bytes.")
		}
	}
	return all
}

// list reads a list of texts.
func (l *loader) list(attr *hcl.Attribute, most int) []string {
	var all []string
	l.each(attr, most, func(_ hcl.Range, s string) { all = append(all, s) })
	return all
}

// tenantName checks the name of a tenant: any text of at most 256 bytes without
// control characters.
func (l *loader) tenantName(attr *hcl.Attribute, name string) string {
	if len(name) > 256 {
		l.refuse(attr, "Value too long", "A tenant's name has at most 256 bytes.")
	}
	return name
}
