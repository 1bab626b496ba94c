package mounts

import (
	"time"

	"github.com/icefield/icefield/capabilities"
)

// State is how a mount is doing, as last seen in the background.
type State string

// The states.
const (
	// Opening: never reached so far; being tried in the background.
	Opening State = "opening"
	// Up: the last probe or call succeeded.
	Up State = "up"
	// Down: the last probe failed or the breaker is open.
	Down State = "down"
)

// Status is what operators see of a mount: /ready, `icefield mounts`, metrics.
type Status struct {
	State State
	// Breaker is "closed", "open" or "half-open".
	Breaker string
	// InFlight is the number of calls under way.
	InFlight int
	// Latency is how long the last successful probe took; 0 if none did.
	Latency time.Duration
	// CheckedAt is when the mount was last probed; zero if never.
	CheckedAt time.Time
	// LastError is the last probe's or opening's error, in a form that may be
	// shown to clients; empty if the last one succeeded.
	LastError    string
	Capabilities capabilities.Set
	// Jobs counts the mount's background work; nil if it has none.
	Jobs *JobCounts
}
