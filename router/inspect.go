package router

import (
	"net/http"
	"slices"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router/middleware"
)

// inspection is what a caller may see of the server and its mounts.
type inspection struct {
	server bool
	// mounts may be seen, in the order of the mount table.
	mounts []*mounts.Mount
	// permits and denials are the policies behind that.
	permits, denials []string
}

// mayInspect reports whether the caller may see a mount, or the server if that is
// nil. Without rules everybody may.
func (s *server) mayInspect(r *http.Request, m *mounts.Mount) (bool, []string) {
	switch {
	case s.Inspect == nil:
		return true, nil
	case middleware.CallFrom(r.Context()).Principal == nil:
		return false, nil
	}
	return s.Inspect(identified(r), m, policy.Inspect)
}

// inspects finds out what the caller may see.
func (s *server) inspects(r *http.Request) inspection {
	var in inspection
	may := func(m *mounts.Mount) bool {
		ok, policies := s.mayInspect(r, m)
		if ok {
			in.permits = append(in.permits, policies...)
		} else {
			in.denials = append(in.denials, policies...)
		}
		return ok
	}
	in.server = may(nil)
	for _, m := range s.allMounts() {
		if may(m) {
			in.mounts = append(in.mounts, m)
		}
	}
	for _, list := range []*[]string{&in.permits, &in.denials} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return in
}

func (s *server) allMounts() []*mounts.Mount {
	if s.Mounts == nil {
		return nil
	}
	return s.Mounts.All()
}

// inspect is inspects for a route that shows mounts: Forbidden for a caller who
// may see none, nor the server. What is shown goes into the trail, and so does
// the denial.
func (s *server) inspect(r *http.Request) (inspection, error) {
	in := s.inspects(r)
	if !in.server && len(in.mounts) == 0 {
		return in, s.forbid(r, policy.Inspect, in.denials,
			"there is nothing at this route that you may look at: a policy has to permit you the action inspect on a mount")
	}
	var seen []policy.Resource
	if in.server {
		seen = append(seen, serverItself())
	} else {
		for _, m := range in.mounts {
			seen = append(seen, resourceOf(m))
		}
	}
	s.acted(r, policy.Inspect, in.permits, policy.Done, nil, seen...)
	return in, nil
}

// inspectMount is the mount of that name that the caller may see. One that may
// not be seen is absent like one that is not there.
func (s *server) inspectMount(r *http.Request, name string) (*mounts.Mount, error) {
	absent := &mounts.Error{Kind: mounts.NoSuchWarehouse, Msg: plainText("the parameter mount names no mount: " + quoted(name))}
	for _, m := range s.allMounts() {
		if m.Name != name && m.ViewName != name {
			continue
		}
		ok, policies := s.mayInspect(r, m)
		if !ok {
			s.acted(r, policy.Inspect, policies, policy.Denied, absent, resourceOf(m))
			return nil, absent
		}
		s.acted(r, policy.Inspect, policies, policy.Done, nil, resourceOf(m))
		return m, nil
	}
	return nil, absent
}

// onServer lets pass whoever may do something to the server itself.
func (s *server) onServer(r *http.Request, a policy.Action) error {
	if s.Inspect == nil {
		return nil
	}
	ok, policies := s.Inspect(identified(r), nil, a)
	if !ok {
		return s.forbid(r, a, policies, "this route is for operators of the server, and for whom a policy permits the action "+string(a)+" on it")
	}
	s.acted(r, a, policies, policy.Done, nil, serverItself())
	return nil
}

// forbid is a denial of what concerns the server itself, of which everybody knows
// that it is there.
func (s *server) forbid(r *http.Request, a policy.Action, policies []string, text string) error {
	err := &mounts.Error{Kind: mounts.Forbidden, Msg: text}
	s.acted(r, a, policies, policy.Denied, err, serverItself())
	return err
}

// acted writes into the trail what the caller did, or may not do, to the server or
// to mounts.
func (s *server) acted(r *http.Request, a policy.Action, policies []string, outcome string, err *mounts.Error, about ...policy.Resource) {
	e := policy.Event{Action: a, Resource: about[0], More: about[1:], Policies: policies, Outcome: outcome}
	if err != nil {
		e.Result = err.Kind.Error()
	}
	s.record(r.Context(), e)
}

func serverItself() policy.Resource { return policy.Resource{Kind: policy.KindServer} }

func resourceOf(m *mounts.Mount) policy.Resource {
	r := policy.Resource{Kind: policy.KindMount, Mount: m.Name, Tenant: m.Owner}
	if m.Name != mounts.UnderName {
		r.Path = mounts.Namespace{m.Name}
	}
	return r
}

// PolicyStatus is how the rules are doing.
type PolicyStatus struct {
	// State is "ok", or in a word what is wrong with the files as they are now; the
	// rules that were loaded last stay in effect. Since is when that began, and
	// Reason says more, empty for "ok".
	State  string    `json:"state"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Policies is how many are in effect, those of tenants and the built-in ones
	// included; Files how many files they come from, Tenants how many tenants have
	// policies of their own.
	Policies int  `json:"policies"`
	Files    int  `json:"files"`
	Tenants  int  `json:"tenants"`
	Builtin  bool `json:"builtin"`
	// LoadedAt is when those in effect were loaded.
	LoadedAt time.Time `json:"loaded_at,omitzero"`
}

// AuditStatus is how the audit trail is doing.
type AuditStatus struct {
	// Sink is where events go: "stdout", "file" or "none".
	Sink       string `json:"sink"`
	FailClosed bool   `json:"fail_closed"`
	// State is "ok", or in a word what is wrong; Since is when that began, and
	// Reason says more.
	State  string    `json:"state"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Written counts the events that were kept, Lost those that could not be, and
	// Refused the changes that were not made because theirs could not; all since
	// the sink was opened.
	Written uint64 `json:"written"`
	Lost    uint64 `json:"lost"`
	Refused uint64 `json:"refused"`
}

// adminPolicy and adminAudit report on the two to operators.
func (s *server) adminPolicy(w http.ResponseWriter, r *http.Request) error {
	if err := s.onServer(r, policy.Inspect); err != nil {
		return err
	}
	return s.report(w, r, s.Policy())
}

func (s *server) adminAudit(w http.ResponseWriter, r *http.Request) error {
	if err := s.onServer(r, policy.Inspect); err != nil {
		return err
	}
	return s.report(w, r, s.Audit())
}
