package native

import (
	"context"
	"errors"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// Messages that more than one operation gives; their wording is what Java
// clients match on.
const (
	tableHasName    = "Table with same name already exists: {object}"
	viewHasName     = "View with same name already exists: {object}"
	viewAtRenamed   = "Cannot rename {object} to {to}. View already exists"
	tableAtRenamed  = "Cannot rename {object} to {to}. Table already exists"
	missingFile     = "Failed to open input stream for file: "
	namespaceIsRoot = "the root is no namespace; name one with at least one level"
)

// refuse is an error that names the object, with the kind's own sentence if msg
// is empty.
func refuse(kind mounts.Kind, ident mounts.Identifier, msg string) *mounts.Error {
	return &mounts.Error{Kind: kind, Ident: ident, Msg: msg}
}

func noNamespace(path mounts.Namespace) *mounts.Error {
	return refuse(mounts.NoSuchNamespace, mounts.Identifier{Namespace: path}, "")
}

// fail finishes the error of an operation: what is no *mounts.Error yet becomes
// one, and it learns which operation it ended and what that was about.
func fail(req mounts.Request, err error) error {
	e := *fault(err)
	if e.Op == 0 {
		e.Op = req.Op()
	}
	if e.Ident.IsZero() {
		e.Ident = req.Object()
	}
	return &e
}

// fault gives an error of the store, the warehouse or a context its kind. The
// store answers either "nothing was done" or "outcome unknown", and the
// difference is kept.
func fault(err error) *mounts.Error {
	var known *mounts.Error
	var bad *warehouse.BadLocation
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &bad):
		return &mounts.Error{Kind: mounts.BadRequest, Msg: bad.Error()}
	}
	e := &mounts.Error{Kind: mounts.Internal, Err: err, OutcomeUnknown: errors.Is(err, store.ErrOutcomeUnknown)}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e.Kind = mounts.Timeout
	case errors.Is(err, store.ErrClosed):
		e.Kind = mounts.Unavailable
		e.Msg = "the registry is closed, as in a restart; nothing was done, try again later"
	}
	if errors.Is(err, store.ErrStopped) {
		e.Kind = mounts.Unavailable
		e.Msg = "the registry could not write to its disk and stopped, so that no change is lost; nothing was done. Look at its disk, then restart the server"
	}
	var fenced *store.FencedError
	switch {
	case errors.As(err, &fenced):
		// A clear answer, which must not open a breaker: a registry that takes no
		// changes may still be read.
		e.Kind, e.Answered, e.RetryAfter, e.Msg = mounts.Unavailable, true, fenceRetry, fencedMessage(fenced.Fence.Role)
	case errors.Is(err, store.ErrUnavailable) && !e.OutcomeUnknown:
		e.Kind, e.RetryAfter = mounts.Unavailable, unavailableRetry
		e.Msg = "the registry's database cannot be reached, or has no room for another request right now; nothing was done, try again later"
	}
	if e.OutcomeUnknown {
		e.Msg = "the registry did not say whether the change was made; load {object} to see"
	}
	return e
}

// How long a client is told to wait for a registry that is being copied, and for
// a database that is away.
const (
	fenceRetry       = 30 * time.Second
	unavailableRetry = 2 * time.Second
)

// fencedMessage is why a registry is closed. Where it is copied from or to is
// for its operators only.
func fencedMessage(role store.FenceRole) string {
	switch role {
	case store.FenceSource:
		return "the registry is being moved to another store and takes no changes until that is done, though it can be read; nothing was done, try again later"
	case store.FenceDestination:
		return "the registry is being filled from another store and cannot be used until that is done; nothing was done, try again later"
	}
	return "the registry was moved to another store, and this server still uses the old one; nothing was done. Its operator has to set catalog_url to the new store"
}
