package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/icefield/icefield/mounts"
)

const (
	// assumedLifetime is a token's whose answer names none.
	assumedLifetime = time.Hour
	// renewAhead is how long before its end a token is renewed, at most; one
	// that lives shortly is renewed after four fifths of its time.
	renewAhead = time.Minute
	// renewAgain is how long a valid token is used on after its renewal failed.
	renewAgain = 5 * time.Second
)

// clientCredentials is the login of an OAuth2 client.
type clientCredentials struct {
	config  clientcredentials.Config
	http    *http.Client
	timeout time.Duration
	now     func() time.Time

	mu      sync.Mutex
	current issued
	flight  *flight
	closed  bool
	running sync.WaitGroup
}

type issued struct {
	token            string
	renewAt, expires time.Time
}

// flight is one call to the token endpoint and all who wait for it.
type flight struct {
	done   chan struct{}
	cancel context.CancelFunc
	got    issued
	err    error
}

func newClientCredentials(c OAuth2Config, baseURL string, client *http.Client, timeout time.Duration) *clientCredentials {
	if c.TokenURL == "" {
		c.TokenURL = baseURL + "/v1/oauth/tokens"
		if c.Scope == "" {
			c.Scope = "catalog"
		}
	}
	return &clientCredentials{
		config: clientcredentials.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.TokenURL,
			Scopes: strings.Fields(c.Scope), AuthStyle: oauth2.AuthStyleInParams},
		http: client, timeout: timeout, now: time.Now,
	}
}

func (c *clientCredentials) token(ctx context.Context) (string, error) {
	c.mu.Lock()
	held := c.current
	c.mu.Unlock()
	now := c.now()
	if held.token != "" && now.Before(held.renewAt) {
		return held.token, nil
	}
	got, err := c.obtain(ctx)
	if err != nil && held.token != "" && now.Before(held.expires) && ctx.Err() == nil {
		c.putOff(held.token)
		return held.token, nil
	}
	return got.token, err
}

func (c *clientCredentials) renew(ctx context.Context, refused string) (string, bool, error) {
	c.mu.Lock()
	if held := c.current; held.token != "" && held.token != refused {
		c.mu.Unlock()
		return held.token, true, nil
	}
	c.current = issued{}
	c.mu.Unlock()
	got, err := c.obtain(ctx)
	return got.token, err == nil && got.token != refused, err
}

// putOff lets the held token, whose renewal failed, serve a little longer.
func (c *clientCredentials) putOff(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.token == token {
		c.current.renewAt = c.now().Add(renewAgain)
	}
}

// obtain joins the call to the token endpoint that is under way, or makes one.
// The call goes on when its first waiter leaves: others wait for it too.
func (c *clientCredentials) obtain(ctx context.Context) (issued, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return issued{}, &mounts.Error{Kind: mounts.Unavailable, Err: errors.New("the backend is closed")}
	}
	f := c.flight
	if f == nil {
		flightCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
		f = &flight{done: make(chan struct{}), cancel: cancel}
		c.flight = f
		c.running.Go(func() { c.fly(flightCtx, f) })
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.got, f.err
	case <-ctx.Done():
		return issued{}, callerGone(ctx)
	}
}

func (c *clientCredentials) fly(ctx context.Context, f *flight) {
	defer f.cancel()
	f.got, f.err = c.fetch(ctx)
	c.mu.Lock()
	if f.err == nil {
		c.current = f.got
	}
	c.flight = nil
	c.mu.Unlock()
	close(f.done)
}

func (c *clientCredentials) fetch(ctx context.Context) (issued, error) {
	start := c.now()
	ctx, connected := traced(ctx)
	token, err := c.config.Token(context.WithValue(ctx, oauth2.HTTPClient, c.http))
	if err == nil {
		err = checkToken(token.AccessToken)
	}
	if err != nil {
		return issued{}, loginError(ctx, err, connected.Load())
	}
	lifetime := assumedLifetime
	if left := time.Until(token.Expiry); !token.Expiry.IsZero() && left > 0 {
		lifetime = left
	}
	return issued{token: token.AccessToken, expires: start.Add(lifetime),
		renewAt: start.Add(lifetime - min(renewAhead, lifetime/5))}, nil
}

func (c *clientCredentials) close() {
	c.mu.Lock()
	c.closed = true
	if c.flight != nil {
		c.flight.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
}

// oauthCodes are the errors of RFC 6749, 5.2: the only words of a token
// endpoint's answer that are repeated, since careless ones echo the secret.
const oauthCodes = " invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope "

// loginError is the error of a token that could not be had.
func loginError(ctx context.Context, err error, connected bool) error {
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		why := fmt.Sprintf("status %d", refused.Response.StatusCode)
		if code := refused.ErrorCode; code != "" && strings.Contains(oauthCodes, " "+code+" ") {
			why += ", " + code
		}
		return &mounts.Error{Kind: mounts.BadGateway, Err: errors.New("the token endpoint refused: " + why),
			Msg: "the mount's own login failed: its token endpoint refused it (" + why + ")"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &mounts.Error{Kind: mounts.Timeout, Err: errors.New("the token endpoint did not answer in time"),
			Msg: "the mount's own login failed: its token endpoint did not answer in time"}
	case ctx.Err() != nil:
		return &mounts.Error{Kind: mounts.Unavailable, Err: errors.New("the backend was closed meanwhile")}
	case !connected:
		return &mounts.Error{Kind: mounts.Unavailable, Err: fmt.Errorf("token endpoint: %s", innermost(err)),
			Msg: "the mount's own login failed: its token endpoint cannot be reached; nothing was sent"}
	}
	return &mounts.Error{Kind: mounts.BadGateway, Err: errors.New("the token endpoint gave no usable token"),
		Msg: "the mount's own login failed: its token endpoint gave no usable token"}
}
