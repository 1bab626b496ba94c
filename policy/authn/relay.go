package authn

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds what a token endpoint answers.
const maxAnswer = 128 << 10

// ask relays a request to the issuer's token endpoint. What is sent is made anew:
// the fields given, those that every grant has, and the client's id and secret; no
// header of the client's. An address that is locked out is not asked for, since
// secrets could be tried here as well.
func (a *Authn) ask(ctx context.Context, q *tokenRequest, form url.Values) (*tokenAnswer, error) {
	if wait, blocked := a.blocked(q.client.Addr); blocked {
		return nil, lockedOut(wait)
	}
	select {
	case a.relayed <- struct{}{}:
		defer func() { <-a.relayed }()
	default:
		return nil, notNow("too many logins at the same time; try again", time.Second)
	}
	i := a.relay
	req, err := i.post(ctx, q, form)
	if err != nil {
		return nil, err
	}
	resp, err := i.client.Do(req)
	if err != nil {
		a.log.Warn("the token endpoint of an issuer cannot be reached", "oidc", i.Name, "error", cause(err))
		return nil, notNow("the issuer of tokens cannot be reached right now; try again", 5*time.Second)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil || len(body) > maxAnswer {
		a.log.Warn("the answer of an issuer's token endpoint was cut short or is too long", "oidc", i.Name, "status", resp.StatusCode)
		return nil, notNow("the issuer of tokens gave no usable answer; try again", 5*time.Second)
	}
	if resp.StatusCode == http.StatusOK {
		answer := readAnswer(body)
		if answer == nil {
			a.log.Warn("an issuer's token endpoint answers with something that is no bearer token", "oidc", i.Name)
			return nil, notNow("the issuer of tokens gave no usable answer; try again", 5*time.Second)
		}
		if answer.IssuedTokenType == "" {
			answer.IssuedTokenType = accessTokenType
		}
		a.succeeded(q.client.Addr)
		return answer, nil
	}
	return nil, a.refusal(resp, body)
}

// post makes the request to the token endpoint.
func (i *issuer) post(ctx context.Context, q *tokenRequest, form url.Values) (*http.Request, error) {
	form.Set("grant_type", q.form.Get("grant_type"))
	scope := q.form.Get("scope")
	if i.RelayScope != nil {
		scope = *i.RelayScope
	}
	if scope != "" {
		form.Set("scope", scope)
	}
	for _, name := range []string{"audience", "resource"} {
		if values := q.form[name]; len(values) > 0 {
			form[name] = values
		}
	}
	basic := i.basic(q)
	if !basic && q.id != "" {
		form.Set("client_id", q.id)
		if q.secret != "" {
			form.Set("client_secret", q.secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if basic {
		req.SetBasicAuth(url.QueryEscape(q.id), url.QueryEscape(q.secret))
	}
	return req, nil
}

// cause drops the URL of an error, which says nothing new in a log.
func cause(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// basic tells whether the client's secret goes into a header, which every issuer
// takes (RFC 6749, 2.3.1), rather than into the form, which the client prefers if
// it sent it there.
func (i *issuer) basic(q *tokenRequest) bool {
	if q.id == "" || q.secret == "" {
		return false
	}
	post, header := slices.Contains(i.methods, "client_secret_post"), len(i.methods) == 0 || slices.Contains(i.methods, "client_secret_basic")
	if post && header {
		return q.basic
	}
	return !post
}

// readAnswer takes what is allowed to pass; nil for what is no bearer token.
func readAnswer(body []byte) *tokenAnswer {
	var raw struct {
		AccessToken     string          `json:"access_token"`
		TokenType       string          `json:"token_type"`
		ExpiresIn       json.RawMessage `json:"expires_in"`
		IssuedTokenType string          `json:"issued_token_type"`
		Scope           string          `json:"scope"`
		RefreshToken    string          `json:"refresh_token"`
	}
	if json.Unmarshal(body, &raw) != nil || !strings.EqualFold(raw.TokenType, "bearer") || !visible(raw.AccessToken) || raw.AccessToken == "" ||
		len(raw.AccessToken) > maxToken || !visible(raw.RefreshToken) || !visible(raw.IssuedTokenType) {
		return nil
	}
	// DuckDB takes no other token_type, and some clients compare it by case.
	answer := &tokenAnswer{AccessToken: raw.AccessToken, TokenType: "bearer", IssuedTokenType: raw.IssuedTokenType,
		Scope: raw.Scope, RefreshToken: raw.RefreshToken, relayed: true}
	// Some issuers write the number as a text.
	if seconds, err := strconv.ParseFloat(strings.Trim(string(raw.ExpiresIn), `"`), 64); err == nil && seconds >= 0 && seconds < 1<<31 {
		whole := int64(seconds)
		answer.ExpiresIn = &whole
	}
	return answer
}

func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// refusals are the sentences for what issuers refuse with; their own may say
// anything.
func refusals(code string) (sentence string, status int, guess bool) {
	switch code {
	case "invalid_client":
		return "the client id or the client secret is wrong", http.StatusUnauthorized, true
	case "invalid_grant":
		return "the token that was shown is expired or not valid", http.StatusBadRequest, true
	case "unauthorized_client":
		return "the issuer does not let this client have tokens in this way", http.StatusBadRequest, false
	case "unsupported_grant_type":
		return "the issuer does not give tokens in this way", http.StatusBadRequest, false
	case "invalid_scope":
		return "the issuer does not know the scope; ask for one that it knows, or for none", http.StatusBadRequest, false
	case "invalid_target":
		return "the issuer gives no tokens for this audience or resource", http.StatusBadRequest, false
	case "invalid_request":
		return "the issuer refuses the request", http.StatusBadRequest, false
	}
	return "", 0, false
}

// refusal makes our refusal out of an issuer's.
func (a *Authn) refusal(resp *http.Response, body []byte) error {
	var raw struct {
		Code string `json:"error"`
	}
	_ = json.Unmarshal(body, &raw) // what is none has no code
	sentence, status, guess := refusals(raw.Code)
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return &tokenError{Code: "temporarily_unavailable", Description: "the issuer takes no more requests right now; try again later",
			status: http.StatusTooManyRequests, retryAfter: 10 * time.Second}
	case sentence != "" && resp.StatusCode < 500:
		return &tokenError{Code: raw.Code, Description: sentence, status: status, guess: guess}
	case resp.StatusCode == http.StatusUnauthorized:
		return wrongClient()
	}
	a.log.Warn("an issuer's token endpoint answers with something that is not OAuth", "oidc", a.relay.Name, "status", resp.StatusCode)
	return notNow("the issuer of tokens gave no usable answer; try again", 5*time.Second)
}
