package mounttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Matrix runs every operation through a stack of backends with a fault at the
// far end, at each place that a fault can be, once and for ever.
type Matrix struct {
	// Build puts the stack under test around inner and registers its clean-up.
	// It is called once for each case.
	Build func(t testing.TB, inner mounts.Backend) mounts.Backend
	// Names turns inner's namespaces into those that the stack's caller uses;
	// nil if they are the same.
	Names func(inner mounts.Namespace) mounts.Namespace
	// Remote says that the stack has a network hop in it. Then a write that was
	// refused behind the hop has been sent as far as its near side can tell, and
	// may be reported as of unknown outcome.
	Remote bool
	// Ops limits the matrix to these operations; empty means all.
	Ops capabilities.Set
}

// FaultMatrix runs the Matrix of a stack within the process that keeps names.
func FaultMatrix(t *testing.T, build func(inner mounts.Backend) mounts.Backend) {
	t.Helper()
	Matrix{Build: func(_ testing.TB, inner mounts.Backend) mounts.Backend { return build(inner) }}.Run(t)
}

// Run runs the matrix: one subtest an operation and fault, named as
// "commitTable/after". What must hold is package mounts' contract:
//
//   - a read may be sent again and then succeed; otherwise its error has the
//     kind of the fault and never speaks of an absence;
//   - a write or commit arrives at most once; no error says or implies that it
//     was not applied when it was, and one that was not sent says so;
//   - without a fault a call arrives once and its answer is what inner gave.
func (m Matrix) Run(t *testing.T) {
	t.Helper()
	for _, req := range Requests() {
		if m.Ops != 0 && !m.Ops.Has(req.Op()) {
			continue
		}
		t.Run(req.Op().String()+"/no fault", func(t *testing.T) { m.clean(t, req) })
		for _, fault := range []Fault{Before, After, MidAnswer} {
			for _, times := range []int{1, 0} {
				name := fmt.Sprintf("%s/%s", req.Op(), fault)
				if times == 1 {
					name += " once"
				}
				t.Run(name, func(t *testing.T) { m.faulty(t, req, fault, times) })
			}
		}
	}
}

// outer is the request in the names of the stack's caller.
func (m Matrix) outer(t testing.TB, req mounts.Request) mounts.Request {
	t.Helper()
	if m.Names == nil {
		return req
	}
	out, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) { return m.Names(n), nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (m Matrix) clean(t *testing.T, req mounts.Request) {
	inner := Faults(Ledger())
	outer := m.outer(t, req)
	got, err := mounts.Invoke(context.Background(), m.Build(t, inner), outer)
	if err != nil {
		t.Fatalf("without a fault: %v", err)
	}
	if n := inner.Applied(req.Op()); n != 1 {
		t.Errorf("arrived %d times, want once", n)
	}
	want := canned(req)
	if m.Names != nil {
		want = mounts.MapResponse(want, m.Names)
	}
	if problem := differ(want, got); problem != "" {
		t.Error(problem)
	}
}

// differ compares the parts of an answer that every stack must pass on.
// Configuration, credentials and tags are for decorators to change.
func differ(want, got mounts.Response) string {
	switch w := want.(type) {
	case nil:
		if got != nil {
			return fmt.Sprintf("answered %T, want nothing", got)
		}
		return ""
	case *mounts.Table:
		g, ok := got.(*mounts.Table)
		if !ok || g.MetadataLocation != w.MetadataLocation || !bytes.Equal(g.Metadata, w.Metadata) {
			return fmt.Sprintf("the table was changed on the way: %+v", got)
		}
		return ""
	case *mounts.View:
		g, ok := got.(*mounts.View)
		if !ok || g.MetadataLocation != w.MetadataLocation || len(g.Metadata) == 0 {
			return fmt.Sprintf("the view was changed on the way: %+v", got)
		}
		return ""
	case *mounts.Document:
		g, ok := got.(*mounts.Document)
		if !ok || !sameJSON(g.Body, w.Body) {
			return fmt.Sprintf("the document was changed on the way: %+v", got)
		}
		return ""
	case *mounts.Credentials:
		if _, ok := got.(*mounts.Credentials); !ok {
			return fmt.Sprintf("answered %T, want credentials", got)
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("answered %+v\nwant     %+v", got, want)
	}
	return ""
}

func (m Matrix) faulty(t *testing.T, req mounts.Request, fault Fault, times int) {
	inner := Faults(Ledger())
	inner.Fail(req.Op(), fault, times)
	outer := m.outer(t, req)
	stack := m.Build(t, inner)
	resp, err := mounts.Invoke(context.Background(), stack, outer)
	calls, applied := inner.Calls(req.Op()), inner.Applied(req.Op())
	if calls == 0 {
		t.Fatalf("the call never arrived, and was answered %v, %v", resp, err)
	}
	if req.Op().Row().Class == capabilities.Read {
		m.judgeRead(t, outer, fault, times, calls, resp, err)
		return
	}
	if calls > 1 {
		t.Errorf("a %s was sent %d times", req.Op().Row().Class, calls)
	}
	m.judgeWrite(t, outer, fault, applied, err)
}

func (m Matrix) judgeRead(t *testing.T, req mounts.Request, fault Fault, times, calls int, resp mounts.Response, err error) {
	if err == nil {
		switch {
		case times != 1:
			t.Errorf("every attempt failed and the answer is %v", resp)
		case calls < 2:
			t.Errorf("the only attempt failed and the answer is %v", resp)
		}
		return
	}
	e := m.theError(t, req, err)
	if e == nil {
		return
	}
	if e.OutcomeUnknown {
		t.Errorf("a read has no outcome to be unknown: %v", err)
	}
	if want := kindOf(fault); e.Kind != want {
		t.Errorf("kind %v, want %v: %v", e.Kind, want, err)
	}
}

func (m Matrix) judgeWrite(t *testing.T, req mounts.Request, fault Fault, applied int, err error) {
	if err == nil {
		t.Fatal("the answer was lost and the call is reported as a success")
	}
	e := m.theError(t, req, err)
	if e == nil {
		return
	}
	if applied > 0 && !e.OutcomeUnknown {
		t.Errorf("applied, and the error means that it was not: %v", err)
	}
	if fault == Before && e.OutcomeUnknown && m.Remote {
		switch e.Kind {
		case mounts.Unavailable, mounts.BadGateway, mounts.Timeout:
			return
		}
	}
	if fault == Before && e.OutcomeUnknown {
		t.Errorf("never sent, and reported as of unknown outcome: %v", err)
	}
	if want := kindOf(fault); e.Kind != want {
		t.Errorf("kind %v, want %v: %v", e.Kind, want, err)
	}
}

func kindOf(fault Fault) mounts.Kind {
	switch fault {
	case Before:
		return mounts.Unavailable
	case After:
		return mounts.Timeout
	}
	return mounts.BadGateway
}

// theError checks what holds for every error: it is the one type, and it is
// about what the caller asked for, in the caller's names.
func (m Matrix) theError(t *testing.T, req mounts.Request, err error) *mounts.Error {
	t.Helper()
	var e *mounts.Error
	if !errors.As(err, &e) {
		t.Errorf("the error is a %T, not a *mounts.Error: %v", err, err)
		return nil
	}
	if !e.Ident.Equal(req.Object()) {
		t.Errorf("the error is about %q, the request about %q", e.Ident, req.Object())
	}
	return e
}
