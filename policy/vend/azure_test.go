package vend

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/icefield/icefield/mounts"
)

// azureService gives out user delegation keys, and knows which of them signed.
type azureService struct {
	*httptest.Server
	mu     sync.Mutex
	key    []byte
	asked  []string // hosts
	answer http.HandlerFunc
	fault  error
}

// ownLogin is a login at Azure.
type ownLogin struct{ err error }

func (l ownLogin) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if len(o.Scopes) != 1 || o.Scopes[0] != "https://storage.azure.com/.default" {
		return azcore.AccessToken{}, fmt.Errorf("a token for %q", o.Scopes)
	}
	return azcore.AccessToken{Token: "the-login-of-the-mount", ExpiresOn: time.Now().Add(time.Hour)}, l.err
}

func newAzure(t testing.TB) *azureService {
	t.Helper()
	s := &azureService{key: []byte("the delegation key of the account")}
	s.answer = s.give
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Host)
		answer := s.answer
		if r.Method != http.MethodPost || r.URL.Path != "/" || r.URL.Query().Get("comp") != "userdelegationkey" || r.URL.Query().Get("restype") != "service" ||
			r.Header.Get("Authorization") != "Bearer the-login-of-the-mount" {
			s.fault = fmt.Errorf("%s %s by %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *azureService) give(w http.ResponseWriter, r *http.Request) {
	var info struct{ Start, Expiry string }
	body, _ := io.ReadAll(r.Body)
	if err := xml.Unmarshal(body, &info); err != nil {
		w.WriteHeader(400)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?><UserDelegationKey><SignedOid>oid-1</SignedOid><SignedTid>tid-1</SignedTid><SignedStart>%s</SignedStart><SignedExpiry>%s</SignedExpiry>`+
		`<SignedService>b</SignedService><SignedVersion>2020-02-10</SignedVersion><Value>%s</Value></UserDelegationKey>`, info.Start, info.Expiry, base64.StdEncoding.EncodeToString(s.key))
}

func (s *azureService) provider(t testing.TB, change ...func(*AzureOptions)) Provider {
	t.Helper()
	address := s.Listener.Addr().String()
	secure := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	secure.ServerName = "example.com" // which httptest has a certificate for
	client := plainClient(secure)
	client.Transport.(short).next.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	opt := AzureOptions{Credential: ownLogin{}, Client: client}
	for _, c := range change {
		c(&opt)
	}
	p, err := Azure(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// verify checks a signature as the documentation of Azure describes it ("Create a
// user delegation SAS", versions from 2026-04-06 on), and returns its fields.
func (s *azureService) verify(t testing.TB, token, resource string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(token)
	if err != nil || strings.HasPrefix(token, "?") {
		t.Fatalf("%q: %v", token, err)
	}
	toSign := strings.Join([]string{q.Get("sp"), q.Get("st"), q.Get("se"), resource, q.Get("skoid"), q.Get("sktid"), q.Get("skt"), q.Get("ske"), q.Get("sks"), q.Get("skv"),
		q.Get("saoid"), q.Get("suoid"), q.Get("scid"), q.Get("skdutid"), q.Get("sduoid"), q.Get("sip"), q.Get("spr"), q.Get("sv"), q.Get("sr"), "", q.Get("ses"),
		"", "", q.Get("rscc"), q.Get("rscd"), q.Get("rsce"), q.Get("rscl"), q.Get("rsct")}, "\n")
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(toSign))
	if got := base64.StdEncoding.EncodeToString(mac.Sum(nil)); got != q.Get("sig") || q.Get("sv") < "2026-04-06" {
		t.Errorf("the signature %s (version %s) is not that of %q", q.Get("sig"), q.Get("sv"), toSign)
	}
	return q
}

const azureTable = "abfss://lake@acct.dfs.core.windows.net/wh/sales/t 1é"

func TestAzureSignaturesAreForOneDirectory(t *testing.T) {
	s := newAzure(t)
	p := s.provider(t)
	for access, want := range map[mounts.StorageAccess]string{mounts.ReadStorage: "rl", mounts.WriteStorage: "racwdl"} {
		m, err := p.Mint(t.Context(), Ask{Location: azureTable + "/", Access: access, Principal: "corp/alice", Tenant: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		if m.Prefix != azureTable || len(m.Config) != 4 {
			t.Errorf("%q, %d keys", m.Prefix, len(m.Config))
		}
		for _, account := range []string{"acct", "acct.dfs.core.windows.net"} {
			q := s.verify(t, m.Config["adls.sas-token."+account], "/blob/acct/lake/wh/sales/t 1é")
			for name, value := range map[string]string{"sp": want, "sr": "d", "sdd": "3", "spr": "https", "se": m.Expires.Format(time.RFC3339),
				"scid": correlation(Ask{Principal: "corp/alice", Tenant: "acme"}), "skoid": "oid-1"} {
				if q.Get(name) != value {
					t.Errorf("%s is %q, want %q", name, q.Get(name), value)
				}
			}
			if end, err := time.Parse(time.RFC3339, q.Get("ske")); err != nil || end.Before(m.Expires) {
				t.Errorf("the key ends at %v, before what it signed", end)
			}
			if m.Config["adls.sas-token-expires-at-ms."+account] != millis(m.Expires) {
				t.Errorf("%s: %v", account, m.Config)
			}
		}
	}
	if len(s.asked) != 1 || s.asked[0] != "acct.blob.core.windows.net" || s.fault != nil {
		t.Errorf("keys were asked of %q, %v", s.asked, s.fault)
	}
	if correlation(Ask{Principal: "a", Tenant: "b"}) == correlation(Ask{Principal: "b", Tenant: "a"}) {
		t.Error("principals cannot be told apart in the logs of the account")
	}
}

func TestOneKeySignsForAllWhoWait(t *testing.T) {
	s := newAzure(t)
	p := s.provider(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := p.Mint(t.Context(), Ask{Location: fmt.Sprintf("%s/%d", azureTable, i), Access: mounts.ReadStorage}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(s.asked) != 1 {
		t.Errorf("%d keys", len(s.asked))
	}
}

func TestAKeyThatEndsTooSoonIsGotAnew(t *testing.T) {
	s := newAzure(t)
	p := s.provider(t)
	mint := func() {
		t.Helper()
		if _, err := p.Mint(t.Context(), Ask{Location: azureTable, Access: mounts.ReadStorage}); err != nil {
			t.Fatal(err)
		}
	}
	mint()
	d := p.(*delegator)
	d.keys["acct.dfs.core.windows.net"].end = time.Now().Add(d.opt.Duration - time.Second)
	mint()
	mint()
	if len(s.asked) != 2 {
		t.Errorf("%d keys", len(s.asked))
	}
}

func TestFailuresOfAzureHaveTheirReasons(t *testing.T) {
	says := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		}
	}
	for name, row := range map[string]struct {
		answer http.HandlerFunc
		reason Reason
	}{
		"refused":   {says(403, `<Error><Code>AuthorizationPermissionMismatch</Code></Error>`), Denied},
		"no login":  {says(401, `<Error><Code>InvalidAuthenticationInfo</Code></Error>`), Login},
		"throttled": {says(429, ``), Throttled},
		"down":      {says(503, `<Error><Code>ServerBusy</Code></Error>`), Unreachable},
		"malformed": {says(200, `<UserDelegationKey><SignedOid>`), Broken},
		"empty":     {says(200, ``), Broken},
		"no value":  {says(200, `<UserDelegationKey><SignedOid>x</SignedOid></UserDelegationKey>`), Broken},
		"huge":      {says(200, `<UserDelegationKey>`+strings.Repeat(" ", 2*maxAnswer)), Broken},
	} {
		s := newAzure(t)
		s.answer = row.answer
		_, err := s.provider(t).Mint(t.Context(), Ask{Location: azureTable, Access: mounts.ReadStorage})
		if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != row.reason || strings.Contains(err.Error(), "the-login-of-the-mount") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newAzure(t)
	p := s.provider(t)
	s.Close()
	_, err := p.Mint(t.Context(), Ask{Location: azureTable, Access: mounts.ReadStorage})
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != Unreachable {
		t.Errorf("gone: %v", err)
	}
}

func TestOptionsOfAzureAreChecked(t *testing.T) {
	for name, opt := range map[string]AzureOptions{
		"half of a login": {TenantID: "t", ClientSecret: "hidden-secret"},
		"a short life":    {Credential: ownLogin{}, Duration: time.Minute},
		"a long life":     {Credential: ownLogin{}, Duration: 48 * time.Hour},
	} {
		if _, err := Azure(t.Context(), opt); err == nil || strings.Contains(err.Error(), "hidden-secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := Azure(t.Context(), AzureOptions{TenantID: "00000000-0000-0000-0000-000000000001", ClientID: "c", ClientSecret: "s"})
	if err != nil || !p.Covers(azureTable) || p.Covers("s3://lake/t") {
		t.Errorf("%v", err)
	}
	for _, location := range []string{"abfss://lake@acct.dfs.core.windows.net", "abfss://lake@acct.dfs.core.windows.net/", "abfss://lake@acct.evil.com/t", "s3://lake/t"} {
		if _, err := p.Mint(t.Context(), Ask{Location: location, Access: mounts.ReadStorage}); err == nil {
			t.Errorf("%q has a signature", location)
		}
	}
	if plainClient(&tls.Config{MinVersion: tls.VersionTLS12}).CheckRedirect(nil, nil) != http.ErrUseLastResponse {
		t.Error("redirects are followed")
	}
}
