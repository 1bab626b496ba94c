package router

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router/middleware"
)

// Catalog is one catalog as clients see it: the tree, or a mount on its own.
type Catalog struct {
	// Name is the warehouse name that /v1/config knows it by.
	Name string
	// Prefix is the one path segment behind /v1 that stands for it; empty for
	// the tree.
	Prefix  string
	Backend mounts.Backend
	// Visible tells whether the caller may know that the catalog is there; to
	// everybody else it is as one that is not. nil is always. The tree is there for
	// everybody.
	Visible func(ctx context.Context) bool
}

// Config is what the HTTP surface is made of. Only Tree.Backend is required.
type Config struct {
	// Tree is the catalog of everything; Views are the mounts as catalogs of
	// their own.
	Tree  Catalog
	Views []Catalog
	// Mounts is the mount table that /ready and /admin/v1/mounts report on; nil
	// for a server without one.
	Mounts *mounts.Map
	// Timeout is the longest a client waits for an operation; 0 is 30 seconds.
	Timeout time.Duration
	// MaxBody bounds a request body, in bytes, as sent and again once
	// decompressed; 0 is 64 MiB.
	MaxBody int64
	// Authenticator finds out who calls, for all routes but /health, /ready and the
	// token route; it bounds the time that it takes. Without one everybody is
	// policy.Anonymous(), an operator.
	Authenticator policy.Authenticator
	// Token answers POST /v1/oauth/tokens, errors included; it is an unknown route
	// without it.
	Token func(w http.ResponseWriter, r *http.Request, from policy.Client)
	// Limits bounds how often clients and tenants may ask; nil for no bounds.
	Limits middleware.Limits
	// ClientAddr is the address that a request comes from; nil for the other end
	// of its connection.
	ClientAddr func(*http.Request) netip.Addr
	// Inspect decides whether the caller may do what is no operation of a catalog,
	// policy.Inspect or policy.ReadMetrics, to a mount, or to the server if that is
	// nil, and names the policies that decided; nil lets everybody.
	Inspect func(ctx context.Context, m *mounts.Mount, a policy.Action) (allowed bool, policies []string)
	// Trail is told of failed logins and of who looked at the server; nil for none.
	Trail policy.Trail
	// Policy and Audit are what /admin/v1/policy and /admin/v1/audit report, which
	// are unknown routes without them. They do no I/O.
	Policy func() PolicyStatus
	Audit  func() AuditStatus
	// InstanceID is this server's name in X-Icefield-Via; empty switches the
	// search for it off.
	InstanceID string
	// Gatherer answers /metrics, which is an unknown route without one. Metrics
	// are this package's; nil for none.
	Gatherer prometheus.Gatherer
	Metrics  *Metrics
	// Components, if set, is what there is to say of the server itself in /ready
	// and /admin/v1/mounts. It does no I/O.
	Components func() []Component
	// Logger takes the access log and panics; nil is silent.
	Logger *slog.Logger
	// Version is what /health calls this server's version.
	Version string
}

const (
	defaultTimeout = 30 * time.Second
	defaultMaxBody = 64 << 20
)

// server is the HTTP surface. It is immutable once built.
type server struct {
	Config
	byPrefix    map[string]*Catalog
	byWarehouse map[string]*Catalog
	routes      *mux.Router
	buffers     buffers
}

// New builds the handler of the whole HTTP surface. It starts nothing and keeps
// no goroutine beyond a request: a handler returns only when the backend it
// asked has, even if its client had the answer earlier, so that shutting the
// http.Server down waits for every change under way.
func New(c Config) http.Handler { return newServer(c).chain() }

func newServer(c Config) *server {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxBody <= 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Views = slices.Clone(c.Views)
	s := &server{Config: c, byPrefix: map[string]*Catalog{}, byWarehouse: map[string]*Catalog{}}
	for i := range s.Views {
		view := &s.Views[i]
		s.byPrefix[view.Prefix], s.byWarehouse[view.Name] = view, view
	}
	s.byPrefix[s.Tree.Prefix], s.byWarehouse[s.Tree.Name] = &s.Tree, &s.Tree
	s.routes = s.newRoutes()
	return s
}

// chain is what a request passes, outermost first: its call begins, its body is
// capped, its client's rate is looked at, then who calls, then the rate of the
// tenant; and only then is anything else of it read.
func (s *server) chain() http.Handler {
	var everybody *policy.Principal
	h := middleware.Loop(s.fail, s.InstanceID, middleware.Paths(s.isPrefix, http.HandlerFunc(s.route)))
	if s.Limits != nil {
		h = middleware.LimitTenants(s.fail, s.Limits, h)
	}
	if s.Authenticator == nil {
		everybody = policy.Anonymous()
	} else {
		h = middleware.Authenticate(s.fail, s.Authenticator, s.loginFailed, h)
	}
	if s.Limits != nil {
		h = middleware.LimitClients(s.fail, s.Limits, h)
	}
	return middleware.Begin(s.fail, s.Logger, s.finished,
		middleware.BodyCap(s.fail, s.MaxBody,
			middleware.Arrive(s.ClientAddr, s.gate, everybody, h)))
}

// finished writes what is known of a call to the access log and the metrics.
func (s *server) finished(call *middleware.Call, r *http.Request) {
	middleware.LogAccess(s.Logger, call, r)
	s.Metrics.observe(call, r.Method)
}

// fail answers with an error in the spec's shape, unless the call was answered
// before.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	call := middleware.CallFrom(r.Context())
	s.failAs(w, r, call, normalize(err, call.Operation, call.Object, call.Sent.Load()))
}

func (s *server) failAs(w http.ResponseWriter, r *http.Request, call *middleware.Call, e *mounts.Error) {
	if claim(w) {
		s.writeError(w, r, call, e)
	}
}

// writeError writes the answer on a claimed w.
func (s *server) writeError(w http.ResponseWriter, r *http.Request, call *middleware.Call, e *mounts.Error) {
	call.Err = e
	a := onWire(e)
	if r.Context().Err() != nil && a.status >= http.StatusInternalServerError && !e.OutcomeUnknown {
		call.Left() // a failure that the client caused by going away; the answer is for nobody
	}
	setErrorHeaders(w.Header(), e, a.status)
	buf := s.buffers.get()
	*buf = appendError(*buf, a, message(e, a.status, call.RequestID))
	s.buffers.write(w, r, a.status, body{head: *buf})
	s.buffers.put(buf)
}
