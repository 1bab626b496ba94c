package rest_test

import (
	"context"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/pagination"
)

// stackOn is the backend with everything that stands around a mount.
func stackOn(t *testing.T, s *scene, cache wrap.CacheOptions) mounts.Backend {
	t.Helper()
	m := wrap.Stack(s.Backend, wrap.Options{Name: "partner", HeedsContext: true, Cache: cache, Probe: wrap.ProbeOptions{Interval: -1}})
	t.Cleanup(func() { _ = m.Close() })
	return m.Mount().Tree
}

// What one call of a client costs in calls of the remote, through the whole
// stack, once the mount is warm.
func TestRemoteCallsForOneCallOfAClient(t *testing.T) {
	table := mounts.Identifier{Namespace: mounts.Namespace{"partner", "shared"}, Name: "orders"}
	load := &mounts.LoadTableRequest{Table: table}
	delegated := &mounts.LoadTableRequest{Table: table, Delegation: "vended-credentials"}
	exists := &mounts.TableExistsRequest{Table: table}
	credentials := &mounts.LoadCredentialsRequest{Table: table}
	page := &mounts.ListTablesRequest{Namespace: table.Namespace, Page: pagination.Request{Size: 10}}
	held := wrap.CacheOptions{Size: 1 << 20, Coalesce: true}
	for _, c := range []struct {
		name        string
		cache       wrap.CacheOptions
		req         mounts.Request
		calls       int
		conditional bool
	}{
		{"a load, nothing kept", wrap.CacheOptions{}, load, 1, false},
		{"a load that is confirmed", held, load, 1, true},
		{"a load within the ttl", wrap.CacheOptions{Size: 1 << 20, TTL: time.Hour, Coalesce: true}, load, 0, false},
		{"a load with delegation", held, delegated, 1, false},
		{"a load with delegation within the ttl", wrap.CacheOptions{Size: 1 << 20, TTL: time.Hour}, delegated, 1, false},
		{"existence", held, exists, 1, false},
		{"credentials", held, credentials, 1, false},
		{"a listing page", held, page, 1, false},
		{"a listing page within the ttl", wrap.CacheOptions{Size: 1 << 20, TTL: time.Hour}, page, 0, false},
	} {
		s := open(t, serve(t, remote.Options{}), func(rc *rest.Config) { rc.Memory, rc.Remember = mounts.NewMemory(1<<30), 1<<20 })
		s.srv.Tune(func(q *remote.Quirks) { q.Vend = &remote.Vend{InList: true, Lifetime: time.Hour} })
		b := stackOn(t, s, c.cache)
		if err := invoke(b, c.req); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s.srv.Forget()
		scope := &mounts.Scope{}
		if _, err := mounts.Invoke(mounts.WithCaller(context.Background(), mounts.Caller{Scope: scope}), b, c.req); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := s.srv.Count(remote.AnyOp); got != c.calls || scope.RemoteCalls() != c.calls {
			t.Errorf("%s: %d calls reached the remote, %d were counted, want %d", c.name, got, scope.RemoteCalls(), c.calls)
		}
		if c.calls > 0 {
			if sent := s.srv.Last().Header.Get("If-None-Match"); (sent != "") != c.conditional {
				t.Errorf("%s: sent If-None-Match %q", c.name, sent)
			}
		}
		scope.End()
	}
}
