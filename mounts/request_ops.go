package mounts

import (
	"context"
	"slices"

	"github.com/icefield/icefield/capabilities"
)

// What makes each request a Request: its operation, its object, the Backend
// method it is the parameter of, and the names inside it.

// Op implements Request.
func (r *ListNamespacesRequest) Op() capabilities.Op { return capabilities.ListNamespaces }

// Object implements Request.
func (r *ListNamespacesRequest) Object() Identifier { return Identifier{Namespace: r.Parent} }

func (r *ListNamespacesRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.ListNamespaces(ctx, r))
}

func (r *ListNamespacesRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Parent)
	return &out, m.err
}

// Op implements Request.
func (r *LoadNamespaceRequest) Op() capabilities.Op { return capabilities.LoadNamespace }

// Object implements Request.
func (r *LoadNamespaceRequest) Object() Identifier { return Identifier{Namespace: r.Namespace} }

func (r *LoadNamespaceRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.LoadNamespace(ctx, r))
}

func (r *LoadNamespaceRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *CreateNamespaceRequest) Op() capabilities.Op { return capabilities.CreateNamespace }

// Object implements Request.
func (r *CreateNamespaceRequest) Object() Identifier { return Identifier{Namespace: r.Namespace} }

func (r *CreateNamespaceRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.CreateNamespace(ctx, r))
}

func (r *CreateNamespaceRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *UpdateNamespacePropertiesRequest) Op() capabilities.Op {
	return capabilities.UpdateNamespaceProperties
}

// Object implements Request.
func (r *UpdateNamespacePropertiesRequest) Object() Identifier {
	return Identifier{Namespace: r.Namespace}
}

func (r *UpdateNamespacePropertiesRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.UpdateNamespaceProperties(ctx, r))
}

func (r *UpdateNamespacePropertiesRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *DropNamespaceRequest) Op() capabilities.Op { return capabilities.DropNamespace }

// Object implements Request.
func (r *DropNamespaceRequest) Object() Identifier { return Identifier{Namespace: r.Namespace} }

func (r *DropNamespaceRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.DropNamespace(ctx, r)
}

func (r *DropNamespaceRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *ListTablesRequest) Op() capabilities.Op { return capabilities.ListTables }

// Object implements Request.
func (r *ListTablesRequest) Object() Identifier { return Identifier{Namespace: r.Namespace} }

func (r *ListTablesRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.ListTables(ctx, r))
}

func (r *ListTablesRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *LoadTableRequest) Op() capabilities.Op { return capabilities.LoadTable }

// Object implements Request.
func (r *LoadTableRequest) Object() Identifier { return r.Table }

func (r *LoadTableRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.LoadTable(ctx, r))
}

func (r *LoadTableRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	out.ReferencedBy = m.identifiers(r.ReferencedBy)
	return &out, m.err
}

// Op implements Request.
func (r *TableExistsRequest) Op() capabilities.Op { return capabilities.TableExists }

// Object implements Request.
func (r *TableExistsRequest) Object() Identifier { return r.Table }

func (r *TableExistsRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.TableExists(ctx, r)
}

func (r *TableExistsRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *CreateTableRequest) Op() capabilities.Op { return capabilities.CreateTable }

// Object implements Request.
func (r *CreateTableRequest) Object() Identifier {
	return Identifier{Namespace: r.Namespace, Name: r.Name}
}

func (r *CreateTableRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.CreateTable(ctx, r))
}

func (r *CreateTableRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *RegisterTableRequest) Op() capabilities.Op { return capabilities.RegisterTable }

// Object implements Request.
func (r *RegisterTableRequest) Object() Identifier {
	return Identifier{Namespace: r.Namespace, Name: r.Name}
}

func (r *RegisterTableRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.RegisterTable(ctx, r))
}

func (r *RegisterTableRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *UnregisterTableRequest) Op() capabilities.Op { return capabilities.UnregisterTable }

// Object implements Request.
func (r *UnregisterTableRequest) Object() Identifier { return r.Table }

func (r *UnregisterTableRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.UnregisterTable(ctx, r))
}

func (r *UnregisterTableRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *CommitTableRequest) Op() capabilities.Op { return capabilities.CommitTable }

// Object implements Request.
func (r *CommitTableRequest) Object() Identifier { return r.Table }

func (r *CommitTableRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.CommitTable(ctx, r))
}

func (r *CommitTableRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *CommitTransactionRequest) Op() capabilities.Op { return capabilities.CommitTransaction }

// Object implements Request.
func (r *CommitTransactionRequest) Object() Identifier {
	if len(r.Changes) == 0 {
		return Identifier{}
	}
	return r.Changes[0].Table
}

func (r *CommitTransactionRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.CommitTransaction(ctx, r)
}

func (r *CommitTransactionRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	out.Changes = slices.Clone(r.Changes)
	for i := range out.Changes {
		m.namespace(&out.Changes[i].Table.Namespace)
	}
	return &out, m.err
}

// Op implements Request.
func (r *RenameTableRequest) Op() capabilities.Op { return capabilities.RenameTable }

