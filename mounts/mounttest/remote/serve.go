package remote

import (
	"bytes"
	"encoding/json"
	"io"
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

// maxBody bounds what is read of a request.
const maxBody = 64 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		reset(w) // cut off on its way here: nothing was asked for
		return
	}
	s.mu.Lock()
	q, closing := s.quirks, s.closing
	path, query := target(r)
	c := s.route(r.Method, path, q)
	if params, err := url.ParseQuery(query); err == nil && c.op == "listNamespaces" {
		c.parent = splitParent(params.Get("parent"), q.Separator)
	}
	seen := Seen{Op: c.op, Method: r.Method, Path: path, Query: query, Header: r.Header.Clone(), Body: body}
	if c.op == Token {
		seen.Form, _ = url.ParseQuery(string(body))
	}
	at := len(s.seen)
	s.seen = append(s.seen, seen)
	forgets := s.forgets
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
	healthy := func() answer {
		a := s.answer(r, c, q, seen)
		s.mu.Lock()
		defer s.mu.Unlock()
		if a.status < 300 && forgets == s.forgets {
			s.seen[at].Applied = true
		}
		return a
	}
	if f := s.fault(c.op); !f.none() {
		if f.After {
			healthy()
		}
		f.apply(w, r, healthy, q, closing)
		return
	}
	write(w, r, healthy(), q)
}

func (s *Server) answer(r *http.Request, c call, q Quirks, seen Seen) answer {
	if c.op == Token {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.token(r, seen.Form, q)
	}
	s.mu.Lock()
	refused, ok := s.authorized(r, seen.Body, q)
	s.mu.Unlock()
	if !ok {
		return restyle(refused, q.Errors)
	}
	return restyle(s.catalog(r, c, q, seen), q.Errors)
}

// catalog answers a call whose login is right.
func (s *Server) catalog(r *http.Request, c call, q Quirks, seen Seen) answer {
	if r.Method == http.MethodHead && c.op != "" && (q.NoHEAD || q.HEADStatus != 0) {
		status := q.HEADStatus
		if status == 0 {
			status = 405
		}
		return answer{status: status}
	}
	switch {
	case c.op == Config:
		return s.config(r, seen.Query, q)
	case c.base404:
		return failure(404, "NoSuchWarehouseException", "Warehouse does not exist at this prefix")
	case c.op == "":
		return noRoute()
	case c.fixed:
		return q.Sign.answer(r, seen.Body)
	}
	asked := c
	if c.op == "createNamespace" {
		var body struct{ Namespace []string }
		if json.Unmarshal(seen.Body, &body) == nil {
			asked.levels = body.Namespace
		}
	}
	if refused, is := q.refuse(asked); is {
		return refused
	}
	if s.opt.Catalog != nil {
		return s.front(r, c, q, seen.Body)
	}
	if c.isAccess() {
		s.mu.Lock()
		ns := s.content[key(c.levels)]
		var object Table
		ok := ns != nil
		if ok {
			object, ok = ns.tables[c.name]
		}
		s.mu.Unlock()
		if !ok {
			return failure(404, "NoSuchTableException", "Table does not exist: "+c.name)
		}
		return s.access(r, c, q, seen.Body, locationOf(object.Metadata))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.operation(r, c, q)
}

func jsonAnswer(status int, body any) answer {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		raw.Reset()
		raw.WriteString(err.Error())
		status = 500
	}
	return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: bytes.TrimSuffix(raw.Bytes(), []byte("\n"))}
}

// failure is an error in the spec's shape.
func failure(status int, kind, message string) answer {
	return jsonAnswer(status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": status}})
}
