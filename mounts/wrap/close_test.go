package wrap

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/mounts"
)

// ledger is a backend that remembers which commits it began, and complains
// about calls that it sees after it was closed.
type ledger struct {
	*script
	began   sync.Map // table name -> nothing
	running atomic.Int64
	fault   atomic.Pointer[string]
}

func newLedger() *ledger {
	l := &ledger{script: answering()}
	l.does(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		defer l.enter()()
		l.began.Store(req.Object().Name, nil)
		for range rand.N(20) {
			runtime.Gosched()
		}
		return right(ctx, req)
	})
	l.isHealthy(func(context.Context) error { defer l.enter()(); return nil })
	return l
}

func (l *ledger) enter() (leave func()) {
	l.running.Add(1)
	if l.closed.Load() != 0 {
		l.says("a call reached the backend after it was closed")
	}
	return func() { l.running.Add(-1) }
}

func (l *ledger) says(text string) { l.fault.Store(&text) }

func (l *ledger) Close() error {
	if n := l.running.Load(); n != 0 {
		l.says("the backend was closed with " + strconv.FormatInt(n, 10) + " calls under way")
	}
	return l.script.Close()
}

// A shutdown and a reload close a mount while clients call it, some of which
// leave, while the prober asks and a scrape reads.
func TestAMountClosedUnderLoadEndsItsCallsFirstAndLosesNoCommit(t *testing.T) {
	for range 20 {
		l, registry := newLedger(), prometheus.NewPedanticRegistry()
		m := Stack(l, Options{Name: "prod", Metrics: NewMetrics(registry), Probe: ProbeOptions{Interval: time.Microsecond}})
		m.Start()
		var all sync.WaitGroup
		var closed atomic.Bool
		busy := make(chan struct{}, 8)
		for i := range 8 {
			all.Go(func() {
				for j, after := 0, false; !after; j++ {
					after = closed.Load() // one call more, which is refused
					name := strconv.Itoa(i) + "." + strconv.Itoa(j)
					req := &mounts.CommitTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: name}}
					ctx, leave := context.WithCancel(t.Context())
					if j%3 == 0 {
						go leave()
					}
					_, err := m.Mount().View.CommitTable(ctx, req)
					leave()
					_, began := l.began.Load(name)
					switch {
					case err == nil && !began:
						t.Error("a commit succeeded that was never begun")
					case err != nil && !errors.Is(err, mounts.ErrOutcomeUnknown) && began:
						t.Errorf("a commit was begun and its client told that nothing was sent: %v", err)
					}
					if j == 5 {
						busy <- struct{}{}
					}
					if after && err == nil {
						t.Error("a commit succeeded after the mount was closed")
					}
				}
			})
		}
		all.Go(func() {
			for range 5 {
				if _, err := registry.Gather(); err != nil {
					t.Error(err)
				}
			}
		})
		for range 8 {
			<-busy
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		closed.Store(true)
		all.Wait()
		if fault := l.fault.Load(); fault != nil {
			t.Fatal(*fault)
		}
		if n := m.Status().InFlight; n != 0 {
			t.Fatalf("%d calls in flight at last", n)
		}
	}
}
