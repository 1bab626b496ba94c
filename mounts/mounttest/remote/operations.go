package remote

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/icefield/icefield/capabilities"
)

func (s *Server) config(r *http.Request, query string, q Quirks) answer {
	if q.ConfigBody != nil {
		return answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}, body: q.ConfigBody}
	}
	params, _ := url.ParseQuery(query)
	if want := s.opt.Warehouse; want != "" && params.Get("warehouse") != want {
		return failure(404, "NoSuchWarehouseException", "Warehouse does not exist: "+params.Get("warehouse"))
	}
	defaults, overrides := maps.Clone(q.Defaults), maps.Clone(q.Overrides)
	if defaults == nil {
		defaults = map[string]string{}
	}
	if overrides == nil {
		overrides = map[string]string{}
	}
	for name, value := range map[string]string{"prefix": q.Prefix, "namespace-separator": q.Separator, "uri": strings.ReplaceAll(q.URI, "{url}", s.URL)} {
		if value != "" {
			overrides[name] = value
		}
	}
	if q.DefaultURI != "" {
		defaults["uri"] = q.DefaultURI
	}
	body := map[string]any{}
	if !q.NoDefaults {
		body["defaults"] = defaults
	}
	if !q.NoOverrides {
		body["overrides"] = overrides
	}
	if q.NullMaps {
		body["defaults"], body["overrides"] = nil, nil
	}
	switch {
	case q.NoEndpoints:
	case q.Endpoints != nil:
		body["endpoints"] = q.Endpoints
	default:
		body["endpoints"] = s.able(r, q).Endpoints()
	}
	if q.KeyLifetime != nil {
		body["idempotency-key-lifetime"] = q.KeyLifetime
	} else if lifetime := s.behind(r).Lifetime; lifetime != "" && !q.IgnoreKeys {
		body["idempotency-key-lifetime"] = lifetime
	}
	maps.Copy(body, q.ConfigMembers)
	return jsonAnswer(200, body)
}

// settings are what the catalog behind says of itself.
type settings struct {
	Endpoints []string
	Lifetime  string `json:"idempotency-key-lifetime"`
}

func (s *Server) behind(r *http.Request) settings {
	said := settings{Endpoints: capabilities.Reads().Endpoints()}
	if s.opt.Catalog != nil {
		out := httptest.NewRecorder()
		s.opt.Catalog.ServeHTTP(out, httptest.NewRequestWithContext(r.Context(), http.MethodGet, "/v1/config", nil))
		said = settings{}
		if json.Unmarshal(out.Body.Bytes(), &said) != nil {
			said = settings{}
		}
	}
	return said
}

// able is what the remote says that it can do.
func (s *Server) able(r *http.Request, q Quirks) capabilities.Set {
	able, _ := capabilities.FromEndpoints(s.behind(r).Endpoints)
	if s.opt.Catalog != nil {
		able = able.Without(capabilities.Of(capabilities.LoadCredentials, capabilities.SignRequest, capabilities.PlanScan, capabilities.FetchPlan,
			capabilities.CancelPlan, capabilities.FetchScanTasks))
	}
	if q.Vend != nil && !q.Vend.NoRoute {
		able = able.Union(capabilities.Of(capabilities.LoadCredentials))
	}
	if q.Sign != nil {
		able = able.Union(capabilities.Of(capabilities.SignRequest))
	}
	if q.Plans != nil {
		able = able.Union(capabilities.Of(capabilities.PlanScan, capabilities.FetchPlan, capabilities.CancelPlan, capabilities.FetchScanTasks))
	}
	if !q.StillListed {
		able = able.Without(q.Lacks)
	}
	return able
}

