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
