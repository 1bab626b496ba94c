package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// maxRetryAfter caps what a remote may ask of our clients.
const maxRetryAfter = time.Minute

// about fills in what an error is about.
func about(err error, c call) error {
	var e *mounts.Error
	if !errors.As(err, &e) {
		return err
	}
	known := *e
	known.Op, known.Ident, known.To = c.op, c.object, c.to
	return &known
}

// changes reports a call that changes what the remote holds: when it was sent
// and its answer is lost or vague, nobody knows what it did.
func (c call) changes() bool { return capabilities.Changes().Has(c.op) }

// commits reports a call whose conflict means that the metadata moved on.
func (c call) commits() bool { return c.op.Row().Class == capabilities.Commit }

// innermost strips the URL, which holds names and page tokens, from an error of
// package http.
func innermost(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// callerGone is the error of a call whose caller left or ran out of time. It
// wraps the context's error, so that nobody takes it for the remote's fault.
func callerGone(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &mounts.Error{Kind: mounts.Timeout, Err: ctx.Err()}
	}
	return &mounts.Error{Kind: mounts.Timeout, Msg: "the call was given up by its caller", Err: ctx.Err()}
}

// lost is the error of a call that got no whole answer. The outcome of a change
// is unknown once a byte of it was written (passage.reached).
func lost(ctx, callCtx context.Context, c call, err error, connected bool) error {
	unknown := connected && c.changes()
	if ctx.Err() != nil {
		e := *mounts.AsError(about(callerGone(ctx), c))
		e.OutcomeUnknown = unknown
		return &e
	}
	e := &mounts.Error{Kind: mounts.BadGateway, Op: c.op, Ident: c.object, To: c.to, Err: innermost(err), OutcomeUnknown: unknown}
	switch {
	case callCtx.Err() != nil && (connected || !c.changes()):
		e.Kind = mounts.Timeout
		e.Msg = "the remote catalog did not answer in time"
	case !connected:
		e.Kind = mounts.Unavailable
		e.Msg = unreached(err)
	case errors.Is(err, errTooLarge) && c.kind == kindConfig:
		e.Msg = "the remote catalog's configuration is larger than any should be; check catalog_url"
		e.Err = errors.New("/v1/config is endless")
	case errors.Is(err, errTooLarge):
		e.Msg = "the remote catalog's answer is larger than this mount allows"
	case errors.Is(err, errEncoding):
		e.Msg = "the remote catalog's answer is compressed in a way that was not asked for"
	default:
		e.Msg = "the remote catalog's answer broke off or was not HTTP"
	}
	return e
}

// broken is the error of a success whose answer is not the protocol. A change
// may well have been made.
func broken(c call, cause error) error {
	if c.steps() && !c.changes() {
		return misled(c, cause)
	}
	return &mounts.Error{Kind: mounts.BadGateway, Op: c.op, Ident: c.object, To: c.to, Err: unquoted(cause), OutcomeUnknown: c.changes(), Answered: c.steps(),
		Msg: "the remote catalog gave an answer that is not the Iceberg REST protocol"}
}

