package router

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// answer is how a kind of error looks on the wire: the HTTP status, which is
// also the body's code, and the Iceberg error type.
type answer struct {
	status int
	name   string
}

// commitStateUnknown is the type of every failure of a commit after which
// nobody knows whether it was applied. Engines then ask the catalog; with any
// other type they may delete the files of a snapshot that is in fact committed.
const commitStateUnknown = "CommitStateUnknownException"

// answers is the one table from kinds to the wire. Types are those of the REST
// spec and of Iceberg's Java client where they have one for the case; the spec
// leaves 405, 413, 429 and 508 without.
var answers = [...]answer{
	mounts.Internal:             {http.StatusInternalServerError, "InternalServerError"},
	mounts.BadRequest:           {http.StatusBadRequest, "BadRequestException"},
	mounts.InvalidArgument:      {http.StatusBadRequest, "IllegalArgumentException"},
	mounts.ValidationFailed:     {http.StatusBadRequest, "ValidationException"},
	mounts.Unprocessable:        {http.StatusUnprocessableEntity, "UnprocessableEntityException"},
	mounts.TooLarge:             {http.StatusRequestEntityTooLarge, "ContentTooLargeException"},
	mounts.Unauthenticated:      {http.StatusUnauthorized, "NotAuthorizedException"},
	mounts.Forbidden:            {http.StatusForbidden, "ForbiddenException"},
	mounts.NoSuchNamespace:      {http.StatusNotFound, "NoSuchNamespaceException"},
	mounts.NoSuchTable:          {http.StatusNotFound, "NoSuchTableException"},
	mounts.NoSuchView:           {http.StatusNotFound, "NoSuchViewException"},
	mounts.NoSuchWarehouse:      {http.StatusNotFound, "NoSuchWarehouseException"},
	mounts.NoSuchPlan:           {http.StatusNotFound, "NoSuchPlanIdException"},
	mounts.NoSuchPlanTask:       {http.StatusNotFound, "NoSuchPlanTaskException"},
	mounts.NoSuchRoute:          {http.StatusNotFound, "NoSuchRouteException"},
	mounts.MethodNotAllowed:     {http.StatusMethodNotAllowed, "MethodNotAllowedException"},
	mounts.MetadataMissing:      {http.StatusNotFound, "NotFoundException"},
	mounts.AlreadyExists:        {http.StatusConflict, "AlreadyExistsException"},
	mounts.NamespaceNotEmpty:    {http.StatusConflict, "NamespaceNotEmptyException"},
	mounts.CommitConflict:       {http.StatusConflict, "CommitFailedException"},
	mounts.UnsupportedOperation: {http.StatusNotImplemented, "UnsupportedOperationException"},
	mounts.RateLimited:          {http.StatusTooManyRequests, "TooManyRequestsException"},
	mounts.Unavailable:          {http.StatusServiceUnavailable, "ServiceUnavailableException"},
	mounts.BadGateway:           {http.StatusBadGateway, "BadGatewayException"},
	mounts.Timeout:              {http.StatusGatewayTimeout, "GatewayTimeoutException"},
	mounts.NoSuchFunction:       {http.StatusNotFound, "NoSuchFunctionException"},
	mounts.Loop:                 {http.StatusLoopDetected, "LoopDetectedException"},
}

// onWire says how an error is answered. A change whose outcome is unknown is
// never answered with a status that says "not done": 502 instead of 503, 500
// instead of anything below 500; where the operation is a commit the type says
// so too.
func onWire(e *mounts.Error) answer {
	a := answers[mounts.Internal]
	if int(e.Kind) < len(answers) {
		a = answers[e.Kind]
	}
	if !e.OutcomeUnknown {
		return a
	}
	switch e.Kind {
	case mounts.BadGateway, mounts.Timeout, mounts.Internal:
	case mounts.Unavailable:
		a = answers[mounts.BadGateway]
	default:
		a = answers[mounts.Internal]
	}
	if e.Op.Row().Class == capabilities.Commit {
		a.name = commitStateUnknown
	}
	return a
}

// message is the sentence for the client.
func message(e *mounts.Error, status int, requestID string) string {
	text := e.Message()
	if e.OutcomeUnknown {
		text += "; it may have been applied or not: look at the catalog before trying again"
	}
	if status >= http.StatusInternalServerError && requestID != "" {
		text += " (request id " + requestID + ")"
	}
	return text
}

// normalize makes the error that is answered out of what a backend returned:
// it knows its operation and object, a context's end has a kind, and the absence
// of a namespace is, to a load of a table or view, the absence of that table or
// view (the metadata-table probes of Java clients recover from nothing else).
func normalize(err error, op capabilities.Op, object mounts.Identifier, sent bool) *mounts.Error {
	e := *mounts.AsError(err)
	if e.Op == 0 {
		e.Op = op
	}
	if e.Ident.IsZero() {
		e.Ident = object
	}
	if e.Kind == mounts.Internal && errors.Is(err, context.DeadlineExceeded) {
		e.Kind, e.Msg = mounts.Timeout, ""
		e.OutcomeUnknown = e.OutcomeUnknown || sent && op.Row().Class != capabilities.Read
	}
	if e.Kind == mounts.NoSuchNamespace && e.Msg == "" {
		switch op {
		case capabilities.LoadTable, capabilities.TableExists:
			e.Kind, e.Ident = mounts.NoSuchTable, object
		case capabilities.LoadView, capabilities.ViewExists:
			e.Kind, e.Ident = mounts.NoSuchView, object
		case capabilities.LoadFunction:
			e.Kind, e.Ident = mounts.NoSuchFunction, object
		}
	}
	return &e
}

// defaultRetryAfter is what a client is told to wait, in seconds, where the
// error does not say. Java clients repeat a request on 503 only if told.
const defaultRetryAfter = 5

// setErrorHeaders adds what an error says beside its body.
func setErrorHeaders(h http.Header, e *mounts.Error, status int) {
	switch {
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests, e.RetryAfter > 0 && !e.OutcomeUnknown:
		seconds := int64((e.RetryAfter + time.Second - 1) / time.Second)
		if seconds < 1 {
			seconds = defaultRetryAfter
		}
		h.Set("Retry-After", strconv.FormatInt(seconds, 10))
	case status == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	}
}
