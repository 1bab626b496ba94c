package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/icefield/icefield/capabilities"
)

func (s *Server) config(query string, q Quirks) answer {
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
	for name, value := range map[string]string{"prefix": q.Prefix, "namespace-separator": q.Separator, "uri": q.URI} {
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
		body["endpoints"] = capabilities.Reads().Endpoints()
	}
	return jsonAnswer(200, body)
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
		parent := splitParent(params.Get("parent"), q.Separator)
		if len(parent) > 0 && s.content[key(parent)] == nil {
			return absent("NoSuchNamespaceException", "Namespace does not exist: "+strings.Join(parent, "."))
		}
		rows := s.children(parent)
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
		return jsonAnswer(200, map[string]any{"namespace": ns.levels, "properties": ns.props})
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
		return load(r, object, q)
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

func load(r *http.Request, object Table, q Quirks) answer {
	a := answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}}
	if object.ETag != "" && !q.NoETag {
		a.header["Etag"] = []string{object.ETag}
		if r.Header.Get("If-None-Match") == object.ETag {
			a.status = 304
			return a
		}
	}
	if a.body = object.Body; a.body != nil {
		return a
	}
	body := map[string]any{"metadata-location": object.MetadataLocation, "metadata": object.Metadata}
	if object.Config != nil {
		body["config"] = object.Config
	}
	if object.Credentials != nil {
		body["storage-credentials"] = object.Credentials
	}
	for name, value := range object.Extra {
		body[name] = value
	}
	a.body = jsonAnswer(200, body).body
	return a
}

// page cuts one page out of rows. Tokens say where the page begins; they mean
// nothing to a client.
func page[R any](member string, rows []R, params url.Values, q Quirks) answer {
	token, paged := params.Get("pageToken"), params.Has("pageToken")
	start, end := 0, len(rows)
	if paged && !q.NoPaging {
		if token != "" && token != q.FirstToken {
			n, err := strconv.Atoi(strings.TrimPrefix(token, "row/+="))
			if err != nil || n < 0 || n > len(rows) {
				return failure(400, "BadRequestException", "Invalid page token")
			}
			start = n
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
		body["next-page-token"] = fmt.Sprintf("row/+=%d", end)
	case q.LastToken != "":
		body["next-page-token"] = json.RawMessage(q.LastToken)
	}
	return jsonAnswer(200, body)
}
