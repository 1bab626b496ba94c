package authn

import (
	"fmt"
	"time"

	"github.com/icefield/icefield/mounts"
)

// refusedMsg is the one sentence for every cause: what is wrong with credentials
// is for the log, since it helps who guesses.
const refusedMsg = "the credentials are missing, expired or not valid here"

// denial is why credentials are refused. Its text is for logs: it holds nothing
// of the credentials and of no claim.
type denial struct {
	// method and login say who refused: "oidc", "corp".
	method, login string
	why           string
	// guess marks what somebody would see who tries secrets. A token that is expired
	// or for others is none, and neither is one whose key its issuer has withdrawn:
	// whoever still has it would lock out everybody at the same address. Nobody finds
	// a signature by trying.
	guess bool
}

func (d *denial) Error() string {
	if d.login == "" {
		return d.why
	}
	return fmt.Sprintf("%s %q: %s", d.method, d.login, d.why)
}

func unauthenticated(cause *denial) error {
	return &mounts.Error{Kind: mounts.Unauthenticated, Msg: refusedMsg, Err: cause}
}

func lockedOut(wait time.Duration) error {
	return &mounts.Error{Kind: mounts.RateLimited, Msg: "too many failed logins from this address; wait before the next one", RetryAfter: max(wait, time.Second)}
}

// unreachable is the answer where an issuer would have to be asked and cannot be.
func unreachable(login string, cause error) error {
	return &mounts.Error{Kind: mounts.Unavailable, RetryAfter: 5 * time.Second, Answered: true,
		Msg: "the issuer of this token cannot be asked for its keys right now; nothing is known about the token, try again",
		Err: fmt.Errorf("oidc %q: %w", login, cause)}
}
