package rest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
)

// said is what a remote said in the spec's error shape, fit to be repeated.
type said struct {
	message, kind string
}

// readRefusal reads an error in the spec's shape (ErrorModel): an object with
// a message or a type, whose code, if there is one, is the status.
func readRefusal(a *answer) (said, bool) {
	var body struct {
		Error *struct {
			Message *string `json:"message"`
			Type    *string `json:"type"`
			Code    *int    `json:"code"`
		} `json:"error"`
	}
	if len(a.body) == 0 || json.Unmarshal(a.body, &body) != nil || body.Error == nil {
		return said{}, false
	}
	e := body.Error
	var s said
	if e.Message != nil {
		s.message = plain(*e.Message, a.hide)
	}
	if e.Type != nil {
		s.kind = plain(*e.Type, a.hide)
	}
	if e.Message == nil && e.Type == nil || e.Code != nil && *e.Code != a.status {
		return s, false
	}
	return s, true
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
	throttleTypes = regexp.MustCompile(`(?i)throttl|too_?many_?requests|slow_?down|limit_?exceeded`)
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

// throttled reports a rate limit that came as a 400, as AWS services send it.
func (s said) throttled() bool { return throttleTypes.MatchString(s.kind) }

const maxMessage = 300

var (
	urls      = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*)://[^\s"'<>)\]]*`)
	hosts     = regexp.MustCompile(`(?i)\b(?:(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,}):\d{1,5})\b`)
	bearers   = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{4,}`)
	webTokens = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)*`)
	keyIDs    = regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{12,}\b`)
	secrets   = regexp.MustCompile(`(?i)([a-z0-9_.-]*(?:secret|token|password|passwd|credential|signature|api[_-]?key|access[_-]?key)[a-z0-9_.-]*["']?\s*[:=]\s*["']?)[^\s"',;&]+`)
)

// plain makes a remote's text fit to be repeated: one line of bounded length
// without addresses and credentials.
func plain(text string, hide []string) string {
	for _, secret := range hide {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "<redacted>")
		}
	}
	if len(text) > 8*maxMessage {
		text = text[:8*maxMessage]
	}
	text = strings.ToValidUTF8(text, "")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || !unicode.IsPrint(r)
	}), " ")
	text = urls.ReplaceAllStringFunc(text, plainURL)
	text = hosts.ReplaceAllString(text, "<address>")
	text = bearers.ReplaceAllString(text, "$1 <redacted>")
	text = webTokens.ReplaceAllString(text, "<redacted>")
	text = keyIDs.ReplaceAllString(text, "<redacted>")
	text = secrets.ReplaceAllString(text, "${1}<redacted>")
	// Braces would be taken for the placeholders of mounts.Error.
	text = strings.NewReplacer("{object}", "(object)", "{to}", "(to)").Replace(text)
	if runes := []rune(text); len(runes) > maxMessage {
		text = string(runes[:maxMessage]) + "…"
	}
	return text
}

// plainURL keeps a storage location, without what may hold a secret, and hides
// every other address.
func plainURL(at string) string {
	scheme, path, _ := strings.Cut(at, "://")
	switch strings.ToLower(scheme) {
	case "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "oss", "hdfs", "file":
	default:
		return "<address>"
	}
	path, _, _ = strings.Cut(path, "?")
	if before, after, ok := strings.Cut(path, "@"); ok && !strings.Contains(before, "/") {
		path = after
	}
	return scheme + "://" + path
}
