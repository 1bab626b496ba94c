package router

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/router/middleware"
)

// The routes are the rows of the operation table. A catalog's prefix is taken
// off the path before it gets here (middleware.Paths), so each row is one route
// for the tree and for every mount.

// hot are the operations that engines call most, in the order in which the
// router tries them: it goes through its routes one by one.
var hot = [...]capabilities.Op{
	capabilities.LoadTable, capabilities.TableExists, capabilities.CommitTable,
	capabilities.ListTables, capabilities.LoadNamespace, capabilities.ListNamespaces,
	capabilities.LoadView, capabilities.ListViews, capabilities.ReportMetrics,
}

func (s *server) newRoutes() *mux.Router {
	m := mux.NewRouter().UseEncodedPath()
	table := handlers()
	add := func(op capabilities.Op) {
		row := op.Row()
		m.Handle(pattern(row.Path), s.operation(op, table[op])).Methods(row.Verb)
	}
	for _, op := range hot {
		add(op)
	}
	m.Handle("/v1/config", s.control(s.config)).Methods(http.MethodGet)
	for _, row := range capabilities.Operations() {
		if !slices.Contains(hot[:], row.Op) {
			add(row.Op)
		}
	}
	m.Handle(middleware.SignPath, s.operation(capabilities.SignRequest, signWithoutTable)).Methods(http.MethodPost)
	m.Handle("/health", public{s.control(s.health)}).Methods(http.MethodGet, http.MethodHead)
	m.Handle("/ready", public{s.control(s.ready)}).Methods(http.MethodGet, http.MethodHead)
	if s.Token != nil {
		m.Handle(middleware.TokenPath, public{http.HandlerFunc(s.token)}).Methods(http.MethodPost)
	}
	m.Handle("/admin/v1/mounts", s.control(s.adminMounts)).Methods(http.MethodGet)
	m.Handle("/admin/v1/jobs", s.control(s.adminJobs)).Methods(http.MethodGet)
	m.Handle("/admin/v1/commits", s.control(s.adminCommits)).Methods(http.MethodGet)
	if s.Policy != nil {
		m.Handle("/admin/v1/policy", s.control(s.adminPolicy)).Methods(http.MethodGet)
	}
	if s.Audit != nil {
		m.Handle("/admin/v1/audit", s.control(s.adminAudit)).Methods(http.MethodGet)
	}
	if s.Gatherer != nil {
		m.Handle("/metrics", s.scrape()).Methods(http.MethodGet)
	}
	return m
}

// Route is one path of the HTTP surface, as its template, and one verb that it
// has.
type Route struct{ Verb, Path string }

// Routes lists what a handler that New makes of c answers at, sorted; paths of
// catalogs as they are without a prefix.
func Routes(c Config) []Route {
	var all []Route
	_ = newServer(c).routes.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		path, _ := route.GetPathTemplate()
		verbs, _ := route.GetMethods()
		for _, verb := range verbs {
			all = append(all, Route{verb, path})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Route) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Verb, b.Verb))
	})
	return all
}

// route finds the handler of a request and calls it. It asks mux for the match
// only: mux's own serving cleans paths by redirecting, and copies the request
// twice to carry what the Call carries.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	var match mux.RouteMatch
	call := middleware.CallFrom(r.Context())
	found := s.routes.Match(r, &match)
	if call.Principal == nil {
		if _, ok := match.Handler.(public); !ok || !found {
			s.turnAway(w, r) // whatever else there is or is not
			return
		}
	}
	switch {
	case found:
		call.Vars = match.Vars
		match.Handler.ServeHTTP(w, r)
	case match.MatchErr == mux.ErrMethodMismatch:
		s.noMethod(w, r)
	default:
		s.noRoute(w, r)
	}
}

// pattern is a row's path as the router spells it. A segment may be empty: Java
// clients ask for tables of the namespace "" and want to hear about the table.
func pattern(template string) string {
	template = strings.Replace(template, "/{prefix}", "", 1)
	return strings.NewReplacer(
		"{namespace}", "{namespace:[^/]*}", "{table}", "{table:[^/]*}",
		"{view}", "{view:[^/]*}", "{plan-id}", "{plan:[^/]*}", "{function}", "{function:[^/]*}",
	).Replace(template)
}

// control makes a route of the server itself out of a function. It exists in the
// tree's paths only.
func (s *server) control(f func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if middleware.CallFrom(r.Context()).Prefix != "" {
			s.noRoute(w, r)
			return
		}
		if err := f(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

func (s *server) noRoute(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, &mounts.Error{Kind: mounts.NoSuchRoute,
		Msg: "there is nothing at " + plainText(clip(r.Method)+" "+clip(middleware.CallFrom(r.Context()).Path)) +
			"; the Iceberg REST catalog of this server is at /v1"})
}

// noMethod answers a path that other verbs have, and says which (RFC 9110,
// section 15.5.6).
func (s *server) noMethod(w http.ResponseWriter, r *http.Request) {
	var verbs []string
	for _, verb := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r
		other.Method = verb
		var match mux.RouteMatch
		if s.routes.Match(&other, &match) {
			verbs = append(verbs, verb)
		}
	}
	allow := strings.Join(verbs, ", ")
	w.Header().Set("Allow", allow)
	s.fail(w, r, &mounts.Error{Kind: mounts.MethodNotAllowed,
		Msg: plainText(clip(r.Method)+" is not possible at "+clip(middleware.CallFrom(r.Context()).Path)) + "; allowed: " + allow})
}

// clip bounds what an answer repeats of a request.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
