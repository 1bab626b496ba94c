package vend

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"unicode"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// maxSessionName is how long AWS lets a session's name be.
const maxSessionName = 64

// sessionName is what the store's own trail calls a session: the principal as
// far as the characters allow, behind a digest that tells principals of the same
// spelling apart. It is always the same for the same principal.
func sessionName(tenant, principal string) string {
	sum := sha256.Sum256([]byte(tenant + "\x00" + principal))
	name := "icefield-" + hex.EncodeToString(sum[:6]) + "-"
	readable := strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters+upper+digits+"_=,.@-", r) {
			return r
		}
		return '-'
	}, principal)
	if room := maxSessionName - len(name); len(readable) > room {
		readable = readable[:room]
	}
	return name + readable
}

// tagValue makes a session tag's value of a text: at most 256 characters, of
// those that AWS allows.
func tagValue(text string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		n++
		switch {
		case n > 256:
			return -1
		case unicode.IsLetter(r), unicode.IsNumber(r), r == ' ', strings.ContainsRune("_.:/=+-@", r):
			return r
		}
		return '-'
	}, text)
}

// awsFailure says what an error of AssumeRole means.
func awsFailure(err error) *Failure {
	f := &Failure{Reason: Broken, Err: err}
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	status := 0
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
		f.RetryAfter = retryAfterOf(response.Response.Header.Get("Retry-After"))
	}
	code := ""
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	switch code {
	case "AccessDenied", "AccessDeniedException", "RegionDisabledException", "MalformedPolicyDocument", "ValidationError", "InvalidParameterValue":
		f.Reason = Denied
	case "PackedPolicyTooLarge":
		f.Reason = TooLong
	case "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "SignatureDoesNotMatch", "IncompleteSignature", "RequestExpired",
		"UnrecognizedClientException", "MissingAuthenticationToken", "InvalidAccessKeyId":
		f.Reason = Login
	case "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException", "SlowDown":
		f.Reason = Throttled
	case "ServiceUnavailable", "InternalFailure", "InternalError", "IDPCommunicationError":
		f.Reason = Unreachable
	default:
		f.Reason = byStatus(status, err)
	}
	return f
}
