package rest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
)

func oauth(srv *remote.Server, tokenURL string) func(*rest.Config) {
	return func(c *rest.Config) {
		c.Auth = rest.OAuth2(rest.OAuth2Config{TokenURL: tokenURL, ClientID: "icefield", ClientSecret: secretOf("client-secret"), Scope: "PRINCIPAL_ROLE:ALL"})
	}
}

func secretOf(secret string) func() (string, error) {
	return func() (string, error) { return secret, nil }
}

// guarded serves a remote that demands OAuth2 tokens.
func guarded(t testing.TB, change func(*remote.OAuth)) *remote.Server {
	srv := serve(t, remote.Options{})
	o := &remote.OAuth{ClientID: "icefield", ClientSecret: "client-secret", Scope: "PRINCIPAL_ROLE:ALL", ExpiresIn: 3600}
	change(o)
	srv.Tune(func(q *remote.Quirks) { q.OAuth = o })
	return srv
}

func TestABearerTokenIsReadForEveryRequest(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.Bearer = "one" })
	token, reads := "one", 0
	b := open(t, srv, func(c *rest.Config) {
		c.Auth = rest.Bearer(func() (string, error) { reads++; return token + "\n", nil })
	})
	if err := invoke(b, orderLoad()); err != nil {
		t.Fatal(err)
	}
	srv.Tune(func(q *remote.Quirks) { q.Bearer = "two" })
	e := wantKind(t, invoke(b, orderLoad()), mounts.BadGateway)
	if !strings.Contains(e.Message(), "login") {
		t.Errorf("the message is %q", e.Message())
	}
	token = "two"
	if err := invoke(b, orderLoad()); err != nil || reads < 4 {
		t.Errorf("with the new token: %v after %d reads", err, reads)
	}
}

func orderLoad() mounts.Request { return &mounts.LoadTableRequest{Table: orders} }

func TestARefusedBearerTokenIsSentAgainOnlyIfItChanged(t *testing.T) {
	for _, status := range []int{401, 419} {
		srv := serve(t, remote.Options{})
		tokens := []string{"open", "old", "new"}
		b := open(t, srv, func(c *rest.Config) {
			c.Auth = rest.Bearer(func() (string, error) {
				token := tokens[0]
				if len(tokens) > 1 {
					tokens = tokens[1:]
				}
				return token, nil
			})
		})
		srv.Fail("loadTable", remote.Fault{Status: status, Times: 1})
		if err := invoke(b, orderLoad()); err != nil || srv.Count("loadTable") != 2 {
			t.Errorf("%d: %v after %d calls", status, err, srv.Count("loadTable"))
		}
		srv.Forget()
		srv.Fail("loadTable", remote.Fault{Status: status})
		wantKind(t, invoke(b, orderLoad()), mounts.BadGateway)
		if n := srv.Count("loadTable"); n != 1 {
			t.Errorf("%d: the unchanged token was sent %d times", status, n)
		}
	}
}

