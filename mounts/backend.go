package mounts

import (
	"context"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/pagination"
)

// Backend answers catalog calls. All methods are safe for concurrent use.
//
// Every error is, or wraps, an *Error; see Kind for what each kind promises. A
// method never reports an error as an absence. A nil error comes with a non-nil
// response. Requests are read-only for the backend, and a response belongs to
// the caller, except that metadata bytes may be shared and must not be changed.
//
// Retry safety is the operation's class in the operation table: reads may be
// sent again; writes and commits are sent at most once by anything below the
// client, and a commit whose outcome is not certain says so
// (Error.OutcomeUnknown).
type Backend interface {
	Namespaces
	Tables
	Views
	Scans
	Access
	Functions

	// Capabilities is what this backend can do now. It does no I/O and may
	// change over time. An operation that is not in the set answers
	// UnsupportedOperation; one in the set never does for lack of ability.
	Capabilities() capabilities.Set
	// Health makes the cheapest call that proves the backend reachable.
	Health(ctx context.Context) error
	// KeyLifetime is how long this backend honours an Idempotency-Key now; 0: it
	// does not look at them. A backend that does answers a change whose
	// Caller.Once it has seen with the first outcome, if that was certain, and
	// changes nothing again, on every replica and after a restart too: a success
	// as it was or with newer state of the same object, a refusal with the same
	// kind and message. It answers Unprocessable if the fingerprint differs, and
	// Unavailable if the first request is still being worked on when the
	// context ends. Operations that are not in capabilities.Changes are not
	// covered. It does no I/O and may change over time.
	KeyLifetime() time.Duration
	// Close releases what the backend holds and waits for its goroutines.
	Close() error
}

// Namespaces is the role of a catalog's tree.
type Namespaces interface {
	// ListNamespaces lists the direct children of the parent, each with its
	// full path. NoSuchNamespace if the parent is absent.
	ListNamespaces(ctx context.Context, req *ListNamespacesRequest) (*pagination.Page[Namespace], error)
	// LoadNamespace returns the properties. NoSuchNamespace.
	LoadNamespace(ctx context.Context, req *LoadNamespaceRequest) (*NamespaceInfo, error)
	// CreateNamespace creates the last level only. AlreadyExists;
	// NoSuchNamespace if the parent is absent.
	CreateNamespace(ctx context.Context, req *CreateNamespaceRequest) (*NamespaceInfo, error)
	// UpdateNamespaceProperties sets and removes in one step. NoSuchNamespace;
	// Unprocessable if a key is both set and removed.
	UpdateNamespaceProperties(ctx context.Context, req *UpdateNamespacePropertiesRequest) (*UpdatedProperties, error)
	// DropNamespace. NoSuchNamespace; NamespaceNotEmpty.
	DropNamespace(ctx context.Context, req *DropNamespaceRequest) error
}

// Tables is the role of tables.
type Tables interface {
	// ListTables. NoSuchNamespace.
	ListTables(ctx context.Context, req *ListTablesRequest) (*pagination.Page[Identifier], error)
	// LoadTable. NoSuchTable, also when the namespace is absent or the name is
	// a view's; MetadataMissing when the pointer's file is gone.
	LoadTable(ctx context.Context, req *LoadTableRequest) (*Table, error)
	// TableExists returns nil or NoSuchTable; any other error says nothing
	// about the table.
	TableExists(ctx context.Context, req *TableExistsRequest) error
	// CreateTable. NoSuchNamespace; AlreadyExists for a table or a view;
	// BadRequest for a location outside the warehouse. A staged create reserves
	// and lists nothing.
	CreateTable(ctx context.Context, req *CreateTableRequest) (*Table, error)
	// RegisterTable. NoSuchNamespace; AlreadyExists; MetadataMissing.
	RegisterTable(ctx context.Context, req *RegisterTableRequest) (*Table, error)
	// UnregisterTable forgets the pointer and returns it. NoSuchTable.
	UnregisterTable(ctx context.Context, req *UnregisterTableRequest) (*Table, error)
	// CommitTable. NoSuchTable; CommitConflict only when certainly not
	// committed; AlreadyExists for an assert-create that lost.
	CommitTable(ctx context.Context, req *CommitTableRequest) (*Table, error)
	// CommitTransaction commits all of the changes or none. As CommitTable.
	CommitTransaction(ctx context.Context, req *CommitTransactionRequest) error
	// RenameTable. NoSuchTable; NoSuchNamespace of the destination;
	// AlreadyExists for a table or a view at the destination.
	RenameTable(ctx context.Context, req *RenameTableRequest) error
	// DropTable forgets the pointer. NoSuchTable.
	DropTable(ctx context.Context, req *DropTableRequest) error
	// ReportMetrics takes an engine's report. NoSuchTable.
	ReportMetrics(ctx context.Context, req *ReportMetricsRequest) error
}

// Views is the role of views.
type Views interface {
	// ListViews. NoSuchNamespace.
	ListViews(ctx context.Context, req *ListViewsRequest) (*pagination.Page[Identifier], error)
	// LoadView. NoSuchView, also when the namespace is absent.
	LoadView(ctx context.Context, req *LoadViewRequest) (*View, error)
	// CreateView. NoSuchNamespace; AlreadyExists for a view or a table.
	CreateView(ctx context.Context, req *CreateViewRequest) (*View, error)
	// RegisterView. NoSuchNamespace; AlreadyExists; MetadataMissing.
	RegisterView(ctx context.Context, req *RegisterViewRequest) (*View, error)
	// ReplaceView commits to a view. NoSuchView; CommitConflict.
	ReplaceView(ctx context.Context, req *ReplaceViewRequest) (*View, error)
	// RenameView. NoSuchView; NoSuchNamespace; AlreadyExists.
	RenameView(ctx context.Context, req *RenameViewRequest) error
	// DropView. NoSuchView.
	DropView(ctx context.Context, req *DropViewRequest) error
}

// Scans is the role of server-side scan planning. Plans and tasks are the
// spec's JSON, not interpreted here.
type Scans interface {
	// PlanScan. NoSuchTable.
	PlanScan(ctx context.Context, req *PlanScanRequest) (*Document, error)
	// FetchPlan. NoSuchPlan; NoSuchTable.
	FetchPlan(ctx context.Context, req *FetchPlanRequest) (*Document, error)
	// CancelPlan. NoSuchPlan; NoSuchTable.
	CancelPlan(ctx context.Context, req *CancelPlanRequest) error
	// FetchScanTasks. NoSuchPlanTask; NoSuchTable.
	FetchScanTasks(ctx context.Context, req *FetchScanTasksRequest) (*Document, error)
}

// Access is the role of handing out access to storage.
type Access interface {
	// LoadCredentials. NoSuchTable.
	LoadCredentials(ctx context.Context, req *LoadCredentialsRequest) (*Credentials, error)
	// SignRequest signs one storage request. NoSuchTable; Forbidden.
	SignRequest(ctx context.Context, req *SignStorageRequest) (*Document, error)
}

// Functions is the role of functions that queries can call.
type Functions interface {
	// ListFunctions. NoSuchNamespace.
	ListFunctions(ctx context.Context, req *ListFunctionsRequest) (*pagination.Page[Identifier], error)
	// LoadFunction returns the function's definition, the spec's JSON, not
	// interpreted here. NoSuchFunction, also when the namespace is absent.
	LoadFunction(ctx context.Context, req *LoadFunctionRequest) (*Document, error)
}
