package vend

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/mounts"
)

// Provider exchanges a login of its own for credentials that are good for one
// folder of a store. It is safe for concurrent use.
type Provider interface {
	// Covers reports whether the location is of the provider's kind of store. It
	// does no I/O.
	Covers(location string) bool
	// Mint makes credentials for what lies below a location, which the caller has
	// confined: the provider gives access to whatever its own login may give. The
	// error is a *Failure, or counts as one that tells nothing.
	Mint(ctx context.Context, ask Ask) (*Minted, error)
	// Close releases what it holds.
	Close() error
}

// Ask is what credentials are wanted for.
type Ask struct {
	// Location is the table's.
	Location string
	// Access is ReadStorage or WriteStorage.
	Access mounts.StorageAccess
	// Principal and Tenant are whom they are for: named to the token service, so
	// that the store's own trail says who it was.
	Principal, Tenant string
}

// Minted is a set of credentials. It is shared: nothing in it is changed. It is
// a secret.
type Minted struct {
	// Prefix is what they are for, without a trailing slash.
	Prefix string
	// Config holds them, as FileIO properties.
	Config map[string]string
	// Expires is when they end.
	Expires time.Time

	// dressed is how they last went out.
	dressed atomic.Pointer[dressed]
}

// Reason is why an exchange failed: a word for metrics.
type Reason string

// The reasons.
const (
	// Denied: the token service says no to our login or role. Throttled: it says
	// that it was asked too often.
	Denied    Reason = "denied"
	Throttled Reason = "throttled"
	// Unreachable: there was no answer, or one that says so itself. Slow: there
	// was none in time. Busy: too many exchanges were under way here.
	Unreachable Reason = "unreachable"
	Slow        Reason = "timeout"
	Busy        Reason = "busy"
	// TooLong: the location is too long for the policy that would bind the key.
	TooLong Reason = "too_long"
	// Login: the mount has no login of its own that works.
	Login Reason = "login"
	// Broken: the answer was not one, or of no use. Also every error that is no
	// Failure.
	Broken Reason = "broken"
)

// Failure is an exchange that failed.
type Failure struct {
	Reason Reason
	// RetryAfter, if positive, is what the token service asks for.
	RetryAfter time.Duration
	// Err is for logs. It holds no secret.
	Err error
}

// Error implements error.
func (f *Failure) Error() string {
	return "no storage credentials (" + string(f.Reason) + "): " + f.Err.Error()
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }
