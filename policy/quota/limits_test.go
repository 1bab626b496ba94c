package quota

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
)

// clock stands still until a test moves it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 8, 2, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.at = c.at.Add(d)
	c.mu.Unlock()
}

var alice, bob = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// passes counts how many requests pass at once.
func passes(l *Limits, addr netip.Addr) (n int) {
	for n < 10000 {
		if _, ok := l.Client(addr); !ok {
			break
		}
		n++
	}
	return n
}

func TestAClientGetsItsBurstAndThenItsRate(t *testing.T) {
	c := newClock()
	l := New(Options{Client: Rate{PerSecond: 10, Burst: 20}, Now: c.now})
	require.Equal(t, 20, passes(l, alice))
	c.pass(time.Second)
	require.Equal(t, 10, passes(l, alice))
	c.pass(time.Hour)
	require.Equal(t, 20, passes(l, alice))
	require.Equal(t, 20, passes(l, bob), "others have their own")
}

func TestWhoWaitsAsToldIsLetInAndNobodyEarlier(t *testing.T) {
	for _, perSecond := range []float64{0.01, 0.3, 1, 3, 7.77, 200, 12345} {
		c := newClock()
		l := New(Options{Client: Rate{PerSecond: perSecond, Burst: 3}, Now: c.now})
		for range 50 {
			passes(l, alice)
			wait, ok := l.Client(alice)
			require.False(t, ok)
			require.Positive(t, wait)
			require.InDelta(t, float64(time.Second)/perSecond, float64(wait), float64(3*time.Microsecond)+float64(wait)/100)
			early := wait - 5*time.Microsecond
			c.pass(early)
			_, ok = l.Client(alice)
			require.False(t, ok, "%v requests a second: let in before the time", perSecond)
			c.pass(wait - early)
			_, ok = l.Client(alice)
			require.True(t, ok, "%v requests a second: refused after waiting %v", perSecond, wait)
		}
	}
}

func TestAWaitIsBounded(t *testing.T) {
	l := New(Options{Client: Rate{PerSecond: 1e-300, Burst: 1}, Now: newClock().now})
	passes(l, alice)
	wait, ok := l.Client(alice)
	require.False(t, ok)
	require.Equal(t, maxWait, wait)
}

func TestWhatIsRefusedDoesNotCount(t *testing.T) {
	c := newClock()
	l := New(Options{Client: Rate{PerSecond: 1, Burst: 1}, Now: c.now})
	passes(l, alice)
	for range 1000 {
		_, ok := l.Client(alice)
		require.False(t, ok)
	}
	c.pass(1001 * time.Millisecond)
	_, ok := l.Client(alice)
	require.True(t, ok)
}

func TestWhoIsOneClient(t *testing.T) {
	for _, same := range [][2]string{
		{"2001:db8::1", "2001:db8::ffff:1:2:3"},
		{"192.0.2.1", "::ffff:192.0.2.1"},
		{"fe80::1%eth0", "fe80::2%eth1"},
	} {
		l := New(Options{Client: Rate{PerSecond: 1, Burst: 5}, Now: newClock().now})
		require.Equal(t, 5, passes(l, netip.MustParseAddr(same[0])))
		require.Zero(t, passes(l, netip.MustParseAddr(same[1])), same)
	}
	l := New(Options{Client: Rate{PerSecond: 1, Burst: 5}, Now: newClock().now})
	require.Equal(t, 5, passes(l, netip.MustParseAddr("2001:db8::1")))
	require.Equal(t, 5, passes(l, netip.MustParseAddr("2001:db8:0:1::1")))
	require.Equal(t, 5, passes(l, netip.Addr{}), "callers without an address are one client")
	require.Zero(t, passes(l, netip.Addr{}))
}

func TestNoRateIsNoLimit(t *testing.T) {
	l := New(Options{Now: newClock().now})
	require.Equal(t, 10000, passes(l, alice))
	require.Zero(t, l.clients.shards.len(), "and nothing is remembered")
	var none *Limits
	require.Equal(t, 10000, passes(none, alice))
	_, ok := none.Tenant("acme")
	require.True(t, ok)
	none.Set(Rate{}, Rate{})
}

func TestABurstThatIsNotNamedIsOneSecondsWorth(t *testing.T) {
	l := New(Options{Client: Rate{PerSecond: 2.5}, Now: newClock().now})
	require.Equal(t, 3, passes(l, alice))
	l = New(Options{Client: Rate{PerSecond: 0.1}, Now: newClock().now})
	require.Equal(t, 1, passes(l, alice))
}

