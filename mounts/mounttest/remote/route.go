package remote

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/icefield/icefield/capabilities"
)

// call is a request after routing.
type call struct {
	op     string
	levels []string
	name   string
	// plan is the plan id of a path; parent the parent that is asked for.
	plan    string
	parent  []string
	fixed   bool // a signing route that names no table
	base404 bool // outside the catalog's base or prefix
}

// route reads a request target as a strict server does: on the escaped path,
// each segment decoded once.
func (s *Server) route(method, path string, q Quirks) call {
	rest, ok := cutBase(path, s.opt.Base, q.ExtraBase)
	if !ok {
		return call{}
	}
	switch rest {
	case "config":
		return call{op: Config}
	case "oauth/tokens":
		return call{op: Token}
	}
	if q.Sign != nil && q.Sign.Path != "" && method == "POST" && "v1/"+rest == q.Sign.Path {
		return call{op: "signRequest", fixed: true}
	}
	if q.Prefix != "" {
		rest, ok = strings.CutPrefix(rest, escapeUnsafe(q.Prefix)+"/")
		if !ok {
			return call{base404: true}
		}
	}
	words := strings.Split(rest, "/")
	for _, row := range capabilities.Operations() {
		pattern := strings.Split(strings.TrimPrefix(row.Path, "/v1/{prefix}/"), "/")
		if row.Verb != method || len(pattern) != len(words) {
			continue
		}
		c := call{op: row.Op.String()}
		matched := true
		for i, word := range pattern {
			switch {
			case word == "{namespace}":
				c.levels, matched = splitNamespace(words[i], q.Separator)
			case strings.HasPrefix(word, "{"):
				name, err := url.PathUnescape(words[i])
				if matched = err == nil && name != ""; word == "{plan-id}" {
					c.plan = name
				} else {
					c.name = name
				}
			default:
				matched = word == words[i]
			}
			if !matched {
				break
			}
		}
		if matched {
			return c
		}
	}
	return call{}
}

func cutBase(path string, bases ...string) (string, bool) {
	for i, base := range bases {
		if i > 0 && base == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(path, base+"/v1/"); ok {
			return rest, true
		}
	}
	return "", false
}

// splitNamespace splits the escaped segment on the separator as advertised, then
// decodes each level.
func splitNamespace(segment, separator string) ([]string, bool) {
	if separator == "" {
		separator = "%1F"
	}
	split := regexp.MustCompile("(?i)" + regexp.QuoteMeta(separator))
	var levels []string
	for _, part := range split.Split(segment, -1) {
		level, err := url.PathUnescape(part)
		if err != nil || level == "" {
			return nil, false
		}
		levels = append(levels, level)
	}
	return levels, true
}

// splitParent splits a decoded parent parameter on the decoded separator.
func splitParent(parent, separator string) []string {
	if parent == "" {
		return nil
	}
	if separator == "" {
		separator = "%1F"
	}
	decoded, err := url.PathUnescape(separator)
	if err != nil {
		decoded = separator
	}
	return strings.Split(parent, decoded)
}

// escapeUnsafe percent-encodes the bytes that cannot stand in a URL's path.
func escapeUnsafe(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c > ' ' && c < 0x7f && !strings.ContainsRune("\"<>\\^`{|}?#[]", rune(c)) {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15])))
	}
	return b.String()
}

// target is the raw path and query of a request.
func target(r *http.Request) (path, query string) {
	path, query, _ = strings.Cut(r.RequestURI, "?")
	return path, query
}
