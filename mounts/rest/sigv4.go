package rest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/icefield/icefield/mounts"
)

// SigV4 signs every request with AWS Signature Version 4. The credentials are
// the keys of the config, or else those of the AWS default chain (environment,
// shared files, web identity, container, instance); with a role, they assume it.
// They are got when they are first needed, by one call at a time, and again
// ahead of their end; those that do not end are read again every five minutes.
func SigV4(config SigV4Config) Auth { return Auth{config} }

// SigV4Config is how requests are signed.
type SigV4Config struct {
	// Service is the signing name: "glue", "s3tables", "execute-api", "s3".
	// Region is the signing region. Empty: those that the host of catalog_url
	// bears (glue.eu-west-1.amazonaws.com), or else the region of the AWS default
	// chain.
	Service, Region string
	// RoleARN is assumed, if set, with ExternalID, if that is set.
	RoleARN, ExternalID string
	// AccessKeyID, SecretAccessKey and SessionToken are the keys. Empty: the AWS
	// default chain.
	AccessKeyID, SecretAccessKey, SessionToken string
	// STSEndpoint is where the role is assumed, for stores that speak that
	// protocol themselves. Empty: the AWS one of the region.
	STSEndpoint string
}

// amazonHost is a host of AWS that bears service and region.
var amazonHost = regexp.MustCompile(`(?:^|\.)([a-z0-9-]+)\.([a-z]{2}(?:-[a-z]+)+-[0-9])\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$`)

// at fills in what the host of the base URL says.
func (c SigV4Config) at(base string) SigV4Config {
	u, err := url.Parse(base)
	if err != nil {
		return c
	}
	if said := amazonHost.FindStringSubmatch(strings.ToLower(u.Hostname())); said != nil {
		if c.Service == "" {
			c.Service = said[1]
		}
		if c.Region == "" {
			c.Region = said[2]
		}
	}
	return c
}

// scopeWord is what can stand in a credential scope.
var scopeWord = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func (c SigV4Config) check(base string) error {
	c = c.at(base)
	switch {
	case c.Service == "":
		return errors.New(`sigv4 needs a service, such as "glue", "s3tables" or "execute-api"`)
	case !scopeWord.MatchString(c.Service) || c.Region != "" && !scopeWord.MatchString(c.Region):
		return errors.New("sigv4 has a service or region that is none")
	case (c.AccessKeyID == "") != (c.SecretAccessKey == ""):
		return errors.New("sigv4 needs both an access key id and a secret access key, or neither")
	case c.SessionToken != "" && c.AccessKeyID == "":
		return errors.New("sigv4 has a session token without an access key")
	case c.RoleARN == "" && (c.ExternalID != "" || c.STSEndpoint != ""):
		return errors.New("sigv4 has an external id or sts_endpoint and no role_arn to assume")
	case c.RoleARN != "" && !strings.HasPrefix(c.RoleARN, "arn:"):
		return errors.New("sigv4 has a role_arn that does not begin with arn:")
	case c.STSEndpoint != "":
		return checkEndpoint("sts_endpoint", c.STSEndpoint, base)
	}
	return nil
}

func (SigV4Config) perCaller() bool { return false }

func (c SigV4Config) open(with loginDeps) login {
	s := &signature{config: c.at(with.base), with: with}
	s.signer = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = escapesOnce(s.config.Service) })
	s.lease = newLease(&s.owner, with.timeout, with.now, s.fetch)
	return s
}

// escapesOnce reports a service whose canonical path is the path as it is sent;
// all others encode it once more ("%1F" is signed as "%251F").
func escapesOnce(service string) bool {
	switch service {
	case "s3", "s3express", "s3-outposts", "s3-object-lambda":
		return true
	}
	return false
}

// signature is the login by signed requests.
type signature struct {
	config SigV4Config
	with   loginDeps
	signer *v4.Signer
	owner  lifetime
	lease  *lease[keys]
}

// keys are credentials and the region that goes with them.
type keys struct {
	aws.Credentials
	region string
}

func (s *signature) authorize(ctx context.Context, r *http.Request, body []byte) (proof, error) {
	k, err := s.lease.get(ctx)
	if err != nil {
		return proof{}, err
	}
	sum := sha256.Sum256(body)
	if err := s.sign(ctx, r, k, hex.EncodeToString(sum[:]), s.with.now()); err != nil {
		return proof{}, &mounts.Error{Kind: mounts.Internal, Err: hush(err, []string{k.SecretAccessKey, k.SessionToken}),
			Msg: "the request cannot be signed; nothing was sent"}
	}
	_, mark, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
	return proof{used: k.AccessKeyID, signature: mark, identity: cmp.Or(s.config.RoleARN, k.AccessKeyID)}, nil
}

