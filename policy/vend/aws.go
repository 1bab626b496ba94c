package vend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go/logging"
)

// AWSOptions say which role is assumed, where and as whom.
type AWSOptions struct {
	// RoleARN names the role whose sessions the credentials are. Its own policies
	// have to allow the whole warehouse; each session is cut down to one table.
	// The partition of its policies is that of this name. With an STSEndpoint it
	// may be a name as other stores have them, as arn:minio:iam:::role/lake.
	RoleARN string
	// ExternalID is what the role's trust asks for; empty for nothing.
	ExternalID string
	// Duration is how long credentials live, in whole seconds: 15 minutes to 12
	// hours, and no longer than the role allows; 0 for an hour. A login that is a
	// role itself gets no more than an hour of AWS.
	Duration time.Duration
	// Region is where the token service is asked, and what clients are told where
	// the mount says nothing else. Empty: the environment's; with an STSEndpoint
	// us-east-1.
	Region string
	// STSEndpoint is the token service of another store than AWS; RootCAs vouch
	// for it, nil for the system's.
	STSEndpoint string
	RootCAs     *x509.CertPool
	// AccessKeyID, SecretAccessKey and SessionToken are the login; empty for the
	// default chain of AWS (environment, files, web identity, the machine's role).
	AccessKeyID, SecretAccessKey, SessionToken string
	// KMSKeys are the ARNs of the keys that the bucket is encrypted with, which
	// sessions then may use; none for buckets without keys of their own.
	KMSKeys []string
	// SessionTags adds principal and tenant as tags to each session, which the
	// role's trust has to allow (sts:TagSession).
	SessionTags bool
}

// The bounds of AWS for AssumeRole.
const (
	minSession     = 15 * time.Minute
	maxSession     = 12 * time.Hour
	defaultSession = time.Hour
)

// chainAge is how long a login of the default chain serves: the files and
// variables behind it may change.
const chainAge = 5 * time.Minute

// assumer is the Provider of AWS, and of stores that speak like it.
type assumer struct {
	opt       AWSOptions
	partition string
	web       *http.Client // of an STSEndpoint

	mu     sync.Mutex
	client *sts.Client
	region string
	since  time.Time
}

// AWS gives out sessions of a role, each bound to one table by an inline session
// policy. It contacts nothing; an error is a mistake in the options.
func AWS(_ context.Context, opt AWSOptions) (Provider, error) {
	partition, err := partitionOf(opt.RoleARN, opt.STSEndpoint != "")
	if err != nil {
		return nil, err
	}
	if opt.Duration == 0 {
		opt.Duration = defaultSession
	}
	switch {
	case opt.Duration < minSession || opt.Duration > maxSession || opt.Duration%time.Second != 0:
		return nil, fmt.Errorf("vend: AWS makes sessions of 15 minutes to 12 hours, in whole seconds, not of %s", opt.Duration)
	case (opt.AccessKeyID == "") != (opt.SecretAccessKey == "") || opt.SessionToken != "" && opt.AccessKeyID == "":
		return nil, errors.New("vend: an access key id and a secret access key go together, and a session token goes with both")
	}
	a := &assumer{opt: opt, partition: partition}
	if opt.STSEndpoint != "" {
		if err := checkEndpoint(opt.STSEndpoint); err != nil {
			return nil, err
		}
		a.web = plainClient(&tls.Config{RootCAs: opt.RootCAs, MinVersion: tls.VersionTLS12})
	}
	for _, key := range opt.KMSKeys {
		if p := strings.SplitN(key, ":", 6); len(p) != 6 || p[0] != "arn" || p[1] != partition || p[2] != "kms" || strings.ContainsAny(key, "*?$") {
			return nil, fmt.Errorf("vend: %q is not the ARN of a KMS key in the partition %s", key, partition)
		}
	}
	return a, nil
}

// partitionOf reads off a role's ARN the partition that its buckets are in. Other
// stores than AWS have roles without an account, or in a partition of their own
// name; their buckets are in that of AWS all the same.
func partitionOf(role string, foreign bool) (string, error) {
	parts := strings.SplitN(role, ":", 6)
	ok := len(parts) == 6 && parts[0] == "arn" && madeOf(parts[1], letters+digits+"-") && len(role) <= 2048
	if ok && !foreign {
		ok = parts[2] == "iam" && parts[3] == "" && madeOf(parts[4], digits) && strings.HasPrefix(parts[5], "role/") && len(parts[5]) > len("role/")
	}
	if !ok {
		return "", fmt.Errorf("vend: %q is not the ARN of a role, as arn:aws:iam::123456789012:role/lake", role)
	}
	if foreign && parts[1] != "aws" && !strings.HasPrefix(parts[1], "aws-") {
		return "aws", nil
	}
	return parts[1], nil
}

// checkEndpoint refuses what is no address of a service.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("vend: the endpoint of the token service has to be a URL, as https://sts.example.com, without a login or a query")
	}
	return nil
}

// Covers implements Provider.
func (a *assumer) Covers(location string) bool { return covers(location, "s3") }

// Close implements Provider.
func (a *assumer) Close() error {
	if a.web != nil {
		a.web.CloseIdleConnections()
	}
	return nil
}

