package rest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
)

// said is what a remote said of a failure, fit to be repeated.
type said struct {
	message, kind string
}

// readRefusal reads an error, and reports whether it has the spec's shape
// (ErrorModel): an object with a message or a type, whose code, if there is one,
// is the status. Two shapes of vendors are read too, for what they say, without
// being taken for the protocol.
func readRefusal(a *answer) (said, bool) {
	var body struct {
		Error *struct {
			Message *string `json:"message"`
			Type    *string `json:"type"`
			Code    *int    `json:"code"`
		} `json:"error"`
	}
	if len(a.body) == 0 || json.Unmarshal(a.body, &body) != nil || body.Error == nil {
		return readForeign(a), false
	}
	e := body.Error
	var s said
	if e.Message != nil {
		s.message = plain(*e.Message, a.hide)
	}
	if e.Type != nil {
		// Some name the whole Java class.
		s.kind = plain(strings.TrimPrefix(*e.Type, "org.apache.iceberg.exceptions."), a.hide)
	}
	if e.Message == nil && e.Type == nil || e.Code != nil && *e.Code != a.status {
		return s, false
	}
	return s, true
}

// readForeign reads errors that do not have the spec's shape: AWS's JSON
// protocol ("__type" or the header X-Amzn-ErrorType, with "message" or
// "Message"), which its gateways answer with before a catalog is reached, and
// Databricks' ("error_code").
func readForeign(a *answer) said {
	var body struct {
		Type      string `json:"__type"`
		ErrorCode string `json:"error_code"`
		Message   string `json:"message"`
		AWS       string `json:"Message"`
	}
	var s said
	if json.Unmarshal(a.body, &body) == nil {
		s.kind, s.message = body.Type, body.Message
		if s.kind == "" {
			s.kind = body.ErrorCode
		}
		if s.message == "" {
			s.message = body.AWS
		}
	}
	if header := a.header.Get("X-Amzn-ErrorType"); s.kind == "" && header != "" {
		s.kind, _, _ = strings.Cut(header, ":")
	}
	if _, name, ok := strings.Cut(s.kind, "#"); ok {
		s.kind = name
	}
	return said{message: plain(s.message, a.hide), kind: plain(s.kind, a.hide)}
}

// cause is for logs.
func (s said) cause(a *answer) error {
	if s == (said{}) {
		return fmt.Errorf("the remote answered %d without an error in the spec's shape", a.status)
	}
	return fmt.Errorf("the remote answered %d, type %q: %s", a.status, s.kind, s.message)
}

var (
	absenceTypes = regexp.MustCompile(`^NoSuch(Table|Namespace|View)Exception$`)
	catalogTypes = regexp.MustCompile(`(?i)^(no_?such_?|unknown_?|invalid_?|missing_?)?(warehouse|catalog|prefix|project|realm|route|endpoint)` +
		`(_?not_?found|_?does_?not_?exist)?(_?exception|_?error)?$`)
	catalogTexts = regexp.MustCompile(`(?i)^\W*((the|unknown|invalid|no|such|unable to find|cannot find|could not find|failed to find)\s+)*` +
		`(warehouse|catalog|prefix|project|realm|route|endpoint|path|url)\b`)
	fileTexts     = regexp.MustCompile(`(?i)metadata\.json|\bmetadata file\b|\blocation\b|\bfile\b|input stream|://|<address>`)
	throttleTypes = regexp.MustCompile(`(?i)throttl|too_?many_?requests|slow_?down|limit_?exceeded|resource_?exhausted`)
	throttleTexts = regexp.MustCompile(`(?i)\brate (of requests )?(was |is )?(limit(ed)? )?exceed|\brate limit|too many requests|throttl|slow ?down|reduce your request rate|request limit exceeded`)
)

// aboutCatalog reports a 404 of the warehouse, the prefix or the route.
func (s said) aboutCatalog() bool {
	if absenceTypes.MatchString(s.kind) {
		return false
	}
	return catalogTypes.MatchString(s.kind) || catalogTexts.MatchString(s.message)
}

// aboutFile reports a 404 of a metadata file, which the reference server tells
// from the absence of the table by this type.
func (s said) aboutFile() bool {
	return s.kind == "NotFoundException" && fileTexts.MatchString(s.message)
}

// throttled reports a rate limit that came as a 400: by its type, in the spec's
// shape or AWS's; of a vendor that is known for it also by the message alone.
func (s said) throttled(known bool) bool {
	return throttleTypes.MatchString(s.kind) || known && throttleTexts.MatchString(s.message)
}
