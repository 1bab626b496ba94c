package authn

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/policy"
)

// Config is every way to log in. At least one must be there.
type Config struct {
	OIDC         []OIDC
	Keys         []Key
	Certificates []Certificate
	// Anonymous is who calls without any credentials; nil: they are refused.
	Anonymous *policy.Principal
	// Lockout slows down who guesses; nil: nobody is.
	Lockout Lockout
	// Metrics is where counters are registered, or found if an earlier Authn has
	// registered them; nil: nowhere.
	Metrics prometheus.Registerer
	// Logger hears of issuers whose keys change or cannot be fetched; nil: nobody.
	Logger *slog.Logger
	// Now is the clock for validity; nil: time.Now.
	Now func() time.Time
}

// Lockout counts failed logins by address.
type Lockout interface {
	// Failed notes a login with a wrong secret.
	Failed(addr netip.Addr)
	// Blocked tells whether logins from there are to be refused, and how long.
	Blocked(addr netip.Addr) (wait time.Duration, blocked bool)
	// Succeeded notes a login with a secret that was right.
	Succeeded(addr netip.Addr)
}

// OIDC is an issuer of tokens.
type OIDC struct {
	// Name is the login's label, and the first part of its principals' ids.
	Name string
	// Issuer is the URL, exactly as tokens have it. Discovery is below it.
	Issuer string
	// JWKSURL is where the keys are; empty: where discovery says. With it, and
	// without Relay, there is no discovery.
	JWKSURL string
	// Audience holds what "aud" may name; a token must name one of them.
	Audience []string
	// Tenant is everybody's, or TenantClaim the path of the claim that holds it.
	Tenant, TenantClaim string
	// RolesClaim is the path of a list of texts, or of one text in which blanks
	// separate roles; empty: nobody has roles. NameClaim is the path of the name;
	// empty: "sub".
	RolesClaim, NameClaim string
	// OperatorRoles make whoever has one of them an operator.
	OperatorRoles []string
	// Leeway is how far the issuer's clock may be off, at most five minutes.
	Leeway time.Duration
	// KeyRefresh is the time between two fetches of its keys that nothing else is
	// the reason for, and so how long a key lives on that it has withdrawn; 0:
	// DefaultKeyRefresh.
	KeyRefresh time.Duration
	// Algorithms that tokens may be signed with; nil: Algorithms().
	Algorithms []string
	// CAFile holds the authorities of the issuer's certificate (PEM), instead of
	// the system's.
	CAFile string
	// Relay serves the token route with this issuer's token endpoint.
	Relay bool
	// RelayScope is asked for there instead of what the client wants, as Iceberg's
	// "catalog", which issuers do not know; empty: no scope is asked for. Nil: what
	// the client wants.
	RelayScope *string
}

// DefaultLeeway is a usual leeway.
const DefaultLeeway = 30 * time.Second

// DefaultKeyRefresh is how long a withdrawn key lives on if nothing else is said.
const DefaultKeyRefresh = 5 * time.Minute

// Algorithms are those that tokens can be signed with.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA"}
}

// Key is an API key. It is known by its hash only; see HashKey.
type Key struct {
	Name, Tenant string
	Roles        []string
	Operator     bool
	Hash         [32]byte
}

// Certificate is who has a client certificate: exactly one of Subject, DNSName,
// URI and Email is set.
type Certificate struct {
	Name, Tenant string
	Roles        []string
	Operator     bool
	// Subject is the distinguished name in the form of RFC 2253, most specific
	// part first: "CN=etl,O=Acme".
	Subject string
	// DNSName, URI and Email are alternative names of the certificate.
	DNSName, URI, Email string
}

// Bounds of what is configured.
const (
	maxKeys   = 10_000
	maxLeeway = 5 * time.Minute
	// minKeyRefresh keeps the server from being a burden to the issuer.
	minKeyRefresh, maxKeyRefresh = time.Second, time.Hour
)

