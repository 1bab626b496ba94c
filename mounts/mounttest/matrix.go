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
		t.Run(req.Op().String()+"/no fault", func(t *testing.T) { report(t, m.clean(t, req)) })
		for _, fault := range []Fault{Before, After, MidAnswer} {
			for _, times := range []int{1, 0} {
				name := fmt.Sprintf("%s/%s", req.Op(), fault)
				if times == 1 {
					name += " once"
				}
				t.Run(name, func(t *testing.T) { report(t, m.faulty(t, req, fault, times)) })
			}
		}
	}
}

// outer is the request in the names of the stack's caller, the default
// namespace of a view included.
func (m Matrix) outer(t testing.TB, req mounts.Request) mounts.Request {
	t.Helper()
	if m.Names == nil {
		return req
	}
	out, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) { return m.Names(n), nil })
	if err != nil {
		t.Fatal(err)
	}
	if create, ok := out.(*mounts.CreateViewRequest); ok {
		create.ViewVersion = viewVersion(m.Names(req.(*mounts.CreateViewRequest).Namespace))
	}
	return out
}

// clean runs one operation without a fault and says what is wrong.
func (m Matrix) clean(t testing.TB, req mounts.Request) []string {
	inner := Faults(Ledger())
	got, err := mounts.Invoke(context.Background(), m.Build(t, inner), m.outer(t, req))
	if err != nil {
		return []string{fmt.Sprintf("without a fault: %v", err)}
	}
	var wrong []string
	if n := inner.Applied(req.Op()); n != 1 {
		wrong = append(wrong, fmt.Sprintf("arrived %d times, want once", n))
	}
	want := canned(req)
	if m.Names != nil {
		want = mounts.MapResponse(want, m.Names)
	}
	if problem := differ(want, got); problem != "" {
		wrong = append(wrong, problem)
	}
	return wrong
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

// faulty runs one operation with a fault and says what is wrong.
func (m Matrix) faulty(t testing.TB, req mounts.Request, fault Fault, times int) []string {
	inner := Faults(Ledger())
	inner.Fail(req.Op(), fault, times)
	outer := m.outer(t, req)
	resp, err := mounts.Invoke(context.Background(), m.Build(t, inner), outer)
	calls, applied := inner.Calls(req.Op()), inner.Applied(req.Op())
	if calls == 0 {
		return []string{fmt.Sprintf("the call never arrived, and was answered %v, %v", resp, err)}
	}
	if req.Op().Row().Class == capabilities.Read {
		return judgeRead(outer, fault, times, calls, err)
	}
	wrong := m.judgeWrite(outer, fault, applied, err)
	if calls > 1 {
		wrong = append(wrong, fmt.Sprintf("a %s was sent %d times", req.Op().Row().Class, calls))
	}
	return wrong
}

func judgeRead(req mounts.Request, fault Fault, times, calls int, err error) []string {
	if err == nil {
		if times != 1 || calls < 2 {
			return []string{fmt.Sprintf("none of %d attempts was answered, and the call is reported as a success", calls)}
		}
		return nil
	}
	e, wrong := theError(req, err)
	if e == nil {
		return wrong
	}
	if e.OutcomeUnknown {
		wrong = append(wrong, fmt.Sprintf("a read has no outcome to be unknown: %v", err))
	}
	if want := kindOf(fault); e.Kind != want {
		wrong = append(wrong, fmt.Sprintf("kind %v, want %v: %v", e.Kind, want, err))
	}
	return wrong
}

func (m Matrix) judgeWrite(req mounts.Request, fault Fault, applied int, err error) []string {
	if err == nil {
		return []string{"the answer was lost, and the call is reported as a success"}
	}
	e, wrong := theError(req, err)
	if e == nil {
		return wrong
	}
	if applied > 0 && !e.OutcomeUnknown {
		wrong = append(wrong, fmt.Sprintf("applied, and the error means that it was not: %v", err))
	}
	if fault == Before && e.OutcomeUnknown {
		behindHop := e.Kind == mounts.Unavailable || e.Kind == mounts.BadGateway || e.Kind == mounts.Timeout
		if m.Remote && behindHop {
			return wrong
		}
		wrong = append(wrong, fmt.Sprintf("never sent, and reported as of unknown outcome: %v", err))
	}
	if want := kindOf(fault); e.Kind != want {
		wrong = append(wrong, fmt.Sprintf("kind %v, want %v: %v", e.Kind, want, err))
	}
	return wrong
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
func theError(req mounts.Request, err error) (e *mounts.Error, wrong []string) {
	if !errors.As(err, &e) {
		return nil, []string{fmt.Sprintf("the error is a %T, not a *mounts.Error: %v", err, err)}
	}
	if !e.Ident.Equal(req.Object()) {
		wrong = append(wrong, fmt.Sprintf("the error is about %q, the request about %q", e.Ident, req.Object()))
	}
	return e, wrong
}

func report(t testing.TB, wrong []string) {
	t.Helper()
	for _, problem := range wrong {
		t.Error(problem)
	}
}
