package rest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

func secretIs(secret string) func() (string, error) {
	return func() (string, error) { return secret, nil }
}

// clocked is a login at a token endpoint, whose time the test moves.
func clocked(t *testing.T, change func(*OAuth2Config)) (*clientCredentials, *IdP, *clock) {
	t.Helper()
	idp, at := NewIdP(t), newClock()
	c := OAuth2Config{TokenURL: idp.URL(), ClientID: "a", ClientSecret: secretIs("b")}
	if change != nil {
		change(&c)
	}
	l := newClientCredentials(c, loginDeps{base: idp.Server.URL, http: plainClient(http.DefaultTransport), timeout: 5 * time.Second, now: at.now})
	t.Cleanup(l.close)
	return l, idp, at
}

func token(t *testing.T, l *clientCredentials) string {
	t.Helper()
	got, err := l.lease.get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	for expiresIn, c := range map[int]struct{ keep, renew time.Duration }{
		3600: {57*time.Minute + 59*time.Second, time.Minute + 2*time.Second},
		100:  {59 * time.Second, 22 * time.Second},
		0:    {57*time.Minute + 59*time.Second, time.Minute + 2*time.Second}, // an hour is assumed
	} {
		l, idp, at := clocked(t, nil)
		idp.Answer(func(a Asked) Told { return Issue(fmt.Sprintf("token-%d", a.N), expiresIn) })
		first := token(t, l)
		at.advance(c.keep)
		if got := token(t, l); got != first || idp.Count() != 1 {
			t.Errorf("expires in %d: renewed within %v", expiresIn, c.keep)
		}
		at.advance(c.renew)
		if got := token(t, l); got != first {
			t.Errorf("expires in %d: the renewal was waited for", expiresIn)
		}
		l.owner.running.Wait()
		if got := token(t, l); got == first || idp.Count() != 2 {
			t.Errorf("expires in %d: still the first token after another %v", expiresIn, c.renew)
		}
	}
}

