package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// bearerRemote is a remote that accepts some bearer tokens.
type bearerRemote struct {
	*httptest.Server
	mu      sync.Mutex
	accepts func(token string) int // a status; 200 for yes
	tokens  []string
}

func newBearerRemote(t *testing.T, accepts func(string) int) *bearerRemote {
	r := &bearerRemote{accepts: accepts}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		token, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
		r.mu.Lock()
		r.tokens = append(r.tokens, token)
		status := r.accepts(token)
		r.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if status == http.StatusOK {
			_, _ = w.Write([]byte("{}"))
		} else {
			_, _ = fmt.Fprintf(w, `{"error":{"message":"not with %s","type":"NotAuthorizedException","code":%d}}`, token, status)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// seen returns the tokens that arrived since the last time.
func (r *bearerRemote) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	tokens := r.tokens
	r.tokens = nil
	return tokens
}

func only(good ...string) func(string) int {
	return func(token string) int {
		for _, g := range good {
			if token == g {
				return http.StatusOK
			}
		}
		return http.StatusUnauthorized
	}
}

// at opens a client with this login.
func at(t *testing.T, base string, auth Auth) *client {
	t.Helper()
	c, err := Config{URL: base, Auth: auth, Request: 5 * time.Second}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	k := newClient(c)
	t.Cleanup(k.close)
	return k
}

// as is the context of a client's call with this token.
func as(token string) context.Context {
	return mounts.WithCaller(context.Background(), mounts.Caller{Principal: "p", RequestID: "r", Token: token, Scope: &mounts.Scope{}})
}

// outcome is the error of a call, whether it came from the login or the remote.
func outcome(k *client, ctx context.Context, base string) *mounts.Error {
	a, err := k.do(ctx, configCall(base))
	if err == nil && a.status != http.StatusOK {
		err = refusal(configCall(base), a)
	}
	return mounts.AsError(err)
}

func TestTheCallersOwnTokenIsPassedOnAndNoOtherOne(t *testing.T) {
	remote := newBearerRemote(t, only("alice", "bob"))
	k := at(t, remote.URL, Passthrough())
	for _, token := range []string{"alice", "bob", "alice"} {
		if e := outcome(k, as(token), remote.URL); e != nil {
			t.Error(e)
		}
	}
	if got := fmt.Sprint(remote.seen()); got != "[alice bob alice]" {
		t.Errorf("the remote saw %s", got)
	}
	if e := outcome(k, as("mallory"), remote.URL); e == nil || e.Kind != mounts.Unauthenticated || !e.Answered || strings.Contains(e.Error(), "mallory") {
		t.Errorf("a token that the remote refuses: %v", e)
	}
	if n := len(remote.seen()); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	for _, token := range []string{"", "a b", "a\r\nX: y", strings.Repeat("x", maxLogin+1)} {
		if e := outcome(k, as(token), remote.URL); e == nil || e.Kind != mounts.Unauthenticated || e.OutcomeUnknown {
			t.Errorf("%.9q: %v", token, e)
		}
	}
	if n := len(remote.seen()); n != 0 {
		t.Errorf("%d calls were made without a token", n)
	}
}

func TestABackgroundCallOfAPassthroughMountBearsNoLogin(t *testing.T) {
	remote := newBearerRemote(t, only("alice"))
	k := at(t, remote.URL, Passthrough())
	a, err := k.do(context.Background(), configCall(remote.URL))
	if err != nil || a.status != http.StatusUnauthorized || a.proof.whose != ofNobody {
		t.Errorf("%+v, %v", a, err)
	}
	if got := remote.seen(); len(got) != 1 || got[0] != "" {
		t.Errorf("the remote saw %q", got)
	}
}

// swap exchanges "alice" for "remote-alice-N".
func swap(a Asked) Told {
	if a.Form.Get("grant_type") != exchangeGrantType {
		return Refuse(400, "unauthorized_client")
	}
	return Issue(fmt.Sprintf("remote-%s-%d", a.Form.Get("subject_token"), a.N), 3600)
}

func exchangeAt(t *testing.T, remote *bearerRemote, change func(*ExchangeConfig)) (*client, *IdP, *clock) {
	t.Helper()
	idp := NewIdP(t)
	idp.Answer(swap)
	c := ExchangeConfig{TokenURL: idp.URL(), ClientID: "icefield", ClientSecret: secretIs("s"), Audience: "lake"}
	if change != nil {
		change(&c)
	}
	k, at := at(t, remote.URL, Exchange(c)), newClock()
	x := k.login.(*exchange)
	x.now, x.endpoint.now = at.now, at.now
	if x.own != nil {
		x.own.now = at.now
	}
	return k, idp, at
}

func startsWith(prefix string) func(string) int {
	return func(token string) int {
		if strings.HasPrefix(token, prefix) {
			return http.StatusOK
		}
		return http.StatusUnauthorized
	}
}

func TestEachCallerGetsATokenOfTheirOwnWhichIsKept(t *testing.T) {
	remote := newBearerRemote(t, startsWith("remote-"))
	k, idp, at := exchangeAt(t, remote, nil)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if e := outcome(k, as([]string{"alice", "bob", "carol"}[i%3]), remote.URL); e != nil {
				t.Error(e)
			}
		})
	}
	wg.Wait()
	if idp.Count() != 3 {
		t.Errorf("%d exchanges for three callers", idp.Count())
	}
	got := make(map[string]int)
	for _, token := range remote.seen() {
		got[token]++
	}
	if len(got) != 3 {
		t.Errorf("the remote saw %v", got)
	}
	for token, n := range got {
		if n != 20 {
			t.Errorf("%s came %d times", token, n)
		}
	}
	a := idp.Last()
	if a.Form.Get("audience") != "lake" || a.Form.Get("subject_token_type") != accessTokenType || a.Form.Get("client_id") != "icefield" || a.Form.Get("client_secret") != "s" {
		t.Errorf("the exchange is %v", a.Form)
	}
	at.advance(2 * time.Hour)
	if e := outcome(k, as("alice"), remote.URL); e != nil || idp.Count() != 4 {
		t.Errorf("after its end: %v after %d exchanges", e, idp.Count())
	}
}

