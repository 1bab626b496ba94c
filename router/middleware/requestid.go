package middleware

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
)

const maxRequestID = 128

// requestID takes the caller's id where it is one that can stand in a log line
// and a header, else makes one.
func requestID(h http.Header) string {
	if id := h.Get("X-Request-Id"); id != "" && len(id) <= maxRequestID && onlyIDChars(id) {
		return id
	}
	var b [12]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func onlyIDChars(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=', c == '@', c == ',':
		default:
			return false
		}
	}
	return true
}

// traceParent returns the W3C trace context header if it has the shape of one:
// version, trace id, span id and flags in lower-case hex, with dashes between.
func traceParent(h http.Header) string {
	v := h.Get("Traceparent")
	if len(v) < 55 || len(v) > 256 || v[2] != '-' || v[35] != '-' || v[52] != '-' {
		return ""
	}
	if len(v) > 55 && v[55] != '-' {
		return ""
	}
	for i := range len(v) {
		switch c := v[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', c == '-':
		default:
			return ""
		}
	}
	return v
}
