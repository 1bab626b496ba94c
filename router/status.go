package router

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router/middleware"
)

// mountStatus is one mount in /ready and /admin/v1/mounts.
type mountStatus struct {
	Name         string   `json:"name"`
	View         string   `json:"view"`
	Driver       string   `json:"driver"`
	Owner        string   `json:"owner,omitempty"`
	Required     bool     `json:"required"`
	ReadOnly     bool     `json:"read_only"`
	Profile      string   `json:"profile,omitempty"`
	Credentials  string   `json:"credentials,omitempty"`
	State        string   `json:"state"`
	Breaker      string   `json:"breaker,omitempty"`
	InFlight     int      `json:"in_flight"`
	LatencyMS    float64  `json:"latency_ms"`
	CheckedAt    string   `json:"checked_at,omitempty"`
	LastError    string   `json:"last_error,omitempty"`
	Capabilities int      `json:"capabilities"`
	SettingsAt   string   `json:"settings_at,omitempty"`
	Retries      int64    `json:"retries"`
	Refused      refused  `json:"refused"`
	Cache        *cached  `json:"cache,omitempty"`
	Endpoints    []string `json:"endpoints,omitzero"`
}

// refused counts calls that were answered without asking the mount's backend.
type refused struct {
	Breaker  int64 `json:"breaker"`
	Limit    int64 `json:"limit"`
	ReadOnly int64 `json:"read_only"`
}

// cached is what a mount's cache holds and has done.
type cached struct {
	Size        int64 `json:"size_bytes"`
	Held        int64 `json:"held_bytes"`
	Hits        int64 `json:"hits"`
	Revalidated int64 `json:"revalidated"`
	Misses      int64 `json:"misses"`
	Stale       int64 `json:"stale"`
	Coalesced   int64 `json:"coalesced"`
}

// Component is a part of the server that is no mount. A component that is not
// well is said so; the server stays ready, since it serves as before.
type Component struct {
	// Name is what it is called, as "configuration".
	Name string `json:"name"`
	// State is "ok", or in a word what is wrong with it.
	State string `json:"state"`
	// Since is when that began.
	Since time.Time `json:"since,omitzero"`
	// Reason may be shown to clients; empty for "ok".
	Reason string `json:"reason,omitempty"`
}

func (s *server) components() []Component {
	if s.Components == nil {
		return []Component{}
	}
	return s.Components()
}

// statuses reads what is known of mounts. It does no I/O, so it takes no time
// however the mounts are doing.
func statuses(of []*mounts.Mount, detailed bool) []mountStatus {
	list := []mountStatus{}
	for _, m := range of {
		var now mounts.Status
		if m.Status != nil {
			now = m.Status()
		}
		one := mountStatus{
			Name: m.Name, View: m.ViewName, Driver: m.Driver, Required: m.Required, ReadOnly: m.ReadOnly, Profile: m.Profile, Credentials: m.Credentials,
			State: string(now.State), Breaker: now.Breaker, InFlight: now.InFlight,
			LatencyMS: float64(now.Latency.Microseconds()) / 1000, LastError: now.LastError,
			Capabilities: now.Capabilities.Len(), CheckedAt: stamp(now.CheckedAt), SettingsAt: stamp(now.SettingsAt),
			Retries: now.Retries, Refused: refused{now.RefusedByBreaker, now.RefusedByLimit, now.RefusedAsReadOnly},
		}
		if c := now.Cache; c != nil {
			one.Cache = &cached{c.Size, c.Held, c.Hits, c.Confirmed, c.Misses, c.Stale, c.Joined}
		}
		if detailed {
			one.Owner, one.Endpoints = m.Owner, now.Capabilities.Emulated().Endpoints()
		}
		list = append(list, one)
	}
	return list
}

// stamp is a time as everything here writes it; empty for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// health says that the process answers; nothing about any mount, and of the
// server, which anybody can ask, no more than that where callers are told apart.
func (s *server) health(w http.ResponseWriter, r *http.Request) error {
	out := struct {
		Status  string `json:"status"`
		Name    string `json:"name,omitempty"`
		Version string `json:"version,omitempty"`
	}{Status: "alive"}
	if s.Authenticator == nil {
		out.Name, out.Version = s.Tree.Name, s.Version
	}
	return s.report(w, r, out)
}

// ready is 200 while the server can serve, be it with mounts that are down: what
// lies under the others is served as before. To those who may look at the server
// it names the mounts that are down, and says what is wrong with the server
// itself; to everybody else only whether all is well, and with which of its parts.
func (s *server) ready(w http.ResponseWriter, r *http.Request) error {
	in, status := s.inspects(r), "ready"
	for _, m := range s.allMounts() {
		if m.Status == nil || m.Status().State != mounts.Up {
			status = "degraded"
		}
	}
	if !in.server {
		return s.report(w, r, struct {
			Status     string      `json:"status"`
			Components []Component `json:"components"`
		}{status, withoutDetails(s.components())})
	}
	out := struct {
		Status     string        `json:"status"`
		Down       []string      `json:"down"`
		Components []Component   `json:"components"`
		Mounts     []mountStatus `json:"mounts"`
	}{status, []string{}, s.components(), statuses(in.mounts, false)}
	for _, m := range out.Mounts {
		if m.State != string(mounts.Up) {
			out.Down = append(out.Down, m.Name)
		}
	}
	return s.report(w, r, out)
}

// withoutDetails is components without what is said of them.
func withoutDetails(components []Component) []Component {
	out := make([]Component, len(components))
	for i, c := range components {
		out[i] = Component{Name: c.Name, State: c.State}
	}
	return out
}

// adminMounts is what operators' tools see of the mount table; somebody who may
// look at some of the mounts only sees those, and nothing of the server.
func (s *server) adminMounts(w http.ResponseWriter, r *http.Request) error {
	in, err := s.inspect(r)
	if err != nil {
		return err
	}
	out := struct {
		Name       string        `json:"name"`
		Version    string        `json:"version,omitempty"`
		Endpoints  []string      `json:"endpoints"`
		Components []Component   `json:"components"`
		Mounts     []mountStatus `json:"mounts"`
	}{s.Tree.Name, "", s.endpoints(identified(r), &s.Tree), []Component{}, statuses(in.mounts, true)}
	if in.server {
		out.Version, out.Components = s.Version, s.components()
	}
	return s.report(w, r, out)
}

func (s *server) report(w http.ResponseWriter, r *http.Request, v any) error {
	middleware.CallFrom(r.Context()).Quiet = true
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.json(w, r, "no-store", func(b []byte) []byte { return append(b, text...) })
	return nil
}

// scrape answers /metrics.
func (s *server) scrape() http.Handler {
	metrics := promhttp.HandlerFor(s.Gatherer, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return s.control(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.onServer(r, policy.ReadMetrics); err != nil {
			return err
		}
		middleware.CallFrom(r.Context()).Quiet = true
		metrics.ServeHTTP(w, r)
		return nil
	})
}
