package vend

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"golang.org/x/oauth2/google/downscope"

	"github.com/icefield/icefield/mounts"
)

// GCSOptions say as whom tokens are got, and where they are cut down.
type GCSOptions struct {
	// CredentialsFile holds the login: a service account's key, or another
	// credential configuration of Google's. It is read for each exchange. Empty
	// for the default credentials of the machine.
	CredentialsFile string
	// ProjectID is told to clients; empty for nothing.
	ProjectID string
	// STSEndpoint is the security token service; empty for Google's.
	STSEndpoint string
}

// The roles whose permissions a token keeps, by width. Both may list; neither
// may change who has access.
const (
	gcsReader = "inRole:roles/storage.objectViewer"
	gcsWriter = "inRole:roles/storage.objectUser"
	gcsScope  = "https://www.googleapis.com/auth/devstorage.read_write"
)

// maxCredentials bounds a file with credentials.
const maxCredentials = 256 << 10

// downscoper is the Provider of Google Cloud Storage.
type downscoper struct {
	opt GCSOptions
	// login gets tokens, exchange cuts them down.
	login, exchange *http.Client
}

// GCS gives out OAuth2 tokens with a credential access boundary. It contacts
// nothing; an error is a mistake in the options. Tokens live for as long as the
// login's own, an hour as a rule.
func GCS(_ context.Context, opt GCSOptions) (Provider, error) {
	d := &downscoper{opt: opt, login: plainClient(&tls.Config{MinVersion: tls.VersionTLS12})}
	d.exchange = d.login
	if opt.STSEndpoint != "" {
		if err := checkEndpoint(opt.STSEndpoint); err != nil {
			return nil, err
		}
		at, _ := url.Parse(opt.STSEndpoint)
		d.exchange = &http.Client{Transport: toward{at, d.login.Transport}, CheckRedirect: d.login.CheckRedirect}
	}
	if opt.CredentialsFile != "" {
		if _, _, err := readGoogle(opt.CredentialsFile); err != nil {
			return nil, fmt.Errorf("vend: the credentials file: %w", err)
		}
	}
	return d, nil
}

// toward sends what the library would send to Google's token service to another.
type toward struct {
	at   *url.URL
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t toward) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL, out.Host = t.at, t.at.Host
	return t.next.RoundTrip(out)
}

// Covers implements Provider.
func (d *downscoper) Covers(location string) bool { return covers(location, "gs") }

// Close implements Provider.
func (d *downscoper) Close() error {
	d.login.CloseIdleConnections()
	return nil
}

// Mint implements Provider.
func (d *downscoper) Mint(ctx context.Context, ask Ask) (*Minted, error) {
	at, err := folder(ask.Location, "gs")
	if err != nil {
		return nil, &Failure{Reason: Broken, Err: err}
	}
	own, err := d.token(ctx)
	if err != nil {
		return nil, err
	}
	seen, with := watch(ctx, d.exchange)
	source, err := downscope.NewTokenSource(with, downscope.DownscopingConfig{
		RootSource: oauth2.StaticTokenSource(own), Rules: boundary(at, ask.Access)})
	if err != nil {
		return nil, &Failure{Reason: Broken, Err: hush(err, own.AccessToken)}
	}
	cut, err := source.Token()
	if err != nil {
		return nil, seen.failure(err, Broken, own.AccessToken)
	}
	if cut.AccessToken == "" || cut.Expiry.IsZero() || cut.AccessToken == own.AccessToken {
		return nil, &Failure{Reason: Broken, Err: errors.New("the answer holds no token that was cut down and ends")}
	}
	config := map[string]string{"gcs.oauth2.token": cut.AccessToken, "gcs.oauth2.token-expires-at": millis(cut.Expiry)}
	if d.opt.ProjectID != "" {
		config["gcs.project-id"] = d.opt.ProjectID
	}
	return &Minted{Prefix: strings.TrimRight(ask.Location, "/"), Config: config, Expires: cut.Expiry}, nil
}

