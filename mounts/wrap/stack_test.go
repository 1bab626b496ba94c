package wrap

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func TestTheStackAnswersInTheTreesNamesAndInItsOwn(t *testing.T) {
	m := Stack(answering(), Options{Name: "prod", Owner: "acme", Driver: "native", Required: true})
	defer m.Close()
	row := m.Mount()
	if row.Name != "prod" || row.ViewName != "prod" || row.Owner != "acme" || row.Driver != "native" || !row.Required {
		t.Errorf("got %+v", row)
	}
	if _, err := mounts.NewMap(row); err != nil {
		t.Error(err)
	}
	for _, req := range everyRequest(mounts.Namespace{"a"}) {
		if err := ask(row.View, req); err != nil {
			t.Errorf("view %s: %v", req.Op(), err)
		}
	}
	for _, req := range everyRequest(mounts.Namespace{"prod", "a"}) {
		if err := ask(row.Tree, req); err != nil {
			t.Errorf("tree %s: %v", req.Op(), err)
		}
	}
	if row.View.KeyLifetime() != scriptKeys || row.Tree.KeyLifetime() != scriptKeys {
		t.Errorf("keys are honoured for %v and %v, not as by the backend", row.View.KeyLifetime(), row.Tree.KeyLifetime())
	}
	under := Stack(answering(), Options{Name: mounts.UnderName, ViewName: "root"})
	defer under.Close()
	if err := ask(under.Mount().Tree, load); err != nil || under.Mount().ViewName != "root" {
		t.Errorf("the catalog underneath: %v", err)
	}
}

func TestErrorsOfTheStackNameTheMountAndTheCallersObject(t *testing.T) {
	for kind, want := range map[mounts.Kind]string{
		mounts.NoSuchTable: "Table does not exist: prod.a.t",
		mounts.BadGateway:  `mount "prod": the catalog behind it failed or gave an answer that is not the Iceberg REST protocol`,
	} {
		m := Stack(failing(&mounts.Error{Kind: kind}), Options{Name: "prod"})
		err := ask(m.Mount().Tree, &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}})
		e := is(t, err, kind)
		if e.Message() != want || e.Mount != "prod" || e.Op != capabilities.LoadTable || e.Ident.String() != "prod.a.t" {
			t.Errorf("got %s, %+v", e.Message(), e)
		}
		if e := is(t, ask(m.Mount().View, load), kind); e.Ident.String() != "a.t" {
			t.Errorf("in the view: %+v", e)
		}
		m.Close()
	}
}

func TestTreeAndViewShareOneBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(&mounts.Error{Kind: mounts.BadGateway})
		m := Stack(s, Options{Name: "prod", Breaker: BreakerOptions{Failures: 2}})
		defer m.Close()
		for range 2 {
			is(t, ask(m.Mount().View, load), mounts.BadGateway)
		}
		tree := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}}
		if e := is(t, ask(m.Mount().Tree, tree), mounts.Unavailable); s.calls.Load() != 2 || e.RetryAfter <= 0 {
			t.Errorf("%d calls, %+v", s.calls.Load(), e)
		}
	})
}

func TestEachRetryAsksTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing(down)
		m := Stack(s, Options{Name: "prod", Breaker: BreakerOptions{Failures: 2}})
		defer m.Close()
		if is(t, ask(m.Mount().View, load), mounts.Unavailable); s.calls.Load() != 2 {
			t.Errorf("%d calls went through a breaker that opens after two", s.calls.Load())
		}
	})
}

func TestTheTimeoutCountsOneAttemptAndTheDeadlineTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := deaf(time.Minute)
		m := Stack(s, Options{Name: "prod", Timeout: 4 * second})
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 30*second)
		defer cancel()
		_, err := mounts.Invoke(ctx, m.Mount().View, load)
		if is(t, err, mounts.Timeout); time.Since(start) > 5*second || s.calls.Load() != 1 {
			t.Errorf("%v after %d calls", time.Since(start), s.calls.Load())
		}
		if m.Status().InFlight != 1 {
			t.Errorf("the call that goes on is not counted: %+v", m.Status())
		}
		start = time.Now()
		// The call outlasts the patience of Close, which says so and closes.
		if err := m.Close(); err == nil || !strings.Contains(err.Error(), "1 calls") || s.closed.Load() != 1 {
			t.Errorf("closed with %v after %v", err, time.Since(start))
		}
		time.Sleep(time.Minute)
	})
}

func TestAHungBackendTripsTheBreakerAndOthersAreNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := heeding(func(err error) error { return err })
		m := Stack(s, Options{Name: "prod", Timeout: 4 * second, Breaker: BreakerOptions{Failures: 3, OpenFor: 15 * second}})
		defer m.Close()
		for range 3 {
			e := is(t, ask(m.Mount().View, commit), mounts.Timeout)
			if !e.OutcomeUnknown {
				t.Errorf("a commit that was sent: %+v", e)
			}
		}
		start := time.Now()
		e := is(t, ask(m.Mount().View, commit), mounts.Unavailable)
		if e.OutcomeUnknown || time.Since(start) != 0 {
			t.Errorf("refused with %+v after %v", e, time.Since(start))
		}
		s.does(right)
		time.Sleep(15*second + 1)
		if err := ask(m.Mount().View, commit); err != nil {
			t.Errorf("not back after OpenFor: %v", err)
		}
	})
}

