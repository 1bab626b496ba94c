package wrap

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// versioned is a catalog of one table, with tags, that can be down.
type versioned struct {
	version     atomic.Int64
	full, asked atomic.Int64
	down        atomic.Pointer[mounts.Error]
	tagless     bool
	config      map[string]string
}

func (v *versioned) handle(ctx context.Context, req mounts.Request) (mounts.Response, error) {
	v.asked.Add(1)
	if err := v.down.Load(); err != nil {
		return nil, err
	}
	r, load := req.(*mounts.LoadTableRequest)
	if !load {
		if changes(req) {
			v.version.Add(1)
		}
		return right(ctx, req)
	}
	tag := `"` + string(rune('a'+v.version.Load())) + `"`
	if r.IfNoneMatch == tag {
		return &mounts.Table{NotModified: true, ETag: tag}, nil
	}
	v.full.Add(1)
	t := &mounts.Table{MetadataLocation: tag, Metadata: json.RawMessage(`{"v":` + tag + `}`), Config: v.config, ETag: tag}
	if r.Delegation != "" {
		t.StorageCredentials = []mounts.StorageCredential{{Prefix: "s3://b", Config: map[string]string{"s3.secret-access-key": "hush"}}}
	}
	if v.tagless {
		t.ETag = ""
	}
	return t, nil
}

// cached is a stack with a cache around a catalog.
func cached(t *testing.T, v *versioned, opt CacheOptions) (mounts.Backend, *Mounted) {
	t.Helper()
	if opt.Size == 0 {
		opt.Size = 1 << 20
	}
	m := Stack(scripted(v.handle), Options{Name: "prod", Cache: opt, Probe: ProbeOptions{Interval: -1}, HeedsContext: true,
		Breaker: BreakerOptions{Failures: 1000}})
	t.Cleanup(func() { _ = m.Close() })
	return m.Mount().View, m
}

func loaded(t *testing.T, ctx context.Context, b mounts.Backend, req *mounts.LoadTableRequest) *mounts.Table {
	t.Helper()
	got, err := b.LoadTable(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAHeldTableIsAskedForAgainWithItsTagEachTime(t *testing.T) {
	v := &versioned{}
	b, _ := cached(t, v, CacheOptions{})
	for range 3 {
		if got := loaded(t, t.Context(), b, load); got.MetadataLocation != `"a"` || got.NotModified {
			t.Errorf("got %+v", got)
		}
	}
	if v.asked.Load() != 3 || v.full.Load() != 1 {
		t.Errorf("%d calls, %d with a whole answer", v.asked.Load(), v.full.Load())
	}
	v.version.Add(1) // by somebody else
	if got := loaded(t, t.Context(), b, load); got.MetadataLocation != `"b"` || v.full.Load() != 2 {
		t.Errorf("after a change elsewhere: %+v", got)
	}
}

func TestAClientsOwnTagIsAnsweredFromWhatIsHeldOnceItIsConfirmed(t *testing.T) {
	v := &versioned{}
	b, _ := cached(t, v, CacheOptions{})
	loaded(t, t.Context(), b, load)
	for list, notModified := range map[string]bool{`"a"`: true, `W/"a"`: true, `"x", "a"`: true, "*": true, `"b"`: false, `"x"`: false, `a`: false} {
		got := loaded(t, t.Context(), b, &mounts.LoadTableRequest{Table: aTable, IfNoneMatch: list})
		if got.NotModified != notModified || got.ETag != `"a"` || notModified && got.Metadata != nil {
			t.Errorf("If-None-Match %s: %+v", list, got)
		}
	}
	if v.full.Load() != 1 {
		t.Errorf("%d whole answers", v.full.Load())
	}
	v.version.Add(1)
	if got := loaded(t, t.Context(), b, &mounts.LoadTableRequest{Table: aTable, IfNoneMatch: `"a"`}); got.NotModified || got.ETag != `"b"` {
		t.Errorf("a tag that is out of date: %+v", got)
	}
}

func TestWithinTheTTLNothingIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &versioned{}
		b, _ := cached(t, v, CacheOptions{TTL: 5 * second})
		n := mounts.Namespace{"a"}
		reads := []mounts.Request{load, &mounts.TableExistsRequest{Table: aTable}, &mounts.LoadViewRequest{View: aTable},
			&mounts.LoadNamespaceRequest{Namespace: n}, &mounts.ListNamespacesRequest{Parent: n},
			&mounts.ListTablesRequest{Namespace: n}, &mounts.ListViewsRequest{Namespace: n},
			&mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Token: "x"}}}
		for range 3 {
			for _, req := range reads {
				if err := ask(b, req); err != nil {
					t.Errorf("%s: %v", req.Op(), err)
				}
			}
		}
		if got := v.asked.Load(); got != int64(len(reads)) {
			t.Errorf("%d calls for %d different reads", got, len(reads))
		}
		time.Sleep(5 * second)
		for _, req := range reads {
			_ = ask(b, req)
		}
		if got := v.asked.Load(); got != 2*int64(len(reads)) {
			t.Errorf("%d calls after the ttl", got)
		}
	})
}

