package rest

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// Bearer sends the token that read returns. It is asked before every request,
// so that a file or variable that changes is noticed; blanks around the token
// are cut off. It must be safe for concurrent use.
func Bearer(read func() (string, error)) Auth { return Auth{bearer{read}} }

type bearer struct{ read func() (string, error) }

func (bearer) check(string) error       { return nil }
func (bearer) perCaller() bool          { return false }
func (b bearer) open(_ loginDeps) login { return b }

func (b bearer) token() (string, error) {
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

func (b bearer) authorize(_ context.Context, r *http.Request, _ []byte) (proof, error) {
	token, err := b.token()
	if err != nil {
		return proof{}, err
	}
	bear(r, token)
	return proof{used: token, identity: "bearer"}, nil
}

func (b bearer) renew(_ context.Context, refused proof) (bool, error) {
	token, err := b.token()
	return err == nil && token != refused.used, err
}

func (bearer) secrets(context.Context) []string { return nil }
func (bearer) close()                           {}
