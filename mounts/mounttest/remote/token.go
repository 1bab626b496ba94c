package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// OAuth is the token route's client and habits.
type OAuth struct {
	ClientID, ClientSecret string
	// Scope, if set, must be asked for.
	Scope string
	// ExpiresIn is the lifetime put into answers, in seconds; 0 leaves it out.
	// Tokens are accepted until RevokeTokens.
	ExpiresIn int
	// Lifetime, if set, is the expires_in member as raw JSON instead.
	Lifetime json.RawMessage
	// Uses, if set, is how many calls the first token is good for.
	Uses int
	// Type is the token_type; "bearer" if empty, "-" leaves it out.
	Type string
	// Bare leaves issued_token_type out and adds members that nobody knows.
	Bare bool
	// BasicOnly takes the client's login from the Authorization header alone,
	// FormOnly from the form alone.
	BasicOnly, FormOnly bool
	// Refresh hands a refresh_token out. Exchange takes a token exchange (RFC
	// 8693) of a token of this route too.
	Refresh, Exchange bool
	// Expired is the status of a token that is not, or no longer, valid; 401 if
	// zero.
	Expired int
	// Refuse makes the route answer this OAuth error code, with its
	// description holding what the client sent (as careless servers do).
	Refuse string
}

const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange" // #nosec G101 -- a name of RFC 8693

// token answers the token route; the caller holds mu.
func (s *Server) token(r *http.Request, form url.Values, q Quirks) answer {
	o := q.OAuth
	refuse := func(status int, code, text string) answer {
		return jsonAnswer(status, map[string]any{"error": code, "error_description": text, "error_uri": "https://login.internal.example/errors/" + code})
	}
	if o == nil {
		return refuse(400, "invalid_request", "no OAuth here")
	}
	id, secret := o.login(r, form)
	grant := form.Get("grant_type")
	switch {
	case o.Refuse != "":
		return refuse(400, o.Refuse, fmt.Sprintf("client %s with secret %s may not", id, secret))
	case grant == tokenExchange && o.Exchange:
		if s.tokens[form.Get("subject_token")] == 0 {
			return refuse(400, "invalid_grant", "unknown subject token "+form.Get("subject_token"))
		}
		return s.issue(o)
	case grant != "client_credentials":
		return refuse(400, "unsupported_grant_type", grant)
	case id != o.ClientID || secret != o.ClientSecret:
		return refuse(401, "invalid_client", "unknown client "+id+" "+secret)
	case o.Scope != "" && form.Get("scope") != o.Scope:
		return refuse(400, "invalid_scope", form.Get("scope"))
	}
	return s.issue(o)
}

func (o *OAuth) login(r *http.Request, form url.Values) (id, secret string) {
	id, secret, basic := r.BasicAuth()
	if basic && !o.FormOnly {
		// RFC 6749, 2.3.1: both parts are form-encoded first.
		if plain, err := url.QueryUnescape(id); err == nil {
			id = plain
		}
		if plain, err := url.QueryUnescape(secret); err == nil {
			secret = plain
		}
		return id, secret
	}
	if o.BasicOnly {
		return "", ""
	}
	return form.Get("client_id"), form.Get("client_secret")
}

func (s *Server) issue(o *OAuth) answer {
	s.issued++
	token := fmt.Sprintf("issued-secret-token-%d", s.issued)
	s.tokens[token] = -1
	if o.Uses > 0 && s.issued == 1 {
		s.tokens[token] = o.Uses
	}
	body := map[string]any{"access_token": token, "token_type": "bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"} // #nosec G101 -- a name of RFC 8693, and the token is a test's
	if o.Type != "" {
		body["token_type"] = o.Type
	}
	if o.Type == "-" {
		delete(body, "token_type")
	}
	if o.Bare {
		delete(body, "issued_token_type")
		body["not-before-policy"], body["session_state"], body["scope"] = 0, "x", "catalog"
	}
	if o.ExpiresIn != 0 {
		body["expires_in"] = o.ExpiresIn
	}
	if o.Lifetime != nil {
		body["expires_in"] = o.Lifetime
	}
	if o.Refresh {
		body["refresh_token"] = "refresh-secret-" + token
	}
	a := jsonAnswer(200, body)
	a.header.Set("Cache-Control", "no-store")
	return a
}

// authorized checks a call's login and says what is answered without one; the
// caller holds mu.
func (s *Server) authorized(r *http.Request, body []byte, q Quirks) (answer, bool) {
	status, token := http.StatusUnauthorized, ""
	if scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = rest
	}
	ok := q.Bearer == "" || r.Header.Get("Authorization") == "Bearer "+q.Bearer
	if q.OAuth != nil {
		left := s.tokens[token]
		if ok = ok && left != 0; ok && left > 0 {
			s.tokens[token]--
		}
		if q.OAuth.Expired != 0 {
			status = q.OAuth.Expired
		}
	}
	text := "The presented login is not valid: " + token
	if q.SigV4 != nil && ok {
		if err := q.SigV4.verify(r, body); err != nil {
			ok, status, text = false, http.StatusForbidden, "The request signature we calculated does not match: "+err.Error()
		}
	}
	if ok {
		return answer{}, true
	}
	a := failure(status, statusTypes[status], text)
	a.header.Set("WWW-Authenticate", `Bearer realm="https://login.internal.example/", error="invalid_token"`)
	return a, false
}