func TestWithoutATTLOnlyTablesAreHeld(t *testing.T) {
	v := &versioned{}
	b, m := cached(t, v, CacheOptions{})
	n := mounts.Namespace{"a"}
	for _, req := range []mounts.Request{&mounts.LoadViewRequest{View: aTable}, &mounts.ListTablesRequest{Namespace: n}, &mounts.LoadNamespaceRequest{Namespace: n}} {
		_, _ = ask(b, req), ask(b, req)
	}
	if v.asked.Load() != 6 || m.cache.bytes() != 0 {
		t.Errorf("%d calls, %d bytes held", v.asked.Load(), m.cache.bytes())
	}
	v.tagless = true // so nothing could ever confirm it
	if loaded(t, t.Context(), b, load); m.cache.bytes() != 0 {
		t.Errorf("%d bytes held of a table without a tag", m.cache.bytes())
	}
}

func TestAnAnswerThatIsChangedByItsReceiverIsHeldAsItWas(t *testing.T) {
	v := &versioned{config: map[string]string{"s3.region": "eu"}}
	b, _ := cached(t, v, CacheOptions{TTL: time.Hour})
	for range 3 {
		got := loaded(t, t.Context(), b, load)
		if len(got.Config) != 1 || got.Config["s3.region"] != "eu" {
			t.Fatalf("got %v", got.Config)
		}
		got.Config["s3.region"], got.Config["more"] = "us", "x"
	}
}

func TestLoadsWithDelegationAreNeitherHeldNorShared(t *testing.T) {
	v := &versioned{}
	b, m := cached(t, v, CacheOptions{TTL: time.Hour, Coalesce: true, StaleIfDown: time.Hour})
	delegated := &mounts.LoadTableRequest{Table: aTable, Delegation: "vended-credentials", IfNoneMatch: `"z"`}
	for range 2 {
		if got := loaded(t, t.Context(), b, delegated); len(got.StorageCredentials) != 1 {
			t.Errorf("got %+v", got)
		}
	}
	if v.full.Load() != 2 || m.cache.bytes() != 0 {
		t.Errorf("%d whole answers, %d bytes held", v.full.Load(), m.cache.bytes())
	}
	if got := loaded(t, t.Context(), b, load); got.StorageCredentials != nil {
		t.Errorf("a load without delegation got %+v", got)
	}
	v.down.Store(&mounts.Error{Kind: mounts.Timeout})
	if err := ask(b, delegated); err == nil {
		t.Error("a load with delegation was answered without the backend")
	}
}

func TestWhereNothingIsDelegatedAllLoadsAreOne(t *testing.T) {
	v := &versioned{}
	b, _ := cached(t, v, CacheOptions{TTL: time.Hour, IgnoreDelegation: true})
	loaded(t, t.Context(), b, &mounts.LoadTableRequest{Table: aTable, Delegation: "vended-credentials"})
	if got := loaded(t, t.Context(), b, load); got.StorageCredentials != nil || v.asked.Load() != 1 {
		t.Errorf("%d calls, %+v", v.asked.Load(), got)
	}
}

// A backend that answers secrets without having been asked for any is at fault;
// they are not kept all the same.
func TestSecretsThatNobodyAskedForAreNotHeld(t *testing.T) {
	for _, name := range []string{"s3.secret-access-key", "s3.session-token", "gcs.oauth2.token", "adls.sas-token.x", "credential"} {
		v := &versioned{config: map[string]string{name: "hush"}}
		b, m := cached(t, v, CacheOptions{TTL: time.Hour})
		if loaded(t, t.Context(), b, load); m.cache.bytes() != 0 {
			t.Errorf("%s was held", name)
		}
	}
}

