package config

import (
	"net"
	"time"
)

// Config is a whole configuration, evaluated, complete with defaults and valid.
type Config struct {
	Server Server
	// Mounts stand in the order of the files.
	Mounts []Mount
	// Auth is nil without such a block: then everybody is the operator. What is
	// said here, in Policy, Tenants and Audit is no part of what the server is to
	// others, nor of the keys of page tokens.
	Auth    *Authentication `json:"-"`
	Policy  Policies        `json:"-"`
	Tenants []Tenant        `json:"-"`
	Audit   Audit           `json:"-"`
	// Files are the files it was read from.
	Files []string `json:"-"`
}

// Server is the block of that name.
type Server struct {
	// Name is the tree's own warehouse name.
	Name   string
	Listen Address
	// Secret seals page tokens; nil if none was named.
	Secret         []byte `json:"-"`
	SecretEnv      string
	RequestTimeout time.Duration
	MaxBody        int64
	// MaxMemory bounds the bodies of remote catalogs' answers that are held at a
	// time, by all mounts together, in bytes.
	MaxMemory     int64
	ShutdownGrace time.Duration
	// TLS is nil for a server that speaks none.
	TLS *TLS `json:",omitempty"`
	// RateLimit is for one client, TenantRateLimit for one tenant; nil for none.
	RateLimit, TenantRateLimit *Rate `json:"-"`
	// TrustedProxies are believed when they say whom they forward for: addresses,
	// ranges of them, or TrustUnix.
	TrustedProxies []string `json:"-"`
	LoginLockout   Lockout  `json:"-"`
}

// TrustUnix stands for whoever comes by a unix socket.
const TrustUnix = "unix"

// Address is where to listen, in the words of net.Listen.
type Address struct {
	// Network is "tcp" or "unix".
	Network string
	// Address is host and port, or the absolute path of the socket.
	Address string
}

// String is the address as the configuration writes it.
func (a Address) String() string {
	if a.Network == "unix" {
		return "unix:" + a.Address
	}
	return a.Address
}

func (a Address) host() string {
	host, _, err := net.SplitHostPort(a.Address)
	if err != nil {
		return a.Address
	}
	return host
}

// The kinds of backend.
const (
	KindNative = "native"
	KindRest   = "rest"
)

// Kinds lists the kinds of backend that a mount can have.
func Kinds() []string { return []string{KindNative, KindRest} }

// Mount is one mount block.
type Mount struct {
	Name string
	// ViewName is what the mount is called as a catalog of its own.
	ViewName string
	// Kind is one of Kinds; the settings of that kind are not nil, the others'
	// are.
	Kind     string
	Owner    string
	Required bool
	ReadOnly bool
	// Request is the time of one attempt.
	Request  time.Duration
	Breaker  Breaker
	InFlight int
	Native   *Native `json:",omitempty"`
	Rest     *Rest   `json:",omitempty"`
}

// Breaker says when a mount counts as down: after so many failures to reach it
// in a row, for so long.
type Breaker struct {
	Failures int
	OpenFor  time.Duration
}

// Native holds the settings of a native mount.
type Native struct {
	Registry Registry
	// Warehouse is a URI without a slash at its end.
	Warehouse string
	// Storage holds the FileIO properties of this mount.
	Storage map[string]string
	// MetadataCache is in bytes; 0 is off.
	MetadataCache int64
	// KeyLifetime is how long a client's Idempotency-Key is honoured; 0 is never.
	KeyLifetime time.Duration
	// Shared tells that its top-level namespaces belong to different tenants, each
	// to the one that created it.
	Shared bool `json:"-"`
	// Vending makes storage credentials; nil for a mount that hands out none.
	Vending *Vending `json:"-"`
	// Signing signs storage requests with the mount's own credentials.
	Signing bool `json:"-"`
	// BulkDelete signs deletions of many objects at a store of one's own too: it
	// compares the body with its signed hash.
	BulkDelete bool `json:"-"`
}

