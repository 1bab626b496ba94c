package config

import (
	"net/netip"
	"time"
)

// TLS says with what the server proves who it is. The files are checked with the
// configuration, and read again whenever they change.
type TLS struct {
	// The paths are absolute. An empty ClientCAFile asks clients for no
	// certificate.
	CertFile, KeyFile, ClientCAFile string
}

// Rate is how often somebody may ask: so often a second in the long run, and
// Burst times at once.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Lockout is when a client that fails to log in is not heard any more: after so
// many Failures, 0 for never, for as long as that many lie within Window.
type Lockout struct {
	Failures int
	Window   time.Duration
}

// The defaults of what callers are bound by.
const (
	DefaultLockoutFailures = 10
	DefaultLockoutWindow   = time.Minute
	DefaultLeeway          = 30 * time.Second
	DefaultKeyRefresh      = 5 * time.Minute
	DefaultRolesClaim      = "roles"
	DefaultNameClaim       = "sub"
)

// Authentication is the block auth: who may log in, and how.
type Authentication struct {
	OIDC         []OIDC
	Keys         []APIKey
	Certificates []Certificate
	// Anonymous is who calls without any credentials; nil for nobody.
	Anonymous *Anonymous
}

// Proves reports whether there is a way to log in that proves something.
func (a *Authentication) Proves() bool {
	return a != nil && len(a.OIDC)+len(a.Keys)+len(a.Certificates) > 0
}

// OIDC is an issuer of tokens that are believed.
type OIDC struct {
	Name, Issuer string
	// JWKSURL is where its keys are; empty for where its discovery says.
	JWKSURL  string
	Audience []string
	// Tenant is the tenant of everybody there, or else TenantClaim the claim that
	// names it; with neither only operators get in. Claims are dotted paths.
	Tenant, TenantClaim, RolesClaim, NameClaim string
	// OperatorRoles make an operator of whoever has one of them.
	OperatorRoles []string
	Leeway        time.Duration
	// KeyRefresh is how long a key that the issuer has withdrawn may live on.
	KeyRefresh time.Duration
	// Algorithms are those of signatures that are accepted.
	Algorithms []string
	// CAFile is the absolute path of the certificates that are trusted instead of
	// the system's; empty for those. CASum tells its content from another.
	CAFile, CASum string
	// Relay lets clients that know no issuer get tokens of it at this server, for
	// RelayScope: nil is what the client asks for, "" no scope.
	Relay      bool
	RelayScope *string
}

// APIKey is a key that is as good as a login. The key itself is not kept.
type APIKey struct {
	Name, Tenant string
	Roles        []string
	Operator     bool
	// Hash is the SHA-256 of the key.
	Hash [32]byte
}

// Certificate is a client certificate that is as good as a login: whose subject,
// or one of whose names, is the one that is set.
type Certificate struct {
	Name, Tenant                 string
	Roles                        []string
	Operator                     bool
	Subject, DNSName, URI, Email string
}

// Anonymous is who calls without any credentials.
type Anonymous struct {
	Tenant string
	Roles  []string
}

// Policies is the block policy. The files are glob patterns, absolute.
type Policies struct {
	Files []string
	// Builtin puts the built-in roles into effect.
	Builtin bool
}

// Tenant is one tenant block: policies for what that tenant owns. They are glob
// patterns, absolute.
type Tenant struct {
	Name     string
	Policies []string
}

// The sinks of an audit trail.
const (
	SinkNone   = "none"
	SinkStdout = "stdout"
	SinkFile   = "file"
)

// Audit is the block audit.
type Audit struct {
	// Sink is one of the constants; Path is the absolute path of SinkFile.
	Sink, Path string
	// FailClosed lets nothing be done that cannot be recorded.
	FailClosed bool
	// MaxSize is how large the file gets before the next begins, in bytes, and Keep
	// how many of those before are kept.
	MaxSize int64
	Keep    int
	// Queue is how many events may wait to be written.
	Queue int
}

// The kinds of vending.
const (
	VendAWS   = "aws"
	VendGCS   = "gcs"
	VendAzure = "azure"
)

// VendingKinds lists them.
func VendingKinds() []string { return []string{VendAWS, VendGCS, VendAzure} }

// Vending says how storage credentials for one table are made. It holds the names
// of secrets, not their values. What is empty comes from the mount's storage
// properties or from the surroundings.
type Vending struct {
	Kind string
	// Duration is how long credentials are good for.
	Duration time.Duration
	// These are for VendAWS. CAFile is the absolute path of the certificates that the
	// STS endpoint is trusted by, and CASum tells its content from another.
	RoleARN, STSEndpoint, Region, CAFile, CASum                        string
	ExternalIDEnv, AccessKeyIDEnv, SecretAccessKeyEnv, SessionTokenEnv string
	KMSKeys                                                            []string
	SessionTags                                                        bool
	// These are for VendGCS, beside STSEndpoint. CredentialsFile is an absolute
	// path.
	CredentialsFile, ProjectID string
	// These are for VendAzure.
	TenantID, ClientID, ClientSecretEnv string
}

// Local reports an address that only this machine reaches.
func (a Address) Local() bool {
	if a.Network == "unix" {
		return true
	}
	at, err := netip.ParseAddr(a.host())
	return a.host() == "localhost" || err == nil && at.IsLoopback()
}
