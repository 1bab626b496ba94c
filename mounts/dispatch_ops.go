package mounts

import (
	"context"

	"github.com/icefield/icefield/pagination"
)

// The methods that make dispatch a Backend's five roles: one line an operation,
// each the counterpart of a request's invoke.

func (d dispatch) ListNamespaces(ctx context.Context, req *ListNamespacesRequest) (*pagination.Page[Namespace], error) {
	return answer[*pagination.Page[Namespace]](ctx, d, req)
}

func (d dispatch) LoadNamespace(ctx context.Context, req *LoadNamespaceRequest) (*NamespaceInfo, error) {
	return answer[*NamespaceInfo](ctx, d, req)
}

func (d dispatch) CreateNamespace(ctx context.Context, req *CreateNamespaceRequest) (*NamespaceInfo, error) {
	return answer[*NamespaceInfo](ctx, d, req)
}

func (d dispatch) UpdateNamespaceProperties(ctx context.Context, req *UpdateNamespacePropertiesRequest) (*UpdatedProperties, error) {
	return answer[*UpdatedProperties](ctx, d, req)
}

func (d dispatch) DropNamespace(ctx context.Context, req *DropNamespaceRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) ListTables(ctx context.Context, req *ListTablesRequest) (*pagination.Page[Identifier], error) {
	return answer[*pagination.Page[Identifier]](ctx, d, req)
}

func (d dispatch) LoadTable(ctx context.Context, req *LoadTableRequest) (*Table, error) {
	return answer[*Table](ctx, d, req)
}

func (d dispatch) TableExists(ctx context.Context, req *TableExistsRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) CreateTable(ctx context.Context, req *CreateTableRequest) (*Table, error) {
	return answer[*Table](ctx, d, req)
}

func (d dispatch) RegisterTable(ctx context.Context, req *RegisterTableRequest) (*Table, error) {
	return answer[*Table](ctx, d, req)
}

func (d dispatch) UnregisterTable(ctx context.Context, req *UnregisterTableRequest) (*Table, error) {
	return answer[*Table](ctx, d, req)
}

func (d dispatch) CommitTable(ctx context.Context, req *CommitTableRequest) (*Table, error) {
	return answer[*Table](ctx, d, req)
}

func (d dispatch) CommitTransaction(ctx context.Context, req *CommitTransactionRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) RenameTable(ctx context.Context, req *RenameTableRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) DropTable(ctx context.Context, req *DropTableRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) ReportMetrics(ctx context.Context, req *ReportMetricsRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) ListViews(ctx context.Context, req *ListViewsRequest) (*pagination.Page[Identifier], error) {
	return answer[*pagination.Page[Identifier]](ctx, d, req)
}

func (d dispatch) LoadView(ctx context.Context, req *LoadViewRequest) (*View, error) {
	return answer[*View](ctx, d, req)
}

func (d dispatch) CreateView(ctx context.Context, req *CreateViewRequest) (*View, error) {
	return answer[*View](ctx, d, req)
}

func (d dispatch) RegisterView(ctx context.Context, req *RegisterViewRequest) (*View, error) {
	return answer[*View](ctx, d, req)
}

func (d dispatch) ReplaceView(ctx context.Context, req *ReplaceViewRequest) (*View, error) {
	return answer[*View](ctx, d, req)
}

func (d dispatch) RenameView(ctx context.Context, req *RenameViewRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) DropView(ctx context.Context, req *DropViewRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) PlanScan(ctx context.Context, req *PlanScanRequest) (*Document, error) {
	return answer[*Document](ctx, d, req)
}

func (d dispatch) FetchPlan(ctx context.Context, req *FetchPlanRequest) (*Document, error) {
	return answer[*Document](ctx, d, req)
}

func (d dispatch) CancelPlan(ctx context.Context, req *CancelPlanRequest) error {
	return done(ctx, d, req)
}

func (d dispatch) FetchScanTasks(ctx context.Context, req *FetchScanTasksRequest) (*Document, error) {
	return answer[*Document](ctx, d, req)
}

func (d dispatch) LoadCredentials(ctx context.Context, req *LoadCredentialsRequest) (*Credentials, error) {
	return answer[*Credentials](ctx, d, req)
}

func (d dispatch) SignRequest(ctx context.Context, req *SignStorageRequest) (*Document, error) {
	return answer[*Document](ctx, d, req)
}

func (d dispatch) ListFunctions(ctx context.Context, req *ListFunctionsRequest) (*pagination.Page[Identifier], error) {
	return answer[*pagination.Page[Identifier]](ctx, d, req)
}

func (d dispatch) LoadFunction(ctx context.Context, req *LoadFunctionRequest) (*Document, error) {
	return answer[*Document](ctx, d, req)
}
