package mounts

import (
	"context"
	"fmt"
	"time"

	"github.com/icefield/icefield/capabilities"
)

// Handler answers any operation. The response is the one that the request's
// Backend method returns, nil for a method that returns only an error.
type Handler func(ctx context.Context, req Request) (Response, error)

// Invoke calls the Backend method that req is the parameter of.
func Invoke(ctx context.Context, b Backend, req Request) (Response, error) {
	return req.invoke(ctx, b)
}

// Lifecycle is the part of a Backend that is no operation.
type Lifecycle interface {
	Capabilities() capabilities.Set
	Health(ctx context.Context) error
	KeyLifetime() time.Duration
	Close() error
}

// Dispatch makes a Backend whose operations all go to handle.
func Dispatch(handle Handler, life Lifecycle) Backend {
	return struct {
		dispatch
		Lifecycle
	}{dispatch{handle}, life}
}

// Interceptor stands between a caller and the next Backend. It may call next
// once, several times (a retry) or not at all (a refusal), with the request or
// with another of the same type, and may replace the response by one of the
// same type. It must not change the request or the response in place.
type Interceptor func(ctx context.Context, req Request, next Handler) (Response, error)

// Around puts f around every operation of next; the lifecycle is next's own.
// This is how a decorator is one function.
func Around(next Backend, f Interceptor) Backend {
	forward := func(ctx context.Context, req Request) (Response, error) { return req.invoke(ctx, next) }
	return Dispatch(func(ctx context.Context, req Request) (Response, error) {
		return f(ctx, req, forward)
	}, next)
}

// Unsupported is a stub to embed: it answers every operation with
// UnsupportedOperation, has no capabilities, is healthy, honours no
// Idempotency-Key and closes.
type Unsupported struct{ dispatch }

// Capabilities implements Backend.
func (Unsupported) Capabilities() capabilities.Set { return 0 }

// Health implements Backend.
func (Unsupported) Health(context.Context) error { return nil }

// KeyLifetime implements Backend.
func (Unsupported) KeyLifetime() time.Duration { return 0 }

// Close implements Backend.
func (Unsupported) Close() error { return nil }

// NotSupported is the error of an operation that a backend cannot do.
func NotSupported(req Request) *Error {
	return &Error{Kind: UnsupportedOperation, Op: req.Op(), Ident: req.Object()}
}

// dispatch implements the five roles on one function. Without a function every
// operation is unsupported.
type dispatch struct{ handle Handler }

func done(ctx context.Context, d dispatch, req Request) error {
	if d.handle == nil {
		return NotSupported(req)
	}
	_, err := d.handle(ctx, req)
	return err
}

func answer[R any](ctx context.Context, d dispatch, req Request) (R, error) {
	var none R
	if d.handle == nil {
		return none, NotSupported(req)
	}
	resp, err := d.handle(ctx, req)
	if err != nil {
		return none, err
	}
	typed, ok := resp.(R)
	if !ok {
		return none, &Error{Kind: Internal, Op: req.Op(), Ident: req.Object(),
			Err: fmt.Errorf("a handler answered %s with %T", req.Op(), resp)}
	}
	return typed, nil
}

// response keeps a typed nil pointer out of a Response when there is an error.
func response[R any](resp R, err error) (Response, error) {
	if err != nil {
		return nil, err
	}
	return resp, nil
}
