package vend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

func started(t testing.TB, opt Options) *exchanges {
	t.Helper()
	v := Around(mounts.Unsupported{}, opt).(*vendor)
	t.Cleanup(func() { _ = v.Close() })
	return v.exchanges
}

var orders = Ask{Location: "s3://lake/wh/orders", Access: mounts.ReadStorage, Principal: "corp/alice", Tenant: "acme"}

func TestCredentialsAreMadeOnceForOnePrincipalTableAndWidth(t *testing.T) {
	fake, seen := newFake(), &events{}
	x := started(t, Options{Provider: fake, Observe: seen.see})
	secrets := map[string]Ask{}
	for range 3 {
		for _, ask := range []Ask{orders,
			{orders.Location, mounts.WriteStorage, orders.Principal, orders.Tenant},
			{orders.Location, orders.Access, "corp/bob", orders.Tenant},
			{orders.Location, orders.Access, orders.Principal, "globex"},
			{"s3://lake/wh/orders2", orders.Access, orders.Principal, orders.Tenant},
		} {
			m, err := x.get(t.Context(), ask)
			if err != nil {
				t.Fatal(err)
			}
			secret := m.Config["s3.secret-access-key"]
			if other, ok := secrets[secret]; ok && other != ask {
				t.Errorf("%+v and %+v have the same key", ask, other)
			}
			secrets[secret] = ask
		}
	}
	if n := fake.calls.Load(); n != 5 || seen.of("minted") != 5 || seen.of("cached") != 10 || len(secrets) != 5 {
		t.Errorf("%d exchanges, %v, %d keys", n, seen.all, len(secrets))
	}
}

func TestCredentialsAreRenewedWhileTheyAreGoodForAWhile(t *testing.T) {
	for _, row := range []struct{ life, serves time.Duration }{
		{time.Hour, 40 * time.Minute}, {15 * time.Minute, 10 * time.Minute}, {12 * time.Hour, 8 * time.Hour}, {4 * time.Minute, 2 * time.Minute},
	} {
		c, fake := newClock(), newFake()
		fake.now, fake.life = c.now, row.life
		x := started(t, Options{Provider: fake, Now: c.now})
		for i, step := range []time.Duration{0, row.serves - time.Second, time.Second} {
			c.pass(step)
			m, err := x.get(t.Context(), orders)
			if err != nil {
				t.Fatal(err)
			}
			if want := int32(1 + i/2); fake.calls.Load() != want {
				t.Errorf("life %v, step %d: %d exchanges, want %d", row.life, i, fake.calls.Load(), want)
			}
			if left := m.Expires.Sub(c.now()); left < row.life/3 {
				t.Errorf("life %v, step %d: %v are left", row.life, i, left)
			}
		}
	}
}

func TestOneExchangeServesAllWhoWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake()
		release := make(chan struct{})
		fake.answers(func(ctx context.Context, ask Ask) (*Minted, error) {
			<-release
			return fake.made(ask, 1), nil
		})
		x := started(t, Options{Provider: fake})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if m, err := x.get(t.Context(), orders); err != nil || m.Config["s3.session-token"] != "token-1" {
					t.Errorf("%v, %v", m, err)
				}
			})
		}
		// One that leaves takes nothing from the others.
		gone, leave := context.WithCancel(t.Context())
		all.Go(func() {
			if _, err := x.get(gone, orders); !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(release)
		all.Wait()
		if n := fake.calls.Load(); n != 1 {
			t.Errorf("%d exchanges", n)
		}
	})
}

func TestAnExchangeEndsInTimeAndFewAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, seen := newFake(), &events{}
		var mu sync.Mutex
		now, most := 0, 0
		fake.answers(func(ctx context.Context, ask Ask) (*Minted, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			now--
			mu.Unlock()
			return nil, ctx.Err()
		})
		x := started(t, Options{Provider: fake, Exchanges: 2, Timeout: 3 * time.Second, Observe: seen.see})
		start := time.Now()
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				ask := orders
				ask.Location += fmt.Sprint(i)
				_, err := x.get(t.Context(), ask)
				if e := failed(&mounts.LoadTableRequest{}, err); e.Kind != mounts.Unavailable || e.RetryAfter <= 0 {
					t.Errorf("%v", e)
				}
			})
		}
		all.Wait()
		if took := time.Since(start); took > 3100*time.Millisecond || most != 2 {
			t.Errorf("took %v, %d at once", took, most)
		}
		if seen.of("timeout") < 2 || seen.of("timeout")+seen.of("busy") != 6 {
			t.Errorf("%v", seen.all)
		}
	})
}

func TestAFailureIsRepeatedForAMomentOnly(t *testing.T) {
	c, fake := newClock(), newFake()
	fake.now = c.now
	fake.answers(failing(Throttled))
	x := started(t, Options{Provider: fake, Now: c.now})
	for range 20 {
		if _, err := x.get(t.Context(), orders); err == nil {
			t.Fatal("credentials out of nothing")
		}
	}
	if n := fake.calls.Load(); n != 1 {
		t.Errorf("a throttled service was asked %d times", n)
	}
	fake.answers(nil)
	c.pass(failureHolds)
	if _, err := x.get(t.Context(), orders); err != nil {
		t.Error(err)
	}
}

