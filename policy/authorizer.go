package policy

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"

	"github.com/icefield/icefield/mounts"
)

// Question asks whether somebody may do something.
type Question struct {
	Principal *Principal
	Action    Action
	Resource  Resource
	Context   Context
}

// Context is what else a policy can depend on.
type Context struct {
	// Client is the caller's address; invalid if not known.
	Client netip.Addr
	Time   time.Time
	// Write tells that access to storage, or a signature, is asked for that can
	// write.
	Write bool
	// ReferencedBy holds the views that the caller says it comes through.
	ReferencedBy []Resource
}

// Decision is the answer to a Question. The zero Decision denies.
type Decision struct {
	Allowed bool
	// Policies are the ids of those that decided, sorted: the forbids that denied,
	// or else the permits that allowed.
	Policies []string
	// Restrictions are what the permits say of a read: nil for none.
	Restrictions *Restrictions
	// Err is set if the decision could not be made; then it is not Allowed. For
	// logs only.
	Err error
}

// Authorizer decides. It is safe for concurrent use and does no I/O. Each call is
// answered by one set of policies, never by parts of two.
type Authorizer interface {
	Decide(ctx context.Context, q Question) Decision
	// Filter answers the same question for many resources, which are all of one
	// Kind, Mount and parent namespace (those directly below the root: of one
	// Kind). allowed[i] is as Decide would say of resources[i].
	Filter(ctx context.Context, q Question, resources []Resource) (allowed []bool, err error)
	// Uniform tells, of the objects of a kind directly inside a namespace or mount
	// (parent), whether q is decided alike for all of them whatever they are
	// called. If known is false each has to be asked. q.Resource is ignored.
	Uniform(ctx context.Context, q Question, parent Resource, kind Kind) (allowed, known bool)
}

// Changing is an Authorizer whose policies are replaced while it is in use.
type Changing interface {
	Authorizer
	// Now is what decides at this moment, and does not change: whoever asks several
	// questions of one thing asks them of that.
	Now() Authorizer
}

// Restrictions bind a read (REST spec, ReadRestrictions). Column names are those
// of the table's current schema, dotted for nested ones.
type Restrictions struct {
	// Filters are alternatives: a row may be read that one of them is true for.
	// Empty for all rows. Each is an Iceberg expression in JSON, with names for
	// columns.
	Filters []json.RawMessage
	// Masks says by column what becomes of it: an action of the spec, as
	// "mask-alphanum".
	Masks map[string]string
}

// Empty reports whether nothing is restricted.
func (r *Restrictions) Empty() bool { return r == nil || len(r.Filters) == 0 && len(r.Masks) == 0 }

// Event is one thing that the audit trail holds.
type Event struct {
	Principal *Principal
	Client    Client
	RequestID string
	// Action is what was asked for; "authenticate" for a login that failed.
	Action Action
	// Catalog is where it was asked for, Resource what it was about.
	Catalog  string
	Resource Resource
	// More are further resources of the same request: the destination of a
	// rename, the tables of a transaction behind the first.
	More []Resource
	// Policies decided.
	Policies []string
	// Outcome is one of the words below.
	Outcome string
	// Status is the HTTP status or kind of error that came of it, in a word;
	// empty before it is known.
	Result string
	// Storage is the access to storage that was given.
	Storage mounts.StorageAccess
	// Restricted tells that the read was bound.
	Restricted bool
	Remote     mounts.RemoteCall
}

// The outcomes.
const (
	// Denied: policy refused it. Permitted: policy let it pass and it is about to
	// be done. Done and Failed: it was permitted and that is what came of it;
	// Unknown: whether it was done is not known. Issued: credentials were given or
	// a request was signed. Refused: a login failed.
	Denied    = "denied"
	Permitted = "permitted"
	Done      = "done"
	Failed    = "failed"
	Unknown   = "unknown"
	Issued    = "issued"
	Refused   = "refused"
)

// Trail is where events go. It is safe for concurrent use.
type Trail interface {
	// Record takes an event. If must is set and the trail is to fail closed, it
	// returns when the event is written, or Unavailable: then what the event
	// permits is not to be done. Otherwise it returns nil at once, and an event
	// that cannot be kept is counted.
	Record(ctx context.Context, e Event, must bool) error
}