func TestTenantsAreLimitedEachAndOperatorsAreNot(t *testing.T) {
	m := NewMetrics(prometheus.NewRegistry())
	l := New(Options{Client: Rate{PerSecond: 1, Burst: 1}, Tenant: Rate{PerSecond: 1, Burst: 2}, Now: newClock().now, Metrics: m})
	for range 2 {
		_, ok := l.Tenant("acme")
		require.True(t, ok)
	}
	wait, ok := l.Tenant("acme")
	require.False(t, ok)
	require.InDelta(t, time.Second, wait, float64(time.Millisecond))
	_, ok = l.Tenant("other")
	require.True(t, ok)
	for range 100 {
		_, ok = l.Tenant("")
		require.True(t, ok)
	}
	passes(l, alice)
	require.Equal(t, 1.0, testutil.ToFloat64(m.tenant))
	require.Equal(t, 1.0, testutil.ToFloat64(m.client))
}

func TestAReloadGivesNobodyABurst(t *testing.T) {
	c := newClock()
	l := New(Options{Client: Rate{PerSecond: 10, Burst: 10}, Now: c.now})
	passes(l, alice)
	l.Set(Rate{PerSecond: 100, Burst: 1000}, Rate{})
	require.Zero(t, passes(l, alice))
	c.pass(time.Second)
	require.Equal(t, 100, passes(l, alice))
	l.Set(Rate{}, Rate{})
	require.Equal(t, 10000, passes(l, alice))
	l.Set(Rate{PerSecond: 1, Burst: 2}, Rate{})
	c.pass(time.Hour)
	require.Equal(t, 2, passes(l, alice))
}

func address(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

func TestMemoryIsBounded(t *testing.T) {
	l := New(Options{Client: Rate{PerSecond: 1, Burst: 1}, Tenant: Rate{PerSecond: 1}, MaxTracked: 5000, Now: newClock().now})
	for i := range 50000 {
		l.Client(address(i))
		l.Tenant(fmt.Sprint(i))
	}
	require.LessOrEqual(t, l.clients.shards.len(), 5000)
	require.LessOrEqual(t, l.tenants.shards.len(), 5000)
	require.Greater(t, l.clients.shards.len(), 4000)
}

// Somebody who asks from more addresses than are tracked gets one request for each
// that is forgotten, and not a burst.
func TestBeingForgottenGivesNobodyABurst(t *testing.T) {
	c := newClock()
	l := New(Options{Client: Rate{PerSecond: 1, Burst: 50}, MaxTracked: 100, Now: c.now})
	require.Equal(t, 50, passes(l, alice))
	for i := range 100 {
		require.Positive(t, passes(l, address(i)))
	}
	require.Equal(t, 1, passes(l, alice))

	c.pass(time.Minute) // everybody's bucket is full again: forgetting is no loss
	require.Equal(t, 50, passes(l, bob))
}

func TestWhoIsRefusedIsNotForgotten(t *testing.T) {
	c := newClock()
	l := New(Options{Client: Rate{PerSecond: 0.001, Burst: 5}, MaxTracked: 100, Now: c.now})
	require.Equal(t, 5, passes(l, alice))
	for i := range 2000 {
		l.Client(address(i))
		_, ok := l.Client(alice)
		require.False(t, ok, "after %d others", i)
	}
}

func TestManyAtOnceGetNoMoreThanTheBurst(t *testing.T) {
	l := New(Options{Client: Rate{PerSecond: 1, Burst: 100}, Now: newClock().now})
	var all sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 16 {
		all.Go(func() {
			n := passes(l, alice)
			l.Set(Rate{PerSecond: 1, Burst: 100}, Rate{})
			mu.Lock()
			total += n
			mu.Unlock()
		})
	}
	all.Wait()
	require.Equal(t, 100, total)
}

func BenchmarkClient(b *testing.B) {
	l := New(Options{Client: Rate{PerSecond: 1e9, Burst: 1e9}})
	addresses := make([]netip.Addr, 1024)
	for i := range addresses {
		addresses[i] = address(i)
	}
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.Client(alice)
		}
	})
	b.Run("many", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				l.Client(addresses[i%len(addresses)])
			}
		})
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			l.Client(address(i))
		}
	})
}
