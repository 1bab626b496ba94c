package middleware

import (
	"net/http"
	"net/url"
	"strings"
)

// Segment decodes one path segment, once. `%2F` gives a slash inside a name. A
// plus sign stands for itself, except from a Java client, whose encoder writes a
// blank as `+` and a plus as `%2B`.
func Segment(escaped string, java bool) (string, error) {
	if java && strings.IndexByte(escaped, '+') >= 0 {
		return url.QueryUnescape(escaped)
	}
	if strings.IndexByte(escaped, '%') < 0 {
		return escaped, nil
	}
	return url.PathUnescape(escaped)
}

// JavaClient reports whether the request comes from Iceberg's Java client or
// something built on it.
func JavaClient(h http.Header) bool {
	return strings.HasPrefix(h.Get("X-Client-Version"), "Apache Iceberg") ||
		strings.Contains(h.Get("User-Agent"), "Apache-HttpClient")
}

// PyIceberg reports whether the request comes from PyIceberg.
func PyIceberg(h http.Header) bool {
	return strings.HasPrefix(h.Get("User-Agent"), "PyIceberg")
}
