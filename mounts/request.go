package mounts

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/pagination"
)

// Request is the request of one operation. The types of this file are all
// there are; each is the parameter of exactly one Backend method.
//
// Where one has a field Extra, that holds the further members of the client's
// body, by name and in their own bytes: what nobody here knows a remote catalog
// may know, so a backend over one passes them on. Others ignore them. No name in
// it is that of another field.
type Request interface {
	// Op is the operation that the request asks for.
	Op() capabilities.Op
	// Object is what the request is about: a table, a view, or (Name empty) a
	// namespace. A rename's is its source; a transaction's is its first change.
	Object() Identifier

	invoke(ctx context.Context, b Backend) (Response, error)
	mapNames(f func(Namespace) (Namespace, error)) (Request, error)
}

// ListNamespacesRequest lists the direct children of Parent (the root if empty).
type ListNamespacesRequest struct {
	Parent Namespace
	Page   pagination.Request
}

// LoadNamespaceRequest loads one namespace.
type LoadNamespaceRequest struct{ Namespace Namespace }

// CreateNamespaceRequest creates a namespace below an existing one.
type CreateNamespaceRequest struct {
	Namespace  Namespace                  `json:"namespace"`
	Properties map[string]string          `json:"properties"`
	Extra      map[string]json.RawMessage `json:"-"`
}

// UpdateNamespacePropertiesRequest removes and sets properties in one step.
type UpdateNamespacePropertiesRequest struct {
	Namespace Namespace                  `json:"-"`
	Removals  []string                   `json:"removals"`
	Updates   map[string]string          `json:"updates"`
	Extra     map[string]json.RawMessage `json:"-"`
}

// DropNamespaceRequest drops an empty namespace.
type DropNamespaceRequest struct{ Namespace Namespace }

// ListTablesRequest lists the tables of one namespace.
type ListTablesRequest struct {
	Namespace Namespace
	Page      pagination.Request
}

// Snapshots says which snapshots a loaded table shall carry.
type Snapshots string

// The modes of the REST spec's `snapshots` parameter.
const (
	SnapshotsAll  Snapshots = "all"
	SnapshotsRefs Snapshots = "refs"
)

// LoadTableRequest loads one table.
type LoadTableRequest struct {
	Table Identifier
	// Snapshots is empty for SnapshotsAll.
	Snapshots Snapshots
	// IfNoneMatch holds the entity tags the client already has, as sent, quotes
	// included. A backend that recognises one answers Table.NotModified.
	IfNoneMatch string
	// Delegation is the client's X-Iceberg-Access-Delegation, as sent.
	Delegation string
	// ReferencedBy is the chain of views the table was reached through,
	// outermost first.
	ReferencedBy []Identifier
}

// TableExistsRequest asks whether a table exists.
type TableExistsRequest struct{ Table Identifier }

// CreateTableRequest creates a table, or stages it: then nothing is stored and
// the answer is what a later commit with assert-create may build on.
type CreateTableRequest struct {
	Namespace     Namespace                  `json:"-"`
	Delegation    string                     `json:"-"`
	Name          string                     `json:"name"`
	Location      string                     `json:"location,omitempty"`
	Schema        json.RawMessage            `json:"schema"`
	PartitionSpec json.RawMessage            `json:"partition-spec,omitempty"`
	WriteOrder    json.RawMessage            `json:"write-order,omitempty"`
	StageCreate   bool                       `json:"stage-create,omitempty"`
	Properties    map[string]string          `json:"properties,omitempty"`
	Extra         map[string]json.RawMessage `json:"-"`
}

// RegisterTableRequest makes a table of an existing metadata file.
type RegisterTableRequest struct {
	Namespace        Namespace                  `json:"-"`
	Delegation       string                     `json:"-"`
	Name             string                     `json:"name"`
	MetadataLocation string                     `json:"metadata-location"`
	Overwrite        bool                       `json:"overwrite,omitempty"`
	Extra            map[string]json.RawMessage `json:"-"`
}

// UnregisterTableRequest makes the catalog forget a table.
type UnregisterTableRequest struct{ Table Identifier }

// CommitTableRequest applies updates if all requirements hold. Both stay raw:
// a backend that keeps only a pointer interprets them (package commit), a
// remote one forwards them as they are.
type CommitTableRequest struct {
	Table        Identifier                 `json:"identifier"`
	Requirements []json.RawMessage          `json:"requirements"`
	Updates      []json.RawMessage          `json:"updates"`
	Extra        map[string]json.RawMessage `json:"-"`
}

