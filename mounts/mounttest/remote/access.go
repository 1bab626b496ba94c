package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Storage is how a remote hands out access to storage and plans scans. The zero
// value hands out nothing and has none of those routes, whatever its list says.
type Storage struct {
	Vend  *Vend
	Sign  *Sign
	Plans *Plans
}

// Vend is how storage credentials are handed out: with every load that asks for
// vended-credentials, and at the credentials route.
type Vend struct {
	// InConfig puts them into `config`, InList into storage-credentials.
	InConfig, InList bool
	// Unasked hands them out to those who did not ask, too.
	Unasked bool
	// Scheme is "s3" (the default), "gcs" or "adls".
	Scheme string
	// Prefixes are the storage prefixes that they are for, one credential each;
	// nil means the table's own location.
	Prefixes []string
	// Lifetime is how long they are good for; zero leaves their expiry out.
	Lifetime time.Duration
	// Refresh is the refresh endpoint that goes with them; "{table}" in it is this
	// server's own path of the table, without a slash in front. Empty: none.
	Refresh string
	// NoRoute has no credentials route; its absence is a web server's 404.
	NoRoute bool
	// Fails answers a load that asks for them, and the route, with this status.
	Fails int
}

// Sign is how storage requests are signed: loads that ask for remote-signing
// name the route.
type Sign struct {
	// URI and Endpoint are s3.signer.uri and s3.signer.endpoint. "{url}" in them
	// is the catalog's base URL, "{table}" as in Vend.Refresh. Empty ones are left
	// out.
	URI, Endpoint string
	// Query, if set, must come back in the query of a signing call.
	Query string
	// Path is where the route is if it is not the spec's: "v1/aws/s3/sign".
	Path string
}

// Plans is how scans are planned.
type Plans struct {
	// ID is the plan's id.
	ID string
	// Polls is how often a plan is "submitted" before it is "completed".
	Polls int
	// Failed makes every plan fail.
	Failed bool
}

// Markers of what is vended. None of them may ever be where it was not asked for.
const (
	VendedKey    = "ASIAVENDEDKEY"
	VendedSecret = "vended-secret"
	VendedToken  = "vended-session-token"
)

// credentials are one credential's config.
func (v *Vend) credentials(table string) map[string]string {
	expiry := strconv.FormatInt(time.Now().Add(v.Lifetime).UnixMilli(), 10)
	refresh := strings.ReplaceAll(v.Refresh, "{table}", table)
	config := map[string]string{}
	put := func(name, value string, when bool) {
		if when {
			config[name] = value
		}
	}
	switch v.Scheme {
	case "gcs":
		put("gcs.oauth2.token", VendedToken, true)
		put("gcs.oauth2.token-expires-at", expiry, v.Lifetime != 0)
		put("gcs.oauth2.refresh-credentials-endpoint", refresh, refresh != "")
	case "adls":
		put("adls.sas-token.lake.dfs.core.windows.net", VendedToken, true)
		put("adls.sas-token-expires-at-ms.lake.dfs.core.windows.net", expiry, v.Lifetime != 0)
		put("adls.refresh-credentials-endpoint", refresh, refresh != "")
	default:
		put("s3.access-key-id", VendedKey, true)
		put("s3.secret-access-key", VendedSecret, true)
		put("s3.session-token", VendedToken, true)
		put("s3.session-token-expires-at-ms", expiry, v.Lifetime != 0)
		put("client.refresh-credentials-endpoint", refresh, refresh != "")
	}
	return config
}

func (v *Vend) list(location, table string) []map[string]any {
	prefixes := v.Prefixes
	if prefixes == nil {
		prefixes = []string{location}
	}
	var list []map[string]any
	for _, prefix := range prefixes {
		list = append(list, map[string]any{"prefix": prefix, "config": v.credentials(table)})
	}
	return list
}

// vend adds to the members of a load what the caller asked for.
func (s *Server) vend(r *http.Request, c call, q Quirks, members map[string]json.RawMessage) (answer, bool) {
	asked := r.Header.Get("X-Iceberg-Access-Delegation")
	config := map[string]json.RawMessage{}
	if json.Unmarshal(members["config"], &config) != nil || config == nil {
		config = map[string]json.RawMessage{}
	}
	add := func(entries map[string]string) {
		for name, value := range entries {
			config[name], _ = json.Marshal(value)
		}
	}
	table := s.path(c, q)
	if v := q.Vend; v != nil && (v.Unasked || strings.Contains(asked, "vended-credentials")) {
		if v.Fails != 0 {
			return failure(v.Fails, "ForbiddenException", "Cannot vend credentials"), true
		}
		if v.InConfig {
			add(v.credentials(table))
		}
		if v.InList {
			members["storage-credentials"], _ = json.Marshal(v.list(locationOf(members["metadata"]), table))
		}
	}
	if g := q.Sign; g != nil && strings.Contains(asked, "remote-signing") {
		fill := strings.NewReplacer("{url}", s.URL, "{table}", table)
		entries := map[string]string{"s3.remote-signing-enabled": "true"}
		if g.URI != "" {
			entries["s3.signer.uri"] = fill.Replace(g.URI)
		}
		if g.Endpoint != "" {
			entries["s3.signer.endpoint"] = fill.Replace(g.Endpoint)
		}
		add(entries)
	}
	maps.Copy(config, q.Entries)
	if len(config) > 0 || members["config"] != nil {
		members["config"], _ = json.Marshal(config)
	}
	return answer{}, false
}

