package vend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// AzureOptions say as whom keys are got that sign.
type AzureOptions struct {
	// TenantID, ClientID and ClientSecret are the login; all empty for the default
	// chain of Azure (environment, workload identity, managed identity).
	TenantID, ClientID, ClientSecret string
	// Duration is how long credentials live: 15 minutes to 24 hours; 0 for an
	// hour.
	Duration time.Duration
	// Credential is a login that is made already, instead of the above.
	Credential azcore.TokenCredential
	// Client sends the requests; nil for one that follows no redirects.
	Client *http.Client
}

// delegator is the Provider of Azure.
type delegator struct {
	opt   AzureOptions
	login azcore.TokenCredential
	web   policy.Transporter

	mu   sync.Mutex
	keys map[string]*accountKey // by host
}

// accountKey is the key that signs for one account. The lock is held while it is
// got, so that it is got once.
type accountKey struct {
	lock chan struct{} // holds one
	key  *service.UserDelegationCredential
	end  time.Time
}

const (
	maxAzure = 24 * time.Hour
	// keyLife is how much longer a key lives than what it signs: for so long
	// nobody has to be asked. Azure has a week at most.
	keyLife = 6 * time.Hour
	// keySkew is how far the clocks of Azure may lag behind.
	keySkew = 5 * time.Minute
	// maxAccounts bounds the keys that are kept; a mount has one account.
	maxAccounts = 64
)

// Azure gives out shared access signatures for one directory, signed with a user
// delegation key of the login, which needs the role Storage Blob Delegator on the
// account and Storage Blob Data Contributor on the container. They are good over
// TLS only. It contacts nothing; an error is a mistake in the options.
//
// The account has to have a hierarchical namespace: others know no directories,
// so that a signature is either for one blob or for the whole container; they
// refuse what is signed here.
func Azure(_ context.Context, opt AzureOptions) (Provider, error) {
	if opt.Duration == 0 {
		opt.Duration = defaultSession
	}
	if opt.Duration < minSession || opt.Duration > maxAzure {
		return nil, fmt.Errorf("vend: signatures of Azure live for 15 minutes to 24 hours here, not for %s", opt.Duration)
	}
	if opt.Client == nil {
		opt.Client = plainClient(nil)
	}
	d := &delegator{opt: opt, login: opt.Credential, web: opt.Client, keys: map[string]*accountKey{}}
	with := azcore.ClientOptions{Transport: d.web, Retry: fewRetries}
	given := 0
	for _, part := range []string{opt.TenantID, opt.ClientID, opt.ClientSecret} {
		if part != "" {
			given++
		}
	}
	var err error
	switch {
	case d.login != nil:
	case given == 3:
		d.login, err = azidentity.NewClientSecretCredential(opt.TenantID, opt.ClientID, opt.ClientSecret, &azidentity.ClientSecretCredentialOptions{ClientOptions: with})
	case given == 0:
		d.login, err = azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: with})
	default:
		err = errors.New("tenant_id, client_id and client_secret go together")
	}
	if err != nil {
		return nil, fmt.Errorf("vend: the login at Azure: %w", hush(err, opt.ClientSecret))
	}
	return d, nil
}

// fewRetries keeps the SDK from waiting for longer than an exchange may take.
var fewRetries = policy.RetryOptions{MaxRetries: 1, RetryDelay: 200 * time.Millisecond, MaxRetryDelay: time.Second} // read only

// Covers implements Provider.
func (d *delegator) Covers(location string) bool { return covers(location, "abfss") }

// Close implements Provider.
func (d *delegator) Close() error {
	d.opt.Client.CloseIdleConnections()
	return nil
}

