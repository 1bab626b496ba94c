package wrap

import (
	"context"
	"errors"
	"time"

	"github.com/icefield/icefield/mounts"
)

// observe measures every call and completes its error: who is responsible
// (Mount), what was asked (Op) and about what (Ident, To), in the names that
// the caller used. It changes a copy, since a backend may share its errors. The
// error of a call that its caller gave up matches context.Canceled.
func observe(mount string, record func(req mounts.Request, o outcome, took time.Duration)) mounts.Interceptor {
	return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		start := time.Now()
		resp, err := next(ctx, req)
		took := time.Since(start)
		if err == nil {
			record(req, ok, took)
			return resp, nil
		}
		e := stamped(ctx, mount, req, err)
		record(req, outcomeOf(ctx, e), took)
		return nil, e
	}
}

func stamped(ctx context.Context, mount string, req mounts.Request, err error) *mounts.Error {
	found := inside(err)
	if found == nil {
		found = proper(ctx, req, err)
	}
	e := *found
	if error(found) != err && e.Err != err {
		e.Err = err // keeps what was wrapped around it, for the log
	}
	if e.Op == 0 {
		e.Op = req.Op()
	}
	if e.Mount == "" {
		e.Mount = mount
	}
	nameObject(&e, req)
	if abandoned(ctx) && uncertain(e.Kind) && !errors.Is(&e, context.Canceled) {
		e.Err = errors.Join(ctx.Err(), e.Err)
	}
	return &e
}

// nameObject fills in what an error is about where the backend left it open.
func nameObject(e *mounts.Error, req mounts.Request) {
	source, destination := req.Object(), mounts.Identifier{}
	switch r := req.(type) {
	case *mounts.RenameTableRequest:
		destination = r.Destination
	case *mounts.RenameViewRequest:
		destination = r.Destination
	case *mounts.CommitTransactionRequest:
		if len(r.Changes) > 1 {
			return // any of them may be meant
		}
	}
	if e.Ident.IsZero() {
		e.Ident = source
		if e.Kind == mounts.NoSuchNamespace {
			e.Ident = absentNamespace(req, destination)
		}
	}
	if e.To.IsZero() && e.Ident.Equal(source) {
		e.To = destination
	}
}

// absentNamespace is the namespace that an operation needs and did not find.
func absentNamespace(req mounts.Request, destination mounts.Identifier) mounts.Identifier {
	if _, create := req.(*mounts.CreateNamespaceRequest); create {
		return mounts.Identifier{Namespace: req.Object().Namespace.Parent()}
	}
	if !destination.IsZero() {
		return mounts.Identifier{Namespace: destination.Namespace}
	}
	return mounts.Identifier{Namespace: req.Object().Namespace}
}