func (s *Server) operation(r *http.Request, c call, q Quirks) answer {
	ns := s.content[key(c.levels)]
	absent := func(kind, text string) answer {
		if q.ErrorType != "" {
			kind = q.ErrorType
		}
		return failure(404, kind, text)
	}
	noNamespace := func() answer {
		return absent("NoSuchNamespaceException", "Namespace does not exist: "+strings.Join(c.levels, "."))
	}
	params := r.URL.Query()
	switch c.op {
	case "listNamespaces":
		parent := c.parent
		if len(parent) > 0 && s.content[key(parent)] == nil {
			return absent("NoSuchNamespaceException", "Namespace does not exist: "+strings.Join(parent, "."))
		}
		rows := s.children(parent)
		if q.Descendants {
			rows = s.descendants(parent)
		}
		if q.RelativeRows {
			for i := range rows {
				rows[i] = rows[i][len(rows[i])-1:]
			}
		}
		return page("namespaces", rows, params, q)
	case "listTables", "listViews":
		if ns == nil {
			return noNamespace()
		}
		names := ns.tables
		if c.op == "listViews" {
			names = ns.views
		}
		where := c.levels
		if q.WrongNamespaces {
			where = []string{"some", "other"}
		}
		rows := []map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			rows = append(rows, map[string]any{"namespace": where, "name": name})
		}
		return page("identifiers", rows, params, q)
	case "loadNamespace":
		if ns == nil {
			return noNamespace()
		}
		body := map[string]any{"namespace": ns.levels, "properties": ns.props}
		if q.NoProperties {
			delete(body, "properties")
		}
		return jsonAnswer(200, body)
	case "namespaceExists":
		if ns == nil {
			return noNamespace()
		}
		return found(q)
	case "loadTable", "tableExists", "loadView", "viewExists":
		object, ok := Table{}, false
		kind, text := "NoSuchTableException", "Table does not exist: "
		if ns != nil {
			object, ok = ns.tables[c.name]
		}
		if strings.Contains(c.op, "iew") {
			kind, text, ok = "NoSuchViewException", "View does not exist: ", false
			if ns != nil {
				object, ok = ns.views[c.name]
			}
		}
		switch {
		case !ok:
			return absent(kind, text+strings.Join(append(slices.Clone(c.levels), c.name), "."))
		case r.Method == http.MethodHead:
			return found(q)
		}
		return s.load(r, c, object, q)
	}
	return failure(406, "UnsupportedOperationException", "this catalog only reads")
}

func found(q Quirks) answer {
	if q.HEADHTML {
		return answer{status: 200, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
	}
	if q.HEADOk != 0 {
		return answer{status: q.HEADOk}
	}
	return answer{status: 204}
}

func (s *Server) load(r *http.Request, c call, object Table, q Quirks) answer {
	a := answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}}
	if object.ETag != "" && !q.NoETag {
		a.header["Etag"] = []string{q.dressTag(object.ETag)}
		if r.Header.Get("If-None-Match") == q.dressTag(object.ETag) && !q.No304 {
			a.status = 304
			return a
		}
	}
	if a.body = object.Body; a.body != nil {
		return a
	}
	members := map[string]json.RawMessage{"metadata": object.Metadata}
	members["metadata-location"], _ = json.Marshal(object.MetadataLocation)
	if object.Config != nil {
		members["config"], _ = json.Marshal(object.Config)
	}
	if object.Credentials != nil {
		members["storage-credentials"] = object.Credentials
	}
	maps.Copy(members, object.Extra)
	if failed, is := s.vend(r, c, q, members); is {
		return failed
	}
	maps.Copy(members, q.Members)
	if q.NoLocation {
		delete(members, "metadata-location")
	}
	a.body = jsonAnswer(200, members).body
	return a
}

const tokenPrefix = "row/+="

// text is a row as tokens remember it.
func text(row any) []byte {
	if raw, is := row.(json.RawMessage); is {
		return raw
	}
	raw, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	return raw
}

// after is where the rows behind the token's begin. Its own row may be gone.
func after[R any](rows []R, token string) (int, bool) {
	encoded, ok := strings.CutPrefix(token, tokenPrefix)
	last, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(last) == 0 {
		return 0, false
	}
	if i := slices.IndexFunc(rows, func(row R) bool { return bytes.Equal(text(row), last) }); i >= 0 {
		return i + 1, true
	}
	if i := slices.IndexFunc(rows, func(row R) bool { return bytes.Compare(text(row), last) > 0 }); i >= 0 {
		return i, true
	}
	return len(rows), true
}

// page cuts one page out of rows. Tokens say what the page begins behind; they
// mean nothing to a client.
func page[R any](member string, rows []R, params url.Values, q Quirks) answer {
	token, paged := params.Get("pageToken"), params.Has("pageToken") || q.Unasked
	start, end := 0, len(rows)
	if paged && !q.NoPaging {
		if token != "" && token != q.FirstToken {
			var ok bool
			if start, ok = after(rows, strings.TrimPrefix(token, q.TokenPrefix)); !ok {
				return failure(400, "BadRequestException", "Invalid page token")
			}
		}
		size := 100
		if params.Has("pageSize") {
			n, err := strconv.Atoi(params.Get("pageSize"))
			if err != nil || n < 1 {
				return failure(400, "BadRequestException", "Invalid page size")
			}
			size = n
		}
		if q.PageCap > 0 {
			size = min(size, q.PageCap)
		}
		end = min(start+size+q.OversizePages, len(rows))
	}
	body := map[string]any{member: rows[start:end]}
	switch {
	case q.RepeatToken && token != "":
		body["next-page-token"] = token
	case end < len(rows) && start == 0 && q.FirstToken != "":
		body["next-page-token"] = q.FirstToken
	case end < len(rows):
		body["next-page-token"] = q.TokenPrefix + tokenPrefix + base64.StdEncoding.EncodeToString(text(rows[end-1]))
	case q.LastToken != "":
		body["next-page-token"] = json.RawMessage(q.LastToken)
	}
	return jsonAnswer(200, body)
}
