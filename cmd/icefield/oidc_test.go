package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/authn/authntest"
)

// refreshed is how long a withdrawn key lives on in these tests.
const refreshed = time.Second

// oidcServer is a whole server with the tokens of one issuer, a table in it, and a
// trail of everything.
func oidcServer(t *testing.T, issuer, more string) *server {
	t.Helper()
	dir := t.TempDir()
	cfg := load(t, dir, fmt.Sprintf(`
auth {
  oidc "corp" {
    issuer       = %q
    audience     = ["icefield"]
    tenant_claim = "tenant"
    key_refresh  = %q
%s
  }
}
audit {
  sink        = "file"
  path        = %q
  fail_closed = true
}
`, issuer, refreshed, more, dir+"/audit.jsonl")+nativeText("prod", "prod"))
	s, _ := started(t, cfg)
	return s
}

// bearerAsks makes a request with a token and returns the status.
func bearerAsks(t testing.TB, client *http.Client, verb, address, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), verb, address, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(text)
}

const ordersPath = "/v1/namespaces/prod%1Fshop/tables/orders"

func makeOrders(t testing.TB, base, token string) {
	t.Helper()
	status, text := bearerAsks(t, http.DefaultClient, "POST", base+"/v1/namespaces", token, `{"namespace":["prod","shop"]}`)
	require.Equal(t, http.StatusOK, status, text)
	status, text = bearerAsks(t, http.DefaultClient, "POST", base+"/v1/namespaces/prod%1Fshop/tables", token,
		`{"name":"orders","schema":{"type":"struct","fields":[{"id":1,"name":"id","type":"long","required":false}]}}`)
	require.Equal(t, http.StatusOK, status, text)
}

// oidcLoad is clients that load one table until they are told to end.
type oidcLoad struct {
	t       *testing.T
	address string
	client  *http.Client
	end     chan struct{}
	clients sync.WaitGroup
	// good counts answers to valid tokens, bad refusals of others, wrong what must
	// not be.
	good, bad, wrong atomic.Int64
}

func newOIDCLoad(t *testing.T, base string) *oidcLoad {
	return &oidcLoad{t: t, address: base + ordersPath, end: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second}}
}

// stop lets the clients end, and waits for them.
func (l *oidcLoad) stop() {
	close(l.end)
	l.clients.Wait()
}

// oidcPause is how long a client waits between two requests, so that those of several
// are some hundred a second.
const oidcPause = 10 * time.Millisecond

// run asks again and again with what token returns, and gives check the status.
func (l *oidcLoad) run(token func() string, check func(status int, body string)) {
	l.clients.Go(func() {
		tick := time.NewTicker(oidcPause)
		defer tick.Stop()
		for {
			status, body := bearerAsks(l.t, l.client, "GET", l.address, token(), "")
			check(status, body)
			select {
			case <-l.end:
				return
			case <-tick.C:
			}
		}
	})
}

// valid is a client whose every request has to be answered.
func (l *oidcLoad) valid(name string, token func() string) {
	l.run(token, func(status int, body string) {
		if status != http.StatusOK || !strings.Contains(body, `"metadata"`) {
			l.wrong.Add(1)
			l.t.Errorf("%s, a good one: %d %.200s", name, status, body)
			return
		}
		l.good.Add(1)
	})
}

// invalid is a client whose every request has to be refused, while the issuer is
// there by the one answer that there is.
func (l *oidcLoad) invalid(name string, up func() bool, token func() string) {
	var was bool
	l.run(func() string { was = up(); return token() }, func(status int, body string) {
		switch {
		case status == http.StatusUnauthorized && body == oidcRefusal(body):
		case status == http.StatusServiceUnavailable && !(was && up()):
		default:
			l.wrong.Add(1)
			l.t.Errorf("%s: %d %.200s", name, status, body)
			return
		}
		l.bad.Add(1)
	})
}

// oidcRefusal is the body of every 401, which is the same but for the id of the
// request.
func oidcRefusal(body string) string {
	var e struct {
		Error struct {
			Message, Type string
			Code          int
		}
	}
	if json.Unmarshal([]byte(body), &e) != nil || e.Error.Type != "NotAuthorizedException" || !strings.HasPrefix(e.Error.Message, "this needs a caller that the server knows") {
		return "not the refusal"
	}
	return body
}

// more waits for so many more good answers.
func (l *oidcLoad) more(n int64) {
	l.t.Helper()
	from := l.good.Load()
	require.Eventually(l.t, func() bool { return l.good.Load() >= from+n || l.wrong.Load() > 0 }, 60*time.Second, 5*time.Millisecond)
	require.Zero(l.t, l.wrong.Load())
}

