package remote

import (
	"encoding/json"
	"net/http"
)

// Dialect is what is odd about the form of a remote's answers. The zero Dialect
// has nothing odd.
type Dialect struct {
	// Errors is the form of errors.
	Errors ErrorStyle
	// Layout is how JSON is laid out.
	Layout Layout
	// ContentType replaces the type of every answer with a body.
	ContentType string
	// Headers stand on every answer.
	Headers http.Header
	// Chunked sends bodies without their length.
	Chunked bool
	// CloseEach says "Connection: close" on every answer; DropIdle closes the
	// connection after every answer and says nothing.
	CloseEach, DropIdle bool
	// EarlyHints sends a 103 before every answer.
	EarlyHints bool

	// WeakETag calls tags weak (W/"…"), RawETag leaves their quotes out.
	WeakETag, RawETag bool
	// No304 answers a conditional load whole.
	No304 bool

	// Entries are put into the `config` of every table and view; Members beside
	// it. Raw JSON, since some remotes put numbers and null where text belongs.
	Entries, Members map[string]json.RawMessage
	// NoLocation leaves metadata-location out of every table and view.
	NoLocation bool
	// NullProperties sends null for the properties of a namespace, NoProperties
	// leaves them out.
	NullProperties, NoProperties bool
	// NoLists leaves empty lists out of listings.
	NoLists bool
	// Unasked cuts listings into pages of PageCap rows for a client that did not
	// ask for pages.
	Unasked bool

	// Created answers what makes something with 201; Bodies answers what returns
	// nothing with 200 and a JSON body.
	Created, Bodies bool
}

// ErrorStyle is the form of a remote's errors.
type ErrorStyle int

// The styles. SpecErrors are {"error":{"message","type","code"}}.
const (
	SpecErrors ErrorStyle = iota
	// UnityErrors have the one type BaseException, whatever they are about, and
	// a stack trace.
	UnityErrors
	// PolarisErrors name their own exceptions.
	PolarisErrors
	// GlueErrors are in the spec's shape with AWS's types
	// (EntityNotFoundException).
	GlueErrors
	// AWSErrors have AWS's own shape: {"__type":"…","Message":"…"}.
	AWSErrors
	// JavaErrors give types as full class names.
	JavaErrors
	// BareErrors have neither type nor code.
	BareErrors
	// StackErrors have a stack trace beside the spec's fields, and more of their
	// own around them.
	StackErrors
	// HTMLErrors are web pages.
	HTMLErrors
	// NoErrors are statuses without a body.
	NoErrors
)

var (
	polarisTypes = map[string]string{"NoSuchTableException": "EntityNotFoundException", "NoSuchNamespaceException": "EntityNotFoundException",
		"NoSuchViewException": "EntityNotFoundException", "AlreadyExistsException": "EntityAlreadyExistsException"}
	glueTypes = map[string]string{"NoSuchTableException": "EntityNotFoundException", "NoSuchNamespaceException": "EntityNotFoundException",
		"NoSuchViewException": "EntityNotFoundException", "BadRequestException": "InvalidInputException", "CommitFailedException": "ConcurrentModificationException"}
)

// restyle writes an error the way the remote does.
func restyle(a answer, style ErrorStyle) answer {
	var said struct {
		Error *struct {
			Message, Type string
			Code          int
		}
	}
	if style == SpecErrors || a.status < 400 || json.Unmarshal(a.body, &said) != nil || said.Error == nil {
		return a
	}
	e := said.Error
	spec := func(kind string, more map[string]any) map[string]any {
		members := map[string]any{"message": e.Message, "type": kind, "code": a.status}
		for name, value := range more {
			members[name] = value
		}
		return map[string]any{"error": members}
	}
	as := func(types map[string]string) string {
		if kind, ok := types[e.Type]; ok {
			return kind
		}
		return e.Type
	}
	stack := map[string]any{"stack": []string{"at io.vendor.Catalog.load(Catalog.java:42)", "at java.base/java.lang.Thread.run"}}
	var body any
	switch style {
	case UnityErrors:
		body = spec("BaseException", stack)
	case PolarisErrors:
		body = spec(as(polarisTypes), nil)
	case GlueErrors:
		body = spec(as(glueTypes), nil)
	case AWSErrors:
		body = map[string]any{"__type": "com.amazonaws.glue#" + as(glueTypes), "Message": e.Message}
	case JavaErrors:
		body = spec("org.apache.iceberg.exceptions."+e.Type, nil)
	case BareErrors:
		body = map[string]any{"error": map[string]any{"message": e.Message}}
	case StackErrors:
		whole := spec(e.Type, stack)
		whole["requestId"], whole["errorDetails"] = "4711", []any{map[string]any{"@type": "x"}}
		body = whole
	case HTMLErrors:
		return answer{status: a.status, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: []byte(loginPage)}
	case NoErrors:
		return answer{status: a.status}
	}
	styled := jsonAnswer(a.status, body)
	if retry := a.header.Get("Retry-After"); retry != "" {
		styled.header.Set("Retry-After", retry)
	}
	return styled
}
