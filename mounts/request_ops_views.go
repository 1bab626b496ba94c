package mounts

import (
	"context"

	"github.com/icefield/icefield/capabilities"
)

// The same for the roles of views, scans and access.

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
