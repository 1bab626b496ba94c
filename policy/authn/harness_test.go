package authn

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

// quickPace lets tests see in milliseconds what takes minutes.
func quickPace() pace {
	return pace{every: time.Hour, retry: time.Hour, gap: 20 * time.Millisecond, patience: 10 * time.Second}
}

// corp is the block of an issuer.
func corp(i *authntest.Issuer) OIDC {
	return OIDC{Name: "corp", Issuer: i.URL(), Audience: []string{"icefield"}, TenantClaim: "tenant", RolesClaim: "roles", Leeway: DefaultLeeway}
}

const ciKey = "icf_ci_this-is-the-key-of-ci-0001"

func ci(t testing.TB) Key {
	t.Helper()
	hash, err := HashKey(ciKey)
	require.NoError(t, err)
	return Key{Name: "ci", Tenant: "acme", Roles: []string{"writer", "reader", "writer"}, Hash: hash}
}

func opened(t testing.TB, c Config, p pace) *Authn {
	t.Helper()
	a, err := open(context.Background(), c, p)
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	return a
}

var clientAddr = netip.MustParseAddr("192.0.2.7")

func bearerOf(token string) *policy.Credentials {
	return &policy.Credentials{Bearer: token, Client: policy.Client{Addr: clientAddr}}
}

func with(over map[string]any) map[string]any {
	claims := map[string]any{"sub": "alice", "tenant": "acme", "roles": []string{"reader"}}
	maps.Copy(claims, over)
	return claims
}

// refused asserts the one refusal.
func refused(t testing.TB, err error) {
	t.Helper()
	require.ErrorIs(t, err, mounts.Unauthenticated)
	var e *mounts.Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, refusedMsg, e.Message())
	require.Zero(t, e.RetryAfter)
	require.Error(t, e.Err, "the log is told why")
}

// why is the cause in the log.
func why(err error) string {
	var e *mounts.Error
	if errors.As(err, &e) && e.Err != nil {
		return e.Err.Error()
	}
	return ""
}

// lock is a Lockout of three failures that never ends.
type lock struct {
	mu     sync.Mutex
	failed map[netip.Addr]int
	good   int
}

func (l *lock) Failed(addr netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = map[netip.Addr]int{}
	}
	l.failed[addr]++
}

func (l *lock) Blocked(addr netip.Addr) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 42 * time.Second, l.failed[addr] >= 3
}

func (l *lock) Succeeded(netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good++
}

func (l *lock) failures(addr netip.Addr) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed[addr]
}

// ask posts a form to the token route.
func ask(t testing.TB, a *Authn, form url.Values, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/oauth/tokens", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	a.Token(w, r, policy.Client{Addr: clientAddr})
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	return w
}
