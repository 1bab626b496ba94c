package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// watch stands beside a handler and answers 504 in its place when the backend
// has not come back some time after its context ended. The handler goes on and
// its late result is logged: a commit that is under way is never abandoned, and
// never told apart from one that failed by guessing.
//
// Only the one who claims the recorder writes, so the two never write both.
type watch struct {
	timer   *time.Timer
	fired   sync.WaitGroup // done when the watch has answered or found it answered
	overdue bool           // written before fired is done
	result  error
}

// grace is what a backend gets to come back with an exact error once its context
// has ended.
func grace(timeout time.Duration) time.Duration {
	return min(max(timeout/10, 250*time.Millisecond), time.Second)
}

// watch starts the exchange's watch. It must be ended.
func (x *exchange) watch() {
	x.watched.fired.Add(1)
	x.watched.timer = time.AfterFunc(x.Timeout+grace(x.Timeout), x.fire)
}

func (x *exchange) fire() {
	w := &x.watched
	defer w.fired.Done()
	if !claim(x.w) {
		return
	}
	w.overdue = true
	e := &mounts.Error{Kind: mounts.Timeout, Op: x.row.Op, Msg: fmt.Sprintf("no answer within %v", x.Timeout)}
	if x.call.Sent.Load() {
		e.Ident = x.call.Object
		e.OutcomeUnknown = x.row.Class != capabilities.Read
	}
	x.w.Header().Set("Connection", "close") // the connection cannot be used again before the handler ends
	x.writeError(x.w, x.r, x.call, e)
	_ = http.NewResponseController(x.w).Flush()
}

// unwatch waits for an answer that is being written, and logs a result that came
// too late for one.
func (x *exchange) unwatch() {
	w := &x.watched
	if w.timer.Stop() {
		return
	}
	w.fired.Wait()
	if !w.overdue {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.call.RequestID), slog.String("operation", x.row.Name),
		slog.String("object", x.call.Object.String()), slog.Duration("after", time.Since(x.call.Started)),
	}
	if w.result != nil {
		attrs = append(attrs, slog.String("error", w.result.Error()))
	}
	x.Logger.LogAttrs(x.r.Context(), slog.LevelWarn, "an operation ended after its client was told of a timeout", attrs...)
}

// readBy bounds how long the client may take to send its body. Once the body is
// there the returned function lifts the bound, since the connection outlives the
// request. Of a body that was not read to its end it stays, so that the server
// does not wait for the rest.
func (x *exchange) readBy(ctx context.Context) func() {
	deadline, ok := ctx.Deadline()
	if !ok {
		return func() {}
	}
	c := http.NewResponseController(x.w)
	if err := c.SetReadDeadline(deadline); errors.Is(err, http.ErrNotSupported) {
		return func() {}
	}
	return func() { _ = c.SetReadDeadline(time.Time{}) }
}