func TestACommitIsSentOnceWhateverGoesWrong(t *testing.T) {
	for _, kind := range mounts.Kinds() {
		for _, lost := range []bool{false, true} {
			if lost && !uncertain(kind) {
				continue
			}
			s := failing(&mounts.Error{Kind: kind, OutcomeUnknown: lost})
			m := Stack(s, Options{Name: "prod"})
			e := mounts.AsError(ask(m.Mount().View, commit))
			if s.calls.Load() != 1 {
				t.Errorf("%v: sent %d times", kind, s.calls.Load())
			}
			if mayAnswer(commit, kind) && (e.Kind != kind || e.OutcomeUnknown != lost) {
				t.Errorf("%v (lost %v) became %+v", kind, lost, e)
			}
			m.Close()
		}
	}
}

func TestAPanicBelowIsAnErrorAboveAndTheStackGoesOn(t *testing.T) {
	s := scripted(func(context.Context, mounts.Request) (mounts.Response, error) { panic("x") })
	m := Stack(s, Options{Name: "prod", InFlight: 1})
	defer m.Close()
	for range 3 {
		if e := is(t, ask(m.Mount().View, commit), mounts.Internal); !e.OutcomeUnknown || e.Mount != "prod" {
			t.Errorf("got %+v", e)
		}
	}
	s.does(right)
	if err := ask(m.Mount().View, commit); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyCutsBothStacks(t *testing.T) {
	m := Stack(answering(), Options{Name: "prod", ReadOnly: true})
	defer m.Close()
	e := is(t, ask(m.Mount().View, drop), mounts.UnsupportedOperation)
	if !strings.HasPrefix(e.Message(), `mount "prod": mounted read-only`) {
		t.Error(e.Message())
	}
	for _, set := range []capabilities.Set{m.Mount().Tree.Capabilities(), m.Mount().View.Capabilities(), m.Status().Capabilities} {
		if set.Has(capabilities.CommitTable) || !set.Has(capabilities.LoadTable) || !set.Has(capabilities.ReportMetrics) {
			t.Errorf("advertised: %v", set.Endpoints())
		}
	}
}

func TestClosingEitherSideClosesTheBackendOnce(t *testing.T) {
	s := answering()
	m := Stack(s, Options{Name: "prod"})
	m.Start()
	for _, c := range []func() error{m.Mount().Tree.Close, m.Mount().View.Close, m.Close} {
		if err := c(); err != nil {
			t.Error(err)
		}
	}
	if s.closed.Load() != 1 {
		t.Errorf("closed %d times", s.closed.Load())
	}
	if e := is(t, ask(m.Mount().View, commit), mounts.Unavailable); s.calls.Load() != 0 || e.OutcomeUnknown {
		t.Errorf("after Close: %+v", e)
	}
	if err := m.Mount().View.Health(t.Context()); !errors.Is(err, mounts.Unavailable) {
		t.Errorf("after Close healthy: %v", err)
	}
}

func TestHealthIsBoundedAndNamesTheMount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering()
		s.isHealthy(func(context.Context) error { time.Sleep(time.Minute); return nil })
		m := Stack(s, Options{Name: "prod", Timeout: 60*second - grace - 1})
		start := time.Now()
		e := is(t, m.Mount().View.Health(t.Context()), mounts.Timeout)
		if e.Mount != "prod" || time.Since(start) != 60*second-1 {
			t.Errorf("%+v after %v", e, time.Since(start))
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestManyCallersAtOnce(t *testing.T) {
	s := answering()
	m := Stack(s, Options{Name: "prod", Metrics: NewMetrics(nil)})
	m.Start()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 200 {
				switch (i + j) % 3 {
				case 0:
					s.does(right)
				case 1:
					s.fails(&mounts.Error{Kind: mounts.NoSuchTable})
				}
				err := ask(m.Mount().View, load)
				if err != nil && !errors.Is(err, mounts.NoSuchTable) {
					t.Errorf("got %v", err)
				}
				m.Status()
			}
		})
	}
	all.Wait()
	if err := m.Close(); err != nil || m.Status().InFlight != 0 {
		t.Errorf("%v, %+v", err, m.Status())
	}
}

func BenchmarkStackLoadTable(b *testing.B) {
	answer := &mounts.Table{MetadataLocation: "l", Metadata: metadata}
	trivial := mounts.Dispatch(func(context.Context, mounts.Request) (mounts.Response, error) { return answer, nil }, mounts.Unsupported{})
	m := Stack(trivial, Options{Name: "prod", Metrics: NewMetrics(nil)})
	defer m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	row := m.Mount()
	run := func(name string, backend mounts.Backend, req *mounts.LoadTableRequest) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := backend.LoadTable(ctx, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("bare", trivial, load)
	run("view", row.View, load)
	run("tree", row.Tree, &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}})
}
