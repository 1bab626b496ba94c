package middleware

import (
	"net/http"

	"github.com/icefield/icefield/policy"
)

// Credentials reads what a request says of its caller: the token of an
// "Authorization: Bearer …" header, an X-Api-Key header, and the chain of a
// client certificate that TLS has verified. A header that was sent and can be no
// credential (empty, too long, not visible ASCII, there twice) makes the whole
// malformed, and so does an Authorization of another scheme where nothing else
// is sent: whoever sent it meant to be somebody, and is not nobody instead.
func Credentials(r *http.Request, from policy.Client) *policy.Credentials {
	c := &policy.Credentials{Client: from}
	token, err := BearerToken(r.Header)
	keys := r.Header["X-Api-Key"]
	switch {
	case err != nil, len(keys) > 1,
		len(keys) == 1 && (keys[0] == "" || len(keys[0]) > maxToken || !visibleASCII(keys[0])),
		token == "" && len(keys) == 0 && len(r.Header["Authorization"]) > 0:
		c.Malformed = true
	default:
		c.Bearer = token
		if len(keys) == 1 {
			c.APIKey = keys[0]
		}
	}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		c.Certificates = r.TLS.VerifiedChains[0]
	}
	return c
}

// sent reports that a request says anything of its caller.
func sent(c *policy.Credentials) bool {
	return c.Bearer != "" || c.APIKey != "" || c.Malformed || len(c.Certificates) > 0
}