// sign signs what stands in the request, and changes nothing of it that was
// signed. Not every header is signed: proxies on the way add to some (Via) and
// rewrite others (Accept-Encoding).
func (s *signature) sign(ctx context.Context, r *http.Request, k keys, payload string, at time.Time) error {
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return errors.New("the query holds what cannot be signed")
	}
	if escapesOnce(s.config.Service) {
		strictPath(r.URL)
	}
	host := r.URL.Host
	if r.Host != "" {
		host = r.Host
	}
	host = withoutDefaultPort(r.URL.Scheme, host)
	r.Header.Set("X-Amz-Content-Sha256", payload)
	signed := &http.Request{Method: r.Method, URL: r.URL, Host: host, Header: make(http.Header), ContentLength: r.ContentLength}
	for name, values := range r.Header {
		if len(values) > 0 && isSigned(name) {
			signed.Header[name] = values
		}
	}
	if err := s.signer.SignHTTP(ctx, k.Credentials, signed, payload, s.config.Service, k.region, at); err != nil {
		return err
	}
	r.Host = host
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		if values := signed.Header[name]; len(values) > 0 {
			r.Header[name] = values
		}
	}
	return nil
}

// isSigned reports a header that says what is asked for.
func isSigned(name string) bool {
	switch name {
	case "Content-Type", "If-None-Match", "Idempotency-Key":
		return true
	}
	return strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "X-Iceberg-")
}

// strictPath spells a path as services that sign it as it is sent spell it: all
// but unreserved characters and slashes are percent-encoded, with capitals.
func strictPath(u *url.URL) {
	var b strings.Builder
	for i, word := range strings.Split(u.EscapedPath(), "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		decoded, err := url.PathUnescape(word)
		if err != nil {
			return
		}
		b.WriteString(segment(decoded))
	}
	u.RawPath = b.String()
}

// withoutDefaultPort is the host as servers sign it.
func withoutDefaultPort(scheme, host string) string {
	switch scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

func (s *signature) renew(ctx context.Context, refused proof) (bool, error) {
	return s.lease.renew(ctx, func(k keys) bool { return k.AccessKeyID == refused.used })
}

func (s *signature) secrets(context.Context) []string {
	all := []string{s.config.AccessKeyID, s.config.SecretAccessKey, s.config.SessionToken, s.config.ExternalID}
	if k, ok := s.lease.peek(); ok {
		all = append(all, k.AccessKeyID, k.SecretAccessKey, k.SessionToken)
	}
	return all
}

func (s *signature) close() { s.owner.close() }

// The ways in which AWS says that a signature is not good, with 400 or 403.
var (
	signatureTypes = regexp.MustCompile(`^(?:ExpiredToken|ExpiredTokenException|UnrecognizedClientException|InvalidClientTokenId|` +
		`InvalidSignatureException|SignatureDoesNotMatch|IncompleteSignature|IncompleteSignatureException|MissingAuthenticationToken|` +
		`MissingAuthenticationTokenException|RequestExpired|RequestTimeTooSkewed|InvalidAccessKeyId|InvalidToken|AuthFailure)$`)
	signatureTexts = regexp.MustCompile(`(?i)security token included in the request (?:is|has)|^signature (?:expired|not yet current)|` +
		`request signature we calculated`)
)

// signatureRefused reports an answer that is about the signature, rather than
// about what the signer may do.
func signatureRefused(a *answer) bool {
	if a.status != http.StatusForbidden && a.status != http.StatusBadRequest {
		return false
	}
	kind, _, _ := strings.Cut(a.header.Get("X-Amzn-Errortype"), ":")
	if signatureTypes.MatchString(kind) {
		return true
	}
	said, _ := readRefusal(a)
	return signatureTypes.MatchString(said.kind) || signatureTexts.MatchString(said.message)
}

// signingError is the error of credentials that could not be had.
func signingError(cause error, says string) error {
	return &mounts.Error{Kind: mounts.Unavailable, Err: cause, Msg: fmt.Sprintf("the mount's own login failed: %s; nothing was sent", says)}
}
