package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// Auth is how a mount logs in to its remote. The zero value does not.
type Auth struct {
	bearer func() (string, error)
	oauth2 *OAuth2Config
}

// NoAuth sends no login.
func NoAuth() Auth { return Auth{} }

// Bearer sends the token that read returns. It is asked before every request,
// so that a file or variable that changes is noticed; blanks around the token
// are cut off. It must be safe for concurrent use.
func Bearer(read func() (string, error)) Auth { return Auth{bearer: read} }

// OAuth2 gets tokens by the client credentials grant (RFC 6749, 4.4), client id
// and secret in the form. A token is renewed before it expires and when the
// remote refuses it, by one call at a time.
func OAuth2(config OAuth2Config) Auth { return Auth{oauth2: &config} }

// OAuth2Config is a client of a token endpoint.
type OAuth2Config struct {
	// TokenURL is the token endpoint. Empty: the remote's own
	// /v1/oauth/tokens, as Iceberg clients have it.
	TokenURL string
	// ClientID and ClientSecret are the client's.
	ClientID, ClientSecret string
	// Scope is what is asked for. Empty: nothing, but "catalog" at the remote's
	// own token route, which is what Iceberg clients send there.
	Scope string
}

// none reports whether it sends no login.
func (a Auth) none() bool { return a.bearer == nil && a.oauth2 == nil }

func (a Auth) check() error {
	if a.oauth2 == nil {
		return nil
	}
	if a.oauth2.ClientID == "" || a.oauth2.ClientSecret == "" {
		return errors.New("oauth2 needs a client_id and a client secret")
	}
	if a.oauth2.TokenURL != "" {
		_, err := checkURL("token_url", a.oauth2.TokenURL)
		return err
	}
	return nil
}

// login puts the login onto requests. Its errors are *mounts.Error without Op
// and Ident.
type login interface {
	// authorize is called for each request right before it is sent, when all its
	// other headers are set. It returns the secret that it used, which no message
	// may repeat; empty for none.
	authorize(ctx context.Context, r *http.Request, body []byte) (used string, err error)
	// renew reports whether there is another secret than the one that was
	// refused; the next authorize uses it.
	renew(ctx context.Context, refused string) (bool, error)
	// close waits for what the login has under way.
	close()
}

type anonymous struct{}

func (anonymous) authorize(context.Context, *http.Request, []byte) (string, error) { return "", nil }
func (anonymous) renew(context.Context, string) (bool, error)                      { return false, nil }
func (anonymous) close()                                                           {}

// tokens hands out the bearer token of the next request.
type tokens interface {
	token(ctx context.Context) (string, error)
	// renew returns another token than the one that was refused, or false if
	// there is none.
	renew(ctx context.Context, refused string) (string, bool, error)
	close()
}

// authorization is a login by bearer token.
type authorization struct{ tokens }

func (a authorization) authorize(ctx context.Context, r *http.Request, _ []byte) (string, error) {
	token, err := a.token(ctx)
	if err == nil && token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return token, err
}

func (a authorization) renew(ctx context.Context, refused string) (bool, error) {
	_, renewed, err := a.tokens.renew(ctx, refused)
	return renewed, err
}

type bearer struct{ read func() (string, error) }

func (b bearer) token(context.Context) (string, error) {
	token, err := b.read()
	if err != nil {
		return "", &mounts.Error{Kind: mounts.Unavailable, Err: fmt.Errorf("read the bearer token: %w", err),
			Msg: "the token of the mount's own login cannot be read; nothing was sent"}
	}
	token = strings.TrimSpace(token)
	if err := checkToken(token); err != nil {
		return "", &mounts.Error{Kind: mounts.Unavailable, Err: err,
			Msg: "the token of the mount's own login is not usable; nothing was sent"}
	}
	return token, nil
}

func (b bearer) renew(ctx context.Context, refused string) (string, bool, error) {
	token, err := b.token(ctx)
	return token, err == nil && token != refused, err
}

func (bearer) close() {}

// maxLogin bounds a token; no server takes larger headers.
const maxLogin = 64 << 10

// checkToken refuses what cannot stand in a header. The error holds no byte of
// the token.
func checkToken(token string) error {
	switch {
	case token == "":
		return errors.New("the token is empty")
	case len(token) > maxLogin:
		return fmt.Errorf("the token is longer than %d bytes", maxLogin)
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] >= 0x7f {
			return errors.New("the token holds a blank, a control character or a character outside ASCII")
		}
	}
	return nil
}
