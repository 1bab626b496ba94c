package remote

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
)

// isAccess reports the routes that this server answers itself.
func (c call) isAccess() bool {
	switch c.op {
	case "loadCredentials", "signRequest", "planScan", "fetchPlan", "cancelPlan", "fetchScanTasks":
		return true
	}
	return false
}

// front puts a call to the catalog behind and translates its answer.
func (s *Server) front(r *http.Request, c call, q Quirks, body []byte) answer {
	if q.Fold {
		c = fold(c)
		body = foldBody(body)
	}
	if c.isAccess() {
		loaded := s.ask(r, call{op: "loadTable", levels: c.levels, name: c.name}, http.MethodGet, nil, url.Values{}, q)
		var members map[string]json.RawMessage
		if loaded.status != 200 || json.Unmarshal(loaded.body, &members) != nil {
			return loaded
		}
		return s.access(r, c, q, body, locationOf(members["metadata"]))
	}
	if q.NoStaging && c.op == "createTable" && strings.Contains(string(body), `"stage-create":true`) {
		return failure(400, "BadRequestException", "Staged creation is not supported")
	}
	params := r.URL.Query()
	paging := params
	if row, _ := operationOf(c.op); strings.HasPrefix(row.Name, "list") {
		params = url.Values{}
		if len(c.parent) > 0 {
			params.Set("parent", strings.Join(c.parent, "\x1f"))
		}
	}
	return s.translate(r, c, q, paging, s.ask(r, c, r.Method, body, params, q))
}

// ask puts a call to the catalog in the spec's own form.
func (s *Server) ask(r *http.Request, c call, method string, body []byte, params url.Values, q Quirks) answer {
	row, known := operationOf(c.op)
	if !known {
		return noRoute()
	}
	path := strings.Replace(row.Path, "/{prefix}", "", 1)
	levels := make([]string, len(c.levels))
	for i, level := range c.levels {
		levels[i] = url.PathEscape(level)
	}
	for placeholder, value := range map[string]string{"{namespace}": strings.Join(levels, "%1F"),
		"{table}": url.PathEscape(c.name), "{view}": url.PathEscape(c.name)} {
		path = strings.Replace(path, placeholder, value, 1)
	}
	at := path
	if len(params) > 0 {
		at += "?" + params.Encode()
	}
	inner := r.Clone(r.Context())
	inner.Method, inner.RequestURI = method, at
	inner.URL = &url.URL{RawQuery: params.Encode(), RawPath: path}
	inner.URL.Path, _ = url.PathUnescape(path)
	inner.Body, inner.ContentLength = http.NoBody, int64(len(body))
	if len(body) > 0 {
		inner.Body = struct {
			*bytes.Reader
			nopCloser
		}{Reader: bytes.NewReader(body)}
	}
	for _, name := range []string{"Accept-Encoding", "Authorization", "Connection"} {
		inner.Header.Del(name)
	}
	if q.IgnoreKeys {
		inner.Header.Del("Idempotency-Key")
	}
	if method == http.MethodGet && (q.No304 || q.NoETag) {
		inner.Header.Del("If-None-Match")
	}
	if tag := inner.Header.Get("If-None-Match"); tag != "" {
		inner.Header.Set("If-None-Match", q.plainTag(tag))
	}
	out := httptest.NewRecorder()
	s.opt.Catalog.ServeHTTP(out, inner)
	return answer{status: out.Code, header: out.Header(), body: out.Body.Bytes()}
}

type nopCloser struct{}

func (nopCloser) Close() error { return nil }

// translate makes the catalog's answer this remote's own.
func (s *Server) translate(r *http.Request, c call, q Quirks, paging url.Values, a answer) answer {
	header := http.Header{}
	for _, name := range []string{"Content-Type", "Retry-After", "Cache-Control"} {
		if v := a.header.Get(name); v != "" {
			header.Set(name, v)
		}
	}
	if tags := a.header["ETag"]; len(tags) > 0 && !q.NoETag {
		header["ETag"] = []string{q.dressTag(tags[0])}
	}
	a.header = header
	row, _ := operationOf(c.op)
	if a.status >= 400 {
		return q.refused(c, a)
	}
	if r.Method == http.MethodHead {
		return found(q)
	}
	if a.status != 200 {
		return q.done(a)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(a.body, &members) != nil {
		return a
	}
	switch {
	case members["namespaces"] != nil:
		return listing("namespaces", members, paging, q)
	case members["identifiers"] != nil:
		return listing("identifiers", members, paging, q)
	case members["metadata"] != nil:
		if failed, is := s.vend(r, c, q, members); is {
			return failed
		}
		if q.NoLocation {
			delete(members, "metadata-location")
		}
		for name, value := range q.Members {
			members[name] = value
		}
	case members["properties"] != nil:
		q.properties(members)
	}
	a.body = jsonAnswer(200, members).body
	if q.Created && (strings.HasPrefix(row.Name, "create") || strings.HasPrefix(row.Name, "register")) {
		a.status = http.StatusCreated
	}
	return a
}

// refused is an error of the catalog as this remote has it.
func (q Quirks) refused(c call, a answer) answer {
	conflict := a.status == http.StatusConflict
	switch {
	case conflict && q.ConflictStatus != 0 && strings.Contains(string(a.body), "CommitFailedException"):
		a.status = q.ConflictStatus
	case conflict && q.NotEmptyStatus != 0 && c.op == "dropNamespace":
		a.status = q.NotEmptyStatus
	default:
		return a
	}
	a.body = bytes.Replace(a.body, []byte(`"code":409`), []byte(`"code":`+strconv.Itoa(a.status)), 1)
	return a
}

// done is the answer of a call that returns nothing.
func (q Quirks) done(a answer) answer {
	if a.status == http.StatusNoContent && q.Bodies {
		return jsonAnswer(200, map[string]any{"status": "SUCCESS"})
	}
	return a
}

func (q Quirks) properties(members map[string]json.RawMessage) {
	switch {
	case q.NoProperties:
		delete(members, "properties")
	case q.NullProperties:
		members["properties"] = json.RawMessage("null")
	}
}

// listing cuts the whole list of the catalog into this remote's pages.
func listing(member string, members map[string]json.RawMessage, params url.Values, q Quirks) answer {
	var rows []json.RawMessage
	if json.Unmarshal(members[member], &rows) != nil {
		rows = nil
	}
	for i, row := range rows {
		switch {
		case member == "namespaces" && q.RelativeRows:
			var levels []json.RawMessage
			if json.Unmarshal(row, &levels) == nil && len(levels) > 0 {
				rows[i] = json.RawMessage(`[` + string(levels[len(levels)-1]) + `]`)
			}
		case member == "identifiers" && q.WrongNamespaces:
			var id struct{ Name json.RawMessage }
			if json.Unmarshal(row, &id) == nil {
				rows[i] = json.RawMessage(`{"namespace":["some","other"],"name":` + string(id.Name) + `,"type":"ICEBERG"}`)
			}
		}
	}
	if len(rows) == 0 && q.NoLists {
		return jsonAnswer(200, map[string]any{})
	}
	return page(member, rows, params, q)
}
