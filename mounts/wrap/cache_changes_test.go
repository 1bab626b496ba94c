package wrap

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

func TestOwnChangesAreSeenAtOnce(t *testing.T) {
	for _, change := range []mounts.Request{commit, drop, &mounts.UnregisterTableRequest{Table: aTable},
		&mounts.RenameTableRequest{Source: aTable, Destination: mounts.Identifier{Namespace: mounts.Namespace{"b"}, Name: "u"}},
		&mounts.RenameTableRequest{Source: mounts.Identifier{Namespace: mounts.Namespace{"b"}, Name: "u"}, Destination: aTable},
		&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: mounts.Identifier{Namespace: mounts.Namespace{"b"}, Name: "u"}}, *commit}},
		&mounts.RegisterTableRequest{Namespace: aTable.Namespace, Name: "t", Overwrite: true},
		&mounts.CreateTableRequest{Namespace: aTable.Namespace, Name: "t"},
	} {
		for _, fails := range []error{nil, &mounts.Error{Kind: mounts.CommitConflict}, &mounts.Error{Kind: mounts.Timeout, OutcomeUnknown: true}} {
			v := &versioned{}
			s := scripted(v.handle)
			m := Stack(s, Options{Name: "prod", Cache: CacheOptions{Size: 1 << 20, TTL: time.Hour}, Probe: ProbeOptions{Interval: -1}})
			b := m.Mount().View
			loaded(t, t.Context(), b, load)
			loaded(t, t.Context(), b, &mounts.LoadTableRequest{Table: aTable, Snapshots: mounts.SnapshotsRefs})
			if fails != nil {
				s.fails(fails)
			}
			_ = ask(b, change)
			s.does(v.handle)
			v.version.Store(5)
			for _, mode := range []mounts.Snapshots{mounts.SnapshotsAll, mounts.SnapshotsRefs} {
				if got := loaded(t, t.Context(), b, &mounts.LoadTableRequest{Table: aTable, Snapshots: mode}); got.MetadataLocation != `"f"` {
					t.Errorf("after %s with %v: %+v", change.Op(), fails, got)
				}
			}
			_ = m.Close()
		}
	}
}

func TestOwnChangesOfNamespacesAndViewsAreSeenInListings(t *testing.T) {
	n := mounts.Namespace{"a"}
	tables, children := &mounts.ListTablesRequest{Namespace: n}, &mounts.ListNamespacesRequest{Parent: n}
	props, view := &mounts.LoadNamespaceRequest{Namespace: n}, &mounts.LoadViewRequest{View: aTable}
	views := &mounts.ListViewsRequest{Namespace: n}
	for _, row := range []struct {
		change mounts.Request
		asked  []mounts.Request
	}{
		{&mounts.CreateTableRequest{Namespace: n, Name: "new"}, []mounts.Request{tables, views}},
		{&mounts.CreateTableRequest{Namespace: n, Name: "new", StageCreate: true}, nil},
		{&mounts.CommitTableRequest{Table: mounts.Identifier{Namespace: n, Name: "new"},
			Requirements: []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)}}, []mounts.Request{tables, views}},
		{commit, []mounts.Request{view}}, // one name space for both
		{&mounts.ReplaceViewRequest{View: aTable}, []mounts.Request{view}},
		{&mounts.DropViewRequest{View: aTable}, []mounts.Request{view, tables, views}},
		{&mounts.CreateNamespaceRequest{Namespace: n.Child("x")}, []mounts.Request{children, tables, views}},
		{&mounts.DropNamespaceRequest{Namespace: n}, []mounts.Request{props, children, tables, views, view}},
		{&mounts.UpdateNamespacePropertiesRequest{Namespace: n}, []mounts.Request{props}},
		{&mounts.ReportMetricsRequest{Table: aTable}, nil},
	} {
		s := answering()
		m := Stack(s, Options{Name: "prod", Cache: CacheOptions{Size: 1 << 20, TTL: time.Hour}, Probe: ProbeOptions{Interval: -1}})
		b := m.Mount().View
		all := []mounts.Request{tables, children, props, view, views}
		for _, req := range all {
			_ = ask(b, req)
		}
		_ = ask(b, row.change)
		before := s.calls.Load()
		for _, req := range all {
			_ = ask(b, req)
		}
		want := map[mounts.Request]bool{}
		for _, req := range row.asked {
			want[req] = true
		}
		if got := int(s.calls.Load() - before); got < len(want) || len(row.asked) == 0 && got != 0 || got > 3 && len(want) < 3 {
			t.Errorf("after %s of %v: %d of %d reads were asked again", row.change.Op(), row.change.Object(), got, len(want))
		}
		for req := range want { // each of them once more: held again
			if before := s.calls.Load(); ask(b, req) != nil || s.calls.Load() != before {
				t.Errorf("%s is not held again", req.Op())
			}
		}
		_ = m.Close()
	}
}

// The load is sent before the commit and answered after it, from before it.
func TestALoadThatACommitOvertookIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &versioned{}
		slow := make(chan struct{})
		s := scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			resp, err := v.handle(ctx, req)
			if _, is := req.(*mounts.LoadTableRequest); is && v.full.Load() == 1 {
				<-slow
			}
			return resp, err
		})
		m := Stack(s, Options{Name: "prod", Cache: CacheOptions{Size: 1 << 20, TTL: time.Hour, Coalesce: true}, Probe: ProbeOptions{Interval: -1}})
		defer m.Close()
		b := m.Mount().View
		first, second := make(chan *mounts.Table), make(chan *mounts.Table)
		go func() { first <- loaded(t, t.Context(), b, load) }()
		synctest.Wait()
		if err := ask(b, commit); err != nil {
			t.Fatal(err)
		}
		go func() { second <- loaded(t, t.Context(), b, load) }()
		synctest.Wait()
		close(slow)
		if got := <-first; got.MetadataLocation != `"a"` {
			t.Errorf("the early load: %+v", got)
		}
		if got := <-second; got.MetadataLocation != `"b"` {
			t.Errorf("a load after the commit got what was loaded before it: %+v", got)
		}
		if got := loaded(t, t.Context(), b, load); got.MetadataLocation != `"b"` {
			t.Errorf("held: %+v", got)
		}
	})
}

// A commit whose answer is lost may still come into effect.
func TestAnUnknownOutcomeSuspendsTheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &versioned{}
		s := scripted(v.handle)
		m := Stack(s, Options{Name: "prod", Cache: CacheOptions{Size: 1 << 20, TTL: time.Hour}, Timeout: 10 * second, Probe: ProbeOptions{Interval: -1}})
		defer m.Close()
		b := m.Mount().View
		s.fails(&mounts.Error{Kind: mounts.Timeout, OutcomeUnknown: true})
		_ = ask(b, commit)
		s.does(v.handle)
		loaded(t, t.Context(), b, load)
		time.Sleep(9 * second)
		v.version.Add(1) // only now
		if got := loaded(t, t.Context(), b, load); got.MetadataLocation != `"b"` {
			t.Errorf("got %+v", got)
		}
		v.version.Add(1)
		time.Sleep(2 * second)
		if got := loaded(t, t.Context(), b, load); got.MetadataLocation != `"c"` {
			t.Errorf("what was confirmed in doubt is used when the doubt is over: %+v", got)
		}
		asked := v.asked.Load()
		if loaded(t, t.Context(), b, load); v.asked.Load() != asked {
			t.Error("the ttl never counts again")
		}
	})
}
