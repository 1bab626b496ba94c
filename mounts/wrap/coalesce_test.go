package wrap

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

// gated is a backend whose loads wait until they are let through, each answering
// with its number.
type gated struct {
	sent  atomic.Int64
	gates chan chan struct{}
	fail  atomic.Bool
}

func newGated() *gated { return &gated{gates: make(chan chan struct{}, 1000)} }

func (g *gated) handle(ctx context.Context, req mounts.Request) (mounts.Response, error) {
	n := g.sent.Add(1)
	gate := make(chan struct{})
	g.gates <- gate
	mounts.CallerFrom(ctx).Scope.CountRemoteCall()
	select {
	case <-gate:
	case <-ctx.Done():
		return nil, &mounts.Error{Kind: mounts.Timeout, Err: ctx.Err()}
	}
	if g.fail.Load() {
		return nil, &mounts.Error{Kind: mounts.RateLimited, RetryAfter: second}
	}
	return &mounts.Table{MetadataLocation: string(rune('0' + n)), Metadata: json.RawMessage(`{}`)}, nil
}

// through lets the oldest call under way end.
func (g *gated) through() { close(<-g.gates) }

type result struct {
	location string
	err      error
}

func shareable(t *testing.T, g *gated, opt CacheOptions) (mounts.Backend, *Mounted, func(ctx context.Context, req *mounts.LoadTableRequest) chan result) {
	opt.Coalesce = true
	m := Stack(scripted(g.handle), Options{Name: "prod", Cache: opt, HeedsContext: true, Timeout: time.Minute, Probe: ProbeOptions{Interval: -1}})
	b := m.Mount().View
	return b, m, func(ctx context.Context, req *mounts.LoadTableRequest) chan result {
		out := make(chan result, 1)
		go func() {
			got, err := b.LoadTable(ctx, req)
			if err != nil {
				out <- result{err: err}
				return
			}
			out <- result{location: got.MetadataLocation}
		}()
		synctest.Wait()
		return out
	}
}

func TestAReadJoinsOnlyACallThatWasNotSentWhenItArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		first := start(t.Context(), load)
		var second []chan result
		for range 12 {
			second = append(second, start(t.Context(), load))
		}
		if g.sent.Load() != 1 {
			t.Fatalf("%d calls sent", g.sent.Load())
		}
		g.through()
		synctest.Wait()
		third := start(t.Context(), load) // the second call is under way
		if g.sent.Load() != 2 {
			t.Fatalf("%d calls sent", g.sent.Load())
		}
		g.through()
		synctest.Wait()
		g.through()
		if got := <-first; got.location != "1" {
			t.Errorf("the first: %+v", got)
		}
		for _, out := range second {
			if got := <-out; got.location != "2" {
				t.Errorf("one that came while the first was under way: %+v", got)
			}
		}
		if got := <-third; got.location != "3" {
			t.Errorf("one that came while the second was under way: %+v", got)
		}
		synctest.Wait()
		if n := len(m.cache.reads.lines); n != 0 {
			t.Errorf("%d lines left behind", n)
		}
		_ = m.Close()
	})
}

func TestACallerThatLeavesTakesNobodyElsesAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		first := start(t.Context(), load)
		ctx, leave := context.WithCancel(t.Context())
		leaver := start(ctx, load) // the shared call is made in its name
		stayer := start(t.Context(), load)
		g.through()
		synctest.Wait()
		leave()
		if got := <-leaver; !errors.Is(got.err, context.Canceled) {
			t.Errorf("the one that left: %+v", got)
		}
		g.through()
		if got := <-stayer; got.location != "2" {
			t.Errorf("the one that stayed: %+v", got)
		}
		<-first
		_ = m.Close()
	})
}

func TestACallThatNobodyWaitsForAnyMoreEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		first := start(t.Context(), load)
		ctx, leave := context.WithCancel(t.Context())
		a, b := start(ctx, load), start(ctx, load)
		g.through()
		<-first
		synctest.Wait()
		leave()
		<-a
		<-b
		synctest.Wait() // the call's context ended, else it would wait at its gate for ever
		if n := len(m.cache.reads.lines); n != 0 || g.sent.Load() != 2 {
			t.Errorf("%d lines left, %d calls sent", n, g.sent.Load())
		}
		// One that is left by everybody before it was sent is never sent.
		<-g.gates
		under := start(t.Context(), load)
		ctx, leave = context.WithCancel(t.Context())
		waiting := start(ctx, load)
		leave()
		<-waiting
		g.through()
		<-under
		synctest.Wait()
		if g.sent.Load() != 3 {
			t.Errorf("%d calls sent", g.sent.Load())
		}
		_ = m.Close()
	})
}

func TestEachReadWaitsAsLongAsItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		first := start(t.Context(), load)
		short, cancel := context.WithTimeout(t.Context(), 2*second)
		defer cancel()
		long, cancel := context.WithTimeout(t.Context(), 20*second)
		defer cancel()
		hasty, patient := start(short, load), start(long, load)
		g.through()
		<-first
		begin := time.Now()
		if got := <-hasty; !errors.Is(got.err, mounts.Timeout) || time.Since(begin) != 2*second {
			t.Errorf("%+v after %v", got, time.Since(begin))
		}
		g.through()
		if got := <-patient; got.location != "2" {
			t.Errorf("%+v", got)
		}
		_ = m.Close()
	})
}

func TestASlowCallHoldsTheNextOneUpForAMomentOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		stuck := start(t.Context(), load)
		stuckGate := <-g.gates
		begin := time.Now()
		next := start(t.Context(), load)
		g.through()
		if got := <-next; got.location != "2" || time.Since(begin) > coalescePatience {
			t.Errorf("%+v after %v", got, time.Since(begin))
		}
		close(stuckGate)
		<-stuck
		_ = m.Close()
	})
}

func TestErrorsOfASharedCallAreEverybodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		g.fail.Store(true)
		all := []chan result{start(t.Context(), load), start(t.Context(), load), start(t.Context(), load)}
		g.through()
		synctest.Wait()
		g.through()
		for _, out := range all {
			if got := <-out; !errors.Is(got.err, mounts.RateLimited) {
				t.Errorf("%+v", got)
			}
		}
		_ = m.Close()
	})
}

func TestOnlyIdenticalReadsShareCalls(t *testing.T) {
	other := mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "u"}
	different := []*mounts.LoadTableRequest{
		{Table: aTable}, {Table: other}, {Table: aTable, Snapshots: mounts.SnapshotsRefs},
		{Table: aTable, ReferencedBy: []mounts.Identifier{other}}, {Table: aTable, IfNoneMatch: `"a"`},
		{Table: mounts.Identifier{Namespace: mounts.Namespace{"a", "t"}, Name: ""}},
		{Table: aTable, Delegation: "vended-credentials"}, {Table: aTable, Delegation: "vended-credentials"},
	}
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		var all []chan result
		for _, req := range different {
			all = append(all, start(t.Context(), req))
		}
		if g.sent.Load() != int64(len(different)) {
			t.Errorf("%d of %d different loads were sent", g.sent.Load(), len(different))
		}
		for range different {
			g.through()
		}
		for _, out := range all {
			<-out
		}
		// One caller each.
		g2 := newGated()
		_, m2, start := shareable(t, g2, CacheOptions{PerCaller: true})
		for _, token := range []string{"alice", "bob", "", "alice"} {
			start(mounts.WithCaller(t.Context(), mounts.Caller{Token: token}), load)
		}
		if g2.sent.Load() != 3 {
			t.Errorf("%d calls for alice, bob and nobody", g2.sent.Load())
		}
		for range 4 {
			g2.through()
			synctest.Wait()
		}
		_, _ = m.Close(), m2.Close()
	})
}

func TestWithATTLThoseWhoWaitedTakeTheAnswerThatCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{Size: 1 << 20, TTL: time.Hour})
		first, second := start(t.Context(), load), start(t.Context(), load)
		g.through()
		if a, b := <-first, <-second; a.location != "1" || b.location != "1" || g.sent.Load() != 1 {
			t.Errorf("%+v %+v, %d calls", a, b, g.sent.Load())
		}
		_ = m.Close()
	})
}

// What an answer holds is held until every client that shares it is answered,
// and a shared call is counted once.
func TestASharedCallBelongsToAllItsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Bool
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		m.backend.(*script).does(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			resp, err := g.handle(ctx, req)
			if g.sent.Load() == 2 {
				mounts.CallerFrom(ctx).Scope.OnEnd(func() { released.Store(true) })
			}
			return resp, err
		})
		scopes := []*mounts.Scope{{}, {}, {}}
		var all []chan result
		for _, scope := range scopes {
			all = append(all, start(mounts.WithCaller(t.Context(), mounts.Caller{Scope: scope}), load))
		}
		g.through()
		synctest.Wait()
		g.through()
		calls := 0
		for i, out := range all {
			<-out
			calls += scopes[i].RemoteCalls()
		}
		synctest.Wait()
		if calls != 2 {
			t.Errorf("%d calls counted, 2 made", calls)
		}
		scopes[1].End()
		if released.Load() {
			t.Error("released while one client is still being answered")
		}
		scopes[2].End()
		if !released.Load() {
			t.Error("never released")
		}
		_ = m.Close()
	})
}

func TestClosingWaitsForSharedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		_, m, start := shareable(t, g, CacheOptions{})
		a, b := start(t.Context(), load), start(t.Context(), load)
		closed := make(chan error, 1)
		go func() { closed <- m.Close() }()
		synctest.Wait()
		g.through()
		if got := <-a; got.location != "1" {
			t.Errorf("%+v", got)
		}
		if got := <-b; !errors.Is(got.err, mounts.Unavailable) {
			t.Errorf("sent after the mount was closed: %+v", got)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// Every read sees at least what was committed before it began, however calls are
// shared, held and invalidated.
func TestNobodyIsAnsweredFromBeforeItsOwnRequest(t *testing.T) {
	var state atomic.Int64
	s := scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		if changes(req) {
			n := state.Add(1)
			return &mounts.Table{MetadataLocation: "l", Metadata: json.RawMessage{byte(n)}}, nil
		}
		n := state.Load()
		body, _ := json.Marshal(n)
		time.Sleep(50 * time.Microsecond)
		tag := `"` + string(body) + `"`
		if req.(*mounts.LoadTableRequest).IfNoneMatch == tag {
			return &mounts.Table{NotModified: true, ETag: tag}, nil
		}
		return &mounts.Table{MetadataLocation: "l", Metadata: body, ETag: tag}, nil
	})
	for _, ttl := range []time.Duration{0, time.Hour} {
		m := Stack(s, Options{Name: "prod", HeedsContext: true, Cache: CacheOptions{Size: 1 << 20, Coalesce: true, TTL: ttl}})
		b := m.Mount().View
		var committed atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 300 {
					least := committed.Load()
					var got int64
					resp, err := b.LoadTable(t.Context(), load)
					if err != nil || json.Unmarshal(resp.Metadata, &got) != nil || got < least {
						t.Errorf("read %d after %d was committed: %v", got, least, err)
						return
					}
				}
			})
		}
		all.Go(func() {
			for range 300 {
				if err := ask(b, commit); err != nil {
					t.Error(err)
				}
				committed.Store(state.Load())
			}
		})
		all.Wait()
		_ = m.Close()
	}
}