// Creates reports whether the commit makes the table: one of its requirements
// is assert-create. Requirements that cannot be read count for nothing here. Case
// does not count, since it is another catalog that reads them in the end: Java's
// take the type in any case, Go's the member's name.
func (r *CommitTableRequest) Creates() bool {
	for _, raw := range r.Requirements {
		var requirement map[string]json.RawMessage
		if json.Unmarshal(raw, &requirement) != nil {
			continue
		}
		for name, value := range requirement {
			var text string
			if strings.EqualFold(name, "type") && json.Unmarshal(value, &text) == nil && strings.EqualFold(text, "assert-create") {
				return true
			}
		}
	}
	return false
}

// CommitTransactionRequest commits to several tables at once.
type CommitTransactionRequest struct {
	Changes []CommitTableRequest       `json:"table-changes"`
	Extra   map[string]json.RawMessage `json:"-"`
}

// RenameTableRequest moves a table, possibly to another namespace.
type RenameTableRequest struct {
	Source      Identifier                 `json:"source"`
	Destination Identifier                 `json:"destination"`
	Extra       map[string]json.RawMessage `json:"-"`
}

// DropTableRequest drops a table; Purge asks for its files to be deleted too.
type DropTableRequest struct {
	Table Identifier
	Purge bool
}

// ReportMetricsRequest carries an engine's scan or commit report.
type ReportMetricsRequest struct {
	Table Identifier
	Body  json.RawMessage
}

// ListViewsRequest lists the views of one namespace.
type ListViewsRequest struct {
	Namespace Namespace
	Page      pagination.Request
}

// LoadViewRequest loads one view.
type LoadViewRequest struct {
	View         Identifier
	ReferencedBy []Identifier
}

// CreateViewRequest creates a view.
type CreateViewRequest struct {
	Namespace   Namespace                  `json:"-"`
	Name        string                     `json:"name"`
	Location    string                     `json:"location,omitempty"`
	Schema      json.RawMessage            `json:"schema"`
	ViewVersion json.RawMessage            `json:"view-version"`
	Properties  map[string]string          `json:"properties,omitempty"`
	Extra       map[string]json.RawMessage `json:"-"`
}

// RegisterViewRequest makes a view of an existing metadata file.
type RegisterViewRequest struct {
	Namespace        Namespace                  `json:"-"`
	Name             string                     `json:"name"`
	MetadataLocation string                     `json:"metadata-location"`
	Extra            map[string]json.RawMessage `json:"-"`
}

// ReplaceViewRequest commits to a view.
type ReplaceViewRequest struct {
	View         Identifier                 `json:"identifier"`
	Requirements []json.RawMessage          `json:"requirements"`
	Updates      []json.RawMessage          `json:"updates"`
	Extra        map[string]json.RawMessage `json:"-"`
}

// RenameViewRequest moves a view, possibly to another namespace.
type RenameViewRequest struct {
	Source      Identifier                 `json:"source"`
	Destination Identifier                 `json:"destination"`
	Extra       map[string]json.RawMessage `json:"-"`
}

// DropViewRequest drops a view.
type DropViewRequest struct{ View Identifier }

// PlanScanRequest asks for a scan to be planned.
type PlanScanRequest struct {
	Table      Identifier
	Delegation string
	Body       json.RawMessage
}

// FetchPlanRequest asks how a plan is getting on.
type FetchPlanRequest struct {
	Table      Identifier
	Delegation string
	PlanID     string
}

// CancelPlanRequest gives a plan up.
type CancelPlanRequest struct {
	Table  Identifier
	PlanID string
}

// FetchScanTasksRequest asks for the tasks behind a plan task.
type FetchScanTasksRequest struct {
	Table Identifier
	Body  json.RawMessage
}

// LoadCredentialsRequest asks for fresh storage credentials of a table.
type LoadCredentialsRequest struct {
	Table        Identifier
	PlanID       string
	Delegation   string
	ReferencedBy []Identifier
}

// ListFunctionsRequest lists the functions of one namespace.
type ListFunctionsRequest struct {
	Namespace Namespace
	Page      pagination.Request
}

// LoadFunctionRequest loads one function.
type LoadFunctionRequest struct{ Function Identifier }

// SignStorageRequest asks for one storage request to be signed.
type SignStorageRequest struct {
	Table Identifier
	Body  json.RawMessage
	// State is what Signing.State of the loaded table was, as the client sent it.
	State string
}