func TestTheTokensOfTooManyCallersAreForgotten(t *testing.T) {
	remote := newBearerRemote(t, startsWith("remote-"))
	k, idp, _ := exchangeAt(t, remote, nil)
	x := k.login.(*exchange)
	for i := range maxCallers + 10 {
		x.of(fmt.Sprintf("caller-%d", i))
	}
	if n := x.kept.Len(); n != maxCallers {
		t.Errorf("%d are kept", n)
	}
	idp.Answer(func(Asked) Told { return Issue(strings.Repeat("x", maxExchanged+1), 60) })
	if e := outcome(k, as("alice"), remote.URL); e == nil || e.Kind != mounts.BadGateway || len(remote.seen()) != 0 {
		t.Errorf("a huge token: %v", e)
	}
}

func TestARefusedExchangeIsTheFaultOfWhoeverIsToBlame(t *testing.T) {
	remote := newBearerRemote(t, startsWith("remote-"))
	for told, want := range map[string]mounts.Kind{
		"400 invalid_grant":           mounts.Unauthenticated,
		"400 invalid_request":         mounts.Unauthenticated,
		"401 invalid_token":           mounts.Unauthenticated,
		"403 access_denied":           mounts.Forbidden,
		"401 invalid_client":          mounts.BadGateway,
		"400 unauthorized_client":     mounts.BadGateway,
		"400 unsupported_grant_type":  mounts.BadGateway,
		"400 invalid_target":          mounts.BadGateway,
		"400 invalid_scope":           mounts.BadGateway,
		"400 vendor_code":             mounts.BadGateway,
		"429 slow_down":               mounts.RateLimited,
		"500 server_error":            mounts.Unavailable,
		"503 temporarily_unavailable": mounts.Unavailable,
	} {
		k, idp, at := exchangeAt(t, remote, nil)
		var status int
		var code string
		_, _ = fmt.Sscan(told, &status, &code)
		idp.Answer(func(Asked) Told { return Refuse(status, code) })
		e := outcome(k, as("alice-secret"), remote.URL)
		if e == nil || e.Kind != want || e.OutcomeUnknown || strings.Contains(e.Error(), "alice-secret") || strings.Contains(e.Error(), "vendor_code") {
			t.Errorf("%s: %v", told, e)
			continue
		}
		if n := len(remote.seen()); n != 0 {
			t.Errorf("%s: %d catalog calls", told, n)
		}
		// The same caller does not hammer the endpoint; another one is asked for,
		// unless the endpoint itself is out of order.
		shared := want == mounts.Unavailable || want == mounts.RateLimited
		_ = outcome(k, as("alice-secret"), remote.URL)
		if idp.Count() != 1 {
			t.Errorf("%s: %d exchanges for one refused caller", told, idp.Count())
		}
		_ = outcome(k, as("bob"), remote.URL)
		if (idp.Count() == 1) != shared {
			t.Errorf("%s: %d exchanges for two callers", told, idp.Count())
		}
		idp.Answer(swap)
		at.advance(longestFailurePause)
		if e := outcome(k, as("alice-secret"), remote.URL); e != nil {
			t.Errorf("%s: afterwards %v", told, e)
		}
		remote.seen()
	}
}

