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
	known.Op, known.Ident = c.op, c.object
	return &known
}

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

// lost is the error of a call that got no whole answer.
func lost(ctx, callCtx context.Context, c call, err error, connected bool) error {
	if ctx.Err() != nil {
		return about(callerGone(ctx), c)
	}
	e := &mounts.Error{Kind: mounts.BadGateway, Op: c.op, Ident: c.object, Err: innermost(err)}
	switch {
	case callCtx.Err() != nil:
		e.Kind = mounts.Timeout
		e.Msg = "the remote catalog did not answer in time"
	case !connected:
		e.Kind = mounts.Unavailable
		e.Msg = "the remote catalog cannot be reached; nothing was sent, try again later"
	case errors.Is(err, errTooLarge):
		e.Msg = "the remote catalog's answer is larger than this mount allows"
	case errors.Is(err, errEncoding):
		e.Msg = "the remote catalog's answer is compressed in a way that was not asked for"
	default:
		e.Msg = "the remote catalog's answer broke off or was not HTTP"
	}
	return e
}

// broken is the error of an answer that is not the protocol.
func broken(c call, cause error) error {
	return &mounts.Error{Kind: mounts.BadGateway, Op: c.op, Ident: c.object, Err: cause,
		Msg: "the remote catalog gave an answer that is not the Iceberg REST protocol"}
}

// refusal is the error of an answer that is not a success.
func refusal(c call, a *answer) error {
	said, shaped := readRefusal(a)
	e := &mounts.Error{Kind: mounts.BadGateway, Op: c.op, Ident: c.object, Err: said.cause(a)}
	e.Msg = fmt.Sprintf("the remote catalog failed (status %d)", a.status)
	// A 4xx is about the request or the login, not about whether the remote can
	// be reached: otherwise a client could close a mount to everybody by asking
	// for a name that the remote's web server does not like.
	e.Answered = a.status >= 400 && a.status < 500
	switch {
	case a.status == http.StatusNotFound:
		return absence(e, said, shaped)
	case a.status == http.StatusUnauthorized || a.status == statusAuthTimeout:
		e.Msg = fmt.Sprintf("the remote catalog refused the mount's own login (status %d)", a.status)
	case a.status == http.StatusForbidden:
		e.Kind = mounts.Forbidden
		e.Msg = "the remote catalog does not let this mount do that"
	case a.status == http.StatusTooManyRequests || shaped && a.status == http.StatusBadRequest && said.throttled():
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
		e.Kind = mounts.BadRequest
		e.Msg = "the remote catalog refused the request"
		if said.message != "" {
			e.Msg += ": " + said.message
		}
	}
	return e
}

// absence turns a 404 into the absence of what was asked for, whatever type the
// remote gave it, unless it is about something else: the route, the prefix, the
// warehouse, or a table's own metadata file.
func absence(e *mounts.Error, said said, shaped bool) error {
	kind := absent(e.Op)
	switch {
	case !shaped || kind == mounts.BadGateway || e.Ident.IsZero():
		e.Msg = "the remote catalog answered 404 without saying that {object} does not exist; check catalog_url and warehouse"
		if e.Ident.IsZero() {
			e.Msg = "the remote catalog answered 404 for its root; check catalog_url and warehouse"
		}
	case said.aboutCatalog():
		e.Msg = "the remote catalog does not know the warehouse, prefix or route that it was asked for; check catalog_url and warehouse"
	case said.aboutFile() && (e.Op == capabilities.LoadTable || e.Op == capabilities.LoadView):
		e.Kind, e.Msg = mounts.MetadataMissing, ""
	default:
		e.Kind, e.Msg, e.Err = kind, "", nil
	}
	return e
}

// absent is the kind of an operation's own 404.
func absent(op capabilities.Op) mounts.Kind {
	switch op {
	case capabilities.ListNamespaces, capabilities.LoadNamespace, capabilities.ListTables, capabilities.ListViews:
		return mounts.NoSuchNamespace
	case capabilities.LoadTable, capabilities.TableExists:
		return mounts.NoSuchTable
	case capabilities.LoadView:
		return mounts.NoSuchView
	}
	return mounts.BadGateway
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