// Clients load a table with tokens of every kind while the issuer rotates its keys
// twice, is away for a while, and withdraws the oldest key.
func TestKeysRotateWhileClientsLoadAndNobodyIsLetInOrOutByMistake(t *testing.T) {
	issuer, stranger := authntest.New(t, authntest.Options{}), authntest.New(t, authntest.Options{})
	s := oidcServer(t, issuer.URL(), "")
	var serial atomic.Int64
	who := func(over map[string]any) map[string]any {
		claims := map[string]any{"sub": "alice", "tenant": "acme", "roles": []string{"writer"}, "jti": fmt.Sprint(serial.Add(1))}
		for name, value := range over {
			claims[name] = value
		}
		return claims
	}
	first, firstKey := issuer.Mint(who(nil)), issuer.KeyID()
	makeOrders(t, s.url(), first)

	var away, withdrawn, refused atomic.Bool
	up := func() bool { return !away.Load() }
	l := newOIDCLoad(t, s.url())
	defer l.stop()
	for range 2 {
		l.valid("a token for each request", func() string { return issuer.Mint(who(nil)) })
	}
	// A token lives through rotations, and is then replaced.
	var kept [2]atomic.Pointer[string]
	for i := range kept {
		token := issuer.Mint(who(nil))
		kept[i].Store(&token)
		l.valid("one token for many requests", func() string { return *kept[i].Load() })
	}
	late := issuer.Mint(who(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}))
	l.invalid("an expired token", up, func() string { return late })
	l.invalid("a token for somebody else", up, func() string { return issuer.Mint(who(map[string]any{"aud": "another"})) })
	l.invalid("a token of another issuer's key", up, func() string {
		return stranger.Sign(map[string]any{"kid": issuer.KeyID()}, issuer.Claims(who(nil)))
	})
	l.invalid("a token whose claims were changed", up, func() string {
		mine, other := strings.Split(issuer.Mint(who(nil)), "."), strings.Split(issuer.Mint(who(map[string]any{"sub": "bob"})), ".")
		return mine[0] + "." + other[1] + "." + mine[2]
	})
	l.invalid("a token with a key that never was", up, func() string { return stranger.Sign(map[string]any{"kid": "made-up"}, issuer.Claims(who(nil))) })
	// The oldest key's token is good until it is withdrawn, and then soon not.
	l.run(func() string { return first }, func(status int, body string) {
		switch {
		case status == http.StatusOK && !refused.Load():
		case status == http.StatusUnauthorized && withdrawn.Load():
			refused.Store(true)
		case status == http.StatusServiceUnavailable && withdrawn.Load():
		default:
			l.wrong.Add(1)
			t.Errorf("the token of the oldest key, withdrawn %v, refused before %v: %d %.200s", withdrawn.Load(), refused.Load(), status, body)
		}
	})

	l.more(100)
	require.NoError(t, issuer.Rotate())
	status, text := bearerAsks(t, l.client, "GET", l.address, issuer.Mint(who(nil)), "")
	require.Equal(t, http.StatusOK, status, text) // so that the new key is known when its issuer goes
	l.more(100)
	away.Store(true)
	issuer.Down()
	fetches := issuer.Requests(authntest.KeysPath)
	l.more(100)
	require.Eventually(t, func() bool { return issuer.Requests(authntest.KeysPath) > fetches }, 30*time.Second, 5*time.Millisecond, "it was not asked while it was away")
	issuer.Fault(nil)
	fetches = issuer.Requests(authntest.KeysPath)
	require.Eventually(t, func() bool { return issuer.Requests(authntest.KeysPath) > fetches+1 }, 30*time.Second, 5*time.Millisecond)
	away.Store(false)
	require.NoError(t, issuer.Rotate())
	l.more(100)
	for i := range kept {
		fresh := issuer.Mint(who(nil))
		kept[i].Store(&fresh)
	}
	l.more(20) // nobody is under way with a token of the oldest key any more

	withdrawn.Store(true)
	issuer.Revoke(firstKey)
	began := time.Now()
	require.Eventually(t, refused.Load, 30*time.Second, 5*time.Millisecond, "the token of a withdrawn key is still good")
	t.Logf("refused %s after its key was withdrawn", time.Since(began).Round(10*time.Millisecond))
	require.Less(t, time.Since(began), refreshed+5*time.Second, "the time between two fetches, and what a busy machine takes")
	l.more(50)
	require.Greater(t, l.bad.Load(), int64(100))
	t.Logf("%d good, %d refused", l.good.Load(), l.bad.Load())
}

// The same with a provider that others wrote: clients get their tokens at the
// server's own route, as old ones do, and use each for a while.
func TestClientsOfAProviderStayInWhileItsKeysRotate(t *testing.T) {
	provider := authntest.NewProvider(t)
	s := oidcServer(t, provider.URL(), `    roles_claim  = "realm_access.roles"
    relay_scope  = ""`)
	login := func() string {
		resp, err := http.PostForm(s.url()+"/v1/oauth/tokens", url.Values{"grant_type": {"client_credentials"},
			"client_id": {authntest.ProviderClient}, "client_secret": {authntest.ProviderSecret}, "scope": {"catalog"}})
		if err != nil {
			t.Error(err)
			return ""
		}
		defer resp.Body.Close()
		var answer struct {
			Token string `json:"access_token"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s %v", resp.Status, err)
		}
		return answer.Token
	}
	makeOrders(t, s.url(), login())
	l := newOIDCLoad(t, s.url())
	defer l.stop()
	for range 4 {
		token, uses := "", 0
		l.valid("a token of the provider", func() string {
			if uses--; uses < 0 {
				token, uses = login(), 9
			}
			return token
		})
	}
	forger := authntest.New(t, authntest.Options{})
	l.invalid("a forged token", func() bool { return true }, func() string {
		claims := forger.Claims(map[string]any{"iss": provider.URL(), "tenant": "acme", "realm_access": map[string]any{"roles": []string{"writer"}}})
		return forger.Sign(map[string]any{"kid": "rsa-0"}, claims)
	})
	for range 2 {
		l.more(100)
		require.NoError(t, provider.Rotate())
	}
	l.more(100)
	require.Positive(t, l.bad.Load())
}
