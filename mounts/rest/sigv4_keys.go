package rest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const (
	// readAgain is how long credentials serve that do not say when they end: the
	// files and variables that they come from may change.
	readAgain = 5 * time.Minute
	// roleSession names the session in the provider's own audit trail.
	roleSession = "icefield"
)

// fetch gets credentials. The default chain is built anew each time, so that a
// changed file or variable counts, and no cache but the lease keeps anything.
func (s *signature) fetch(ctx context.Context, _ *issued[keys]) (issued[keys], error) {
	start := s.with.now()
	chain, err := s.load(ctx)
	if err != nil {
		return issued[keys]{}, s.credentialsError(ctx, err)
	}
	if chain.Region == "" {
		return issued[keys]{}, signingError(errors.New("no signing region is set"),
			"it has no region; set the region of its auth block, or AWS_REGION")
	}
	provider := chain.Credentials
	if s.config.RoleARN != "" {
		provider = s.role(chain)
	}
	if provider == nil {
		return issued[keys]{}, s.credentialsError(ctx, errors.New("the default chain is empty"))
	}
	got, err := retrieve(ctx, provider)
	if err == nil && !got.HasKeys() {
		err = errors.New("the provider gave no keys")
	}
	if err == nil && got.CanExpire && !got.Expires.After(start) {
		err = errors.New("the provider gave credentials that are over")
	}
	if err != nil {
		return issued[keys]{}, s.credentialsError(ctx, err)
	}
	lifetime := readAgain
	if got.CanExpire {
		lifetime = min(got.Expires.Sub(start), longestLifetime)
	}
	return lasting(keys{Credentials: got, region: chain.Region}, start, lifetime), nil
}

// retrieve survives providers of the chain that take an answer for granted.
func retrieve(ctx context.Context, from aws.CredentialsProvider) (got aws.Credentials, err error) {
	defer func() {
		if recover() != nil {
			got, err = aws.Credentials{}, errors.New("the provider failed on the answer that it got")
		}
	}()
	return from.Retrieve(ctx)
}

// load is the AWS configuration that the keys come from.
func (s *signature) load(ctx context.Context) (aws.Config, error) {
	// The chain's own cache goes on with a call whose context has ended.
	web := awshttp.NewBuildableClient().WithTimeout(s.with.timeout)
	with := []func(*awsconfig.LoadOptions) error{
		awsconfig.WithLogger(logging.Nop{}),
		awsconfig.WithRetryMaxAttempts(2),
		awsconfig.WithHTTPClient(web),
		awsconfig.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = web }),
		awsconfig.WithProcessCredentialOptions(func(o *processcreds.Options) { o.Timeout = s.with.timeout }),
	}
	if s.config.Region != "" {
		with = append(with, awsconfig.WithRegion(s.config.Region))
	}
	if s.config.AccessKeyID != "" {
		if s.config.Region != "" && s.config.RoleARN == "" {
			return aws.Config{Region: s.config.Region, Credentials: s.static()}, nil
		}
		with = append(with, awsconfig.WithCredentialsProvider(s.static()))
	}
	return awsconfig.LoadDefaultConfig(ctx, with...)
}

func (s *signature) static() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(s.config.AccessKeyID, s.config.SecretAccessKey, s.config.SessionToken)
}

// role assumes the role with the chain's credentials.
func (s *signature) role(chain aws.Config) aws.CredentialsProvider {
	client := sts.NewFromConfig(chain, func(o *sts.Options) {
		if s.config.STSEndpoint != "" {
			// A store of the mount's own: the same trusted roots, no redirect.
			o.BaseEndpoint = aws.String(s.config.STSEndpoint)
			o.HTTPClient = s.with.http
		}
	})
	ask := &sts.AssumeRoleInput{RoleArn: aws.String(s.config.RoleARN), RoleSessionName: aws.String(roleSession)}
	if s.config.ExternalID != "" {
		ask.ExternalId = aws.String(s.config.ExternalID)
	}
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		got, err := client.AssumeRole(ctx, ask)
		switch {
		case err != nil:
			return aws.Credentials{}, err
		case got.Credentials == nil || got.Credentials.Expiration == nil:
			// The SDK's own provider panics here.
			return aws.Credentials{}, errors.New("the answer holds no credentials")
		}
		c := got.Credentials
		return aws.Credentials{AccessKeyID: aws.ToString(c.AccessKeyId), SecretAccessKey: aws.ToString(c.SecretAccessKey),
			SessionToken: aws.ToString(c.SessionToken), CanExpire: true, Expires: *c.Expiration}, nil
	})
}

// stsCodes are the words of an STS answer that are repeated.
var stsCodes = regexp.MustCompile(`^(?:AccessDenied|AccessDeniedException|ExpiredToken|ExpiredTokenException|IDPRejectedClaim|` +
	`InvalidClientTokenId|InvalidIdentityToken|MalformedPolicyDocument|PackedPolicyTooLarge|RegionDisabledException|RequestExpired|` +
	`SignatureDoesNotMatch|IncompleteSignature|Throttling|ThrottlingException|ValidationError|ServiceUnavailable|InternalFailure)$`)

// credentialsError is the error of credentials that could not be had. What a
// provider says is for the log, without secrets; the client is told which part
// failed.
func (s *signature) credentialsError(ctx context.Context, err error) error {
	if s.owner.over() {
		return signingError(errClosed, "this server is closing the mount")
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return signingError(errors.New("the AWS credentials did not come in time"), "its AWS credentials did not come in time")
	}
	says := "the AWS default chain has no credentials for it"
	if s.config.AccessKeyID != "" {
		says = "its AWS credentials cannot be used"
	}
	if s.config.RoleARN != "" {
		says = "its role could not be assumed"
	}
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	switch {
	case errors.As(err, &api) && stsCodes.MatchString(api.ErrorCode()):
		says += " (" + api.ErrorCode() + ")"
	case errors.As(err, &response):
		says += fmt.Sprintf(" (status %d)", response.HTTPStatusCode())
	}
	hide := append(s.secrets(ctx), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	return signingError(hush(err, hide), says)
}