// Rest holds the settings of a mount of a remote REST catalog.
type Rest struct {
	URL       string
	Warehouse string
	// Profile is the name of a preset of package rest; empty for none. What else
	// is set here goes before it.
	Profile string `json:",omitempty"`
	Auth    Auth
	Connect time.Duration
	// MaxResponse bounds one answer of the remote, in bytes.
	MaxResponse int64
	// Headers are sent with every catalog call.
	Headers map[string]string `json:",omitempty"`
	// CAFile is the absolute path of the certificates that are trusted instead of
	// the system's; empty for those. CASum tells its content from another.
	CAFile string `json:",omitempty"`
	CASum  string `json:"-"`
	// Separator and Levels replace what the profile says; empty and 0 do not.
	Separator string `json:",omitempty"`
	Levels    int    `json:",omitempty"`
	Quirks    Quirks
	// Withhold lets no storage credential of the remote pass.
	Withhold bool `json:",omitempty"`
	// AllowedLocations are URIs without a slash at their ends; none allows all.
	AllowedLocations []string `json:",omitempty"`
	// RelayedAccess is the access to storage that the remote's credentials give,
	// AccessRead or AccessWrite; empty where the remote decides for each caller.
	RelayedAccess string `json:"-"`
	// SettingsRefresh is how old what the remote says of itself may get.
	SettingsRefresh time.Duration
	Cache           Cache
}

// The access to storage that relayed credentials give.
const (
	AccessRead  = "read"
	AccessWrite = "write"
)

// Quirks are habits of the remote that the spec does not have; nil leaves them to
// the profile.
type Quirks struct {
	ThrottlesWith400, MissingLists, NoHEAD *bool `json:",omitempty"`
}

// Cache says what is kept of a remote's answers.
type Cache struct {
	// TTL is how long an answer is used unasked, StaleIfDown how old one may be
	// that is used while the remote is down.
	TTL, StaleIfDown time.Duration
	// Size is in bytes; 0 keeps nothing.
	Size int64
	// Coalesce lets identical reads share a call.
	Coalesce bool
}

// The kinds of authentication at a remote.
const (
	AuthNone        = "none"
	AuthBearer      = "bearer"
	AuthOAuth2      = "oauth2"
	AuthSigV4       = "sigv4"
	AuthPassthrough = "passthrough"
	AuthExchange    = "exchange"
)

// AuthKinds lists them.
func AuthKinds() []string {
	return []string{AuthNone, AuthBearer, AuthOAuth2, AuthSigV4, AuthPassthrough, AuthExchange}
}

// Auth says how to authenticate at a remote. It holds the names of secrets, not
// their values: those are read when they are needed, so that they can change.
type Auth struct {
	Kind string
	// TokenEnv or TokenFile is set for AuthBearer.
	TokenEnv, TokenFile string `json:",omitempty"`
	// These are for AuthOAuth2 and AuthExchange. An empty TokenURL means the
	// remote's own token route, an empty Scope what Iceberg clients send there.
	// Of ClientSecretEnv and ClientSecretFile at most one is set; for AuthExchange
	// there may be no client at all.
	TokenURL, ClientID, ClientSecretEnv, ClientSecretFile, Scope, Audience, Resource string `json:",omitempty"`
	// Basic sends client id and secret in a header rather than in the form.
	Basic bool `json:",omitempty"`
	// Refresh renews a token by exchanging it. It is for AuthOAuth2.
	Refresh bool `json:",omitempty"`
	// These are for AuthSigV4. What is empty comes from the surroundings, as for
	// every AWS tool.
	Service, Region, RoleARN, STSEndpoint                              string `json:",omitempty"`
	ExternalIDEnv, AccessKeyIDEnv, SecretAccessKeyEnv, SessionTokenEnv string `json:",omitempty"`
}

// PerCaller reports whether the remote is called in the caller's name.
func (a Auth) PerCaller() bool { return a.Kind == AuthPassthrough || a.Kind == AuthExchange }
