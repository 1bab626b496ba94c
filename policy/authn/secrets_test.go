package authn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

// Whatever is sent, and however the issuer behaves, what is said of it holds no
// part of a credential nor of what a token claims.
func TestNoSecretIsEverTold(t *testing.T) {
	const planted = "pl4nted-s3cret-value"
	var log bytes.Buffer
	reg := prometheus.NewRegistry()
	issuer := authntest.New(t, authntest.Options{Clients: map[string]authntest.Client{"etl": {Secret: planted + "-client"}}})
	o := corp(issuer)
	o.Relay = true
	a := opened(t, Config{OIDC: []OIDC{o}, Keys: []Key{ci(t)}, Metrics: reg,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, quickPace())
	var told strings.Builder
	tokens := map[string]bool{}
	try := func(c *policy.Credentials) {
		for _, s := range []string{c.Bearer, c.APIKey} {
			if len(s) > 20 {
				tokens[s[len(s)-20:]] = true
			}
		}
		_, err := a.Authenticate(context.Background(), c)
		if err != nil {
			fmt.Fprintf(&told, "%v %+v %#v\n", err, err, err)
		}
	}
	secret := map[string]any{"sub": planted, "tenant": planted, "roles": []string{planted}, "jti": planted, "aud": planted, "email": planted}
	every := func() {
		try(&policy.Credentials{APIKey: planted + "-key"})
		try(&policy.Credentials{Bearer: planted + "-bearer"})
		try(&policy.Credentials{Bearer: planted, APIKey: planted})
		try(bearerOf(issuer.Mint(secret)))
		try(bearerOf(issuer.Mint(with(map[string]any{"tenant": []string{planted}}))))
		try(bearerOf(issuer.Mint(with(map[string]any{"exp": planted}))))
		try(bearerOf(issuer.Mint(with(map[string]any{"iss": planted}))))
		try(bearerOf(issuer.Mint(with(map[string]any{"ISS": planted}))))
		try(bearerOf(issuer.Sign(map[string]any{"kid": planted}, issuer.Claims(secret))))
		try(bearerOf(issuer.Sign(map[string]any{"typ": planted}, issuer.Claims(secret))))
		try(bearerOf(issuer.Sign(nil, `{"iss":"`+issuer.URL()+`","`+planted+`":1,"`+planted+`":2}`)))
		for _, form := range []url.Values{
			{"grant_type": {"client_credentials"}, "client_id": {planted}, "client_secret": {planted + "-client-wrong"}},
			{"grant_type": {planted}, "client_secret": {planted}},
			{"grant_type": {grantExchange}, "subject_token": {planted}, "subject_token_type": {planted}, "client_id": {"etl"}, "client_secret": {planted}},
			{"grant_type": {"refresh_token"}, "refresh_token": {planted}, "client_id": {"etl"}, "client_secret": {planted + "-client"}},
		} {
			w := ask(t, a, form)
			fmt.Fprintln(&told, w.Code, w.Body.String(), w.Header())
		}
		w := ask(t, a, url.Values{"grant_type": {"client_credentials"}}, "Authorization", "Basic "+planted)
		fmt.Fprintln(&told, w.Body.String(), w.Header())
	}
	every()
	require.NoError(t, issuer.Rotate())
	issuer.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, `{"error":"`+planted+`","error_description":"`+planted+`"}`, http.StatusInternalServerError)
		return true
	})
	every()
	issuer.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "/"+planted, http.StatusTemporaryRedirect)
		return true
	})
	every()
	issuer.Close()
	every()
	_, err := HashKey(planted[:10])
	fmt.Fprintln(&told, err)
	state, _, reason := a.Status()
	fmt.Fprintln(&told, state, reason)
	families, err := reg.Gather()
	require.NoError(t, err)
	require.NotEmpty(t, families)
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&told, f)
		require.NoError(t, err)
	}
	all := told.String() + log.String()
	require.NotEmpty(t, log.String())
	require.NotContains(t, strings.ReplaceAll(all, "/"+planted, ""), planted)
	for tail := range tokens {
		require.NotContains(t, all, tail)
	}
	require.NotContains(t, all, issuer.KeyID())
}

func TestTheTokenRouteGivesNoSecretBackInAnError(t *testing.T) {
	a := opened(t, Config{Keys: []Key{ci(t)}}, quickPace())
	r := httptest.NewRequest(http.MethodPost, "/v1/oauth/tokens", strings.NewReader("client_secret="+ciKey+"&client_secret="+ciKey))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	a.Token(w, r, policy.Client{})
	require.Equal(t, 400, w.Code)
	require.NotContains(t, w.Body.String(), ciKey)
	require.True(t, json.Valid(w.Body.Bytes()))
}