// Mint implements Provider.
func (a *assumer) Mint(ctx context.Context, ask Ask) (*Minted, error) {
	at, err := folder(ask.Location, "s3")
	if err != nil {
		return nil, &Failure{Reason: Broken, Err: err}
	}
	policy, err := sessionPolicy(a.partition, at, ask.Access, a.opt.KMSKeys)
	if err != nil {
		return nil, &Failure{Reason: TooLong, Err: err}
	}
	client, region, err := a.service(ctx)
	if err != nil {
		return nil, &Failure{Reason: Login, Err: a.hush(err)}
	}
	seconds := int32(a.opt.Duration / time.Second) // #nosec G115 -- AWS() takes 15 minutes to 12 hours, nothing else
	in := &sts.AssumeRoleInput{RoleArn: &a.opt.RoleARN, RoleSessionName: aws.String(sessionName(ask.Tenant, ask.Principal)),
		Policy: &policy, DurationSeconds: &seconds}
	if a.opt.ExternalID != "" {
		in.ExternalId = &a.opt.ExternalID
	}
	if a.opt.SessionTags {
		in.Tags = []types.Tag{{Key: aws.String("icefield:principal"), Value: aws.String(tagValue(ask.Principal))},
			{Key: aws.String("icefield:tenant"), Value: aws.String(tagValue(ask.Tenant))}}
	}
	out, err := client.AssumeRole(ctx, in)
	if err != nil {
		f := awsFailure(err)
		f.Err = a.hush(f.Err)
		if f.Reason == Login || f.Reason == Denied {
			a.forget(client)
		}
		return nil, f
	}
	return minted(ask.Location, region, out.Credentials)
}

func minted(location, region string, c *types.Credentials) (*Minted, error) {
	if c == nil || c.Expiration == nil || aws.ToString(c.AccessKeyId) == "" || aws.ToString(c.SecretAccessKey) == "" || aws.ToString(c.SessionToken) == "" {
		return nil, &Failure{Reason: Broken, Err: errors.New("the answer lacks a part of the credentials")}
	}
	config := map[string]string{
		"s3.access-key-id": *c.AccessKeyId, "s3.secret-access-key": *c.SecretAccessKey, "s3.session-token": *c.SessionToken,
		"s3.session-token-expires-at-ms": millis(*c.Expiration),
	}
	if region != "" {
		config["s3.region"], config["client.region"] = region, region
	}
	return &Minted{Prefix: strings.TrimRight(location, "/"), Config: config, Expires: *c.Expiration}, nil
}

// service is the client of the token service.
func (a *assumer) service(ctx context.Context) (*sts.Client, string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client != nil && (a.opt.AccessKeyID != "" || time.Since(a.since) < chainAge) {
		return a.client, a.region, nil
	}
	chain, err := a.chain(ctx)
	if err != nil {
		return nil, "", err
	}
	a.client = sts.NewFromConfig(chain, func(o *sts.Options) {
		o.HTTPClient = capped{o.HTTPClient}
		if a.web != nil {
			o.BaseEndpoint, o.HTTPClient = aws.String(a.opt.STSEndpoint), a.web
		}
	})
	a.region, a.since = chain.Region, time.Now()
	if a.opt.Region == "" && a.opt.STSEndpoint != "" {
		a.region = "" // only what the signature was made for
	}
	return a.client, a.region, nil
}

// forget lets the login be read anew, since it was refused.
func (a *assumer) forget(client *sts.Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client == client {
		a.client = nil
	}
}

func (a *assumer) chain(ctx context.Context) (aws.Config, error) {
	region := a.opt.Region
	if region == "" && a.opt.STSEndpoint != "" {
		region = "us-east-1"
	}
	if a.opt.AccessKeyID != "" && region != "" {
		return aws.Config{Region: region, Credentials: a.static(), RetryMaxAttempts: 2, Logger: logging.Nop{}, HTTPClient: a.transport()}, nil
	}
	with := []func(*awsconfig.LoadOptions) error{
		awsconfig.WithLogger(logging.Nop{}),
		awsconfig.WithRetryMaxAttempts(2),
		awsconfig.WithHTTPClient(a.transport()),
		awsconfig.WithProcessCredentialOptions(func(o *processcreds.Options) { o.Timeout = loginTimeout }),
	}
	if region != "" {
		with = append(with, awsconfig.WithRegion(region))
	}
	if a.opt.AccessKeyID != "" {
		with = append(with, awsconfig.WithCredentialsProvider(a.static()))
	}
	chain, err := awsconfig.LoadDefaultConfig(ctx, with...)
	if err == nil && chain.Region == "" {
		err = errors.New("no region is set; set region in the vending block, or AWS_REGION")
	}
	return chain, err
}

func (a *assumer) static() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(a.opt.AccessKeyID, a.opt.SecretAccessKey, a.opt.SessionToken)
}

// loginTimeout bounds one request for a login: the chain's cache goes on with a
// request whose exchange has ended.
const loginTimeout = 5 * time.Second

func (a *assumer) transport() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTimeout(loginTimeout)
}
