package authn

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy/authn/authntest"
)

// Under load the issuer rotates again and again, and revokes the key before the
// last: no token that is good is refused, none that is not is taken.
func TestKeysRotateInTheMiddleOfALoad(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	stranger := authntest.New(t, authntest.Options{})
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, pace{every: 50 * time.Millisecond, retry: 50 * time.Millisecond, gap: 10 * time.Millisecond, patience: 10 * time.Second})
	ctx := context.Background()
	var load sync.WaitGroup
	var good, bad, wrong atomic.Int64
	stop := make(chan struct{})
	for worker := range 6 {
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				// A new token every few requests, so that some are remembered.
				token := issuer.Mint(with(map[string]any{"jti": fmt.Sprint(worker, n)}))
				for range 5 {
					if _, err := a.Authenticate(ctx, bearerOf(token)); err != nil {
						wrong.Add(1)
						t.Errorf("a good token was refused: %v", err)
						return
					}
					good.Add(1)
				}
				forged := stranger.Mint(with(map[string]any{"iss": issuer.URL(), "jti": fmt.Sprint(worker, n)}))
				if n%10 == 0 {
					if _, err := a.Authenticate(ctx, bearerOf(forged)); err == nil {
						wrong.Add(1)
						t.Error("a forged token was taken")
						return
					}
					bad.Add(1)
				}
			}
		})
	}
	for range 20 {
		before := good.Load()
		require.NoError(t, issuer.Rotate())
		require.Eventually(t, func() bool { return good.Load() > before+50 || wrong.Load() > 0 }, 20*time.Second, time.Millisecond)
	}
	close(stop)
	load.Wait()
	require.Zero(t, wrong.Load())
	require.Positive(t, bad.Load())
}

func TestARevokedKeyTakesItsTokensWithIt(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	p := quickPace()
	p.every = 20 * time.Millisecond
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, p)
	ctx := context.Background()
	old, oldKey := issuer.Mint(with(nil)), issuer.KeyID()
	_, err := a.Authenticate(ctx, bearerOf(old))
	require.NoError(t, err)
	require.NoError(t, issuer.Rotate())
	fresh := issuer.Mint(with(nil))
	_, err = a.Authenticate(ctx, bearerOf(fresh))
	require.NoError(t, err)
	_, err = a.Authenticate(ctx, bearerOf(old))
	require.NoError(t, err, "the old key is still published")

	issuer.Revoke(oldKey)
	require.Eventually(t, func() bool {
		_, err := a.Authenticate(ctx, bearerOf(old))
		return err != nil
	}, 10*time.Second, time.Millisecond, "nobody asks for a key that is known, so this is the time between fetches")
	_, err = a.Authenticate(ctx, bearerOf(old))
	refused(t, err)
	_, err = a.Authenticate(ctx, bearerOf(fresh))
	require.NoError(t, err)
}

func TestMadeUpKeyIDsDoNotHammerTheIssuer(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	p := quickPace()
	p.gap = 200 * time.Millisecond
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, p)
	began := time.Now()
	var load sync.WaitGroup
	for n := range 200 {
		load.Go(func() {
			token := issuer.Sign(map[string]any{"kid": fmt.Sprint("made up ", n)}, issuer.Claims(with(nil)))
			_, err := a.Authenticate(context.Background(), bearerOf(token))
			refused(t, err)
		})
	}
	load.Wait()
	fetches := issuer.Requests(authntest.KeysPath) - 1
	require.LessOrEqual(t, fetches, int(time.Since(began)/p.gap)+1)
	require.LessOrEqual(t, fetches, 4)
	require.Equal(t, 1, issuer.Requests(authntest.DiscoveryPath))
}