func locationOf(metadata json.RawMessage) string {
	var doc struct{ Location string }
	if json.Unmarshal(metadata, &doc) != nil {
		return ""
	}
	return doc.Location
}

// path is the table's path as this server has it, without a slash in front.
func (s *Server) path(c call, q Quirks) string {
	separator := q.Separator
	if separator == "" {
		separator = "%1F"
	}
	escaped := make([]string, len(c.levels))
	for i, level := range c.levels {
		escaped[i] = url.PathEscape(level)
	}
	path := "v1/"
	if q.Prefix != "" {
		path += escapeUnsafe(q.Prefix) + "/"
	}
	return path + "namespaces/" + strings.Join(escaped, separator) + "/tables/" + url.PathEscape(c.name)
}

// access answers the routes of credentials, signing and plans. location is the
// table's.
func (s *Server) access(r *http.Request, c call, q Quirks, body []byte, location string) answer {
	switch c.op {
	case "loadCredentials":
		switch v := q.Vend; {
		case v == nil || v.NoRoute:
			return noRoute()
		case v.Fails != 0:
			return failure(v.Fails, "ForbiddenException", "Cannot vend credentials")
		default:
			return jsonAnswer(200, map[string]any{"storage-credentials": v.list(location, s.path(c, q))})
		}
	case "signRequest":
		return q.Sign.answer(r, body)
	}
	if q.Plans == nil {
		return noRoute()
	}
	return s.plan(c, q, body, location)
}

func (g *Sign) answer(r *http.Request, body []byte) answer {
	if g == nil {
		return noRoute()
	}
	if _, query := target(r); g.Query != "" && query != g.Query {
		return failure(403, "ForbiddenException", "the signing call has lost its query: "+query)
	}
	var asked struct {
		URI     string
		Headers map[string][]string
	}
	if json.Unmarshal(body, &asked) != nil || asked.URI == "" {
		return failure(400, "BadRequestException", "nothing to sign")
	}
	headers := map[string][]string{"Authorization": {"AWS4-HMAC-SHA256 signed-by-the-remote"}}
	maps.Copy(headers, asked.Headers)
	a := jsonAnswer(200, map[string]any{"uri": asked.URI, "headers": headers})
	a.header.Set("Cache-Control", "private")
	return a
}

func (s *Server) plan(c call, q Quirks, body []byte, location string) answer {
	p := q.Plans
	tasks := []string{p.ID + "/task+1"}
	completed := func() map[string]any {
		done := map[string]any{"status": "completed", "plan-id": p.ID, "plan-tasks": tasks, "file-scan-tasks": []any{}, "delete-files": []any{}}
		if q.Vend != nil {
			done["storage-credentials"] = q.Vend.list(location, s.path(c, q))
		}
		return done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c.op {
	case "planScan":
		s.plans[p.ID] = p.Polls
		switch {
		case p.Failed:
			return jsonAnswer(200, map[string]any{"status": "failed", "error": map[string]any{
				"message": "the planner gave up at http://planner.internal.example:8080", "type": "PlanningException", "code": 500}})
		case p.Polls > 0:
			return jsonAnswer(200, map[string]any{"status": "submitted", "plan-id": p.ID})
		}
		return jsonAnswer(200, completed())
	case "fetchPlan", "cancelPlan":
		left, known := s.plans[c.plan]
		switch {
		case !known:
			return failure(404, "NoSuchPlanIdException", "Plan does not exist: "+c.plan)
		case c.op == "cancelPlan":
			delete(s.plans, c.plan)
			return answer{status: 204}
		case left > 0:
			s.plans[c.plan]--
			return jsonAnswer(200, map[string]any{"status": "submitted", "plan-id": p.ID})
		}
		return jsonAnswer(200, completed())
	case "fetchScanTasks":
		var asked struct {
			Task string `json:"plan-task"`
		}
		if json.Unmarshal(body, &asked) != nil || asked.Task != tasks[0] {
			return failure(404, "NoSuchPlanTaskException", fmt.Sprintf("Plan task does not exist: %s", asked.Task))
		}
		return jsonAnswer(200, map[string]any{"file-scan-tasks": []any{}, "plan-tasks": []any{}})
	}
	return noRoute()
}
