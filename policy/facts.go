package policy

import (
	"encoding/json"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// facts are what of a request matters to the policies.
type facts struct {
	object, to mounts.Identifier
	rename     bool
	changes    []mounts.CommitTableRequest
	// views are the ones that the caller says it comes through.
	views []mounts.Identifier
	// delegation is the wish for access to storage.
	delegation                   bool
	purge, overwrite, make, sign bool
	// schema tells that a commit changes what columns a table has.
	schema bool
	// problem says why the request cannot be decided: it is a bad one.
	problem string
}

// maxReferences bounds the views that a read came through. Those beyond, which
// are the inner ones, do not count.
const maxReferences = 16

// factsOf takes a request apart. known is false for a type that is not one of
// the Backend's: nothing is known of what it would do.
func factsOf(req mounts.Request) (f facts, known bool) {
	f.object = req.Object()
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest, *mounts.LoadNamespaceRequest, *mounts.CreateNamespaceRequest,
		*mounts.UpdateNamespacePropertiesRequest, *mounts.DropNamespaceRequest:
		f.object.Name = ""
	case *mounts.ListTablesRequest, *mounts.ListViewsRequest, *mounts.ListFunctionsRequest,
		*mounts.TableExistsRequest, *mounts.UnregisterTableRequest, *mounts.ReportMetricsRequest,
		*mounts.CreateViewRequest, *mounts.RegisterViewRequest, *mounts.ReplaceViewRequest, *mounts.DropViewRequest,
		*mounts.CancelPlanRequest, *mounts.FetchScanTasksRequest, *mounts.LoadFunctionRequest:
	case *mounts.LoadTableRequest:
		f.delegation, f.views = r.Delegation != "", r.ReferencedBy
	case *mounts.CreateTableRequest:
		f.delegation = r.Delegation != ""
	case *mounts.RegisterTableRequest:
		f.delegation, f.overwrite = r.Delegation != "", r.Overwrite
	case *mounts.CommitTableRequest:
		f.make, f.schema = r.Creates(), reshapes(r.Updates)
	case *mounts.CommitTransactionRequest:
		f.changes = r.Changes
		f.problem = checkChanges(r.Changes)
	case *mounts.RenameTableRequest:
		f.rename, f.to = true, r.Destination
	case *mounts.DropTableRequest:
		f.purge = r.Purge
	case *mounts.LoadViewRequest:
		f.views = r.ReferencedBy
	case *mounts.RenameViewRequest:
		f.rename, f.to = true, r.Destination
	case *mounts.PlanScanRequest:
		f.delegation = r.Delegation != ""
	case *mounts.FetchPlanRequest:
		f.delegation = r.Delegation != ""
	case *mounts.LoadCredentialsRequest:
		f.delegation, f.views = true, r.ReferencedBy
	case *mounts.SignStorageRequest:
		reads, err := readsOnly(r.Body)
		if err != nil {
			f.problem = err.Error()
		}
		f.sign = !reads
	default:
		return facts{}, false
	}
	if len(f.views) > maxReferences {
		f.views = f.views[:maxReferences]
	}
	return f, true
}

func (f *facts) ask(op capabilities.Op) Ask {
	return Ask{Op: op, Purge: f.purge, Overwrite: f.overwrite, Creates: f.make, Write: f.sign, Delegation: f.delegation}
}

// probe is the existence check that a load stands for, and then the load asks
// for nothing else.
func (f *facts) probe(op capabilities.Op) capabilities.Op {
	switch op {
	case capabilities.LoadNamespace:
		return capabilities.NamespaceExists
	case capabilities.LoadTable:
		f.delegation, f.views = false, nil
		return capabilities.TableExists
	case capabilities.LoadView:
		f.views = nil
		return capabilities.ViewExists
	}
	return op
}

func checkChanges(changes []mounts.CommitTableRequest) string {
	if len(changes) == 0 {
		return "the transaction changes no table"
	}
	for _, change := range changes {
		if change.Table.Name == "" {
			return "a change of the transaction does not say which table it is for"
		}
	}
	return ""
}

// reshapes reports updates that change the columns of a table's current schema.
// What cannot be read is taken for one that does. Case does not count, since it
// may be another catalog that reads them in the end: Java's take the action in any
// case, Go's the member's name, and of two spellings the last.
func reshapes(updates []json.RawMessage) bool {
	for _, raw := range updates {
		var u map[string]json.RawMessage
		if json.Unmarshal(raw, &u) != nil {
			return true
		}
		for name, value := range u {
			if !strings.EqualFold(name, "action") {
				continue
			}
			var action string
			if json.Unmarshal(value, &action) != nil {
				return true
			}
			switch strings.ToLower(action) {
			case "add-schema", "set-current-schema", "remove-schemas":
				return true
			}
		}
	}
	return false
}
