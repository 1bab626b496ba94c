package wrap

import (
	"context"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// negotiated is a backend that was told at a time what it can do.
type negotiated struct {
	mounts.Backend
	at time.Time
}

func (n negotiated) SettingsAt() time.Time { return n.at }

func TestAStatusCountsWhatTheMountDidSinceItWasMade(t *testing.T) {
	s := answering()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := Stack(negotiated{s, at}, Options{Name: "prod", ReadOnly: true, Profile: "polaris", Credentials: "withhold", InFlight: 1,
		Breaker: BreakerOptions{Failures: 3, OpenFor: time.Hour}, Cache: CacheOptions{Size: 1 << 20, TTL: time.Hour, Coalesce: true}})
	defer m.Close()
	row := m.Mount()
	if row.Profile != "polaris" || row.Credentials != "withhold" || !row.ReadOnly {
		t.Errorf("the row is %+v", row)
	}
	for range 3 {
		if err := ask(row.View, load); err != nil {
			t.Fatal(err)
		}
	}
	_ = row.View.DropTable(t.Context(), &mounts.DropTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "b"}})
	s.fails(&mounts.Error{Kind: mounts.Unavailable})
	other := &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "other"}}
	_, _ = row.View.LoadTable(t.Context(), other) // three attempts
	_, _ = row.View.LoadTable(t.Context(), other) // refused
	got := m.Status()
	if got.Retries != 2 || got.RefusedByBreaker != 1 || got.RefusedAsReadOnly != 1 || got.RefusedByLimit != 0 || !got.SettingsAt.Equal(at) {
		t.Errorf("the status is %+v", got)
	}
	if c := got.Cache; c == nil || c.Hits != 2 || c.Misses != 1 || c.Size != 1<<20 || c.Held <= 0 {
		t.Errorf("the cache is %+v", c)
	}
}

// A mount that hangs holds as many goroutines as its limit says, whatever is
// asked of it, and its prober one more; another mount does not notice.
func TestAHungMountIsBoundedByItsLimit(t *testing.T) {
	release := make(chan struct{})
	hung := answering()
	hung.does(func(context.Context, mounts.Request) (mounts.Response, error) {
		<-release
		return nil, context.Canceled
	})
	m := Stack(hung, Options{Name: "hung", InFlight: 8, Timeout: time.Millisecond, Breaker: BreakerOptions{Failures: 1 << 20}})
	other := Stack(answering(), Options{Name: "other"})
	defer other.Close()
	for range 100 {
		_ = ask(m.Mount().View, load)
		if err := ask(other.Mount().View, load); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.calls.stray.Load(); n > 8 {
		t.Errorf("%d calls are left behind in a backend whose limit is 8", n)
	}
	if got := m.Status(); got.RefusedByLimit == 0 || got.InFlight != 8 {
		t.Errorf("the limit did not bite: %+v", got)
	}
	close(release)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