func TestABearerTokenThatCannotBeReadIsAnErrorBeforeSending(t *testing.T) {
	srv := serve(t, remote.Options{})
	token, fail := "fine", error(nil)
	b := open(t, srv, func(c *rest.Config) { c.Auth = rest.Bearer(func() (string, error) { return token, fail }) })
	for name, set := range map[string]func(){
		"error": func() { token, fail = "", errors.New("open /run/token: no such file") },
		"empty": func() { token, fail = " \n", nil },
		"lines": func() { token, fail = "s3cr3t\nX-Evil: 1", nil },
		"blank": func() { token, fail = "s3cr3t s3cr3t", nil },
		"bytes": func() { token, fail = "s3cr3t\x00", nil },
	} {
		set()
		if e := wantKind(t, invoke(b, orderLoad()), mounts.Unavailable); strings.Contains(e.Error(), "s3cr3t") || e.Ident.Name != "orders" {
			t.Errorf("%s: %v", name, e)
		}
	}
	if n := srv.Count(remote.AnyOp); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

func TestOneOAuth2TokenServesManyCalls(t *testing.T) {
	srv := guarded(t, func(*remote.OAuth) {})
	b := open(t, srv, oauth(srv, srv.URL+"/v1/oauth/tokens"))
	if n := len(b.calls.take()); n != 0 {
		t.Fatalf("%d calls were observed after Open", n)
	}
	for range 3 {
		if err := invoke(b, orderLoad()); err != nil {
			t.Fatal(err)
		}
	}
	if tokens, loads := srv.Count(remote.Token), srv.Count("loadTable"); tokens != 0 || loads != 3 {
		t.Errorf("%d token calls for %d loads after Open", tokens, loads)
	}
}

func TestTheTokenRequestIsAFormWithClientAndScope(t *testing.T) {
	for tokenURL, scope := range map[bool]string{true: "PRINCIPAL_ROLE:ALL", false: "catalog"} {
		srv := guarded(t, func(o *remote.OAuth) { o.Scope = scope })
		c, _, calls := config(srv)
		o := rest.OAuth2Config{ClientID: "icefield", ClientSecret: secretOf("client-secret")}
		if tokenURL {
			o.TokenURL, o.Scope = srv.URL+"/v1/oauth/tokens", scope
		}
		c.Auth = rest.OAuth2(o)
		b, err := rest.Open(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		token := srv.Requests()[0]
		if token.Op != remote.Token || token.Query != "" || token.Header.Get("Authorization") != "" || token.Header.Get("X-Icefield-Via") != "" ||
			token.Form["grant_type"][0] != "client_credentials" || token.Form["scope"][0] != scope || token.Form["client_secret"][0] != "client-secret" {
			t.Errorf("the token request is %+v", token)
		}
		seen := calls.take()
		if len(seen) != 2 || seen[0].Kind != "token" || seen[0].Status != 200 || seen[0].Op != 0 || seen[1].Kind != "config" {
			t.Errorf("observed %+v", seen)
		}
	}
}

func TestARevokedTokenIsRenewedOnceAndTheCallSentAgain(t *testing.T) {
	srv := guarded(t, func(*remote.OAuth) {})
	b := open(t, srv, oauth(srv, ""))
	srv.RevokeTokens()
	if err := invoke(b, orderLoad()); err != nil || srv.Count(remote.Token) != 1 || srv.Count("loadTable") != 2 {
		t.Errorf("%v after %d token calls and %d loads", err, srv.Count(remote.Token), srv.Count("loadTable"))
	}
	srv.Forget()
	srv.Fail("loadTable", remote.Fault{Status: 401})
	e := wantKind(t, invoke(b, orderLoad()), mounts.BadGateway)
	// The token is brand-new: another one would be refused as well.
	if srv.Count(remote.Token) != 0 || srv.Count("loadTable") != 1 || !strings.Contains(e.Message(), "mount's own login") {
		t.Errorf("%q after %d token calls and %d loads", e.Message(), srv.Count(remote.Token), srv.Count("loadTable"))
	}
}

func TestConcurrentCallsShareOneRenewal(t *testing.T) {
	srv := guarded(t, func(*remote.OAuth) {})
	b := open(t, srv, oauth(srv, ""))
	srv.RevokeTokens()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := invoke(b, orderLoad()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := srv.Count(remote.Token); n != 1 {
		t.Errorf("%d token calls", n)
	}
}

func TestATokenEndpointThatFailsNamesTheMountsLogin(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(srv *remote.Server)
		kind mounts.Kind
		says string
	}{
		"wrong secret": {func(s *remote.Server) { s.Tune(func(q *remote.Quirks) { q.OAuth.ClientSecret = "other" }) }, mounts.BadGateway, "invalid_client"},
		"wrong scope":  {func(s *remote.Server) { s.Tune(func(q *remote.Quirks) { q.OAuth.Scope = "other" }) }, mounts.BadGateway, "invalid_scope"},
		"vendor code":  {func(s *remote.Server) { s.Tune(func(q *remote.Quirks) { q.OAuth.Refuse = "client-secret" }) }, mounts.BadGateway, "status 400"},
		"not OAuth":    {func(s *remote.Server) { s.Fail(remote.Token, remote.Fault{Status: 500, HTML: true}) }, mounts.Unavailable, "status 500"},
		"no token":     {func(s *remote.Server) { s.Fail(remote.Token, remote.Fault{Raw: []byte(`{"token_type":"bearer"}`)}) }, mounts.BadGateway, "no usable token"},
		"bad token": {func(s *remote.Server) {
			s.Fail(remote.Token, remote.Fault{Raw: []byte(`{"access_token":"client-secret\n"}`)})
		}, mounts.BadGateway, "no usable token"},
		"no JSON":  {func(s *remote.Server) { s.Fail(remote.Token, remote.Fault{Raw: []byte(`client-secret`)}) }, mounts.BadGateway, "no usable token"},
		"redirect": {func(s *remote.Server) { s.Fail(remote.Token, remote.Fault{Status: 307, Location: s.URL + "/steal"}) }, mounts.BadGateway, "status 307"},
		"hang":     {func(s *remote.Server) { s.Fail(remote.Token, remote.Fault{Break: remote.Hang}) }, mounts.Unavailable, "in time"},
		"stopped":  {func(s *remote.Server) { s.Stop() }, mounts.Unavailable, "cannot be reached"},
	} {
		idp := guarded(t, func(*remote.OAuth) {})
		srv := serve(t, remote.Options{})
		b := open(t, srv, oauth(idp, idp.URL+"/v1/oauth/tokens"), func(c *rest.Config) {
			if name == "hang" {
				c.Request = time.Second
			}
		})
		srv.Fail("loadTable", remote.Fault{Status: 401, Times: 1}) // makes it ask for another token
		c.set(idp)
		e := wantKind(t, invoke(b, orderLoad()), c.kind)
		if !strings.Contains(e.Message(), "login") || !strings.Contains(e.Message(), c.says) || e.Ident.Name != "orders" {
			t.Errorf("%s: %q", name, e.Message())
		}
		if strings.Contains(e.Error()+b.log.String(), "client-secret") {
			t.Errorf("%s: the secret is in %v", name, e)
		}
		if n := idp.Count(""); n != 0 {
			t.Errorf("%s: the redirect was followed", name)
		}
	}
}

func TestACallerWhoLeavesDoesNotTakeTheRenewalFromTheOthers(t *testing.T) {
	idp := guarded(t, func(*remote.OAuth) {})
	srv := serve(t, remote.Options{})
	b := open(t, srv, oauth(idp, idp.URL+"/v1/oauth/tokens"))
	idp.Tune(func(q *remote.Quirks) { q.Latency = 100 * time.Millisecond })
	srv.Fail("loadTable", remote.Fault{Status: 401, Times: 1})
	idp.Forget()
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() {
		_, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
		left <- err
	}()
	idp.Await(remote.Token, 1)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who left got %v", err)
	}
	if err := invoke(b, orderLoad()); err != nil || idp.Count(remote.Token) != 1 {
		t.Errorf("the other one got %v after %d token calls", err, idp.Count(remote.Token))
	}
}

func TestATokenEndpointThatTheRemoteNamesIsNeverUsed(t *testing.T) {
	thief := serve(t, remote.Options{})
	srv := guarded(t, func(o *remote.OAuth) { o.Scope = "catalog" })
	named := map[string]string{"oauth2-server-uri": thief.URL + "/v1/oauth/tokens", "token": "remote-token", "credential": "a:b"}
	named["oauth2-server-uri"] = strings.Replace(named["oauth2-server-uri"], "127.0.0.1", "localhost", 1)
	srv.Tune(func(q *remote.Quirks) { q.Overrides, q.Defaults = named, named })
	b := open(t, srv, func(c *rest.Config) {
		c.Auth = rest.OAuth2(rest.OAuth2Config{ClientID: "icefield", ClientSecret: secretOf("client-secret")})
	})
	srv.RevokeTokens()
	if err := invoke(b, orderLoad()); err != nil || srv.Count(remote.Token) != 1 {
		t.Errorf("%v after %d token calls", err, srv.Count(remote.Token))
	}
	if n := len(thief.Requests()); n != 0 {
		t.Errorf("the endpoint that it named was called %d times", n)
	}
	if log := b.log.String(); !strings.Contains(log, "oauth2-server-uri") || strings.Contains(log, "remote-token") {
		t.Errorf("logged %s", log)
	}
}
