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

	mu    sync.Mutex
	ended bool
	ends  []func()
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