// refusal is the error of an answer that is not a success, for every operation.
//
// A 4xx is certain: the remote did not do it. Of a change, everything else is
// not (a 5xx, a redirect, a success of the wrong shape), whatever the remote's
// own server promises, since a proxy between can have sent it; the exceptions
// are a 501 or 508 in the spec's shape, which say that nothing was begun.
func refusal(c call, a *answer) error {
	said, shaped := readRefusal(a)
	e := &mounts.Error{Kind: mounts.BadGateway, Op: c.op, Ident: c.object, To: c.to, Err: said.cause(a)}
	e.Msg = fmt.Sprintf("the remote catalog failed (status %d)", a.status)
	// A 4xx is about the request or the login, not about whether the remote can
	// be reached: otherwise a client could close a mount to everybody by asking
	// for a name that the remote's web server does not like.
	e.Answered = a.status < 500 && (a.status >= 400 || c.steps())
	if c.changes() && uncertain(a.status, said, shaped) {
		return unsure(e, a.status)
	}
	switch {
	case a.status == http.StatusNotFound:
		return absence(e, c, said, shaped)
	case c.at != nil && c.op != capabilities.ListNamespaces && c.at.unnested(c, a) > 0:
		return absence(e, c, said, shaped)
	case loginRefused(a):
		e.Kind, e.Msg = a.proof.whose.refused(a.status)
	case a.status == http.StatusForbidden:
		e.Kind = mounts.Forbidden
		e.Msg = a.proof.whose.forbidden()
	case a.status == http.StatusTooManyRequests || a.status == http.StatusBadRequest && said.throttled(c.quirks().ThrottlesWith400):
		e.Kind, e.RetryAfter = mounts.RateLimited, retryAfter(a.header)
		e.Msg = "the remote catalog limits the rate of requests; try again later"
	case a.status == http.StatusServiceUnavailable:
		e.Kind, e.RetryAfter = mounts.Unavailable, retryAfter(a.header)
		e.Msg = "the remote catalog says that it is not available; try again later"
	case a.status == http.StatusGatewayTimeout:
		e.Kind = mounts.Timeout
		e.Msg = "the remote catalog did not get an answer in time itself"
	case a.status == http.StatusLoopDetected:
		e.Kind, e.Msg = mounts.Loop, ""
	case c.changes() && (a.status == http.StatusConflict || a.status == http.StatusPreconditionFailed || a.status == http.StatusRequestEntityTooLarge):
		// Clients act on these statuses alone, and so do proxies that send them
		// with a page of their own.
		return objection(e, c, a.status, said)
	case a.status >= 300 && a.status < 400:
		e.Msg = fmt.Sprintf("the remote catalog answered with a redirect (status %d), which is not followed", a.status)
	case a.status == http.StatusBadRequest && !shaped:
		// A web server in front of the catalog that dislikes a name (Jetty: an
		// encoded slash) says so in HTML. It is about this request, not about the
		// remote.
		e.Kind = mounts.BadRequest
		e.Msg = "the remote catalog's web server refused the request (status 400); it may not take such a name"
	case a.status < 300 || !shaped:
		e.Msg = fmt.Sprintf("the remote catalog gave an answer that is not the Iceberg REST protocol (status %d)", a.status)
	case a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotAcceptable || a.status == http.StatusNotImplemented:
		e.Kind, e.Msg = mounts.UnsupportedOperation, ""
	case a.status == http.StatusRequestTimeout:
		e.Kind, e.Msg = mounts.Timeout, ""
	case a.status < 500:
		return objection(e, c, a.status, said)
	}
	return e
}

// uncertain reports an answer to a change that leaves open whether it was made.
func uncertain(status int, said said, shaped bool) bool {
	switch {
	case said.kind == "CommitStateUnknownException":
		return true // whatever the status, that is what it says
	case status == http.StatusNotImplemented || status == http.StatusLoopDetected:
		return !shaped
	case status == http.StatusRequestTimeout:
		return true
	}
	return status < 400 || status >= 500
}

// unsure is the error of a change of which nobody knows whether it was made. It
// is never Unavailable, which promises that nothing was sent.
func unsure(e *mounts.Error, status int) error {
	e.OutcomeUnknown, e.Answered = true, false
	switch {
	case status == http.StatusGatewayTimeout || status == http.StatusRequestTimeout:
		e.Kind = mounts.Timeout
		e.Msg = fmt.Sprintf("the remote catalog ran out of time over the change (status %d)", status)
	case status < 300:
		e.Msg = fmt.Sprintf("the remote catalog answered the change with a status that does not belong to it (%d)", status)
	case status < 400:
		e.Msg = fmt.Sprintf("the remote catalog answered the change with a redirect (status %d), which is not followed", status)
	default:
		e.Msg = fmt.Sprintf("the remote catalog failed over the change (status %d)", status)
	}
	return e
}

// retryAfter reads the header, in seconds or as a date, between 0 and the cap.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), int64(maxRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}
