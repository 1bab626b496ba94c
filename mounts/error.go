package mounts

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/icefield/icefield/capabilities"
)

// ErrOutcomeUnknown matches, with errors.Is, every error of a write that was
// sent and whose effect nobody knows.
var ErrOutcomeUnknown = errors.New("outcome unknown")

// Error is the one error type of catalog calls.
type Error struct {
	Kind Kind
	Op   capabilities.Op
	// Mount names the mount responsible; empty in a backend that stands alone.
	Mount string
	// Ident is what the error is about, in the names of whoever receives it:
	// decorators that change names change it too. Name empty: a namespace.
	Ident Identifier
	// To is the destination of a rename.
	To Identifier
	// Msg says to the client what happened and what to do. Empty means the
	// kind's own sentence. "{object}" and "{to}" stand for Ident and To, so that
	// names stay right when decorators change them.
	Msg string
	// RetryAfter, if positive, is how long to wait before trying again.
	RetryAfter time.Duration
	// OutcomeUnknown marks a write that was sent and may have been applied. It
	// goes with the kinds Internal, Unavailable, BadGateway and Timeout.
	OutcomeUnknown bool
	// Answered marks a failure that the far side itself said, as a remote's 401
	// does: the mount is reachable, whatever the kind, and breakers do not count
	// it.
	Answered bool
	// Err is the cause, for logs only: its text never reaches a client.
	Err error
}

// Error implements error; the text is for logs.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != 0 {
		fmt.Fprintf(&b, "%s: ", e.Op)
	}
	b.WriteString(e.Message())
	if e.OutcomeUnknown {
		b.WriteString(" (outcome unknown)")
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches the error's Kind and ErrOutcomeUnknown.
func (e *Error) Is(target error) bool {
	if kind, ok := target.(Kind); ok {
		return e.Kind == kind
	}
	return target == ErrOutcomeUnknown && e.OutcomeUnknown
}

// Message is the sentence for the client: no internal text, no secret. Errors
// that a mount is responsible for, rather than the request, begin with its name.
func (e *Error) Message() string {
	text := e.Msg
	if text == "" {
		text = e.sentence()
	}
	if strings.ContainsRune(text, '{') {
		text = strings.NewReplacer("{object}", e.Ident.String(), "{to}", e.To.String()).Replace(text)
	}
	if e.Mount != "" && e.blamesMount() {
		text = fmt.Sprintf("mount %q: %s", e.Mount, text)
	}
	return text
}

func (e *Error) blamesMount() bool {
	switch e.Kind {
	case UnsupportedOperation, RateLimited, Unavailable, BadGateway, Timeout, Loop, Forbidden, MetadataMissing, Internal:
		return true
	}
	return false
}

// sentence is the text of a kind; the wording of absences and conflicts is what
// Java clients and the REST compatibility kit match on.
func (e *Error) sentence() string {
	object := "Table"
	switch e.Op.Row().Role {
	case capabilities.Namespaces:
		object = "Namespace"
	case capabilities.Views:
		object = "View"
	case capabilities.Functions:
		object = "Function"
	}
	switch e.Kind {
	case NoSuchNamespace:
		return "Namespace does not exist: {object}"
	case NoSuchTable:
		return "Table does not exist: {object}"
	case NoSuchView:
		return "View does not exist: {object}"
	case NoSuchFunction:
		return "Function does not exist: {object}"
	case AlreadyExists:
		if !e.To.IsZero() {
			return "Cannot rename {object} to {to}. " + object + " already exists"
		}
		return object + " already exists: {object}"
	case NamespaceNotEmpty:
		return "Namespace {object} is not empty"
	case UnsupportedOperation:
		if e.Ident.IsZero() {
			return e.Op.String() + " is not supported here"
		}
		return e.Op.String() + " is not supported here (asked for {object})"
	case MetadataMissing:
		return "the metadata file of {object} is missing"
	case RateLimited:
		return "too many requests; try again later"
	case Unavailable:
		return "not reachable right now; nothing was sent, try again later"
	case BadGateway:
		return "the catalog behind it failed or gave an answer that is not the Iceberg REST protocol"
	case Timeout:
		return "no answer in time"
	case Loop:
		return "leads back to this server; fix its catalog_url"
	case Internal:
		return "internal error; the request id leads to the cause in the server's log"
	}
	return e.Kind.Error()
}

// AsError returns the *Error inside err. An error that has none becomes an
// Internal one with err as its cause; nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal, Err: err}
}