func TestWhileTheMountIsDownAnswersAreServedMarkedForSoLong(t *testing.T) {
	for _, down := range []*mounts.Error{{Kind: mounts.Unavailable}, {Kind: mounts.Timeout}, {Kind: mounts.BadGateway},
		{Kind: mounts.Unavailable, Answered: true}} {
		synctest.Test(t, func(t *testing.T) {
			v := &versioned{}
			b, _ := cached(t, v, CacheOptions{StaleIfDown: time.Minute})
			scope := &mounts.Scope{}
			ctx := mounts.WithCaller(t.Context(), mounts.Caller{Scope: scope})
			if loaded(t, ctx, b, load); scope.Stale() {
				t.Error("marked although the backend answered")
			}
			_ = ask(b, &mounts.ListTablesRequest{Namespace: aTable.Namespace})
			v.down.Store(down)
			time.Sleep(40 * second)
			if got := loaded(t, ctx, b, load); got.MetadataLocation != `"a"` || !scope.Stale() {
				t.Errorf("%v: %+v, marked %v", down, got, scope.Stale())
			}
			if err := ask(b, &mounts.ListTablesRequest{Namespace: aTable.Namespace}); err != nil {
				t.Error(err)
			}
			if err := ask(b, &mounts.TableExistsRequest{Table: aTable}); err != nil {
				t.Errorf("a table that is held does not exist: %v", err)
			}
			if err := ask(b, &mounts.TableExistsRequest{Table: mounts.Identifier{Namespace: aTable.Namespace, Name: "u"}}); err == nil {
				t.Error("a table that is not held exists")
			}
			time.Sleep(30 * second)
			if _, err := b.LoadTable(ctx, load); err == nil {
				t.Error("served although it was confirmed more than a minute ago")
			}
			v.down.Store(nil)
			loaded(t, ctx, b, load)
		})
	}
}

func TestAnAnswerThatSaysNoIsNoOutage(t *testing.T) {
	for _, kind := range mounts.Kinds() {
		if kind == mounts.Unavailable || kind == mounts.Timeout {
			continue
		}
		v := &versioned{}
		b, m := cached(t, v, CacheOptions{StaleIfDown: time.Hour})
		loaded(t, t.Context(), b, load)
		v.down.Store(&mounts.Error{Kind: kind, Answered: true})
		if err := ask(b, load); err == nil {
			t.Errorf("%v was answered from what is held", kind)
		}
		switch kind {
		case mounts.NoSuchTable, mounts.Forbidden:
			if m.cache.bytes() != 0 {
				t.Errorf("still held after %v", kind)
			}
			v.down.Store(&mounts.Error{Kind: mounts.Unavailable})
			if err := ask(b, load); err == nil {
				t.Errorf("given after %v", kind)
			}
		}
	}
}

// However a table is asked for, what is held of it is no answer any more once
// the catalog said that it is gone.
func TestATableThatIsGoneIsGoneInEveryMode(t *testing.T) {
	refs := &mounts.LoadTableRequest{Table: aTable, Snapshots: mounts.SnapshotsRefs}
	exists := &mounts.TableExistsRequest{Table: aTable}
	delegated := &mounts.LoadTableRequest{Table: aTable, Delegation: "vended-credentials"}
	view := &mounts.LoadViewRequest{View: aTable}
	for name, row := range map[string]struct {
		asked mounts.Request
		kind  mounts.Kind
		given bool
	}{
		"load":                {load, mounts.NoSuchTable, false},
		"load, forbidden":     {load, mounts.Forbidden, false},
		"existence":           {exists, mounts.NoSuchTable, false},
		"with credentials":    {delegated, mounts.NoSuchTable, false},
		"the credentials":     {&mounts.LoadCredentialsRequest{Table: aTable}, mounts.NoSuchTable, false},
		"access is refused":   {delegated, mounts.Forbidden, true},
		"no view of the name": {view, mounts.NoSuchView, true},
	} {
		v := &versioned{}
		b, _ := cached(t, v, CacheOptions{StaleIfDown: time.Hour})
		for _, req := range []mounts.Request{load, refs, exists} {
			if err := ask(b, req); err != nil {
				t.Fatal(err)
			}
		}
		v.down.Store(&mounts.Error{Kind: row.kind, Answered: true})
		if err := ask(b, row.asked); mounts.AsError(err).Kind != row.kind {
			t.Errorf("%s: %v", name, err)
		}
		v.down.Store(&mounts.Error{Kind: mounts.BadGateway}) // down, and not tried again
		for _, req := range []mounts.Request{load, refs, exists} {
			if err := ask(b, req); (err == nil) != row.given {
				t.Errorf("%s, then %s: %v", name, req.Op(), err)
			}
		}
	}
}