func TestGoodCredentialsServeOnWhileTheServiceIsDown(t *testing.T) {
	c, fake, seen := newClock(), newFake(), &events{}
	fake.now = c.now
	x := started(t, Options{Provider: fake, Now: c.now, Observe: seen.see})
	first, err := x.get(t.Context(), orders)
	if err != nil {
		t.Fatal(err)
	}
	fake.answers(failing(Unreachable))
	for _, after := range []time.Duration{45 * time.Minute, 8 * time.Minute} {
		c.pass(after)
		if m, err := x.get(t.Context(), orders); err != nil || m != first {
			t.Errorf("after %v: %v", after, err)
		}
	}
	c.pass(2 * time.Minute) // a twelfth of their life is left
	if _, err := x.get(t.Context(), orders); err == nil {
		t.Error("credentials that end at once were handed out")
	}
	if seen.of("unreachable") != 3 {
		t.Errorf("the failures were hidden: %v", seen.all)
	}
}

func TestAnswersThatAreNoneOfUseAreFailures(t *testing.T) {
	for name, mint := range map[string]func(context.Context, Ask) (*Minted, error){
		"nothing": func(context.Context, Ask) (*Minted, error) { return nil, nil },
		"no keys": func(_ context.Context, a Ask) (*Minted, error) {
			return &Minted{Prefix: a.Location, Expires: time.Now().Add(time.Hour)}, nil
		},
		"over": func(_ context.Context, a Ask) (*Minted, error) {
			return &Minted{Prefix: a.Location, Config: map[string]string{"x": "y"}, Expires: time.Now().Add(-time.Second)}, nil
		},
		"without an end": func(_ context.Context, a Ask) (*Minted, error) {
			return &Minted{Prefix: a.Location, Config: map[string]string{"x": "y"}, Expires: time.Time{}}, nil
		},
		"another's": func(_ context.Context, a Ask) (*Minted, error) {
			return &Minted{Prefix: "s3://lake/wh/other", Config: map[string]string{"x": "y"}, Expires: time.Now().Add(time.Hour)}, nil
		},
		"a panic":         func(context.Context, Ask) (*Minted, error) { panic("of the SDK") },
		"a foreign error": func(context.Context, Ask) (*Minted, error) { return nil, errors.New("odd") },
	} {
		fake := newFake()
		fake.answers(mint)
		x := started(t, Options{Provider: fake})
		_, err := x.get(t.Context(), orders)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		mustFail(t, failed(&mounts.LoadTableRequest{}, err), mounts.BadGateway)
	}
	x := started(t, Options{Provider: newFake()})
	if _, err := x.get(t.Context(), Ask{Location: "s3://lake/wh/t"}); err == nil {
		t.Error("credentials of no width")
	}
}

func TestFewCredentialsAreRemembered(t *testing.T) {
	fake := newFake()
	x := started(t, Options{Provider: fake, Remember: 10})
	for i := range 100 {
		ask := orders
		ask.Principal = fmt.Sprint(i)
		if _, err := x.get(t.Context(), ask); err != nil {
			t.Fatal(err)
		}
	}
	if n := x.held.Len(); n != 10 {
		t.Errorf("%d are held", n)
	}
}

func TestCloseEndsTheExchangesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake()
		fake.answers(func(ctx context.Context, ask Ask) (*Minted, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		v := Around(mounts.Unsupported{}, Options{Provider: fake, Timeout: time.Hour}).(*vendor)
		failed := make(chan error, 1)
		go func() {
			_, err := v.exchanges.get(t.Context(), orders)
			failed <- err
		}()
		synctest.Wait()
		if err := v.Close(); err != nil || !fake.closed.Load() {
			t.Errorf("%v, provider closed: %t", err, fake.closed.Load())
		}
		if err := <-failed; err == nil {
			t.Error("credentials of a mount that is closed")
		}
		if _, err := v.exchanges.get(t.Context(), orders); !errors.Is(err, errClosed) || v.exchanges.held.Len() != 0 {
			t.Errorf("%v, %d held", err, v.exchanges.held.Len())
		}
	})
}

func TestErrorsSayWhatToDoAndNothingInternal(t *testing.T) {
	for reason, sentence := range sentences {
		_, err := failing(reason)(t.Context(), orders)
		id := mounts.Identifier{Namespace: mounts.Namespace{"sales"}, Name: "orders"}
		e := failed(&mounts.LoadTableRequest{Table: id}, err)
		mustFail(t, e, e.Kind)
		if e.OutcomeUnknown || !strings.Contains(e.Error(), "arn:aws:iam") {
			t.Errorf("%s: the log says %q", reason, e)
		}
		if strings.Contains(sentence, "{object}") != strings.Contains(e.Message(), "sales.orders") {
			t.Errorf("%s: %q", reason, e.Message())
		}
	}
}
