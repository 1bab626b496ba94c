package middleware

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// maxToken bounds a client's bearer token or API key. Tokens of people in many
// groups have a few KiB.
const maxToken = 16 << 10

// BearerToken returns the token of an "Authorization: Bearer …" header, empty if
// the client sent none. One that cannot be passed on as it is (BadRequest), being
// too long, not visible ASCII, or not the only one, is refused rather than left
// out: the caller meant to be somebody. The error repeats nothing of it.
func BearerToken(h http.Header) (string, error) {
	lines := h["Authorization"]
	if len(lines) == 0 {
		return "", nil
	}
	token, found := "", false
	for _, line := range lines {
		scheme, rest, _ := strings.Cut(line, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		if found {
			return "", &mounts.Error{Kind: mounts.BadRequest, Msg: "the request has more than one bearer token"}
		}
		token, found = strings.Trim(rest, " \t"), true
	}
	switch {
	case len(token) > maxToken:
		return "", &mounts.Error{Kind: mounts.BadRequest,
			Msg: fmt.Sprintf("the bearer token is longer than the %d bytes that this server takes", maxToken)}
	case !visibleASCII(token):
		return "", &mounts.Error{Kind: mounts.BadRequest, Msg: "the bearer token holds a character that no token has"}
	}
	return token, nil
}

func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
