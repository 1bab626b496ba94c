package authn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

const (
	// maxForm bounds the body of a token request: three tokens and some change.
	maxForm = 64 << 10

	grantClient   = "client_credentials"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantRefresh  = "refresh_token"

	accessTokenType = "urn:ietf:params:oauth:token-type:access_token" // #nosec G101 -- a name of RFC 8693
	jwtType         = "urn:ietf:params:oauth:token-type:jwt"

	// keyLifetime is what clients are told of how long an API key lasts, in
	// seconds: they come back then, and learn if it does not any more.
	keyLifetime = 3600
)

// tokenAnswer is a token, as RFC 6749 (5.1) and RFC 8693 (2.2.1) write it.
type tokenAnswer struct {
	AccessToken     string `json:"access_token"`
	TokenType       string `json:"token_type"`
	ExpiresIn       *int64 `json:"expires_in,omitempty"`
	IssuedTokenType string `json:"issued_token_type,omitempty"`
	Scope           string `json:"scope,omitempty"`
	RefreshToken    string `json:"refresh_token,omitempty"`

	relayed bool
}

func bearer(token string, seconds int64) *tokenAnswer {
	return &tokenAnswer{AccessToken: token, TokenType: "bearer", ExpiresIn: &seconds, IssuedTokenType: accessTokenType}
}

