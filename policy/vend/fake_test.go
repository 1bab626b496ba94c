package vend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// fakeProvider makes credentials out of what was asked for.
type fakeProvider struct {
	*fakeService
}

type fakeService struct {
	calls atomic.Int32
	life  time.Duration
	now   func() time.Time
	// mint, if set, answers instead.
	mint   func(ctx context.Context, ask Ask) (*Minted, error)
	closed atomic.Bool

	mu   sync.Mutex
	asks []Ask
}

func newFake() fakeProvider {
	return fakeProvider{&fakeService{life: time.Hour, now: time.Now}}
}

func (fakeProvider) Covers(string) bool { return true }

func (p fakeProvider) Close() error {
	p.closed.Store(true)
	return nil
}

func (p fakeProvider) asked() []Ask {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Ask(nil), p.asks...)
}

func (p fakeProvider) Mint(ctx context.Context, ask Ask) (*Minted, error) {
	n := p.calls.Add(1)
	p.mu.Lock()
	p.asks = append(p.asks, ask)
	mint := p.mint
	p.mu.Unlock()
	if mint != nil {
		return mint(ctx, ask)
	}
	return p.made(ask, n), nil
}

func (p fakeProvider) made(ask Ask, n int32) *Minted {
	expires := p.now().Add(p.life)
	return &Minted{Prefix: strings.TrimRight(ask.Location, "/"), Expires: expires, Config: map[string]string{
		"s3.access-key-id": fmt.Sprintf("AKID%d", n), "s3.secret-access-key": fmt.Sprintf("secret-%d-%s-%s", n, ask.Principal, ask.Access),
		"s3.session-token": fmt.Sprintf("token-%d", n), "s3.session-token-expires-at-ms": millis(expires), "s3.region": "provider-region"}}
}

// answers sets what the service does from now on; nil for credentials.
func (p fakeProvider) answers(mint func(context.Context, Ask) (*Minted, error)) {
	p.mu.Lock()
	p.mint = mint
	p.mu.Unlock()
}

func failing(reason Reason) func(context.Context, Ask) (*Minted, error) {
	return func(context.Context, Ask) (*Minted, error) {
		return nil, &Failure{Reason: reason, Err: errors.New("arn:aws:iam::123456789012:role/internal says no")}
	}
}

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

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

func as(ctx context.Context, principal, tenant string, access mounts.StorageAccess) context.Context {
	return mounts.WithCaller(ctx, mounts.Caller{Principal: principal, Tenant: tenant, Storage: access})
}

// events counts how asks ended.
type events struct {
	mu  sync.Mutex
	all map[string]int
}

func (e *events) see(event Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[string]int{}
	}
	e.all[event.Outcome]++
	if event.Reason != "" {
		e.all[string(event.Reason)]++
	}
}

func (e *events) of(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all[name]
}

func mustFail(t testing.TB, err error, kind mounts.Kind) *mounts.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", kind)
	}
	e := mounts.AsError(err)
	if e.Kind != kind {
		t.Fatalf("%q instead of %q: %v", e.Kind, kind, err)
	}
	for _, internal := range []string{"arn:", "123456789012", "role/internal"} {
		if strings.Contains(e.Message(), internal) {
			t.Errorf("a client is told %q", e.Message())
		}
	}
	if !e.Answered {
		t.Errorf("%v would open the mount's breaker", err)
	}
	return e
}
