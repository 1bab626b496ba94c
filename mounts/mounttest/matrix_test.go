package mounttest

import (
	"context"
	"errors"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func around(f mounts.Interceptor) func(mounts.Backend) mounts.Backend {
	return func(inner mounts.Backend) mounts.Backend { return mounts.Around(inner, f) }
}

// again sends a call that failed a second time.
func again(only func(capabilities.Class) bool) mounts.Interceptor {
	return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		resp, err := next(ctx, req)
		if err != nil && only(req.Op().Row().Class) {
			return next(ctx, req)
		}
		return resp, err
	}
}

func reads(c capabilities.Class) bool { return c == capabilities.Read }

func TestMatrixHoldsForADecoratorThatDoesNothing(t *testing.T) {
	FaultMatrix(t, func(inner mounts.Backend) mounts.Backend { return inner })
}

func TestMatrixHoldsForARetryOfReads(t *testing.T) {
	FaultMatrix(t, around(again(reads)))
}

func TestMatrixHoldsForMappedNames(t *testing.T) {
	up := func(n mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{"prod"}, n...) }
	Matrix{Names: up, Build: func(_ testing.TB, inner mounts.Backend) mounts.Backend {
		return mounts.Around(inner, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			down, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) { return n[1:], nil })
			if err != nil {
				return nil, err
			}
			resp, err := next(ctx, down)
			if err != nil {
				mapped := *mounts.AsError(err)
				mapped.Ident.Namespace = up(mapped.Ident.Namespace)
				return nil, &mapped
			}
			return mounts.MapResponse(resp, up), nil
		})
	}}.Run(t)
}

// The matrix runs over decorators that are wrong in one way each, and looks
// for the first operation and fault that gives them away.
func TestMatrixCatchesDecoratorsThatAreWrong(t *testing.T) {
	remake := func(change func(*mounts.Error)) mounts.Interceptor {
		return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil {
				e := *mounts.AsError(err)
				change(&e)
				return nil, &e
			}
			return resp, nil
		}
	}
	for name, tt := range map[string]struct {
		f     mounts.Interceptor
		op    capabilities.Op
		fault Fault
		times int
	}{
		"sends a commit twice":            {again(func(c capabilities.Class) bool { return c == capabilities.Commit }), capabilities.CommitTable, After, 1},
		"sends a refused write twice":     {again(func(c capabilities.Class) bool { return c == capabilities.Write }), capabilities.DropTable, Before, 0},
		"forgets that nobody knows":       {remake(func(e *mounts.Error) { e.OutcomeUnknown = false }), capabilities.CommitTable, After, 0},
		"calls a lost answer a conflict":  {remake(func(e *mounts.Error) { e.Kind, e.OutcomeUnknown = mounts.CommitConflict, false }), capabilities.CommitTransaction, MidAnswer, 0},
		"doubts what was never sent":      {remake(func(e *mounts.Error) { e.OutcomeUnknown = true }), capabilities.RenameTable, Before, 0},
		"calls a fault an absence":        {remake(func(e *mounts.Error) { e.Kind = mounts.NoSuchTable }), capabilities.LoadTable, Before, 0},
		"loses what the error is about":   {remake(func(e *mounts.Error) { e.Ident = mounts.Identifier{} }), capabilities.LoadView, After, 0},
		"doubts a read":                   {remake(func(e *mounts.Error) { e.OutcomeUnknown = true }), capabilities.ListTables, After, 0},
		"calls a broken answer a timeout": {remake(func(e *mounts.Error) { e.Kind = mounts.Timeout }), capabilities.ListNamespaces, MidAnswer, 0},
		"answers an error of another type": {func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil {
				return nil, errors.New("plain")
			}
			return resp, nil
		}, capabilities.DropView, Before, 0},
		"lists nothing on an error": {func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil {
				return canned(req), nil
			}
			return resp, nil
		}, capabilities.ListViews, Before, 0},
		"takes a lost answer for a success": {func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if errors.Is(err, mounts.ErrOutcomeUnknown) {
				return canned(req), nil
			}
			return resp, err
		}, capabilities.CommitTable, After, 0},
		"never calls": {func(_ context.Context, req mounts.Request, _ mounts.Handler) (mounts.Response, error) {
			return nil, injected(req, mounts.Unavailable, false)
		}, capabilities.CommitTable, Before, 0},
	} {
		m := Matrix{Build: func(_ testing.TB, inner mounts.Backend) mounts.Backend { return mounts.Around(inner, tt.f) }}
		for _, req := range Requests() {
			if req.Op() == tt.op {
				if wrong := m.faulty(t, req, tt.fault, tt.times); len(wrong) == 0 {
					t.Errorf("a decorator that %s passes %s/%s", name, tt.op, tt.fault)
				}
			}
		}
	}
}

func TestMatrixCatchesChangedAnswersAndDoubledCalls(t *testing.T) {
	for name, f := range map[string]mounts.Interceptor{
		"calls twice": func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			_, _ = next(ctx, req)
			return next(ctx, req)
		},
		"answers something else": func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if _, ok := resp.(*mounts.Table); ok {
				return &mounts.Table{MetadataLocation: "s3://elsewhere", Metadata: raw(`{}`)}, err
			}
			return mounts.MapResponse(resp, func(n mounts.Namespace) mounts.Namespace { return n.Child("x") }), err
		},
	} {
		m := Matrix{Build: func(_ testing.TB, inner mounts.Backend) mounts.Backend { return mounts.Around(inner, f) }}
		for _, req := range Requests() {
			switch req.Op() {
			case capabilities.LoadTable, capabilities.CommitTable, capabilities.ListTables, capabilities.ListNamespaces, capabilities.LoadNamespace:
				if wrong := m.clean(t, req); len(wrong) == 0 {
					t.Errorf("a decorator that %s passes %s", name, req.Op())
				}
			}
		}
	}
}

func TestMatrixAllowsDoubtBehindAHopOnly(t *testing.T) {
	req := Requests()[11]
	if req.Op() != capabilities.CommitTable {
		t.Fatalf("request 11 is %s", req.Op())
	}
	doubt := injected(req, mounts.BadGateway, true)
	if wrong := (Matrix{Remote: true}).judgeWrite(req, Before, 0, doubt); len(wrong) > 0 {
		t.Error(wrong)
	}
	if wrong := (Matrix{}).judgeWrite(req, Before, 0, doubt); len(wrong) == 0 {
		t.Error("doubt about a call that was refused within the process passes")
	}
	if wrong := (Matrix{Remote: true}).judgeWrite(req, After, 1, injected(req, mounts.BadGateway, false)); len(wrong) == 0 {
		t.Error("an applied commit that is reported as not applied passes behind a hop")
	}
}
