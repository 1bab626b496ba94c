package mounttest

import (
	"context"
	"errors"
	"sync"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Fault is where a call goes wrong.
type Fault uint8

// The faults.
const (
	// Before: nothing is sent and nothing happens. Unavailable.
	Before Fault = iota + 1
	// After: the call takes effect and its answer is lost. Timeout; for a write
	// or commit its outcome is unknown.
	After
	// MidAnswer: the call takes effect and its answer breaks off. BadGateway;
	// for a write or commit its outcome is unknown.
	MidAnswer
)

// String names the fault in subtests.
func (f Fault) String() string {
	switch f {
	case Before:
		return "before"
	case After:
		return "after"
	case MidAnswer:
		return "mid-answer"
	}
	return "none"
}

// ErrInjected is the cause of every injected error.
var ErrInjected = errors.New("injected fault")

// Injector is a backend that fails on command and counts. It is safe for
// concurrent use.
type Injector struct {
	mounts.Backend

	mu      sync.Mutex
	planned map[capabilities.Op]*plan
	calls   map[capabilities.Op]int
	applied map[capabilities.Op]int
}

type plan struct {
	fault Fault
	left  int // negative: for ever
}

// Faults puts an injector in front of a backend. It passes everything on until
// Fail says otherwise.
func Faults(next mounts.Backend) *Injector {
	i := &Injector{planned: map[capabilities.Op]*plan{}, calls: map[capabilities.Op]int{}, applied: map[capabilities.Op]int{}}
	i.Backend = mounts.Around(next, i.intercept)
	return i
}

// Fail makes the next calls of an operation fail: that many times, or every
// time if times is not positive.
func (i *Injector) Fail(op capabilities.Op, fault Fault, times int) {
	if times <= 0 {
		times = -1
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.planned[op] = &plan{fault, times}
}

// Clear ends all planned faults.
func (i *Injector) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.planned)
}

// Calls is how often the operation was called.
func (i *Injector) Calls(op capabilities.Op) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls[op]
}

// Applied is how often the operation succeeded behind the injector, whatever
// its caller was told.
func (i *Injector) Applied(op capabilities.Op) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.applied[op]
}

func (i *Injector) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	fault := i.arrive(req.Op())
	if fault == Before {
		return nil, injected(req, mounts.Unavailable, false)
	}
	resp, err := next(ctx, req)
	if err == nil {
		i.mu.Lock()
		i.applied[req.Op()]++
		i.mu.Unlock()
	}
	writes := req.Op().Row().Class != capabilities.Read
	switch fault {
	case After:
		return nil, injected(req, mounts.Timeout, writes)
	case MidAnswer:
		return nil, injected(req, mounts.BadGateway, writes)
	}
	return resp, err
}

// arrive counts a call and uses up one planned fault.
func (i *Injector) arrive(op capabilities.Op) Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calls[op]++
	p := i.planned[op]
	if p == nil || p.left == 0 {
		return 0
	}
	if p.left > 0 {
		p.left--
	}
	return p.fault
}

func injected(req mounts.Request, kind mounts.Kind, unknown bool) *mounts.Error {
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: req.Object(), OutcomeUnknown: unknown, Err: ErrInjected}
}
