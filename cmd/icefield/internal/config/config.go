package config

import "time"

// Config is a whole configuration, evaluated, complete with defaults and valid.
type Config struct {
	Server Server
	// Mounts stand in the order of the files.
	Mounts []Mount
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
	ShutdownGrace  time.Duration
}

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
}

// Rest holds the settings of a mount of a remote REST catalog.
type Rest struct {
	URL       string
	Warehouse string
	Auth      Auth
	Connect   time.Duration
	// MaxResponse bounds one answer of the remote, in bytes.
	MaxResponse int64
}

// The kinds of authentication at a remote.
const (
	AuthNone   = "none"
	AuthBearer = "bearer"
	AuthOAuth2 = "oauth2"
)

// AuthKinds lists them.
func AuthKinds() []string { return []string{AuthNone, AuthBearer, AuthOAuth2} }

// Auth says how to authenticate at a remote. It holds the names of secrets, not
// their values: those are read when they are needed, so that they can change.
type Auth struct {
	Kind string
	// TokenEnv or TokenFile is set for AuthBearer.
	TokenEnv, TokenFile string `json:",omitempty"`
	// The rest is for AuthOAuth2. An empty TokenURL means the remote's own token
	// route, an empty Scope what Iceberg clients send there.
	TokenURL, ClientID, ClientSecretEnv, Scope string `json:",omitempty"`
}
