package remote

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// answer is what a call would be answered without a fault.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	q, closing := s.quirks, s.closing
	path, query := target(r)
	c := s.route(r.Method, path, q)
	seen := Seen{Op: c.op, Method: r.Method, Path: path, Query: query, Header: r.Header.Clone()}
	if c.op == Token && r.ParseForm() == nil {
		seen.Form = r.PostForm
	}
	s.seen = append(s.seen, seen)
	s.arrived.Broadcast()
	s.mu.Unlock()

	if q.Latency > 0 {
		select {
		case <-time.After(q.Latency):
		case <-r.Context().Done():
			return
		case <-closing:
			return
		}
	}
	healthy := func() answer { return s.answer(r, c, q, seen) }
	if f := s.fault(c.op); !f.none() {
		f.apply(w, r, healthy, q, closing)
		return
	}
	write(w, r, healthy(), q)
}

func (s *Server) answer(r *http.Request, c call, q Quirks, seen Seen) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.op == Token {
		return s.token(seen.Form, q)
	}
	if !s.authorized(r, q) {
		return failure(401, "NotAuthorizedException", "The presented login is not valid")
	}
	if r.Method == http.MethodHead && c.op != "" && (q.NoHEAD || q.HEADStatus != 0) {
		status := q.HEADStatus
		if status == 0 {
			status = 405
		}
		return answer{status: status}
	}
	switch {
	case c.op == Config:
		return s.config(seen.Query, q)
	case c.base404:
		return failure(404, "NoSuchWarehouseException", "Warehouse does not exist at this prefix")
	case c.op == "":
		return answer{status: 404, header: http.Header{"Content-Type": {"text/plain"}}, body: []byte("404 page not found\n")}
	}
	return s.operation(r, c, q)
}

func (s *Server) authorized(r *http.Request, q Quirks) bool {
	got := r.Header.Get("Authorization")
	if q.Bearer != "" && subtle.ConstantTimeCompare([]byte(got), []byte("Bearer "+q.Bearer)) != 1 {
		return false
	}
	if q.OAuth != nil {
		return len(got) > 7 && s.tokens[got[7:]]
	}
	return true
}

func (s *Server) token(form map[string][]string, q Quirks) answer {
	get := url.Values(form).Get
	o := q.OAuth
	refuse := func(status int, code, text string) answer {
		return jsonAnswer(status, map[string]any{"error": code, "error_description": text})
	}
	switch {
	case o == nil:
		return refuse(400, "invalid_request", "no OAuth here")
	case o.Refuse != "":
		return refuse(400, o.Refuse, fmt.Sprintf("client %s with secret %s may not", get("client_id"), get("client_secret")))
	case get("grant_type") != "client_credentials":
		return refuse(400, "unsupported_grant_type", get("grant_type"))
	case get("client_id") != o.ClientID || get("client_secret") != o.ClientSecret:
		return refuse(401, "invalid_client", "unknown client "+get("client_id")+" "+get("client_secret"))
	case o.Scope != "" && get("scope") != o.Scope:
		return refuse(400, "invalid_scope", get("scope"))
	}
	s.issued++
	token := fmt.Sprintf("issued-secret-token-%d", s.issued)
	s.tokens[token] = true
	body := map[string]any{"access_token": token, "token_type": "bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
	if o.ExpiresIn != 0 {
		body["expires_in"] = o.ExpiresIn
	}
	return jsonAnswer(200, body)
}

func jsonAnswer(status int, body any) answer {
	raw, err := json.Marshal(body)
	if err != nil {
		raw = []byte(err.Error())
		status = 500
	}
	return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: raw}
}

// failure is an error in the spec's shape.
func failure(status int, kind, message string) answer {
	return jsonAnswer(status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": status}})
}
