package authntest

import (
	"encoding/json"
	"io"
	"log"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

// Form is what one request to the token endpoint brought.
type Form struct {
	Values url.Values
	Header http.Header
}

// Forms are the requests to the token endpoint so far.
func (i *Issuer) Forms() []Form {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.forms)
}

// token is the token endpoint. A refresh token of a client is "refresh-" and
// its id.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		refuse(w, http.StatusBadRequest, "invalid_request")
		return
	}
	i.mu.Lock()
	i.forms = append(i.forms, Form{Values: r.PostForm, Header: r.Header.Clone()})
	i.mu.Unlock()
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	client, known := i.opt.Clients[id]
	if !known || client.Secret != secret {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	claims := map[string]any{"sub": id, "azp": id}
	maps.Copy(claims, client.Claims)
	answer := map[string]any{"token_type": "Bearer", "expires_in": 3600}
	switch r.PostForm.Get("grant_type") {
	case "client_credentials":
		answer["refresh_token"] = "refresh-" + id
	case "refresh_token":
		if r.PostForm.Get("refresh_token") != "refresh-"+id {
			refuse(w, http.StatusBadRequest, "invalid_grant")
			return
		}
	case grantExchange:
		subject := i.own(r.PostForm.Get("subject_token"))
		if i.opt.NoExchange || subject == nil {
			refuse(w, http.StatusBadRequest, "invalid_request")
			return
		}
		claims = subject
		for _, name := range []string{"iss", "aud", "iat", "exp"} {
			delete(claims, name)
		}
		claims["act"] = map[string]any{"sub": id}
		answer["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token"
	default:
		refuse(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	if strings.Contains(" "+r.PostForm.Get("scope")+" ", " catalog ") {
		// Iceberg's own default scope, which issuers do not know.
		refuse(w, http.StatusBadRequest, "invalid_scope")
		return
	}
	if scope := r.PostForm.Get("scope"); scope != "" {
		answer["scope"] = scope
	}
	answer["access_token"] = i.Mint(claims)
	write(w, http.StatusOK, answer)
}

// own returns the claims of a token that a published key has signed; nil for any
// other.
func (i *Issuer) own(token string) map[string]any {
	signed, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil
	}
	for _, k := range i.keys().Keys {
		payload, err := signed.Verify(k.Key)
		claims := map[string]any{}
		if err == nil && json.Unmarshal(payload, &claims) == nil {
			return claims
		}
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, code string) {
	write(w, status, map[string]any{"error": code, "error_description": "internal detail of the issuer"})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
