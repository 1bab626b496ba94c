//go:build peers

package governed

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/wire"
)

const (
	grantClient   = "client_credentials"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessToken   = "urn:ietf:params:oauth:token-type:access_token"
	jwtToken      = "urn:ietf:params:oauth:token-type:jwt"
)

// testTokens asks for tokens as Trino, old Java clients and DuckDB do, byte by byte, and logs in with what comes.
func testTokens(t *testing.T, s *scene) {
	alice, etl := s.issuer.token(t, "alice"), s.issuer.token(t, "etl")
	for _, c := range []struct {
		what          string
		form          url.Values
		authorization string
		who           string // whose token comes
	}{
		{"Trino's own login", url.Values{"grant_type": {grantClient}, "client_id": {"etl"}, "client_secret": {password("etl")}, "scope": {"catalog"}}, "", "etl"},
		// iceberg.rest-catalog.session=USER: the user's token, in the name of the catalog's own login, whose token is the actor's.
		{"Trino's exchange for a user", url.Values{"grant_type": {grantExchange}, "scope": {"catalog"}, "subject_token": {alice}, "subject_token_type": {accessToken},
			"actor_token": {etl}, "actor_token_type": {accessToken}}, "Bearer " + etl, "alice"},
		// Java clients renew a token so.
		{"Java's renewal", url.Values{"grant_type": {grantExchange}, "scope": {"catalog"}, "subject_token": {etl}, "subject_token_type": {accessToken}}, "Bearer " + etl, "etl"},
		{"Java's renewal with the client's secret", url.Values{"grant_type": {grantExchange}, "scope": {"catalog"}, "subject_token": {etl}, "subject_token_type": {accessToken}},
			basic("etl", url.QueryEscape(password("etl"))), "etl"},
		{"an API key that is renewed", url.Values{"grant_type": {grantExchange}, "subject_token": {s.keys["reader"]}, "subject_token_type": {accessToken}}, "Bearer " + s.keys["reader"], "reader"},
		{"an API key by Basic", url.Values{"grant_type": {grantClient}}, basic("anything", s.keys["reader"]), "reader"},
	} {
		status, answer, body := s.tokens(t, c.form, c.authorization)
		if status != 200 || answer.Type != "bearer" || answer.Seconds <= 0 || answer.Issued != accessToken {
			t.Errorf("%s: %d %s", c.what, status, redact(body))
			continue
		}
		// Whoever it is sees what they may see.
		a, err := wire.New(s.url, "lake").CallWithHeader(http.Header{"Authorization": {"Bearer " + answer.Token}}, "GET", "/namespaces", nil)
		sees := map[string]string{"alice": `[["hr"]]`, "etl": `["sales"]`, "reader": `["sales"]`}[c.who]
		if err != nil || a.Status != 200 || !strings.Contains(string(a.Body), sees) {
			t.Errorf("%s: %v, %v", c.what, a, err)
		}
		t.Logf("%s: %d, a %s token for %d s, which lists %s", c.what, status, answer.Type, answer.Seconds, a.Body)
	}

	wrong := s.keys["reader"][:len(s.keys["reader"])-1] + "-"
	same := map[string][]string{} // answers, by what asked for them
	for what, c := range map[string]struct {
		form          url.Values
		authorization string
	}{
		"a wrong API key":                {url.Values{"grant_type": {grantClient}, "client_id": {"reader"}, "client_secret": {wrong}}, ""},
		"a wrong secret of the issuer's": {url.Values{"grant_type": {grantClient}, "client_id": {"etl"}, "client_secret": {"wrong"}}, ""},
		"an unknown client":              {url.Values{"grant_type": {grantClient}, "client_id": {"nobody"}, "client_secret": {password("etl")}}, ""},
		"somebody else's secret":         {url.Values{"grant_type": {grantClient}, "client_id": {"alice"}, "client_secret": {password("etl")}}, ""},
		"a wrong secret by Basic":        {url.Values{"grant_type": {grantClient}}, basic("etl", "wrong")},
	} {
		status, _, body := s.tokens(t, c.form, c.authorization)
		if status != 401 {
			t.Errorf("%s: %d %s", what, status, redact(body))
		}
		same[body] = append(same[body], what)
	}
	if len(same) != 1 {
		t.Errorf("wrong secrets get several answers: %q", same)
	}
	for body, what := range same {
		t.Logf("%q: 401 %s", what, strings.TrimSpace(body))
	}
	for what, subject := range map[string]string{"nobody signed": unsigned, "was changed": alice[:len(alice)-4] + "AAAA"} {
		for _, kind := range []string{jwtToken, accessToken} {
			form := url.Values{"grant_type": {grantExchange}, "scope": {"catalog"}, "subject_token": {subject}, "subject_token_type": {kind},
				"actor_token": {etl}, "actor_token_type": {accessToken}}
			status, _, body := s.tokens(t, form, "Bearer "+etl)
			if status != 400 && status != 401 {
				t.Errorf("a subject token that %s: %d %s", what, status, redact(body))
			}
			t.Logf("a subject token that %s: %d %s", what, status, strings.TrimSpace(body))
		}
	}

	same = map[string][]string{}
	for what, header := range map[string]http.Header{
		"no credentials":           {},
		"a wrong API key":          {"Authorization": {"Bearer " + wrong}},
		"a wrong key in X-Api-Key": {"X-Api-Key": {wrong}},
		"a token nobody signed":    {"Authorization": {"Bearer " + unsigned}},
		"a token that was changed": {"Authorization": {"Bearer " + alice[:len(alice)-4] + "AAAA"}},
		"a password":               {"Authorization": {basic("etl", password("etl"))}},
	} {
		a, err := wire.New(s.url, "lake").CallWithHeader(header, "GET", orders, nil)
		if err != nil || a.Status != 401 || a.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %v, %v", what, a, err)
			continue
		}
		same[string(a.Body)] = append(same[string(a.Body)], what)
	}
	if len(same) != 1 {
		t.Errorf("callers that are not known get several answers: %q", same)
	}
	for body, what := range same {
		t.Logf("%q: 401 %s", what, strings.TrimSpace(body))
	}
}

type tokenAnswer struct {
	Token   string `json:"access_token"`
	Type    string `json:"token_type"`
	Issued  string `json:"issued_token_type"`
	Seconds int    `json:"expires_in"`
}

func (s *scene) tokens(t *testing.T, form url.Values, authorization string) (int, tokenAnswer, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/oauth/tokens", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer tokenAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%d %s: %v", response.StatusCode, body, err)
	}
	return response.StatusCode, answer, string(bytes.TrimSpace(body))
}

func basic(id, secret string) string {
	request := &http.Request{Header: http.Header{}}
	request.SetBasicAuth(id, secret)
	return request.Header.Get("Authorization")
}

// redact keeps tokens out of what a failed test prints.
func redact(body string) string { return body[:min(len(body), 120)] }
