package rest

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// objection is the error of a 4xx in the spec's shape that is no absence: what
// the operation and the status say first, the remote's type only where the spec
// has several for that status. The remote's message is kept, in our names.
func objection(e *mounts.Error, c call, status int, said said) error {
	e.Kind = said.objects(c, status)
	switch e.Kind {
	case mounts.AlreadyExists:
		e.Msg = said.taken(c)
		return e
	case mounts.NamespaceNotEmpty:
		e.Msg = "" // the sentence that clients match on
		return e
	case mounts.CommitConflict:
		e.Msg = "the remote catalog refused the commit"
		if !c.commits() {
			e.Msg = "the remote catalog refused the change, which conflicts with the state of {object}"
		}
	default:
		e.Msg = "the remote catalog refused the request"
	}
	if text := said.ours(c); text != "" {
		e.Msg += ": " + text
	}
	return e
}

// objects is the kind of a 4xx in the spec's shape.
func (s said) objects(c call, status int) mounts.Kind {
	switch status {
	case http.StatusConflict:
		return s.conflicts(c)
	case http.StatusPreconditionFailed:
		// The spec has no 412; some remotes say it of a failed requirement.
		if c.commits() {
			return s.conflicts(c)
		}
	case http.StatusUnprocessableEntity:
		if c.commits() && s.requirementFailed() {
			return mounts.CommitConflict
		}
		return mounts.Unprocessable
	case http.StatusRequestEntityTooLarge:
		if c.changes() {
			return mounts.TooLarge
		}
	case http.StatusBadRequest:
		switch {
		case s.kind == "NamespaceNotEmptyException" && c.op == capabilities.DropNamespace:
			return mounts.NamespaceNotEmpty // older catalogs (Java's namespace error handler)
		case s.kind == "AlreadyExistsException" && makes(c):
			return mounts.AlreadyExists
		case s.kind == "CommitFailedException" && c.commits():
			return mounts.CommitConflict
		case s.kind == "IllegalArgumentException":
			return mounts.InvalidArgument
		case s.kind == "ValidationException":
			return mounts.ValidationFailed
		}
	}
	return mounts.BadRequest
}

// conflicts is the kind of a 409, which says in each case that nothing was done.
func (s said) conflicts(c call) mounts.Kind {
	switch {
	case c.op == capabilities.DropNamespace:
		return mounts.NamespaceNotEmpty
	case makes(c) && (s.kind != "CommitFailedException"):
		return mounts.AlreadyExists
	case c.changes():
		return mounts.CommitConflict
	}
	return mounts.BadRequest
}

// makes reports a call that claims a name.
func makes(c call) bool {
	switch c.op {
	case capabilities.CreateNamespace, capabilities.CreateTable, capabilities.RegisterTable, capabilities.RenameTable,
		capabilities.CreateView, capabilities.RegisterView, capabilities.RenameView:
		return true
	case capabilities.CommitTable:
		return c.creates
	}
	return false
}

var requirementTexts = regexp.MustCompile(`(?i)^\W*requirement failed\b|\brequirements? (was|were|is|are)? ?(not met|failed)\b`)

// requirementFailed reports a failed requirement of a commit that came with a
// status of its own.
func (s said) requirementFailed() bool {
	return s.kind == "CommitFailedException" || requirementTexts.MatchString(s.message)
}

var takenTexts = regexp.MustCompile(`(?i)\b(table|view)( with (?:the )?same name)? already exists`)

// taken is the message of a name that is taken, in the sentences that clients
// match on (RCK): the kind's own, which is empty here, or, of a table's name that
// a view has and the other way round, the one that says so.
func (s said) taken(c call) string {
	found := takenTexts.FindStringSubmatch(s.message)
	other := map[capabilities.Role]string{capabilities.Tables: "View", capabilities.Views: "Table"}[c.op.Row().Role]
	switch {
	case found == nil || other == "" || !strings.EqualFold(found[1], other):
		return ""
	case !c.to.IsZero():
		return "Cannot rename {object} to {to}. " + other + " already exists"
	}
	return other + " with same name already exists: {object}"
}
