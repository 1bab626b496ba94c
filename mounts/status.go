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
	// SettingsAt is when the catalog behind it last said what it can do; zero for
	// one that is not asked, or was not reached yet.
	SettingsAt time.Time
	// Retries counts the reads that were tried again; RefusedByBreaker,
	// RefusedByLimit and RefusedAsReadOnly the calls that were refused without
	// asking the backend. All since this mount was made.
	Retries, RefusedByBreaker, RefusedByLimit, RefusedAsReadOnly int64
	// Cache is what became of its answers; nil if it keeps and shares none.
	Cache *CacheStatus
	// Jobs counts the mount's background work; nil if it has none.
	Jobs *JobCounts
}

// CacheStatus is what a mount's cache holds and has done since it was made.
type CacheStatus struct {
	// Size is the most that it may hold, Held what it does, in bytes.
	Size, Held int64
	// Hits were answered unasked, Confirmed after the backend said that what is
	// held is still so, Misses by the backend, Stale although it could not be
	// reached. Joined shared a call with another read.
	Hits, Confirmed, Misses, Stale, Joined int64
}

// Negotiated is a backend that asks the catalog behind it what it can do.
type Negotiated interface {
	// SettingsAt is when that last answered; zero for never. It does no I/O.
	SettingsAt() time.Time
}
