package middleware

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// pathWord reports whether a segment behind /v1 begins one of the catalog's own
// paths. Whatever else stands there is the prefix of a catalog.
func pathWord(segment string) bool {
	switch segment {
	case "namespaces", "tables", "views", "transactions", "config", "oauth":
		return true
	}
	return false
}

// Paths brings the request's path into the one spelling that routes have: the
// prefix of a catalog goes into the Call, and slashes that clients add by
// mistake are dropped: at the very front,
// behind /v1, behind the prefix and at the end, and a second /v1 from a client
// whose base URL already ends in one. It never redirects, decodes nothing, and
// leaves every other segment alone, the empty one of `/namespaces//tables/t`
// included, since Java clients ask for exactly that and expect an answer about a
// table.
//
// isPrefix says whether a caller knows a catalog by that prefix; it is asked only
// where `v1` could be either.
func Paths(isPrefix func(ctx context.Context, prefix string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := CallFrom(r.Context())
		raw := call.Path
		if raw == "" { // without Begin
			raw = rawPath(r)
		}
		prefix, canonical := split(r.Context(), raw, isPrefix)
		if prefix != "" {
			call.Prefix = prefix
		}
		if canonical != raw || r.URL.RawPath != "" && r.URL.EscapedPath() != raw {
			r = withPath(r, canonical)
		}
		next.ServeHTTP(w, r)
	})
}

// rawPath is the path exactly as it was sent. URL.EscapedPath will not do: where
// a client sent a byte that ought to be escaped (a quote, say) it encodes the
// decoded path anew, and %2F becomes a slash.
func rawPath(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.EscapedPath()
}

// withPath returns the request with another escaped path, spelled so that
// URL.EscapedPath gives it back unchanged.
func withPath(r *http.Request, escaped string) *http.Request {
	u := *r.URL
	u.RawPath = escapeStray(escaped)
	decoded, err := url.PathUnescape(u.RawPath)
	if err != nil {
		decoded = u.RawPath
	}
	u.Path = decoded
	out := *r
	out.URL = &u
	return &out
}

// escapeStray escapes the bytes that may not stand in a path as they are. What
// is escaped already stays, and so does the difference of `+` and `%2B`.
func escapeStray(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			strings.IndexByte("-_.~!$&'()*+,;=:@[]%/", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// The paths of old clients that are no operation's: the token route, and the
// sign route that names no table. Clients hang them, as they are, behind whatever
// base URL they were given.
const (
	TokenPath = "/v1/oauth/tokens" // #nosec G101 -- a path of the REST spec
	SignPath  = "/v1/aws/s3/sign"
)

// Split is how Paths takes a path apart where no catalog is called v1.
func Split(raw string) (prefix, canonical string) {
	return split(context.Background(), raw, func(context.Context, string) bool { return false })
}

// split takes an escaped path apart into the prefix of a catalog (decoded; empty
// for none) and the path without it. A path outside of /v1 only loses the
// slashes at its ends.
func split(ctx context.Context, raw string, isPrefix func(context.Context, string) bool) (prefix, canonical string) {
	if plain(raw) {
		return "", raw
	}
	trimmed := strings.Trim(raw, "/")
	rest, ok := strings.CutPrefix(trimmed+"/", "v1/")
	if !ok {
		return "", "/" + trimmed
	}
	rest = strings.Trim(rest, "/")
	for {
		first, behind, _ := strings.Cut(rest, "/")
		if first != "v1" {
			break
		}
		behind = strings.TrimLeft(behind, "/")
		next, _, _ := strings.Cut(behind, "/")
		if isPrefix(ctx, "v1") && next != "v1" && next != "config" && next != "oauth" {
			break // the prefix of a mount that is called v1
		}
		rest = behind
	}
	first, behind, _ := strings.Cut(rest, "/")
	switch {
	case first == "":
		return "", "/v1"
	case pathWord(first), "/v1/"+rest == SignPath:
		return "", "/v1/" + rest
	}
	prefix, err := url.PathUnescape(first)
	if err != nil {
		prefix = first
	}
	behind = strings.TrimLeft(behind, "/")
	if path := "/" + behind; path == TokenPath || path == SignPath {
		return prefix, path
	}
	return prefix, strings.TrimRight("/v1/"+behind, "/")
}

// plain reports, without allocating, that a path is canonical and has no prefix:
// what nearly every request of the tree looks like.
func plain(raw string) bool {
	rest, ok := strings.CutPrefix(raw, "/v1/")
	if !ok || strings.HasSuffix(raw, "/") {
		return false
	}
	first, _, _ := strings.Cut(rest, "/")
	return pathWord(first)
}
