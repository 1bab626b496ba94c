package mounts

import (
	"context"

	"github.com/icefield/icefield/capabilities"
)

// The same for the role of functions.

// Op implements Request.
func (r *ListFunctionsRequest) Op() capabilities.Op { return capabilities.ListFunctions }

// Object implements Request.
func (r *ListFunctionsRequest) Object() Identifier { return Identifier{Namespace: r.Namespace} }

func (r *ListFunctionsRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.ListFunctions(ctx, r))
}

func (r *ListFunctionsRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Namespace)
	return &out, m.err
}

// Op implements Request.
func (r *LoadFunctionRequest) Op() capabilities.Op { return capabilities.LoadFunction }

// Object implements Request.
func (r *LoadFunctionRequest) Object() Identifier { return r.Function }

func (r *LoadFunctionRequest) invoke(ctx context.Context, b Backend) (Response, error) {
	return response(b.LoadFunction(ctx, r))
}

func (r *LoadFunctionRequest) mapNames(f func(Namespace) (Namespace, error)) (Request, error) {
	m := mapper{f: f}
	out := *r
	m.namespace(&out.Function.Namespace)
	return &out, m.err
}
