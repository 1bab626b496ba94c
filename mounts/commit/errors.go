package commit

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// badRequest is a request that is not shaped as the protocol says.
func badRequest(format string, args ...any) error {
	return &mounts.Error{Kind: mounts.BadRequest, Msg: fmt.Sprintf(format, args...)}
}

// invalid is a well-shaped request that the metadata does not allow, now or
// after a refresh.
func invalid(format string, args ...any) error {
	return &mounts.Error{Kind: mounts.ValidationFailed, Msg: fmt.Sprintf(format, args...)}
}

// invalidArgument is invalid as Java clients know it from views.
func invalidArgument(format string, args ...any) error {
	return &mounts.Error{Kind: mounts.InvalidArgument, Msg: fmt.Sprintf(format, args...)}
}

// conflict is a commit that the client may rebuild on fresh metadata.
func conflict(format string, args ...any) error {
	return &mounts.Error{Kind: mounts.CommitConflict, Msg: fmt.Sprintf(format, args...)}
}

// broken is stored metadata that cannot be read: no fault of the request.
func broken(section string, err error) error {
	return &mounts.Error{Kind: mounts.Internal, Err: fmt.Errorf("%q: %w", section, err),
		Msg: fmt.Sprintf("the stored metadata of {object} cannot be read (at %q); nothing was changed", section)}
}

// about adds what the error is about.
func about(err error, object mounts.Identifier) error {
	e := mounts.AsError(err)
	if e.Ident.IsZero() {
		e.Ident = object
	}
	return e
}

// library turns an error of iceberg-go about what the client sent into one line
// of bounded length. What it lets through of a decoder names Go types, which say
// nothing to a client.
func library(err error) string {
	var typed *stdjson.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Sprintf("%q is a %s, which it cannot be", clip(typed.Field[strings.LastIndexByte(typed.Field, '.')+1:]), typed.Value)
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	return text
}

// decode reads raw into a struct, strictly: exact names, no repeated names, no
// number that is not a whole one where an id is expected.
func decode(raw []byte, into any, what string) error {
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.JSONPointer != "" {
		return badRequest("%s: %q does not have the type that the REST specification gives it", what, clip(string(semantic.JSONPointer)))
	}
	return notJSON(what, err)
}

func notJSON(what string, err error) error {
	if errors.Is(err, errTooDeep) {
		return badRequest("%s is nested deeper than %d levels", what, maxDepth)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName) {
		return badRequest("%s: the name at %q stands twice", what, clip(string(syntax.JSONPointer)))
	}
	return badRequest("%s is not a JSON object as the REST specification describes it", what)
}

// clip shortens what a client sent for use in a message.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}
