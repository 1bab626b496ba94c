package rest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/icefield/icefield/mounts"
)

const (
	// assumedLifetime is a token's that says nothing of it.
	assumedLifetime = time.Hour
	// longestLifetime bounds what a token endpoint may claim.
	longestLifetime = 24 * time.Hour
	// renewAhead is how long before its end a secret is renewed, at most; one
	// that lives shortly is renewed after four fifths of its time.
	renewAhead = time.Minute
)

// endpoint is a token endpoint (RFC 6749, 3.2) and the mount's client there.
type endpoint struct {
	url      string
	clientID string
	// secret reads the client secret; nil for a client without.
	secret func() (string, error)
	// basic sends both by HTTP Basic, rather than in the form.
	basic bool
	// scope, audience and resource are what every grant asks for.
	scope, audience, resource string
	http                      *http.Client
	now                       func() time.Time
}

// grant is one request for a token.
type grant struct {
	form url.Values
	// bearer is sent as the login of the request, instead of the client's.
	bearer string
}

// clientGrant is the client credentials grant (RFC 6749, 4.4).
func clientGrant() grant { return grant{form: url.Values{"grant_type": {"client_credentials"}}} }

const (
	exchangeGrantType = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessTokenType   = "urn:ietf:params:oauth:token-type:access_token" // #nosec G101 -- a name of RFC 8693
)

// exchangeGrant is a token exchange (RFC 8693, 2.1).
func exchangeGrant(subject string) grant {
	return grant{form: url.Values{"grant_type": {exchangeGrantType},
		"subject_token": {subject}, "subject_token_type": {accessTokenType}}}
}

// bearing sends a request with a bearer token.
type bearing struct {
	next  http.RoundTripper
	token string
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	bear(r, b.token)
	return b.next.RoundTrip(r)
}

// ask makes one request for a token. Nothing was sent to the catalog when it
// fails; a refusal has a *grantRefused as its cause.
func (e *endpoint) ask(ctx context.Context, g grant) (issued[string], error) {
	c := clientcredentials.Config{TokenURL: e.url, Scopes: strings.Fields(e.scope), EndpointParams: g.form,
		AuthStyle: oauth2.AuthStyleInParams}
	for name, value := range map[string]string{"audience": e.audience, "resource": e.resource} {
		if value != "" {
			g.form.Set(name, value)
		}
	}
	if g.bearer == "" {
		c.ClientID = e.clientID
		if e.basic {
			c.AuthStyle = oauth2.AuthStyleInHeader
		}
		if e.secret != nil {
			secret, err := readSecret(e.secret)
			if err != nil {
				return issued[string]{}, err
			}
			c.ClientSecret = secret
		}
	}
	client := e.http
	if g.bearer != "" {
		client = plainClient(bearing{next: client.Transport, token: g.bearer})
	}
	start := e.now()
	ctx, way := traced(ctx)
	token, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return issued[string]{}, tokenError(ctx, err, way.reached(false))
	}
	if err := checkToken(token.AccessToken); err != nil {
		return issued[string]{}, unusable(err)
	}
	if kind := token.TokenType; kind != "" && !strings.EqualFold(kind, "bearer") {
		return issued[string]{}, unusable(errors.New("the token is not a bearer token"))
	}
	return lasting(token.AccessToken, start, tokenLifetime(token, start)), nil
}

// readSecret reads a client secret.
func readSecret(read func() (string, error)) (string, error) {
	secret, err := read()
	if err == nil && strings.TrimSpace(secret) == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", &mounts.Error{Kind: mounts.Unavailable, Err: fmt.Errorf("read the client secret: %w", err),
			Msg: "the client secret of the mount's own login cannot be read; nothing was sent"}
	}
	return strings.TrimSpace(secret), nil
}

