package wrap

import (
	"context"
	"errors"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// errNotSent is the cause of errors with which this package refused a call
// before the backend saw it: such a failure says nothing about the backend, so
// the breaker does not count it and retry does not try again.
var errNotSent = errors.New("refused before the backend was asked")

func notSent(err error) bool { return errors.Is(err, errNotSent) }

// changes reports whether a call of that class may have had an effect when its
// answer is lost.
func changes(req mounts.Request) bool { return req.Op().Row().Class != capabilities.Read }

// proper makes an *Error of any other error. The backend was asked, so a lost
// answer of a write is an unknown outcome.
func proper(ctx context.Context, req mounts.Request, err error) *mounts.Error {
	e := &mounts.Error{Kind: mounts.Internal, OutcomeUnknown: changes(req), Err: err}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		e.Kind = mounts.Timeout
	}
	return e
}

// abandoned reports whether the caller itself gave the call up, as a client
// that closes its connection does. Nobody is to blame for such an error.
func abandoned(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// inside returns the *Error that err is or wraps, or nil.
func inside(err error) *mounts.Error {
	if e, ok := err.(*mounts.Error); ok {
		return e
	}
	var e *mounts.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
