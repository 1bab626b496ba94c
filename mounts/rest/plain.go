package rest

import (
	"regexp"
	"strings"
	"unicode"
)

const maxMessage = 300

var (
	// Of a URL that holds a secret or the remote's own name, that was hidden before.
	urls      = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*)://(?:` + redacted + `|[^\s"'<>)\]])*`)
	hosts     = regexp.MustCompile(`(?i)\b(?:(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,}):\d{1,5})\b`)
	bearers   = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{4,}`)
	webTokens = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)*`)
	keyIDs    = regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{12,}\b`)
	secrets   = regexp.MustCompile(`(?i)([a-z0-9_.-]*(?:secret|token|password|passwd|credential|signature|api[_-]?key|access[_-]?key)[a-z0-9_.-]*["']?\s*[:=]\s*["']?)[^\s"',;&]+`)
	// routes are paths of the remote's own API, which hold its prefix.
	routes = regexp.MustCompile(`(?:/[^\s"'<>)\],/]+)*/v1(?:/[^\s"'<>)\],]*)?`)
	// stacks begins a stack trace, of Java and of Python; classes are the
	// exceptions' own names in front of a message.
	stacks  = regexp.MustCompile(`[\r\n]+\s+at [\w.$<>]+\(|[\r\n]+Caused by: |Traceback \(most recent call last\)|[\r\n]+goroutine \d+ \[`)
	classes = regexp.MustCompile(`^(?:(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable):\s*)+`)
)

// plain makes a remote's text fit to be repeated: one line of bounded length
// without addresses, credentials, routes and stack traces.
func plain(text string, hide []string) string {
	if len(text) > 8*maxMessage {
		text = text[:8*maxMessage]
	}
	text = hidden(text, hide)
	if at := stacks.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	text = strings.ToValidUTF8(text, "")
	text = strings.ReplaceAll(text, "\x1f", ".") // a namespace as it stands in a URL
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || !unicode.IsPrint(r)
	}), " ")
	text = classes.ReplaceAllString(text, "")
	text = urls.ReplaceAllStringFunc(text, plainURL)
	text = hosts.ReplaceAllString(text, "<address>")
	text = withoutRoutes(text)
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

// withoutRoutes hides the remote's routes, but not what follows a scheme: a
// storage location may have a folder of that name.
func withoutRoutes(text string) string {
	var b strings.Builder
	from := 0
	for _, at := range routes.FindAllStringIndex(text, -1) {
		if at[0] > 0 && text[at[0]-1] == '/' {
			continue
		}
		b.WriteString(text[from:at[0]])
		b.WriteString("<route>")
		from = at[1]
	}
	b.WriteString(text[from:])
	return b.String()
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
