package wrap

import (
	"log/slog"
	"time"

	"github.com/icefield/icefield/mounts"
)

// Options describe one mount. Zero values are the defaults.
type Options struct {
	// Name is the top-level namespace that the mount claims; mounts.UnderName
	// for the catalog underneath, whose names have no prefix.
	Name string
	// ViewName is what the mount is called as a catalog of its own; empty: Name.
	ViewName string
	// Driver is the kind of backend, Owner the tenant; both for mounts.Mount.
	Driver, Owner string
	// Profile, Credentials, Relays and FoldsCase are for mounts.Mount.
	Profile, Credentials string
	Relays               mounts.StorageAccess
	FoldsCase            bool
	// Required tells that the backend was open before the server started.
	Required bool
	// Jobs tells that a backend that is still to be opened is a registry, that is a
	// mounts.Working, Logging, Owning and Locating. One that is open tells so itself.
	Jobs bool
	// ReadOnly refuses everything that changes the catalog.
	ReadOnly bool
	// Timeout is the time for one attempt at an operation; 0 means 10s.
	Timeout time.Duration
	// HeedsContext tells that the backend's reads return soon after their context
	// has ended, so that no read needs a goroutine that can be left behind.
	HeedsContext bool
	Breaker      BreakerOptions
	// InFlight is the most calls that the backend works on at once; 0 means
	// 1024.
	InFlight int
	Probe    ProbeOptions
	// Cache keeps and shares the answers of reads; the zero value does neither.
	Cache CacheOptions
	// Metrics may be shared by all mounts; nil records nothing.
	Metrics *Metrics
	// Logger is told of changes of state; nil discards.
	Logger *slog.Logger
}

// CacheOptions say what is kept of the answers to reads. Metadata is kept,
// storage credentials never are. What a caller was once answered it may be
// answered again for as long as TTL and StaleIfDown say, even if its rights at
// the backend end meanwhile.
type CacheOptions struct {
	// Size bounds what is kept, in bytes; 0 keeps nothing.
	Size int64
	// TTL is how long an answer is used without asking the backend again; 0 asks
	// each time, with the tag of the answer that is held. It holds for all reads of
	// the catalog: loads of tables, views and namespaces, listings and existence.
	// A change made through this mount counts at once; one made elsewhere is seen
	// after TTL.
	TTL time.Duration
	// StaleIfDown is how long ago an answer may have been confirmed that is used
	// while the backend cannot be reached; 0 uses none.
	StaleIfDown time.Duration
	// Coalesce lets identical reads share one call of the backend.
	Coalesce bool
	// PerCaller keeps and shares for one caller only, told by the token: the
	// backend answers different callers differently.
	PerCaller bool
	// IgnoreDelegation tells that the backend hands out no access to storage, so
	// that a load that asks for it is as good as one that does not. Otherwise those
	// are neither kept nor shared.
	IgnoreDelegation bool
}

func (o Options) withDefaults() Options {
	if o.ViewName == "" {
		o.ViewName = o.Name
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.InFlight <= 0 {
		o.InFlight = 1024
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("mount", o.Name)
	o.Probe = o.Probe.withDefaults()
	return o
}

func (o Options) prefixed() bool { return o.Name != mounts.UnderName }