func TestARefusedExchangedTokenIsExchangedOnceMore(t *testing.T) {
	remote := newBearerRemote(t, startsWith("remote-alice-2"))
	k, idp, _ := exchangeAt(t, remote, nil)
	if e := outcome(k, as("alice"), remote.URL); e != nil || idp.Count() != 2 {
		t.Errorf("%v after %d exchanges", e, idp.Count())
	}
	// Bob's are all refused: his caller cannot help that by logging in again.
	e := outcome(k, as("bob"), remote.URL)
	if e == nil || e.Kind != mounts.BadGateway || !e.Answered || idp.Count() != 4 {
		t.Errorf("%v after %d exchanges", e, idp.Count())
	}
	for range 20 {
		_ = outcome(k, as("bob"), remote.URL)
	}
	if idp.Count() != 4 {
		t.Errorf("a storm of refusals cost %d exchanges", idp.Count()-4)
	}
}

func TestACallerWithoutATokenIsToldToLogInBeforeAnythingIsSent(t *testing.T) {
	remote := newBearerRemote(t, startsWith("remote-"))
	k, idp, _ := exchangeAt(t, remote, nil)
	e := outcome(k, as(""), remote.URL)
	if e == nil || e.Kind != mounts.Unauthenticated || !strings.Contains(e.Message(), "bearer token") || idp.Count() != 0 || len(remote.seen()) != 0 {
		t.Errorf("%v", e)
	}
}

func TestABackgroundCallOfAnExchangeMountUsesTheClientsOwnGrantIfItCan(t *testing.T) {
	remote := newBearerRemote(t, func(string) int { return http.StatusOK })
	for name, c := range map[string]struct {
		change func(*ExchangeConfig)
		told   func(Asked) Told
		sent   string
		kind   mounts.Kind
	}{
		"own":       {nil, nil, "token-1", 0},
		"not given": {nil, swap, "", 0},
		"no client": {func(c *ExchangeConfig) { c.ClientID, c.ClientSecret = "", nil }, nil, "", 0},
		"down":      {nil, func(Asked) Told { return Told{Status: 503} }, "", mounts.Unavailable},
	} {
		k, idp, _ := exchangeAt(t, remote, c.change)
		idp.Answer(c.told)
		e := outcome(k, context.Background(), remote.URL)
		if e != nil && e.Kind != c.kind || e == nil && c.kind != 0 {
			t.Errorf("%s: %v", name, e)
		}
		if got := remote.seen(); c.kind == 0 && (len(got) != 1 || got[0] != c.sent) {
			t.Errorf("%s: the remote saw %q", name, got)
		}
	}
}

func TestOnlyCallsInTheCallersNameArePerCaller(t *testing.T) {
	for want, auths := range map[bool][]Auth{
		true:  {Passthrough(), Exchange(ExchangeConfig{})},
		false: {NoAuth(), {}, Bearer(secretIs("x")), OAuth2(OAuth2Config{}), SigV4(SigV4Config{})},
	} {
		for _, a := range auths {
			if a.PerCaller() != want {
				t.Errorf("%T: %v", a.kind, !want)
			}
		}
	}
}