// check returns every mistake.
func (c *Config) check() error {
	if len(c.OIDC)+len(c.Keys)+len(c.Certificates) == 0 && c.Anonymous == nil {
		return errors.New("authentication: there is no way to log in; configure an oidc, api_key or certificate block")
	}
	var mistakes []error
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	names, issuers := map[string]bool{}, map[string]string{}
	relays := ""
	for _, o := range c.OIDC {
		if err := o.check(); err != nil {
			wrong("oidc %q: %w", o.Name, err)
		}
		if names[o.Name] {
			wrong("oidc %q: there is another of this name", o.Name)
		}
		if other, taken := issuers[o.Issuer]; taken {
			wrong("oidc %q: its issuer %s is that of oidc %q already; give one block both audiences", o.Name, shown(o.Issuer), other)
		}
		if o.Relay && relays != "" {
			wrong("oidc %q: the token route is relayed to one issuer, and that is oidc %q", o.Name, relays)
		}
		if o.Relay {
			relays = o.Name
		}
		names[o.Name], issuers[o.Issuer] = true, o.Name
	}
	if len(c.Keys) > maxKeys {
		wrong("api_key: there are %d, and at most %d are looked through", len(c.Keys), maxKeys)
		return errors.Join(mistakes...)
	}
	clear(names)
	hashes := map[[32]byte]string{}
	for _, k := range c.Keys {
		if err := checkLogin(k.Name, k.Tenant, k.Operator); err != nil {
			wrong("api_key %q: %w", k.Name, err)
		}
		if names[k.Name] {
			wrong("api_key %q: there is another of this name", k.Name)
		}
		if other, taken := hashes[k.Hash]; taken {
			wrong("api_key %q: it is the same key as %q; each needs its own", k.Name, other)
		}
		if subtle.ConstantTimeCompare(k.Hash[:], make([]byte, len(k.Hash))) == 1 {
			wrong("api_key %q: it has no hash", k.Name)
		}
		names[k.Name], hashes[k.Hash] = true, k.Name
	}
	return errors.Join(append(mistakes, checkCertificates(c.Certificates)...)...)
}

func checkLogin(name, tenant string, operator bool) error {
	switch {
	case name == "":
		return errors.New("it has no name")
	case tenant == "" && !operator:
		return errors.New("it belongs to no tenant and is no operator")
	}
	return nil
}

func (o *OIDC) check() error {
	switch {
	case o.Name == "":
		return errors.New("it has no name")
	case slices.Contains([]string{keyLogin, certificateLogin}, o.Name):
		return errors.New("its principals would be called as those of another kind of login; rename it")
	case len(o.Audience) == 0 || slices.Contains(o.Audience, ""):
		return errors.New("it needs an audience, or tokens for every other service would be logins here")
	case o.Tenant != "" && o.TenantClaim != "":
		return errors.New("tenant and tenant_claim exclude each other")
	case o.Tenant == "" && o.TenantClaim == "" && len(o.OperatorRoles) == 0:
		return errors.New("nobody of it has a tenant; set tenant_claim or tenant")
	case len(o.OperatorRoles) > 0 && o.RolesClaim == "":
		return errors.New("operator_roles need roles_claim")
	case o.Leeway < 0 || o.Leeway > maxLeeway:
		return fmt.Errorf("a leeway is at most %s", maxLeeway)
	case o.KeyRefresh != 0 && (o.KeyRefresh < minKeyRefresh || o.KeyRefresh > maxKeyRefresh):
		return fmt.Errorf("keys are fetched again after %s to %s", minKeyRefresh, maxKeyRefresh)
	}
	for _, alg := range o.Algorithms {
		switch {
		case strings.EqualFold(alg, "none") || strings.HasPrefix(strings.ToUpper(alg), "HS"):
			return fmt.Errorf("the algorithm %q is not safe: whoever can check such a token can make one", alg)
		case !slices.Contains(Algorithms(), alg):
			return fmt.Errorf("there is no algorithm %q; there are %s", alg, strings.Join(Algorithms(), ", "))
		}
	}
	for _, path := range []string{o.TenantClaim, o.RolesClaim, o.NameClaim} {
		if _, err := parsePath(path); path != "" && err != nil {
			return fmt.Errorf("claim path %q: %w", path, err)
		}
	}
	if err := checkURL(o.Issuer); err != nil {
		return fmt.Errorf("issuer %s: %w", shown(o.Issuer), err)
	}
	if u, _ := url.Parse(o.Issuer); u.RawQuery != "" || u.ForceQuery {
		return fmt.Errorf("issuer %s: an issuer has no query", o.Issuer)
	}
	if o.JWKSURL != "" {
		if err := checkURL(o.JWKSURL); err != nil {
			return fmt.Errorf("jwks_url %s: %w", shown(o.JWKSURL), err)
		}
	}
	return nil
}

// checkURL refuses what may not be asked for keys or tokens: who can change the
// answer on the way could let in anybody.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "":
		return errors.New("that is not a URL")
	case u.User != nil || u.Fragment != "":
		return errors.New("it must have neither a user nor a fragment")
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return errors.New("it must begin with https://; http is for this machine only")
}

// shown is a URL as messages have it: without the user that it must not have.
func shown(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "(no URL)"
	}
	u.User = nil
	return clip(u.String())
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
