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
	// Required tells that the backend was open before the server started.
	Required bool
	// Jobs tells that a backend that is still to be opened is a registry, that is a
	// mounts.Working and mounts.Logging. One that is open tells so itself.
	Jobs bool
	// ReadOnly refuses everything that changes the catalog.
	ReadOnly bool
	// Timeout is the time for one attempt at an operation; 0 means 10s.
	Timeout time.Duration
	Breaker BreakerOptions
	// InFlight is the most calls that the backend works on at once; 0 means
	// 1024.
	InFlight int
	Probe    ProbeOptions
	// Metrics may be shared by all mounts; nil records nothing.
	Metrics *Metrics
	// Logger is told of changes of state; nil discards.
	Logger *slog.Logger
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