func TestWithCallersOfTheirOwnNothingIsSharedBetweenThem(t *testing.T) {
	v := &versioned{}
	b, m := cached(t, v, CacheOptions{TTL: time.Hour, StaleIfDown: time.Hour, PerCaller: true})
	as := func(token string) context.Context {
		return mounts.WithCaller(t.Context(), mounts.Caller{Token: token})
	}
	for range 2 {
		loaded(t, as("alice"), b, load)
		loaded(t, as("bob"), b, load)
	}
	if v.full.Load() != 2 {
		t.Errorf("%d calls for two callers", v.full.Load())
	}
	v.down.Store(&mounts.Error{Kind: mounts.Unavailable})
	for _, token := range []string{"mallory", ""} {
		if _, err := b.LoadTable(as(token), load); err == nil {
			t.Errorf("%q was given what others had loaded", token)
		}
		if err := b.TableExists(as(token), &mounts.TableExistsRequest{Table: aTable}); err == nil {
			t.Errorf("%q was told of a table that others had loaded", token)
		}
	}
	for id := range m.cache.held.byObject[objectKey(aTable)] {
		if strings.Contains(id.asked+string(id.caller[:]), "alice") {
			t.Error("a token stands in a key")
		}
	}
	v.down.Store(nil)
	before := v.version.Load()
	if err := b.DropTable(as("bob"), drop); err != nil || v.version.Load() == before {
		t.Fatal(err)
	}
	if got := loaded(t, as("alice"), b, load); got.MetadataLocation != `"b"` {
		t.Errorf("a change by another caller was not seen: %+v", got)
	}
}

func TestTheCacheHoldsNoMoreThanItsSize(t *testing.T) {
	v := &versioned{}
	const size = 20 * (overhead + 200)
	b, m := cached(t, v, CacheOptions{Size: size, TTL: time.Hour})
	name := func(i int) *mounts.LoadTableRequest {
		return &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: string(rune('A' + i))}}
	}
	for i := range 200 {
		loaded(t, t.Context(), b, name(i))
		loaded(t, t.Context(), b, name(0)) // used all the time, so it stays
		if m.cache.bytes() > size {
			t.Fatalf("%d bytes held, %d allowed", m.cache.bytes(), size)
		}
	}
	if v.asked.Load() != 200 {
		t.Errorf("%d calls", v.asked.Load())
	}
	if n := len(m.cache.held.byObject); n != m.cache.held.byID.Len() || n == 0 || n > 30 {
		t.Errorf("%d objects, %d answers", n, m.cache.held.byID.Len())
	}
	m.cache.changed(scope{objects: []string{objectKey(name(0).Table)}}, nil)
	if loaded(t, t.Context(), b, name(0)); v.asked.Load() != 201 {
		t.Error("still held")
	}
}

func TestANotModifiedOfAnotherTagIsAskedAgain(t *testing.T) {
	asked := 0
	s := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		asked++
		if req.(*mounts.LoadTableRequest).IfNoneMatch != "" {
			return &mounts.Table{NotModified: true, ETag: `"other"`}, nil
		}
		return &mounts.Table{MetadataLocation: "l", Metadata: metadata, ETag: `"a"`}, nil
	})
	m := Stack(s, Options{Name: "prod", Cache: CacheOptions{Size: 1 << 20}})
	defer m.Close()
	for range 2 {
		if got := loaded(t, t.Context(), m.Mount().View, load); got.MetadataLocation != "l" {
			t.Errorf("got %+v", got)
		}
	}
	if asked != 3 {
		t.Errorf("%d calls", asked)
	}
}

func TestWhatTheCacheDoesIsCounted(t *testing.T) {
	v, registry := &versioned{}, prometheus.NewPedanticRegistry()
	metrics := NewMetrics(registry)
	metrics.ShowMemory(mounts.NewMemory(1 << 20))
	m := Stack(scripted(v.handle), Options{Name: "prod", Metrics: metrics, Cache: CacheOptions{Size: 1 << 20, StaleIfDown: time.Hour}})
	defer m.Close()
	b := m.Mount().View
	loaded(t, t.Context(), b, load)
	loaded(t, t.Context(), b, load)
	v.down.Store(&mounts.Error{Kind: mounts.BadGateway})
	loaded(t, t.Context(), b, load)
	v.down.Store(nil)
	m.cache.opt.TTL = time.Hour
	loaded(t, t.Context(), b, load)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]float64{}
	for _, family := range families {
		for _, series := range family.Metric {
			name := family.GetName()
			for _, l := range series.Label {
				if l.GetName() == "result" {
					name += "/" + l.GetValue()
				}
			}
			seen[name] = series.GetCounter().GetValue() + series.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{"icefield_mount_cache_reads_total/miss": 1, "icefield_mount_cache_reads_total/revalidated": 1,
		"icefield_mount_cache_reads_total/stale": 1, "icefield_mount_cache_reads_total/hit": 1, "icefield_mount_cache_bytes": float64(m.cache.bytes()),
		"icefield_memory_budget_bytes": 1 << 20, "icefield_memory_held_bytes": 0, "icefield_mount_coalesced_reads_total": 0} {
		if got, there := seen[name]; !there || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
