package sign

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// target is where a storage request goes, read from its uri once.
type target struct {
	scheme, host string
	// bucket and key are decoded; an empty key is the bucket itself.
	bucket, key string
	// path is the path as it is signed and sent.
	path  string
	query []parameter
}

// parameter is one of the query, decoded. The names are unique and sorted.
type parameter struct{ name, value string }

func (t *target) get(name string) (string, bool) {
	for _, p := range t.query {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}

// uri is the target written anew, in the one form that S3 signs.
func (t *target) uri() string {
	text := t.scheme + "://" + t.host + t.path
	if len(t.query) > 0 {
		text += "?" + t.rawQuery()
	}
	return text
}

func (t *target) rawQuery() string {
	var b strings.Builder
	for i, p := range t.query {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(encode(p.name, false) + "=" + encode(p.value, false))
	}
	return b.String()
}

// uriParts is a uri cut into pieces that are not decoded yet.
type uriParts struct{ scheme, authority, path, query string }

// cutURI cuts a uri. It takes less than RFC 3986: what no client of S3 writes is
// refused rather than understood.
func cutURI(uri string) (p uriParts, err error) {
	for i := range len(uri) {
		if c := uri[i]; c <= ' ' || c > '~' || strings.IndexByte("\"<>\\^`{|}#;+", c) >= 0 {
			return p, bad("has a uri with the character %s in it; encode it with %%, and leave fragments out", quoted(string(rune(c))))
		}
	}
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return p, bad("has a uri that does not begin with https:// or http://")
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if authority == "" || strings.ContainsAny(authority, "@%") {
		return p, bad("has a uri with no host, or with more than a host and a port in its place")
	}
	return uriParts{scheme, strings.ToLower(authority), "/" + path, query}, nil
}

// host is the authority without the port that goes without saying.
func (p uriParts) host() string {
	port := ":443"
	if p.scheme == "http" {
		port = ":80"
	}
	host, ok := strings.CutSuffix(p.authority, port)
	if ok && strings.Contains(host, ":") && !strings.HasSuffix(host, "]") {
		return p.authority // two of them
	}
	return host
}

// decode undoes percent encoding, once. Whatever is not percent encoding is
// refused.
func decode(text string) (string, error) {
	if !strings.Contains(text, "%") {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			out = append(out, text[i])
			continue
		}
		if i+2 >= len(text) {
			return "", bad("has a %% in its uri that encodes nothing")
		}
		high, ok1 := hex(text[i+1])
		low, ok2 := hex(text[i+2])
		if !ok1 || !ok2 {
			return "", bad("has a %% in its uri that encodes nothing")
		}
		out = append(out, high<<4|low)
		i += 2
	}
	return string(out), nil
}

func hex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// encode is the percent encoding that Signature Version 4 prescribes.
func encode(text string, path bool) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~", c) >= 0, path && c == '/':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// readQuery reads the parameters. Each may be there once.
func readQuery(raw string) ([]parameter, error) {
	var all []parameter
	if raw == "" {
		return nil, nil
	}
	for piece := range strings.SplitSeq(raw, "&") {
		rawName, rawValue, _ := strings.Cut(piece, "=")
		name, err := decode(rawName)
		if err != nil {
			return nil, err
		}
		value, err := decode(rawValue)
		if err != nil {
			return nil, err
		}
		switch {
		case name == "":
			return nil, bad("has a parameter without a name in its uri")
		case len(all) == 32:
			return nil, bad("has too many parameters in its uri")
		case slices.ContainsFunc(all, func(p parameter) bool { return p.name == name }):
			return nil, bad("has the parameter %s twice in its uri", quoted(name))
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			return nil, bad("has a parameter %s in its uri that holds a control character", quoted(name))
		}
		all = append(all, parameter{name, value})
	}
	slices.SortFunc(all, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// checkKey refuses keys that some reader on the way could take for another one.
func checkKey(key string) error {
	switch {
	case len(key) > maxKey:
		return bad("names a key of %d bytes, and %d are the most", len(key), maxKey)
	case !utf8.ValidString(key), strings.ContainsFunc(key, unicode.IsControl):
		return bad("names a key that is no valid UTF-8, or holds a control character")
	case strings.Contains(key, `\`):
		return bad(`names a key with a \ in it, which some readers take for a slash`)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return bad("names a key with an empty segment, %q or %q in it, which some readers take for another key", ".", "..")
		}
	}
	return nil
}

// prefix is where a table lies: a bucket, and what the keys of its objects begin
// with, before a slash.
type prefix struct{ bucket, key string }

// holds reports whether a key lies inside, as it is and however often it is
// decoded again by somebody on the way. Engines write keys with escapes in them,
// as region=a%2Fb, so escapes by themselves are not refused.
func (p prefix) holds(key string) bool {
	within := p.key
	for range 4 {
		if !strings.HasPrefix(key, within+"/") || checkKey(key) != nil {
			return false
		}
		next, again := loose(key), loose(within)
		if next == key {
			return true
		}
		key, within = next, again
	}
	return false // nobody encodes so often
}

// covers reports whether a listing by this prefix stays inside.
func (p prefix) covers(listed string) bool {
	listed, ok := strings.CutSuffix(listed, "/")
	return ok && listed == p.key || p.holds(listed)
}

// loose decodes what can be decoded and keeps the rest.
func loose(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, ok1 := hex(text[i+1])
			low, ok2 := hex(text[i+2])
			if ok1 && ok2 {
				b.WriteByte(high<<4 | low)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
