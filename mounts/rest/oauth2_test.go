package rest

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts/mounttest/remote"
)

// clocked is a login on a fake token endpoint whose time the test moves.
func clocked(t *testing.T, expiresIn int) (*clientCredentials, *remote.Server, func(time.Duration)) {
	t.Helper()
	srv := remote.New(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) {
		q.OAuth = &remote.OAuth{ClientID: "a", ClientSecret: "b", ExpiresIn: expiresIn}
	})
	var mu sync.Mutex
	now := time.Now()
	c := newClientCredentials(OAuth2Config{TokenURL: srv.URL + "/v1/oauth/tokens", ClientID: "a", ClientSecret: func() (string, error) { return "b", nil }},
		loginDeps{base: srv.URL, http: &http.Client{}, timeout: 5 * time.Second,
			now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	t.Cleanup(c.close)
	return c, srv, func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
}

func token(t *testing.T, c *clientCredentials) string {
	t.Helper()
	got, err := c.lease.get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	for expiresIn, c := range map[int]struct{ keep, renew time.Duration }{
		3600: {58 * time.Minute, 61 * time.Second},
		100:  {78 * time.Second, 4 * time.Second},
		0:    {58 * time.Minute, 61 * time.Second}, // an hour is assumed
	} {
		login, srv, advance := clocked(t, expiresIn)
		first := token(t, login)
		advance(c.keep)
		if got := token(t, login); got != first || srv.Count(remote.Token) != 1 {
			t.Errorf("expires in %d: renewed after %v", expiresIn, c.keep)
		}
		advance(c.renew)
		if got := token(t, login); got == first || srv.Count(remote.Token) != 2 {
			t.Errorf("expires in %d: still the first token after another %v", expiresIn, c.renew)
		}
	}
}

func TestAValidTokenOutlivesAFailedRenewal(t *testing.T) {
	login, srv, advance := clocked(t, 100)
	first := token(t, login)
	srv.Fail(remote.Token, remote.Fault{Status: 503})
	advance(85 * time.Second)
	for range 3 {
		if got := token(t, login); got != first {
			t.Fatalf("the valid token was given up for %q", got)
		}
	}
	if n := srv.Count(remote.Token); n != 2 {
		t.Errorf("the failing endpoint was asked %d times at once", n)
	}
	advance(20 * time.Second)
	if _, err := login.lease.get(context.Background()); err == nil {
		t.Error("an expired token was used")
	}
	srv.Heal()
	if got := token(t, login); got == first {
		t.Error("the expired token came back")
	}
}

func TestCloseEndsATokenCallAndRefusesFurtherOnes(t *testing.T) {
	login, srv, _ := clocked(t, 100)
	srv.Fail(remote.Token, remote.Fault{Break: remote.Hang})
	done := make(chan error, 1)
	go func() {
		_, err := login.lease.get(context.Background())
		done <- err
	}()
	srv.Await(remote.Token, 1)
	login.close()
	if err := <-done; err == nil {
		t.Error("a token came from a closed login")
	}
	if _, err := login.lease.get(context.Background()); err == nil {
		t.Error("a closed login hands out tokens")
	}
}