// tokenError is a refusal, as RFC 6749 (5.2) writes it.
type tokenError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`

	status     int
	retryAfter time.Duration
	// guess marks a wrong secret.
	guess bool
}

func (e *tokenError) Error() string { return e.Code }

func badForm(why string) error {
	return &tokenError{Code: "invalid_request", Description: why, status: http.StatusBadRequest}
}

func wrongClient() error {
	return &tokenError{Code: "invalid_client", Description: "the client id or the client secret is wrong", status: http.StatusUnauthorized, guess: true}
}

func unsupportedGrant(why string) error {
	return &tokenError{Code: "unsupported_grant_type", Description: why, status: http.StatusBadRequest}
}

func notNow(why string, after time.Duration) error {
	return &tokenError{Code: "temporarily_unavailable", Description: why, status: http.StatusServiceUnavailable, retryAfter: after}
}

// tokenRequest is what a client asks for.
type tokenRequest struct {
	form url.Values
	// id and secret are the client's; basic tells that they came by HTTP Basic.
	id, secret string
	basic      bool
	client     policy.Client
}

// Token serves POST /v1/oauth/tokens: client_credentials, token-exchange and
// refresh_token. See the package's documentation. Answers are never cached, and
// errors are those of OAuth.
func (a *Authn) Token(w http.ResponseWriter, r *http.Request, client policy.Client) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	request, err := readRequest(w, r, client)
	grant := "other"
	var answer *tokenAnswer
	if err == nil {
		switch kind := request.form.Get("grant_type"); kind {
		case grantClient:
			grant = kind
			answer, err = a.clientCredentials(r.Context(), request)
		case grantExchange:
			grant = "token-exchange"
			answer, err = a.exchange(r.Context(), request)
		case grantRefresh:
			grant = kind
			answer, err = a.refresh(r.Context(), request)
		case "":
			err = badForm("the request has no grant_type")
		default:
			err = unsupportedGrant("this grant is not served here; there are client_credentials, token-exchange and refresh_token")
		}
	}
	if err != nil {
		refused := a.asTokenError(err, client)
		outcome := "refused"
		if refused.status >= 500 {
			outcome = "unavailable"
		}
		a.counters.tokens.WithLabelValues(grant, outcome).Inc()
		// What the client is told: the access log knows the status only.
		a.log.Info("a request for a token is refused", "grant", grant, "status", refused.status, "error", refused.Code, "why", refused.Description, "client", client.Addr)
		respondError(w, refused, request != nil && request.basic)
		return
	}
	outcome := "answered"
	if answer.relayed {
		outcome = "relayed"
	}
	a.counters.tokens.WithLabelValues(grant, outcome).Inc()
	respond(w, http.StatusOK, answer)
}

// asTokenError makes the answer of an error, and counts wrong secrets.
func (a *Authn) asTokenError(err error, client policy.Client) *tokenError {
	var refused *tokenError
	var e *mounts.Error
	switch {
	case errors.As(err, &refused):
	case errors.As(err, &e) && e.Kind == mounts.RateLimited:
		refused = &tokenError{Code: "temporarily_unavailable", Description: e.Message(), status: http.StatusTooManyRequests, retryAfter: e.RetryAfter}
	case errors.As(err, &e) && e.Kind == mounts.Unavailable:
		refused = &tokenError{Code: "temporarily_unavailable", Description: e.Message(), status: http.StatusServiceUnavailable, retryAfter: e.RetryAfter}
	default:
		refused = &tokenError{Code: "server_error", Description: "internal error", status: http.StatusInternalServerError}
	}
	if refused.guess {
		a.failed(client.Addr)
	}
	return refused
}

func respondError(w http.ResponseWriter, e *tokenError, basic bool) {
	if e.status == http.StatusUnauthorized {
		// RFC 6749 (5.2) wants the scheme that the client used.
		scheme := "Bearer"
		if basic {
			scheme = `Basic realm="icefield"`
		}
		w.Header().Set("WWW-Authenticate", scheme)
	}
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((e.retryAfter+time.Second-1)/time.Second), 10))
	}
	respond(w, e.status, e)
}

func respond(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil { // texts and numbers only
		panic("authn: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that has gone is told nothing
}

// readRequest reads form and client. Nothing is read from the URL: secrets do not
// belong there.
func readRequest(w http.ResponseWriter, r *http.Request, client policy.Client) (*tokenRequest, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, &tokenError{Code: "invalid_request", Description: "tokens are asked for with POST", status: http.StatusMethodNotAllowed}
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, badForm("the body must be a form (application/x-www-form-urlencoded)")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, &tokenError{Code: "invalid_request", Description: "the form is longer than 64 KiB", status: http.StatusRequestEntityTooLarge}
	case err != nil:
		return nil, badForm("the form did not arrive whole")
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, badForm("the body is not a form")
	}
	for name, values := range form {
		many := name == "resource" || name == "audience" // RFC 8693, 2.1
		if len(values) > 1 && !many || len(values) > 8 {
			return nil, badForm("a parameter stands in the form more than once")
		}
	}
	q := &tokenRequest{form: form, id: form.Get("client_id"), secret: form.Get("client_secret"), client: client}
	return q, q.readBasic(r.Header.Values("Authorization"))
}

// readBasic reads client id and secret from a header, where they are encoded as
// in a form (RFC 6749, 2.3.1). Clients that do not know that are understood as
// well, as long as what they send is not an encoding by chance.
func (q *tokenRequest) readBasic(lines []string) error {
	for _, line := range lines {
		scheme, encoded, _ := strings.Cut(line, " ")
		if !strings.EqualFold(scheme, "Basic") {
			continue // the current token of Java clients
		}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		id, secret, found := strings.Cut(string(raw), ":")
		if err != nil || !found || q.basic {
			return badForm("the Authorization header is not one")
		}
		q.basic = true
		id, secret = unescape(id), unescape(secret)
		if q.id != "" && q.id != id || q.secret != "" && q.secret != secret {
			return badForm("the client authenticates in the header and in the form, and differently")
		}
		q.id, q.secret = id, secret
	}
	return nil
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// clientCredentials answers an API key with itself, and asks the issuer for
// everybody else.
func (a *Authn) clientCredentials(ctx context.Context, q *tokenRequest) (*tokenAnswer, error) {
	if q.secret == "" {
		return nil, wrongless("the request has no client_secret")
	}
	if _, err := a.byKey(q.client.Addr, q.secret); err == nil {
		return bearer(q.secret, keyLifetime), nil
	} else if errors.Is(err, mounts.RateLimited) {
		return nil, err
	}
	switch {
	case a.relay == nil && len(a.keys.hashes) == 0:
		return nil, unsupportedGrant("there are no API keys here and no issuer is asked for tokens; get a token from the issuer itself")
	case a.relay == nil, strings.HasPrefix(q.secret, KeyPrefix):
		// One of ours that is no longer valid is nobody else's business.
		return nil, wrongClient()
	case !a.relay.grantsKind(grantClient):
		return nil, unsupportedGrant("the issuer does not give tokens to clients themselves")
	}
	return a.ask(ctx, q, url.Values{})
}

// wrongless is a client that shows no secret: nobody guesses by that.
func wrongless(why string) error {
	return &tokenError{Code: "invalid_client", Description: why, status: http.StatusUnauthorized}
}

// exchange answers a subject token that is good here with itself, unless the
// issuer gives another one for it.
func (a *Authn) exchange(ctx context.Context, q *tokenRequest) (*tokenAnswer, error) {
	subject, wanted := q.form.Get("subject_token"), q.form.Get("requested_token_type")
	if subject == "" || q.form.Get("subject_token_type") == "" {
		return nil, badForm("an exchange needs subject_token and subject_token_type")
	}
	v, _, err := a.byBearer(ctx, &policy.Credentials{Bearer: subject, Client: q.client})
	if errors.Is(err, mounts.RateLimited) {
		return nil, err
	}
	own := func() (*tokenAnswer, error) {
		switch {
		case wanted != "" && wanted != accessTokenType && wanted != jwtType:
			return nil, badForm("only access tokens are given here (requested_token_type)")
		case v.key == nil:
			return bearer(subject, keyLifetime), nil
		}
		return bearer(subject, max(1, int64(v.expires.Sub(a.now())/time.Second))), nil
	}
	good := err == nil
	if good && (v.key == nil || q.id == "" || a.relay == nil) {
		return own()
	}
	if a.relay == nil || !a.relay.grantsKind(grantExchange) || strings.HasPrefix(subject, KeyPrefix) {
		if good {
			return own()
		}
		return nil, a.wrongSubject(err)
	}
	answer, refused := a.ask(ctx, q, q.exchanged())
	if e, ok := refused.(*tokenError); good && ok && e.Code == "invalid_client" {
		// Whoever has a good token gets an answer; the secrets of clients are not tried
		// out by that either.
		a.failed(q.client.Addr)
	}
	if good && (refused != nil || wanted == "" && !q.elsewhere() && !a.takes(ctx, answer.AccessToken, q.client)) {
		// The issuer gives no other token for it, or one that is for somebody else (many
		// leave out the audience unless it is asked for), and it is good as it is.
		return own()
	}
	return answer, refused
}

// elsewhere tells whether the client says itself whom the token is to be for.
func (q *tokenRequest) elsewhere() bool { return q.form.Has("audience") || q.form.Has("resource") }

// takes tells whether a token lets somebody in here.
func (a *Authn) takes(ctx context.Context, token string, client policy.Client) bool {
	_, _, err := a.byBearer(ctx, &policy.Credentials{Bearer: token, Client: client})
	return err == nil
}

// wrongSubject says why a subject token that nobody else is asked about will not
// do.
func (a *Authn) wrongSubject(err error) error {
	var d *denial
	if !errors.As(err, &d) {
		return err
	}
	return &tokenError{Code: "invalid_request", Description: "the subject token is expired or not valid here", status: http.StatusBadRequest, guess: d.guess}
}

// exchanged are the fields of an exchange.
func (q *tokenRequest) exchanged() url.Values {
	out := url.Values{}
	for _, name := range []string{"subject_token", "subject_token_type", "actor_token", "actor_token_type", "requested_token_type"} {
		if v := q.form.Get(name); v != "" {
			out.Set(name, v)
		}
	}
	return out
}

func (a *Authn) refresh(ctx context.Context, q *tokenRequest) (*tokenAnswer, error) {
	token := q.form.Get("refresh_token")
	switch {
	case token == "":
		return nil, badForm("the request has no refresh_token")
	case a.relay == nil || !a.relay.grantsKind(grantRefresh):
		return nil, unsupportedGrant("there are no refresh tokens here; log in again")
	}
	return a.ask(ctx, q, url.Values{"refresh_token": {token}})
}