// boundary bounds a token to what lies below a folder. Listing is bound by the
// prefix that is asked for, with the folder's slash, as in sessionPolicy.
func boundary(at place, access mounts.StorageAccess) []downscope.AccessBoundaryRule {
	role := gcsReader
	if access == mounts.WriteStorage {
		role = gcsWriter
	}
	below := at.key() + "/"
	return []downscope.AccessBoundaryRule{{
		AvailableResource:    "//storage.googleapis.com/projects/_/buckets/" + at.bucket,
		AvailablePermissions: []string{role},
		Condition: &downscope.AvailabilityCondition{Expression: "resource.name.startsWith(" + quoteCEL("projects/_/buckets/"+at.bucket+"/objects/"+below) +
			") || api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith(" + quoteCEL(below) + ")"},
	}}
}

// quoteCEL writes a string literal of the Common Expression Language.
func quoteCEL(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// token gets a new token of the login. It is not kept: the one that is cut down
// ends with it.
func (d *downscoper) token(ctx context.Context) (*oauth2.Token, error) {
	seen, with := watch(ctx, d.login)
	found, err := d.credentials(with)
	if err != nil {
		return nil, seen.failure(err, Login)
	}
	own, err := found.TokenSource.Token()
	if err != nil {
		f := seen.failure(err, Login)
		if f.Reason == Denied || f.Reason == Broken {
			f.Reason = Login // whichever way it is refused
		}
		return nil, f
	}
	return own, nil
}

func (d *downscoper) credentials(ctx context.Context) (*google.Credentials, error) {
	if d.opt.CredentialsFile == "" {
		return google.FindDefaultCredentials(ctx, gcsScope)
	}
	document, kind, err := readGoogle(d.opt.CredentialsFile)
	if err != nil {
		return nil, err
	}
	return google.CredentialsFromJSONWithType(ctx, document, kind, gcsScope)
}

// readGoogle reads a file with credentials. Errors say nothing of what is in it.
func readGoogle(path string) ([]byte, google.CredentialsType, error) {
	f, err := os.Open(path) // #nosec G304 -- the operator's configuration names the file
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	document, err := io.ReadAll(io.LimitReader(f, maxCredentials+1))
	if err != nil {
		return nil, "", err
	}
	var head struct {
		Type google.CredentialsType `json:"type"`
	}
	switch {
	case len(document) > maxCredentials:
		return nil, "", errors.New("it is larger than a file with credentials is")
	case json.Unmarshal(bytes.TrimSpace(document), &head) != nil:
		return nil, "", errors.New("it is not JSON")
	}
	switch head.Type {
	case google.ServiceAccount, google.AuthorizedUser, google.ExternalAccount, google.ExternalAccountAuthorizedUser, google.ImpersonatedServiceAccount:
		return document, head.Type, nil
	}
	return nil, "", errors.New("its type is none that Google Cloud Storage takes")
}

// watched is a transport that remembers how it was answered last, since the
// libraries say it only in words. It is for one exchange.
type watched struct {
	next http.RoundTripper

	mu         sync.Mutex
	status     int
	retryAfter string
	err        error
}

// watch is a client for the libraries, in a context, and what it will have seen.
func watch(ctx context.Context, client *http.Client) (*watched, context.Context) {
	w := &watched{next: client.Transport}
	return w, context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: w, CheckRedirect: client.CheckRedirect})
}

// RoundTrip implements http.RoundTripper.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.retryAfter, w.err = 0, "", err
	if answer != nil {
		w.status, w.retryAfter = answer.StatusCode, answer.Header.Get("Retry-After")
	}
	return answer, err
}

// failure is what an error of the libraries means, otherwise where nothing was
// sent.
func (w *watched) failure(err error, otherwise Reason, secrets ...string) *Failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &Failure{Reason: otherwise, RetryAfter: retryAfterOf(w.retryAfter), Err: hush(err, secrets...)}
	switch {
	case w.err != nil:
		f.Reason = Unreachable
	case w.status != 0:
		f.Reason = byStatus(w.status, err)
	}
	return f
}