func TestAnIssuerThatIsDownStopsNobodyWhoseKeyIsKnown(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	reg := prometheus.NewRegistry()
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}, Metrics: reg}, quickPace())
	ctx := context.Background()
	state, since, reason := a.Status()
	require.Equal(t, "ok", state)
	require.Zero(t, since)
	require.Empty(t, reason)

	issuer.Down()
	_, err := a.Authenticate(ctx, bearerOf(issuer.Mint(with(nil))))
	require.NoError(t, err)
	require.NoError(t, issuer.Rotate())
	fresh := issuer.Mint(with(nil))
	_, err = a.Authenticate(ctx, bearerOf(fresh))
	require.ErrorIs(t, err, mounts.Unavailable, "nothing is known of the token: that is not a refusal")
	require.Positive(t, mounts.AsError(err).RetryAfter)
	require.NotContains(t, mounts.AsError(err).Message(), issuer.URL())
	_, err = a.Authenticate(ctx, bearerOf(issuer.Mint(with(map[string]any{"exp": 1}))))
	require.ErrorIs(t, err, mounts.Unavailable)
	state, since, reason = a.Status()
	require.Equal(t, "degraded", state)
	require.WithinDuration(t, time.Now(), since, time.Minute)
	require.Contains(t, reason, `"corp"`)
	require.NotContains(t, reason, issuer.URL())

	// A set that is broken is no set: the keys that are known stay.
	issuer.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = w.Write([]byte(`{"error":"x"}`))
		return true
	})
	_, err = a.Authenticate(ctx, bearerOf(fresh))
	require.ErrorIs(t, err, mounts.Unavailable)

	issuer.Fault(nil)
	_, err = a.Authenticate(ctx, bearerOf(fresh))
	require.NoError(t, err)
	state, _, _ = a.Status()
	require.Equal(t, "ok", state)
	require.Equal(t, 1.0, testutil.ToFloat64(a.counters.fetches.WithLabelValues("corp", "changed")))
	require.GreaterOrEqual(t, testutil.ToFloat64(a.counters.fetches.WithLabelValues("corp", "failed")), 2.0)
}

// The token was signed with a key that was published while a fetch was under
// way whose answer does not have it: another fetch has to be waited for.
func TestAFetchThatBeganBeforeIsNotTheLastWord(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, quickPace())
	ctx := context.Background()
	entered, release := make(chan struct{}), make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	t.Cleanup(let)
	var once sync.Once
	stale := fmt.Sprintf(`{"keys":[%s]}`, mustJSON(publishedKey(t, issuer)))
	issuer.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		first := false
		once.Do(func() { first = true })
		if first {
			close(entered)
			<-release
			_, _ = w.Write([]byte(stale))
		}
		return first
	})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, err := a.Authenticate(ctx, bearerOf(issuer.Sign(map[string]any{"kid": "made up"}, issuer.Claims(with(nil)))))
		refused(t, err)
	})
	select {
	case <-entered:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody fetches")
	}
	require.NoError(t, issuer.Rotate())
	waiting.Go(func() {
		_, err := a.Authenticate(ctx, bearerOf(issuer.Mint(with(nil))))
		require.NoError(t, err)
	})
	require.Eventually(t, func() bool { return a.ordered[0].source.waiting.Load() == 2 }, 10*time.Second, time.Millisecond)
	let()
	waiting.Wait()
}

func TestWaitingForKeysIsBounded(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	p := quickPace()
	p.gap, p.patience = time.Hour, 20*time.Millisecond
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}}, p)
	require.NoError(t, issuer.Rotate())
	_, err := a.Authenticate(context.Background(), bearerOf(issuer.Mint(with(nil))))
	require.ErrorIs(t, err, mounts.Unavailable)
	require.Equal(t, 1, issuer.Requests(authntest.KeysPath))

	a.ordered[0].source.waiting.Store(maxWaiting)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = a.Authenticate(ctx, bearerOf(issuer.Mint(with(nil))))
	require.ErrorIs(t, err, mounts.Unavailable)
	require.ErrorContains(t, err, "too many requests wait")
}

func TestVerifiedTokensAreRememberedUntilTheyEnd(t *testing.T) {
	issuer := authntest.New(t, authntest.Options{})
	var offset atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	a := opened(t, Config{OIDC: []OIDC{corp(issuer)}, Now: clock}, quickPace())
	ctx := context.Background()
	soon := issuer.Mint(with(map[string]any{"exp": time.Now().Add(time.Minute).Unix()}))
	long := issuer.Mint(with(nil))
	misses := func() float64 { return testutil.ToFloat64(a.counters.miss) }
	for range 10 {
		_, err := a.Authenticate(ctx, bearerOf(soon))
		require.NoError(t, err)
		_, err = a.Authenticate(ctx, bearerOf(long))
		require.NoError(t, err)
	}
	require.Equal(t, 2.0, misses())
	offset.Store(int64(time.Minute + DefaultLeeway))
	_, err := a.Authenticate(ctx, bearerOf(soon))
	refused(t, err)
	require.Equal(t, 3.0, misses())
	_, err = a.Authenticate(ctx, bearerOf(long))
	require.NoError(t, err)
	require.Equal(t, 3.0, misses())
	offset.Store(int64(memory + time.Second))
	_, err = a.Authenticate(ctx, bearerOf(long))
	require.NoError(t, err)
	require.Equal(t, 4.0, misses(), "however long a token lasts, it is looked at again")
	require.Equal(t, 1, a.tokens.Len())
	require.Equal(t, 19.0, testutil.ToFloat64(a.counters.hit))
}
