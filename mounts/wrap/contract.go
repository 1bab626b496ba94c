package wrap

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/icefield/icefield/mounts"
)

// Contract holds a backend to what mounts.Backend promises. Answers that cannot
// be passed on become errors: Internal where the code broke the contract (no
// response and no error, an error of another type, an absence of something that
// was not asked for, a panic), BadGateway where the data did (a table without
// metadata, rows of another namespace, more rows than asked for, a page token
// that leads back to its own page). After a write such an error says that the
// outcome is unknown. Nil collections in an answer become empty ones.
func Contract(b mounts.Backend) mounts.Backend { return mounts.Around(b, contract) }

func contract(ctx context.Context, req mounts.Request, next mounts.Handler) (resp mounts.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp = nil
			err = broken(req, mounts.Internal, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	resp, err = next(ctx, req)
	if err != nil {
		return nil, checkedError(ctx, req, err)
	}
	return checkedResponse(req, resp)
}

// broken is the error of a backend that did not keep the contract. cause must
// not wrap an error of the backend, whose kind would be matched with errors.Is.
func broken(req mounts.Request, kind mounts.Kind, cause error) *mounts.Error {
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: req.Object(), OutcomeUnknown: changes(req),
		Err: fmt.Errorf("the backend broke its contract: %w", cause)}
}

func checkedError(ctx context.Context, req mounts.Request, err error) error {
	var e *mounts.Error
	switch {
	case !errors.As(err, &e):
		return proper(ctx, req, err)
	case !mayAnswer(req, e.Kind):
		return broken(req, mounts.Internal, fmt.Errorf("%s answered with %q: %v", req.Op(), e.Kind, err))
	case e.OutcomeUnknown && !changes(req):
		known := *e
		known.OutcomeUnknown = false
		return &known
	case e.OutcomeUnknown && !uncertain(e.Kind):
		return broken(req, mounts.Internal, fmt.Errorf("%q cannot go with an unknown outcome: %v", e.Kind, err))
	}
	return err
}

// uncertain lists the kinds that an unknown outcome goes with.
func uncertain(kind mounts.Kind) bool {
	switch kind {
	case mounts.Internal, mounts.Unavailable, mounts.BadGateway, mounts.Timeout:
		return true
	}
	return false
}

// mayAnswer tells which absences an operation can answer. Clients take an
// absence for the truth about the object that they asked for, so one of another
// kind of object must not reach them.
func mayAnswer(req mounts.Request, kind mounts.Kind) bool {
	switch kind {
	case mounts.NoSuchNamespace:
		switch req.(type) {
		case *mounts.ListNamespacesRequest, *mounts.LoadNamespaceRequest, *mounts.CreateNamespaceRequest,
			*mounts.UpdateNamespacePropertiesRequest, *mounts.DropNamespaceRequest,
			*mounts.ListTablesRequest, *mounts.CreateTableRequest, *mounts.RegisterTableRequest,
			*mounts.CommitTableRequest, *mounts.CommitTransactionRequest, *mounts.RenameTableRequest,
			*mounts.ListFunctionsRequest, *mounts.ListViewsRequest, *mounts.CreateViewRequest, *mounts.RegisterViewRequest, *mounts.RenameViewRequest:
			return true
		}
		return false
	case mounts.NoSuchTable:
		switch req.(type) {
		case *mounts.LoadTableRequest, *mounts.TableExistsRequest, *mounts.UnregisterTableRequest,
			*mounts.CommitTableRequest, *mounts.CommitTransactionRequest, *mounts.RenameTableRequest,
			*mounts.DropTableRequest, *mounts.ReportMetricsRequest,
			*mounts.PlanScanRequest, *mounts.FetchPlanRequest, *mounts.CancelPlanRequest, *mounts.FetchScanTasksRequest,
			*mounts.LoadCredentialsRequest, *mounts.SignStorageRequest:
			return true
		}
		return false
	case mounts.NoSuchView:
		switch req.(type) {
		case *mounts.LoadViewRequest, *mounts.ReplaceViewRequest, *mounts.RenameViewRequest, *mounts.DropViewRequest:
			return true
		}
		return false
	case mounts.NoSuchFunction:
		_, function := req.(*mounts.LoadFunctionRequest)
		return function
	case mounts.NoSuchPlan:
		switch req.(type) {
		case *mounts.FetchPlanRequest, *mounts.CancelPlanRequest, *mounts.LoadCredentialsRequest:
			return true
		}
		return false
	case mounts.NoSuchPlanTask:
		_, tasks := req.(*mounts.FetchScanTasksRequest)
		return tasks
	case mounts.NoSuchWarehouse, mounts.NoSuchRoute, mounts.MethodNotAllowed:
		return false
	}
	return true
}