func TestAWebTokenWithoutALifetimeLivesUntilItsOwnClaim(t *testing.T) {
	l, idp, at := clocked(t, nil)
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"x","exp":%d}`, at.now().Add(10*time.Minute).Unix()))
	idp.Answer(func(Asked) Told { return Issue("eyJhbGciOiJub25lIn0."+claims+".c2ln", 0) })
	token(t, l)
	if left := l.lease.current.expires.Sub(at.now()); left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("it is kept for %v", left)
	}
	for _, claims := range []string{`{"exp":-5}`, `{"exp":"never"}`, `[]`, `{"exp":1e300}`} {
		if _, ok := webTokenExpiry("a." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".b"); ok {
			t.Errorf("%s was taken for an end", claims)
		}
	}
}

func TestAnEndlessLifetimeIsNotBelieved(t *testing.T) {
	l, idp, at := clocked(t, nil)
	idp.Answer(func(Asked) Told { return Issue("x", 1<<40) })
	token(t, l)
	if left := l.lease.current.expires.Sub(at.now()); left > longestLifetime {
		t.Errorf("it is kept for %v", left)
	}
}

func TestTheClientIsNamedInTheFormOrByBasicNeverBoth(t *testing.T) {
	const secret = "s3:cr%et+/=& é"
	for _, basic := range []bool{false, true} {
		l, idp, _ := clocked(t, func(c *OAuth2Config) {
			c.ClientID, c.ClientSecret, c.Basic = "ice:field", secretIs(secret), basic
			c.Scope, c.Audience, c.Resource = "one two", "https://catalog.example", "urn:catalog"
		})
		token(t, l)
		a := idp.Last()
		id, sent := a.ID, a.Secret
		if !basic {
			id, sent = a.Form.Get("client_id"), a.Form.Get("client_secret")
		}
		if id != "ice:field" || sent != secret || a.Form.Has("client_secret") == basic || (a.Header.Get("Authorization") == "") == basic {
			t.Errorf("basic %v: the client is %q with %q in %v", basic, id, sent, a)
		}
		if a.Form.Get("scope") != "one two" || a.Form.Get("audience") != "https://catalog.example" || a.Form.Get("resource") != "urn:catalog" ||
			a.Form.Get("grant_type") != "client_credentials" {
			t.Errorf("the form is %v", a.Form)
		}
	}
}

func TestAReplacedClientSecretIsReadForTheNextToken(t *testing.T) {
	secret := "old"
	l, idp, at := clocked(t, func(c *OAuth2Config) { c.ClientSecret = func() (string, error) { return secret + "\n", nil } })
	token(t, l)
	secret = "new"
	at.advance(2 * time.Hour)
	token(t, l)
	if got := idp.Last().Form.Get("client_secret"); got != "new" {
		t.Errorf("the second token was asked for with %q", got)
	}
}

func TestASecretThatCannotBeReadSendsNothing(t *testing.T) {
	l, idp, _ := clocked(t, func(c *OAuth2Config) {
		c.ClientSecret = func() (string, error) { return "", errors.New("open /run/x: no such file") }
	})
	_, err := l.lease.get(context.Background())
	if e := mounts.AsError(err); e.Kind != mounts.Unavailable || idp.Count() != 0 {
		t.Errorf("%v after %d calls", err, idp.Count())
	}
}

func TestATokenOfTheRemotesOwnRouteIsRenewedByExchange(t *testing.T) {
	l, idp, at := clocked(t, func(c *OAuth2Config) { c.Refresh = true })
	first := token(t, l)
	at.advance(59*time.Minute + 30*time.Second)
	token(t, l)
	l.owner.running.Wait()
	a := idp.Last()
	if a.Form.Get("grant_type") != exchangeGrantType || a.Form.Get("subject_token") != first || a.Form.Get("subject_token_type") != accessTokenType ||
		a.Bearer != first || a.Form.Has("client_secret") {
		t.Errorf("the renewal is %+v", a)
	}
	if got := token(t, l); got != "token-2" {
		t.Errorf("the new token is %q", got)
	}
	// One that is over, or was refused, is good for nothing any more.
	at.advance(2 * time.Hour)
	token(t, l)
	if got := idp.Last().Form.Get("grant_type"); got != "client_credentials" {
		t.Errorf("an expired token was renewed by %q", got)
	}
	if ok, err := l.renew(context.Background(), proof{used: "token-3"}); !ok || err != nil || idp.Last().Form.Get("grant_type") != "client_credentials" {
		t.Errorf("a refused token: %v, %v, by %v", ok, err, idp.Last().Form)
	}
	if own := newClientCredentials(OAuth2Config{}, loginDeps{now: at.now}); !own.exchanges.Load() || own.endpoint.scope != "catalog" {
		t.Error("at the remote's own route there is no exchange, or no scope")
	}
	if other := newClientCredentials(OAuth2Config{TokenURL: idp.URL()}, loginDeps{now: at.now}); other.exchanges.Load() || other.endpoint.scope != "" {
		t.Error("at another route there is an exchange, or a scope")
	}
}

func TestARefusedExchangeFallsBackToClientCredentials(t *testing.T) {
	for code, again := range map[string]bool{"invalid_request": true, "unsupported_grant_type": false, "nonsense": true} {
		l, idp, at := clocked(t, func(c *OAuth2Config) { c.Refresh = true })
		idp.Answer(func(a Asked) Told {
			if a.Form.Get("grant_type") == exchangeGrantType {
				return Refuse(400, code)
			}
			return Issue(fmt.Sprintf("token-%d", a.N), 3600)
		})
		renewal := func() int {
			before := idp.Count()
			at.advance(59*time.Minute + 30*time.Second)
			token(t, l)
			l.owner.running.Wait()
			return idp.Count() - before
		}
		token(t, l)
		if n := renewal(); n != 2 || token(t, l) != "token-3" {
			t.Errorf("%s: %d calls for the first renewal", code, n)
		}
		if n := renewal(); (n == 2) != again {
			t.Errorf("%s: %d calls for the second renewal", code, n)
		}
	}
}

func TestAValidTokenOutlivesAFailedRenewal(t *testing.T) {
	l, idp, at := clocked(t, nil)
	idp.Answer(func(a Asked) Told { return Issue(fmt.Sprintf("token-%d", a.N), 100) })
	first := token(t, l)
	idp.Answer(func(Asked) Told { return Told{Status: 503} })
	at.advance(85 * time.Second)
	for range 3 {
		if got := token(t, l); got != first {
			t.Fatalf("the valid token was given up for %q", got)
		}
		l.owner.running.Wait()
	}
	if n := idp.Count(); n != 2 {
		t.Errorf("the failing endpoint was asked %d times at once", n)
	}
	at.advance(20 * time.Second)
	if _, err := l.lease.get(context.Background()); err == nil {
		t.Error("an expired token was used")
	}
	idp.Answer(nil)
	at.advance(longestFailurePause)
	if got := token(t, l); got == first {
		t.Error("the expired token came back")
	}
}

func TestWhatATokenEndpointsFailureBecomes(t *testing.T) {
	for name, c := range map[string]struct {
		told     Told
		kind     mounts.Kind
		after    time.Duration
		answered bool
	}{
		"client":       {Refuse(401, "invalid_client"), mounts.BadGateway, 0, true},
		"scope":        {Refuse(400, "invalid_scope"), mounts.BadGateway, 0, true},
		"limited":      {Told{Status: 429, Header: map[string]string{"Retry-After": "7"}}, mounts.RateLimited, 7 * time.Second, true},
		"down":         {Told{Status: 503, Header: map[string]string{"Retry-After": "600"}}, mounts.Unavailable, time.Minute, false},
		"broken":       {Told{Status: 500, Body: "<html>"}, mounts.Unavailable, 0, false},
		"ok and error": {Told{Status: 200, Body: `{"error":"invalid_client"}`}, mounts.BadGateway, 0, true},
		"no bearer":    {Told{Status: 200, Body: `{"access_token":"x","token_type":"N_A"}`}, mounts.BadGateway, 0, false},
		"redirect":     {Told{Status: 302, Header: map[string]string{"Location": "/elsewhere"}}, mounts.BadGateway, 0, true},
		"deep":         {Told{Status: 200, Body: nested(20000)}, mounts.BadGateway, 0, false},
		"endless":      {Told{Status: 200, Body: `{"access_token":"` + string(make([]byte, 2<<20)) + `"}`}, mounts.BadGateway, 0, false},
	} {
		l, idp, _ := clocked(t, nil)
		idp.Answer(func(Asked) Told { return c.told })
		_, err := l.lease.get(context.Background())
		e := mounts.AsError(err)
		if e == nil || e.Kind != c.kind || e.RetryAfter != c.after || e.Answered != c.answered || e.OutcomeUnknown {
			t.Errorf("%s: %+v", name, e)
		}
		if idp.Count() != 1 {
			t.Errorf("%s: %d calls", name, idp.Count())
		}
	}
}

func nested(depth int) string {
	b := make([]byte, 0, 2*depth+20)
	b = append(b, `{"access_token":`...)
	for range depth {
		b = append(b, '[')
	}
	return string(b)
}

func TestATokenEndpointIsRefusedIfItGivesASecretAway(t *testing.T) {
	for at, ok := range map[string]bool{
		"https://idp.example/token":         true,
		"http://idp.example/token":          false,
		"http://127.0.0.1:9/token":          true,
		"http://localhost/token":            true,
		"/v1/oauth/tokens":                  false,
		"v1/oauth/tokens":                   false,
		"//idp.example/token":               false,
		"ftp://idp.example/token":           false,
		"https://user:pw@idp.example/token": false,
		"https://idp.example/token?x=1":     false,
		"https://idp.example/token#x":       false,
	} {
		for name, auth := range map[string]Auth{
			"oauth2":   OAuth2(OAuth2Config{TokenURL: at, ClientID: "a", ClientSecret: secretIs("b")}),
			"exchange": Exchange(ExchangeConfig{TokenURL: at}),
			"sigv4":    SigV4(SigV4Config{Service: "glue", RoleARN: "arn:aws:iam::1:role/x", STSEndpoint: at}),
		} {
			if err := auth.check("https://catalog.example"); (err == nil) != ok {
				t.Errorf("%s at %s: %v", name, at, err)
			}
		}
	}
	if err := OAuth2(OAuth2Config{TokenURL: "http://idp.example/t", ClientID: "a", ClientSecret: secretIs("b")}).check("http://catalog.example"); err != nil {
		t.Errorf("both in the clear: %v", err)
	}
}

func TestCloseEndsATokenCallAndRefusesFurtherOnes(t *testing.T) {
	l, idp, _ := clocked(t, nil)
	idp.Answer(func(Asked) Told { return Told{Hang: true} })
	done := make(chan error, 1)
	go func() {
		_, err := l.lease.get(context.Background())
		done <- err
	}()
	idp.Await(1)
	l.close()
	if err := <-done; err == nil {
		t.Error("a token came from a closed login")
	}
	if _, err := l.lease.get(context.Background()); err == nil {
		t.Error("a closed login hands out tokens")
	}
}