// Mint implements Provider.
func (d *delegator) Mint(ctx context.Context, ask Ask) (*Minted, error) {
	at, err := folder(ask.Location, "abfss")
	if err != nil {
		return nil, &Failure{Reason: Broken, Err: err}
	}
	container, host, _ := strings.Cut(at.bucket, "@")
	account, _, _ := strings.Cut(host, ".")
	key, err := d.key(ctx, host)
	if err != nil {
		return nil, err
	}
	// Whole seconds, as signatures have them: what clients are told is when it ends.
	expires := time.Now().Add(d.opt.Duration).UTC().Truncate(time.Second)
	may := sas.BlobPermissions{Read: true, List: true}
	if ask.Access == mounts.WriteStorage {
		may.Add, may.Create, may.Write, may.Delete = true, true, true, true
	}
	signed, err := sas.BlobSignatureValues{Protocol: sas.ProtocolHTTPS, ExpiryTime: expires, Permissions: may.String(),
		ContainerName: container, Directory: at.key(), CorrelationID: correlation(ask)}.SignWithUserDelegation(key)
	if err != nil {
		return nil, &Failure{Reason: Broken, Err: hush(err)}
	}
	token, end := signed.Encode(), millis(expires)
	return &Minted{Prefix: strings.TrimRight(ask.Location, "/"), Expires: expires, Config: map[string]string{
		"adls.sas-token." + host: token, "adls.sas-token." + account: token,
		"adls.sas-token-expires-at-ms." + host: end, "adls.sas-token-expires-at-ms." + account: end,
	}}, nil
}

// correlation is what the account's own logs call the requests of a principal:
// always the same for it.
func correlation(ask Ask) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("icefield:"+ask.Tenant+"\x00"+ask.Principal)).String()
}

// key is the key that signs for an account, got anew before it ends too soon.
func (d *delegator) key(ctx context.Context, host string) (*service.UserDelegationCredential, error) {
	d.mu.Lock()
	k := d.keys[host]
	if k == nil {
		if len(d.keys) >= maxAccounts {
			clear(d.keys)
		}
		k = &accountKey{lock: make(chan struct{}, 1)}
		d.keys[host] = k
	}
	d.mu.Unlock()
	select {
	case k.lock <- struct{}{}:
		defer func() { <-k.lock }()
	case <-ctx.Done():
		return nil, &Failure{Reason: Slow, Err: context.Cause(ctx)}
	}
	now := time.Now()
	if k.key != nil && now.Add(d.opt.Duration).Before(k.end) {
		return k.key, nil
	}
	client, err := service.NewClient("https://"+strings.Replace(host, ".dfs.", ".blob.", 1)+"/", d.login, &service.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: d.web, Retry: fewRetries}})
	if err != nil {
		return nil, &Failure{Reason: Broken, Err: hush(err)}
	}
	begin, end := now.Add(-keySkew).UTC().Format(sas.TimeFormat), now.Add(d.opt.Duration+keyLife).UTC()
	text := end.Format(sas.TimeFormat)
	got, err := delegate(ctx, client, service.KeyInfo{Start: &begin, Expiry: &text})
	if err != nil {
		return nil, azureFailure(err)
	}
	k.key, k.end = got, end.Truncate(time.Second)
	return got, nil
}

// delegate survives an answer that lacks what the SDK takes for granted.
func delegate(ctx context.Context, client *service.Client, info service.KeyInfo) (key *service.UserDelegationCredential, err error) {
	defer func() {
		if recover() != nil {
			key, err = nil, errors.New("the answer holds no key")
		}
	}()
	if key, err = client.GetUserDelegationCredential(ctx, info, nil); err != nil {
		return nil, err
	}
	// Signing needs every part of it.
	_, err = sas.BlobSignatureValues{ExpiryTime: time.Now(), Permissions: "r", ContainerName: "x"}.SignWithUserDelegation(key)
	return key, err
}

func azureFailure(err error) *Failure {
	f := &Failure{Reason: byStatus(0, err), Err: hush(err)}
	var refused *azcore.ResponseError
	var login *azidentity.AuthenticationFailedError
	switch {
	case errors.As(err, &login):
		f.Reason = Login
		if login.RawResponse != nil && login.RawResponse.StatusCode >= 500 {
			f.Reason = Unreachable
		}
	case errors.As(err, &refused):
		f.Reason = byStatus(refused.StatusCode, err)
		if refused.RawResponse != nil {
			f.RetryAfter = retryAfterOf(refused.RawResponse.Header.Get("Retry-After"))
		}
	}
	return f
}
