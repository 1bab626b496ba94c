package mounts

import "testing"

func TestAScopeEndsOnceAndLateHoldersAtOnce(t *testing.T) {
	var ended []string
	hold := func(name string) func() { return func() { ended = append(ended, name) } }
	s := &Scope{}
	s.OnEnd(hold("body"))
	if len(ended) != 0 {
		t.Fatal("ended before the request did")
	}
	s.End()
	s.End()
	s.OnEnd(hold("late"))
	(*Scope)(nil).OnEnd(hold("none"))
	if len(ended) != 3 || ended[0] != "body" || ended[1] != "late" || ended[2] != "none" {
		t.Errorf("ended %v", ended)
	}
}

func TestAScopeTellsWhatWasMarked(t *testing.T) {
	s := &Scope{}
	s.MarkStale()
	s.CountRemoteCall()
	s.CountRemoteCall()
	if !s.Stale() || s.RemoteCalls() != 2 {
		t.Error("marks are lost")
	}
	var none *Scope
	none.MarkStale()
	none.CountRemoteCall()
	none.End()
	if none.Stale() || none.RemoteCalls() != 0 {
		t.Error("no scope has marks")
	}
}
