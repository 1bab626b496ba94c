package mounts

// Kind says what an Error means, to the caller and on the wire. It is itself an
// error, so errors.Is(err, NoSuchTable) works however often err was wrapped.
type Kind uint8

// The kinds. Their HTTP statuses and Iceberg types are one table in the router.
const (
	// Internal is a fault of this server. For a write it means nothing was done
	// unless the error says OutcomeUnknown.
	Internal Kind = iota
	// BadRequest is a request that can never succeed as it is.
	BadRequest
	// InvalidArgument is a BadRequest that Java clients know as
	// IllegalArgumentException.
	InvalidArgument
	// ValidationFailed is a request that names what the metadata does not have.
	ValidationFailed
	// Unprocessable is a request that contradicts itself.
	Unprocessable
	// TooLarge is a request body over the limit.
	TooLarge
	// Unauthenticated is a caller whom nobody vouched for.
	Unauthenticated
	// Forbidden is a caller who may not, or a remote that said so of us.
	Forbidden
	// NoSuchNamespace, NoSuchTable and NoSuchView are certain absences.
	NoSuchNamespace
	NoSuchTable
	NoSuchView
	NoSuchWarehouse
	NoSuchPlan
	NoSuchPlanTask
	// NoSuchRoute is a path that no operation has; MethodNotAllowed is one that
	// another verb has.
	NoSuchRoute
	MethodNotAllowed
	// MetadataMissing is a table whose metadata file is gone.
	MetadataMissing
	// AlreadyExists is a name that is taken.
	AlreadyExists
	// NamespaceNotEmpty refuses a drop.
	NamespaceNotEmpty
	// CommitConflict is a commit that was certainly not applied and may be
	// rebuilt on fresh metadata.
	CommitConflict
	// UnsupportedOperation is what the responsible mount cannot do.
	UnsupportedOperation
	// RateLimited is too many requests; nothing was done.
	RateLimited
	// Unavailable is a refusal before anything was sent (breaker open, limit
	// reached, connection refused), or a remote's own 503. Safe to send again,
	// unless the error says OutcomeUnknown.
	Unavailable
	// BadGateway is a remote that failed or answered something that is not the
	// protocol.
	BadGateway
	// Timeout is an answer that did not come in time.
	Timeout
	// Loop is a mount that leads back to this server.
	Loop
	// NoSuchFunction is a certain absence, as NoSuchTable is.
	NoSuchFunction
)

var kindNames = [...]string{
	Internal: "internal error", BadRequest: "bad request", InvalidArgument: "invalid argument",
	ValidationFailed: "validation failed", Unprocessable: "unprocessable", TooLarge: "too large",
	Unauthenticated: "unauthenticated", Forbidden: "forbidden",
	NoSuchNamespace: "no such namespace", NoSuchTable: "no such table", NoSuchView: "no such view",
	NoSuchWarehouse: "no such warehouse", NoSuchPlan: "no such plan", NoSuchPlanTask: "no such plan task",
	NoSuchRoute: "no such route", MethodNotAllowed: "method not allowed",
	MetadataMissing: "metadata missing", AlreadyExists: "already exists", NamespaceNotEmpty: "namespace not empty",
	CommitConflict: "commit conflict", UnsupportedOperation: "unsupported operation",
	RateLimited: "rate limited", Unavailable: "unavailable", BadGateway: "bad gateway", Timeout: "timeout",
	Loop: "loop", NoSuchFunction: "no such function",
}

// Error implements error: the kind's name.
func (k Kind) Error() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown kind"
}

// Kinds returns every kind, in order.
func Kinds() []Kind {
	all := make([]Kind, len(kindNames))
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}
