package quota

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
)

// lockOut fails until the address is locked, and says for how long.
func lockOut(t *testing.T, l *Lockout, addr netip.Addr) time.Duration {
	t.Helper()
	for range 1000 {
		l.Failed(addr)
		if wait, blocked := l.Blocked(addr); blocked {
			return wait
		}
	}
	t.Fatal("never locked out")
	return 0
}

func isBlocked(l *Lockout, addr netip.Addr) bool {
	_, blocked := l.Blocked(addr)
	return blocked
}

func TestRepeatedFailuresLockAnAddressOut(t *testing.T) {
	c, m := newClock(), NewMetrics(prometheus.NewRegistry())
	l := NewLockout(LockoutOptions{Failures: 3, Window: time.Minute, Now: c.now, Metrics: m})
	l.Failed(alice)
	l.Failed(alice)
	require.False(t, isBlocked(l, alice))
	l.Failed(alice)
	wait, blocked := l.Blocked(alice)
	require.True(t, blocked)
	require.Equal(t, time.Minute, wait)
	require.False(t, isBlocked(l, bob))
	c.pass(wait - time.Second)
	wait, blocked = l.Blocked(alice)
	require.True(t, blocked)
	require.Equal(t, time.Second, wait, "asking does not prolong it")
	c.pass(time.Second)
	require.False(t, isBlocked(l, alice))
	require.Equal(t, 1.0, testutil.ToFloat64(m.lockouts))
	require.Equal(t, 2.0, testutil.ToFloat64(m.refusals))
}

func TestALockIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	l := NewLockout(LockoutOptions{Failures: 2, Window: time.Minute, Now: newClock().now, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 5 {
		l.Failed(alice)
	}
	require.Equal(t, 1, strings.Count(log.String(), "locked out"))
	require.Contains(t, log.String(), "client="+alice.String()+" for=1m0s")
}

func TestFailuresAreForgottenWithTheirWindow(t *testing.T) {
	c := newClock()
	l := NewLockout(LockoutOptions{Failures: 3, Window: time.Minute, Now: c.now})
	for range 20 {
		l.Failed(alice)
		l.Failed(alice)
		c.pass(time.Minute)
	}
	require.False(t, isBlocked(l, alice))
}

func TestEachLockLastsLongerAndQuietTimeForgives(t *testing.T) {
	c := newClock()
	l := NewLockout(LockoutOptions{Failures: 3, Window: time.Minute, MaxPenalty: 5 * time.Minute, Now: c.now})
	for _, want := range []time.Duration{1, 2, 4, 5, 5} {
		wait := lockOut(t, l, alice)
		require.Equal(t, want*time.Minute, wait)
		c.pass(wait)
	}
	c.pass(15 * time.Minute) // three times the longest
	require.Equal(t, 4*time.Minute, lockOut(t, l, alice))
	c.pass(time.Hour)
	require.Equal(t, time.Minute, lockOut(t, l, alice))
}

// Somebody with one good account may not use it to go on guessing at others.
func TestOneGoodAccountDoesNotBuyGuesses(t *testing.T) {
	c := newClock()
	l := NewLockout(LockoutOptions{Failures: 10, Window: time.Minute, Now: c.now})
	guesses := 0
	began := c.now()
	for c.now().Sub(began) < 24*time.Hour && guesses < 10000 {
		if isBlocked(l, alice) {
			c.pass(time.Second)
			continue
		}
		l.Failed(alice)
		guesses++
		l.Succeeded(alice)
		l.Succeeded(alice)
	}
	require.LessOrEqual(t, guesses, 15*(4+24*60/15), "in a day")

	l = NewLockout(LockoutOptions{Failures: 4, Window: time.Minute, Now: c.now})
	for range 6 { // two are taken back
		require.False(t, isBlocked(l, alice))
		l.Failed(alice)
		l.Succeeded(alice)
	}
	l.Succeeded(alice)
	require.True(t, isBlocked(l, alice), "a success opens no lock")
}

func TestWhoMistypesIsForgivenSome(t *testing.T) {
	l := NewLockout(LockoutOptions{Failures: 4, Window: time.Minute, Now: newClock().now})
	for range 3 {
		l.Failed(alice)
	}
	l.Succeeded(alice)
	l.Failed(alice)
	require.False(t, isBlocked(l, alice))
}

func TestWhatWasOnItsWayDoesNotCountTwice(t *testing.T) {
	c := newClock()
	l := NewLockout(LockoutOptions{Failures: 3, Window: time.Minute, Now: c.now})
	for range 100 { // a hundred logins at once, all looked at before the first failed
		l.Failed(alice)
	}
	wait, blocked := l.Blocked(alice)
	require.True(t, blocked)
	require.Equal(t, time.Minute, wait)
}

func TestALockIsForANetworkOfIPv6(t *testing.T) {
	l := NewLockout(LockoutOptions{Failures: 3, Now: newClock().now})
	lockOut(t, l, netip.MustParseAddr("2001:db8::1"))
	require.True(t, isBlocked(l, netip.MustParseAddr("2001:db8::2")))
	require.False(t, isBlocked(l, netip.MustParseAddr("2001:db8:0:1::1")))
}

func TestCallersOfAUnixSocketAreNeverLockedOut(t *testing.T) {
	l := NewLockout(LockoutOptions{Failures: 1, Now: newClock().now})
	for range 100 {
		l.Failed(netip.Addr{})
	}
	l.Succeeded(netip.Addr{})
	require.False(t, isBlocked(l, netip.Addr{}))
	var none *Lockout
	none.Failed(alice)
	none.Succeeded(alice)
	require.False(t, isBlocked(none, alice))
}

func TestALockIsForgottenOnlyAfterAsManyOtherFailures(t *testing.T) {
	c := newClock()
	l := NewLockout(LockoutOptions{Failures: 2, MaxTracked: 100, Now: c.now})
	lockOut(t, l, alice)
	for i := range 99 {
		l.Failed(address(i))
	}
	require.True(t, isBlocked(l, alice))
	for i := range 2000 { // whoever goes on trying is not forgotten at all
		l.Failed(address(i))
		require.True(t, isBlocked(l, alice))
	}
	require.LessOrEqual(t, l.records.len(), 100)
}

func TestADefaultLockout(t *testing.T) {
	c := newClock()
	l := NewLockout(LockoutOptions{Now: c.now})
	for range DefaultFailures - 1 {
		l.Failed(alice)
	}
	require.False(t, isBlocked(l, alice))
	l.Failed(alice)
	require.True(t, isBlocked(l, alice))
}

func TestALockoutIsSafeForManyAtOnce(t *testing.T) {
	m := NewMetrics(nil)
	l := NewLockout(LockoutOptions{Failures: 100, Window: time.Hour, Metrics: m, Now: newClock().now})
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 {
				l.Failed(alice)
				l.Blocked(bob)
				l.Succeeded(bob)
			}
		})
	}
	all.Wait()
	require.True(t, isBlocked(l, alice))
	require.Equal(t, 1.0, testutil.ToFloat64(m.lockouts))
}

func BenchmarkBlocked(b *testing.B) {
	l := NewLockout(LockoutOptions{})
	l.Failed(bob)
	b.ReportAllocs()
	for b.Loop() {
		l.Blocked(alice)
	}
}
