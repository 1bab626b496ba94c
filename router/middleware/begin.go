package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Begin is the outermost piece: it makes the request's Call, gives it an id that
// is echoed as X-Request-Id, recovers panics, and, when the answer is out, hands
// the call to finished (access log, metrics) and ends its scope.
//
// A panic is answered through fail as an Internal error, with OutcomeUnknown if
// a change had been handed to a backend. If part of an answer was out already
// the connection is cut, so that the client does not take the part for the whole.
func Begin(fail Fail, logger *slog.Logger, finished func(*Call, *http.Request), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := &Call{
			RequestID:   requestID(r.Header),
			Path:        rawPath(r),
			TraceParent: traceParent(r.Header),
			Started:     time.Now(),
		}
		call.recorder.ResponseWriter = w
		w = &call.recorder
		w.Header()["X-Request-Id"] = []string{call.RequestID}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, call))
		defer call.Scope.End() // whatever happens below: what was held for the answer is given back
		defer func() {
			cause := recover()
			if cause != nil {
				cause = rescue(fail, logger, call, r, cause)
			}
			finished(call, r)
			if cause != nil {
				panic(cause)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// rescue answers a panic. It returns what is left to panic with: nil once the
// client has its answer.
func rescue(fail Fail, logger *slog.Logger, call *Call, r *http.Request, cause any) any {
	if cause == http.ErrAbortHandler {
		call.Err = http.ErrAbortHandler
		return cause
	}
	logger.LogAttrs(r.Context(), slog.LevelError, "panic",
		slog.String("request_id", call.RequestID), slog.String("operation", call.Operation.String()),
		slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
	err := &mounts.Error{Kind: mounts.Internal, Op: call.Operation, OutcomeUnknown: call.Sent.Load() && call.Operation.Row().Class != capabilities.Read,
		Err: fmt.Errorf("panic: %v", cause)}
	if call.recorder.status != 0 {
		call.Err = err
		return http.ErrAbortHandler
	}
	call.recorder.claimed.Store(false) // whoever claimed the answer is gone without writing it
	fail(&call.recorder, r, err)
	return nil
}
