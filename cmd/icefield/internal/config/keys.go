package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// apiKey reads one key; earlier are those before it.
func (l *loader) apiKey(b *hcl.Block, earlier []APIKey) APIKey {
	a := l.content(b.Body, apiKeyShape).Attributes
	k := APIKey{Name: b.Labels[0]}
	k.Tenant, k.Roles, k.Operator = l.rights(b, a)
	before := len(l.diags)
	k.Hash = l.keyHash(b, a)
	if len(l.diags) > before {
		return k
	}
	for _, other := range earlier {
		if other.Hash == k.Hash {
			l.problem(b.DefRange, "Duplicate key", fmt.Sprintf("This is the same key as that of api_key %q, so nobody could tell who calls. Give each a key of its own.", other.Name))
		}
	}
	return k
}

// rights reads what a login of one caller gives.
func (l *loader) rights(b *hcl.Block, a hcl.Attributes) (tenant string, roles []string, operator bool) {
	operator = l.boolean(a["operator"], false)
	roles = l.roles(a["roles"])
	if operator && a["roles"] != nil {
		l.problem(a["roles"].NameRange, "Nothing to add", "An operator may do everything, so roles change nothing. Leave out roles or operator.")
	}
	if operator {
		return l.tenantName(a["tenant"], l.text(a["tenant"], "")), roles, true
	}
	return l.tenantName(a["tenant"], l.needed(b, a["tenant"], "tenant", `Say which tenant the caller belongs to: tenant = "…", or operator = true for one who runs the server.`)), roles, false
}

var keyHash = regexp.MustCompile(`^sha256:[0-9a-fA-F]{64}$`)

// keyHash reads the key, or what is known of it. The zero hash after reporting a
// mistake.
func (l *loader) keyHash(b *hcl.Block, a hcl.Attributes) (sum [32]byte) {
	env, file, hash := a["key_env"], a["key_file"], a["hash"]
	given := 0
	for _, attr := range []*hcl.Attribute{env, file, hash} {
		if attr == nil {
			continue
		}
		if given++; given == 2 {
			l.problem(attr.NameRange, "Two keys", "A key comes from key_env, key_file or hash, from one of them. Leave the others out.")
		}
	}
	switch {
	case given == 0:
		l.missing(b, "key", `Say where the key is: key_env = "NAME" of an environment variable, key_file = "path", or hash = "sha256:…", which "icefield token mint" or "icefield token hash" makes.`)
	case given > 1:
	case hash != nil:
		text := l.text(hash, "")
		if text == "" {
			break
		}
		if !keyHash.MatchString(text) {
			l.hide(hash) // it may be the key itself
			l.refuse(hash, "Invalid hash", `hash is "sha256:" and the 64 hexadecimal digits of the key's SHA-256. "icefield token hash" makes it; the key itself is not written here.`)
			break
		}
		raw, _ := hex.DecodeString(text[len("sha256:"):])
		copy(sum[:], raw)
	default:
		sum = l.keyOf(env, file)
	}
	return sum
}

// keyOf hashes a key in a variable or a file.
func (l *loader) keyOf(env, file *hcl.Attribute) (sum [32]byte) {
	attr, key := env, ""
	if env != nil {
		name := l.secretEnv(env)
		if name == "" {
			return sum
		}
		key, _ = l.lookup(name)
		key = strings.TrimSpace(key)
	} else {
		attr = file
		path := l.secretFile(file)
		if path == "" {
			return sum
		}
		text, err := l.include(path)
		if err != nil {
			l.refuse(file, "Unreadable secret", fmt.Sprintf("%s: %s.", path, readProblem(err)))
			return sum
		}
		key = strings.TrimSpace(string(text))
	}
	switch {
	case utf8.RuneCountInString(key) < MinKey:
		l.refuse(attr, "Key too short", fmt.Sprintf("The key has %d characters, and could be guessed; it needs at least %d. \"icefield token mint\" makes one.", utf8.RuneCountInString(key), MinKey))
		return sum
	case len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		l.refuse(attr, "Key not sendable", fmt.Sprintf("The key travels in a header, so it has visible ASCII characters without blanks, at most %d. \"icefield token mint\" makes one.", maxKey))
		return sum
	}
	return sha256.Sum256([]byte(key))
}

// maxKey is the longest key, in bytes.
const maxKey = 1024

// certificate reads one client certificate; earlier are those before it.
func (l *loader) certificate(b *hcl.Block, earlier []Certificate) Certificate {
	a := l.content(b.Body, certificateShape).Attributes
	c := Certificate{Name: b.Labels[0]}
	c.Tenant, c.Roles, c.Operator = l.rights(b, a)
	given := 0
	for _, part := range []struct {
		name string
		into *string
	}{{"subject", &c.Subject}, {"dns_name", &c.DNSName}, {"uri", &c.URI}, {"email", &c.Email}} {
		if a[part.name] == nil {
			continue
		}
		if given++; given == 2 {
			l.problem(a[part.name].NameRange, "Two names", "A certificate is told by one of subject, dns_name, uri and email. Leave the others out.")
		}
		*part.into = l.text(a[part.name], "")
		if part.name == "dns_name" && strings.Contains(c.DNSName, "*") {
			l.refuse(a["dns_name"], "Pattern", "dns_name is compared as it is, so a pattern would fit nothing. Write the name in the certificate.")
		}
	}
	if given == 0 {
		l.missing(b, "subject", `Say which certificate it is: subject = "CN=etl,O=Acme", dns_name = "etl.acme.example", uri = "spiffe://acme.example/etl" or email = "etl@acme.example", as the certificate has it.`)
		return c
	}
	for _, other := range earlier {
		if other.Subject == c.Subject && other.DNSName == c.DNSName && other.URI == c.URI && other.Email == c.Email {
			l.problem(b.DefRange, "Duplicate certificate", fmt.Sprintf("certificate %q is told by the same name, so nobody could tell who calls. Leave one out.", other.Name))
		}
	}
	return c
}