// Object implements Request.
func (r *RenameTableRequest) Object() Identifier { return r.Source }

func (r *RenameTableRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.RenameTable(ctx, r)
}

func (r *RenameTableRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Source.Namespace)
	m.namespace(&out.Destination.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *DropTableRequest) Op() capabilities.Op { return capabilities.DropTable }

// Object implements Request.
func (r *DropTableRequest) Object() Identifier { return r.Table }

func (r *DropTableRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.DropTable(ctx, r)
}

func (r *DropTableRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *ReportMetricsRequest) Op() capabilities.Op { return capabilities.ReportMetrics }

// Object implements Request.
func (r *ReportMetricsRequest) Object() Identifier { return r.Table }

func (r *ReportMetricsRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.ReportMetrics(ctx, r)
}

func (r *ReportMetricsRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *ListViewsRequest) Op() capabilities.Op { return capabilities.ListViews }

// Object implements Request.
func (r *ListViewsRequest) Object() Identifier { return Identifier{Namespace: r.Namespace} }

func (r *ListViewsRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.ListViews(ctx, r))
}

func (r *ListViewsRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *LoadViewRequest) Op() capabilities.Op { return capabilities.LoadView }

// Object implements Request.
func (r *LoadViewRequest) Object() Identifier { return r.View }

func (r *LoadViewRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.LoadView(ctx, r))
}

func (r *LoadViewRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.View.Namespace)
	out.ReferencedBy = m.identifiers(r.ReferencedBy)
	return &out, m.err
}

// Op implements Request.
func (r *CreateViewRequest) Op() capabilities.Op { return capabilities.CreateView }

// Object implements Request.
func (r *CreateViewRequest) Object() Identifier {
	return Identifier{Namespace: r.Namespace, Name: r.Name}
}

func (r *CreateViewRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.CreateView(ctx, r))
}

func (r *CreateViewRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *RegisterViewRequest) Op() capabilities.Op { return capabilities.RegisterView }

// Object implements Request.
func (r *RegisterViewRequest) Object() Identifier {
	return Identifier{Namespace: r.Namespace, Name: r.Name}
}

func (r *RegisterViewRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.RegisterView(ctx, r))
}

func (r *RegisterViewRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *ReplaceViewRequest) Op() capabilities.Op { return capabilities.ReplaceView }

// Object implements Request.
func (r *ReplaceViewRequest) Object() Identifier { return r.View }

func (r *ReplaceViewRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.ReplaceView(ctx, r))
}

func (r *ReplaceViewRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.View.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *RenameViewRequest) Op() capabilities.Op { return capabilities.RenameView }

// Object implements Request.
func (r *RenameViewRequest) Object() Identifier { return r.Source }

func (r *RenameViewRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.RenameView(ctx, r)
}

func (r *RenameViewRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Source.Namespace)
	m.namespace(&out.Destination.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *DropViewRequest) Op() capabilities.Op { return capabilities.DropView }

// Object implements Request.
func (r *DropViewRequest) Object() Identifier { return r.View }

func (r *DropViewRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.DropView(ctx, r)
}

func (r *DropViewRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.View.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *PlanScanRequest) Op() capabilities.Op { return capabilities.PlanScan }

// Object implements Request.
func (r *PlanScanRequest) Object() Identifier { return r.Table }

func (r *PlanScanRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.PlanScan(ctx, r))
}

func (r *PlanScanRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *FetchPlanRequest) Op() capabilities.Op { return capabilities.FetchPlan }

// Object implements Request.
func (r *FetchPlanRequest) Object() Identifier { return r.Table }

func (r *FetchPlanRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.FetchPlan(ctx, r))
}

func (r *FetchPlanRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *CancelPlanRequest) Op() capabilities.Op { return capabilities.CancelPlan }

// Object implements Request.
func (r *CancelPlanRequest) Object() Identifier { return r.Table }

func (r *CancelPlanRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return nil, b.CancelPlan(ctx, r)
}

func (r *CancelPlanRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *FetchScanTasksRequest) Op() capabilities.Op { return capabilities.FetchScanTasks }

// Object implements Request.
func (r *FetchScanTasksRequest) Object() Identifier { return r.Table }

func (r *FetchScanTasksRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.FetchScanTasks(ctx, r))
}

func (r *FetchScanTasksRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *LoadCredentialsRequest) Op() capabilities.Op { return capabilities.LoadCredentials }

// Object implements Request.
func (r *LoadCredentialsRequest) Object() Identifier { return r.Table }

func (r *LoadCredentialsRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.LoadCredentials(ctx, r))
}

func (r *LoadCredentialsRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	out.ReferencedBy = m.identifiers(r.ReferencedBy)
	return &out, m.err
}

// Op implements Request.
func (r *SignStorageRequest) Op() capabilities.Op { return capabilities.SignRequest }

// Object implements Request.
func (r *SignStorageRequest) Object() Identifier { return r.Table }

func (r *SignStorageRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.SignRequest(ctx, r))
}

func (r *SignStorageRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Table.Namespace)
	return &out, m.err
}
