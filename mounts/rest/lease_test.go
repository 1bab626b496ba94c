package rest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// clock is a time that only the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Now()} }

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

// counter is a source of secrets 1, 2, 3, each for 100 s.
type counter struct {
	mu      sync.Mutex
	fetched int
	fail    error
	// hold, if set, is waited for.
	hold chan struct{}
	held []*issued[int]
}

func (c *counter) fetch(ctx context.Context, held *issued[int], now time.Time) (issued[int], error) {
	c.mu.Lock()
	c.fetched++
	n, fail, hold := c.fetched, c.fail, c.hold
	c.held = append(c.held, held)
	c.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return issued[int]{}, &mounts.Error{Kind: mounts.Unavailable, Err: ctx.Err()}
		}
	}
	if fail != nil {
		return issued[int]{}, fail
	}
	return issued[int]{value: n, renewAt: now.Add(80 * time.Second), expires: now.Add(100 * time.Second)}, nil
}

func (c *counter) count() int { c.mu.Lock(); defer c.mu.Unlock(); return c.fetched }

func leased(t *testing.T) (*lease[int], *counter, *clock) {
	t.Helper()
	at, from, owner := newClock(), &counter{}, &lifetime{}
	t.Cleanup(owner.close)
	return newLease(owner, time.Minute, at.now, func(ctx context.Context, held *issued[int]) (issued[int], error) {
		return from.fetch(ctx, held, at.now())
	}), from, at
}

func get(t *testing.T, l *lease[int]) int {
	t.Helper()
	n, err := l.get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func is(n int) func(int) bool { return func(m int) bool { return m == n } }

func TestNobodyWaitsForARenewalWhileTheSecretIsGood(t *testing.T) {
	l, from, at := leased(t)
	get(t, l)
	from.hold = make(chan struct{})
	at.advance(85 * time.Second)
	for range 5 {
		if n := get(t, l); n != 1 {
			t.Fatalf("got %d while the renewal is under way", n)
		}
	}
	close(from.hold)
	l.owner.running.Wait()
	if held := from.held; len(held) != 2 || held[1] == nil || held[1].value != 1 {
		t.Errorf("the renewal was told to renew %v", held)
	}
	if n := get(t, l); n != 2 || from.count() != 2 {
		t.Errorf("after the renewal: %d of %d", n, from.count())
	}
}

func TestASecretThatIsOverIsWaitedForByAllAndFetchedOnce(t *testing.T) {
	l, from, at := leased(t)
	get(t, l)
	at.advance(101 * time.Second)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if n, err := l.get(context.Background()); n != 2 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
	wg.Wait()
	if from.count() != 2 {
		t.Errorf("fetched %d times", from.count())
	}
}

func TestAFailureIsRepeatedWithoutAskingUntilItsPauseIsOver(t *testing.T) {
	l, from, at := leased(t)
	from.fail = &mounts.Error{Kind: mounts.Unavailable, Msg: "down"}
	for pause := failurePause; pause < 2*longestFailurePause; pause *= 2 {
		before := from.count()
		for range 10 {
			if _, err := l.get(context.Background()); !errors.Is(err, mounts.Unavailable) {
				t.Fatal(err)
			}
		}
		if n := from.count() - before; n != 1 {
			t.Fatalf("asked %d times in a pause of %v", n, pause)
		}
		at.advance(min(pause, longestFailurePause) + time.Millisecond)
	}
	from.fail = nil
	get(t, l)
	at.advance(time.Hour)
	from.fail = &mounts.Error{Kind: mounts.Unavailable}
	_, _ = l.get(context.Background())
	at.advance(failurePause + time.Millisecond)
	from.fail = nil
	get(t, l)
}

func TestThePauseIsAsLongAsTheEndpointAskedForAndTellsWhatIsLeft(t *testing.T) {
	l, from, at := leased(t)
	from.fail = &mounts.Error{Kind: mounts.RateLimited, RetryAfter: 40 * time.Second}
	_, _ = l.get(context.Background())
	at.advance(30 * time.Second)
	_, err := l.get(context.Background())
	if e := mounts.AsError(err); from.count() != 1 || e.RetryAfter != 10*time.Second {
		t.Errorf("after 30 s of 40: asked %d times, %v", from.count(), e)
	}
	at.advance(10 * time.Second)
	_, _ = l.get(context.Background())
	if from.count() != 2 {
		t.Error("not asked after the pause")
	}
}

// TestARemoteThatRefusesEverySecretDoesNotCostOneFetchARefusal is the storm: each
// call is refused, each refusal asks for a renewal.
func TestARemoteThatRefusesEverySecretDoesNotCostOneFetchARefusal(t *testing.T) {
	l, from, at := leased(t)
	for range 600 { // 60 calls a second, for ten seconds
		n := get(t, l)
		if _, err := l.renew(context.Background(), is(n)); err != nil {
			t.Fatal(err)
		}
		at.advance(time.Second / 60)
	}
	if n := from.count(); n < 3 || n > 5 {
		t.Errorf("%d fetches in ten seconds of refusals", n)
	}
	at.advance(10 * time.Minute)
	before := from.count()
	if ok, err := l.renew(context.Background(), is(get(t, l))); !ok || err != nil {
		t.Errorf("a single refusal much later: %v, %v", ok, err)
	}
	if n := from.count() - before; n != 2 {
		t.Errorf("%d fetches for a secret that was over and a refusal", n)
	}
}

func TestASecretThatWasReplacedMeanwhileIsNotRenewedAgain(t *testing.T) {
	l, from, _ := leased(t)
	n := get(t, l)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if ok, err := l.renew(context.Background(), is(n)); !ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
	wg.Wait()
	if from.count() != 2 || from.held[1] != nil {
		t.Errorf("%d fetches; the refused secret was used to renew it: %v", from.count(), from.held[1])
	}
}

func TestAFailedRenewalAfterARefusalKeepsTheSecretForTheOthers(t *testing.T) {
	l, from, _ := leased(t)
	n := get(t, l)
	from.fail = &mounts.Error{Kind: mounts.Unavailable}
	if ok, err := l.renew(context.Background(), is(n)); ok || !errors.Is(err, mounts.Unavailable) {
		t.Errorf("%v, %v", ok, err)
	}
	if got := get(t, l); got != n {
		t.Errorf("one refusal and a broken endpoint took the secret away: %d", got)
	}
}

func TestSecretsAreRenewedAtDifferentTimesAheadOfTheirEnd(t *testing.T) {
	start := time.Now()
	for _, lifetime := range []time.Duration{time.Second, 100 * time.Second, time.Hour, 24 * time.Hour} {
		seen := make(map[time.Duration]bool)
		for range 100 {
			got := lasting("x", start, lifetime)
			ahead, most := got.expires.Sub(got.renewAt), min(2*time.Minute, 2*lifetime/5)
			if ahead < most/2 || ahead > most || got.expires != start.Add(lifetime) {
				t.Fatalf("%v: renewed %v ahead", lifetime, ahead)
			}
			seen[ahead] = true
		}
		if len(seen) < 50 {
			t.Errorf("%v: %d different times of 100", lifetime, len(seen))
		}
	}
}
