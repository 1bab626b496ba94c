package wrap

import (
	"context"

	"github.com/icefield/icefield/mounts"
)

// outcome is the metrics label that says how a call ended: a small fixed set
// derived from the error's kind.
type outcome uint8

const (
	ok outcome = iota
	absent
	conflict
	refused
	forbidden
	unsupported
	limited
	unreachable
	badAnswer
	timedOut
	unknown
	canceled
	internal
	outcomes
)

var outcomeNames = [outcomes]string{
	ok: "ok", absent: "absent", conflict: "conflict", refused: "refused", forbidden: "forbidden",
	unsupported: "unsupported", limited: "rate_limited", unreachable: "unreachable", badAnswer: "bad_gateway",
	timedOut: "timeout", unknown: "unknown", canceled: "canceled", internal: "internal",
}

func (o outcome) String() string { return outcomeNames[o] }

// outcomeOf is the outcome of a call that failed.
func outcomeOf(ctx context.Context, e *mounts.Error) outcome {
	if abandoned(ctx) && uncertain(e.Kind) {
		return canceled
	}
	if e.OutcomeUnknown {
		return unknown
	}
	switch e.Kind {
	case mounts.NoSuchNamespace, mounts.NoSuchTable, mounts.NoSuchView, mounts.NoSuchWarehouse,
		mounts.NoSuchPlan, mounts.NoSuchPlanTask, mounts.NoSuchFunction, mounts.MetadataMissing:
		return absent
	case mounts.AlreadyExists, mounts.NamespaceNotEmpty, mounts.CommitConflict:
		return conflict
	case mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed, mounts.Unprocessable,
		mounts.TooLarge, mounts.NoSuchRoute, mounts.MethodNotAllowed:
		return refused
	case mounts.Unauthenticated, mounts.Forbidden:
		return forbidden
	case mounts.UnsupportedOperation:
		return unsupported
	case mounts.RateLimited:
		return limited
	case mounts.Unavailable, mounts.Loop:
		return unreachable
	case mounts.BadGateway:
		return badAnswer
	case mounts.Timeout:
		return timedOut
	}
	return internal
}
