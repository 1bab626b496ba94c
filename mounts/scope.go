package mounts

import (
	"sync"
	"sync/atomic"
)

// Scope is one client request, as far as the layers below the HTTP surface have
// to do with it: what they tell the surface beside their answer, and what they
// hold for as long as the answer is being written. All methods are safe for
// concurrent use and do nothing on a nil Scope, but for OnEnd.
type Scope struct {
	stale       atomic.Bool
	remoteCalls atomic.Int32

	mu     sync.Mutex
	remote RemoteCall
	ended  bool
	ends   []func()
}

// RemoteCall is the last call of a remote catalog that a request led to.
type RemoteCall struct {
	// Identity says as whom the remote was called, in a word that is no secret: a
	// client id, a role, "passthrough". Empty if nothing was called.
	Identity string
	// Status is the HTTP status of its answer, 0 for none.
	Status int
}

// NoteRemote keeps the last call of a remote catalog, for the audit trail.
func (s *Scope) NoteRemote(call RemoteCall) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.remote = call
	s.mu.Unlock()
}

// Remote is what was noted last.
func (s *Scope) Remote() RemoteCall {
	if s == nil {
		return RemoteCall{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remote
}

// MarkStale says that the answer may be out of date, since the catalog behind it
// cannot be reached.
func (s *Scope) MarkStale() {
	if s != nil {
		s.stale.Store(true)
	}
}

// Stale reports whether MarkStale was called.
func (s *Scope) Stale() bool { return s != nil && s.stale.Load() }

// CountRemoteCall counts one HTTP call to a remote catalog.
func (s *Scope) CountRemoteCall() {
	if s != nil {
		s.remoteCalls.Add(1)
	}
}

// RemoteCalls is how many were counted.
func (s *Scope) RemoteCalls() int {
	if s == nil {
		return 0
	}
	return int(s.remoteCalls.Load())
}

// OnEnd calls f once when the answer has been written; at once if that is over,
// or if there is no scope.
func (s *Scope) OnEnd(f func()) {
	if s == nil {
		f()
		return
	}
	s.mu.Lock()
	if !s.ended {
		s.ends = append(s.ends, f)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	f()
}

// End says that the answer has been written. Further calls do nothing.
func (s *Scope) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	ends := s.ends
	s.ended, s.ends = true, nil
	s.mu.Unlock()
	for _, f := range ends {
		f()
	}
}
