package remote

import (
	"encoding/json"
	"net/http"

	"github.com/icefield/icefield/capabilities"
)

// Abilities are what a remote cannot do, or does in its own way. The zero value
// can do everything.
type Abilities struct {
	// Lacks are operations whose routes do not exist. They are answered with
	// LacksStatus, in the spec's shape, or with a web server's plain 404 if that
	// is zero, and are missing from the endpoint list unless StillListed.
	Lacks       capabilities.Set
	LacksStatus int
	StillListed bool

	// OneLevel, if set, is the status that a namespace of more than one level,
	// or a parent of one, is answered with.
	OneLevel int
	// Fold lower-cases every name that it is given.
	Fold bool
	// ConflictStatus replaces the 409 of a commit whose requirement failed.
	ConflictStatus int
	// NotEmptyStatus replaces the 409 of a namespace that is not empty.
	NotEmptyStatus int
	// NoStaging refuses a staged create with 400.
	NoStaging bool

	// KeyLifetime is the idempotency-key-lifetime member of the config answer:
	// raw JSON. Nil: what the catalog says, nothing without one.
	KeyLifetime json.RawMessage
	// IgnoreKeys does not look at an Idempotency-Key.
	IgnoreKeys bool
}

// lacks answers a route that the remote does not have.
func (a Abilities) lacks() answer {
	if a.LacksStatus == 0 {
		return noRoute()
	}
	return failure(a.LacksStatus, "UnsupportedOperationException", "not implemented here")
}

func noRoute() answer {
	return answer{status: 404, header: http.Header{"Content-Type": {"text/plain"}}, body: []byte("404 page not found\n")}
}

// refuse refuses a call that this remote cannot make sense of.
func (a Abilities) refuse(c call) (answer, bool) {
	op, known := operationOf(c.op)
	if known && a.Lacks.Has(op.Op) {
		return a.lacks(), true
	}
	if a.OneLevel != 0 && (len(c.levels) > 1 || len(c.parent) > 0) {
		return failure(a.OneLevel, "BadRequestException", "Nested namespaces are not supported"), true
	}
	return answer{}, false
}

func operationOf(name string) (capabilities.Operation, bool) {
	for _, row := range capabilities.Operations() {
		if row.Name == name {
			return row, true
		}
	}
	return capabilities.Operation{}, false
}