// tokenLifetime is expires_in, or else the exp claim of a token that is a JWT
// (RFC 7519), or else an hour, as Iceberg's Java client has it.
func tokenLifetime(token *oauth2.Token, now time.Time) time.Duration {
	lifetime := assumedLifetime
	if left := time.Until(token.Expiry); !token.Expiry.IsZero() && left > 0 {
		lifetime = left
	} else if exp, ok := webTokenExpiry(token.AccessToken); ok && exp.After(now) {
		lifetime = exp.Sub(now)
	}
	return min(lifetime, longestLifetime)
}

// webTokenExpiry reads the exp claim without verifying anything: it is the
// mount's own token, and only its renewal depends on it.
func webTokenExpiry(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(raw, &claims) != nil || claims.Exp <= 0 || claims.Exp > 1<<40 {
		return time.Time{}, false
	}
	return time.Unix(int64(claims.Exp), 0), true
}

// grantRefused is a token endpoint's answer that is no token.
type grantRefused struct {
	status int
	// code is one of grantCodes, or empty.
	code string
}

func (r *grantRefused) Error() string { return "the token endpoint refused: " + r.why() }

func (r *grantRefused) why() string {
	if r.code == "" {
		return fmt.Sprintf("status %d", r.status)
	}
	return fmt.Sprintf("status %d, %s", r.status, r.code)
}

// grantCodes are the error codes of RFC 6749 (4.1.2.1, 5.2), RFC 6750 (3.1) and
// RFC 8693 (2.2.2): the only words of a token endpoint's answer that are
// repeated, since careless ones echo the secret.
const grantCodes = " invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope " +
	"access_denied server_error temporarily_unavailable invalid_token insufficient_scope invalid_target "

// tokenError is the error of a token that could not be had. What the endpoint
// said itself is Answered: it can be reached, and no breaker counts it.
func tokenError(ctx context.Context, err error, connected bool) error {
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		why := &grantRefused{status: refused.Response.StatusCode}
		if code := refused.ErrorCode; code != "" && strings.Contains(grantCodes, " "+code+" ") {
			why.code = code
		}
		return refusedGrant(why, refused.Response.Header)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &mounts.Error{Kind: mounts.Unavailable, Err: errors.New("the token endpoint did not answer in time"),
			Msg: "the mount's own login failed: its token endpoint did not answer in time; nothing was sent, try again later"}
	case ctx.Err() != nil:
		return &mounts.Error{Kind: mounts.Unavailable, Err: errClosed}
	case !connected:
		return &mounts.Error{Kind: mounts.Unavailable, Err: fmt.Errorf("token endpoint: %s", innermost(err)),
			Msg: "the mount's own login failed: its token endpoint cannot be reached; nothing was sent, try again later"}
	}
	return unusable(errors.New("the token endpoint's answer cannot be read"))
}

func refusedGrant(why *grantRefused, h http.Header) error {
	e := &mounts.Error{Kind: mounts.BadGateway, Err: why, Answered: why.status < 500,
		Msg: "the mount's own login failed: its token endpoint refused it (" + why.why() + ")"}
	switch {
	case why.status == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = mounts.RateLimited, retryAfter(h)
		e.Msg = "the mount's own login failed: its token endpoint limits the rate of requests; nothing was sent, try again later"
	case why.status >= 500:
		e.Kind, e.RetryAfter = mounts.Unavailable, retryAfter(h)
		e.Msg = "the mount's own login failed: its token endpoint is not working (" + why.why() + "); nothing was sent, try again later"
	}
	return e
}

// unusable is the error of an answer that holds no token to work with.
func unusable(cause error) error {
	return &mounts.Error{Kind: mounts.BadGateway, Err: cause,
		Msg: "the mount's own login failed: its token endpoint gave no usable token"}
}

// secrets is what no message may repeat of the client.
func (e *endpoint) secrets() []string {
	if e.secret == nil {
		return nil
	}
	secret, err := readSecret(e.secret)
	if err != nil {
		return nil
	}
	return []string{secret}
}
