package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// securityTokens is an STS that verifies who asks it.
type securityTokens struct {
	*httptest.Server
	mu     sync.Mutex
	verify verifier
	asked  []url.Values
	errs   []error
	// lifetime of what it gives out; refuse, if set, answers instead.
	lifetime time.Duration
	refuse   func(w http.ResponseWriter, form url.Values)
	hold     chan struct{}
}

func newSecurityTokens(t *testing.T, v verifier) *securityTokens {
	s := &securityTokens{verify: v, lifetime: time.Hour}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *securityTokens) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hold := s.hold
	body, err := s.verify.check(r)
	form, _ := url.ParseQuery(string(body))
	s.asked, s.errs = append(s.asked, form), append(s.errs, err)
	n, refuse, lifetime := len(s.asked), s.refuse, s.lifetime
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/xml")
	if refuse != nil {
		refuse(w, form)
		return
	}
	fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
		<AccessKeyId>ASSUMED%d</AccessKeyId><SecretAccessKey>assumed-secret-%d</SecretAccessKey><SessionToken>assumed-session-%d</SessionToken>
		<Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`, n, n, n, time.Now().Add(lifetime).UTC().Format(time.RFC3339))
}

func (s *securityTokens) set(f func()) { s.mu.Lock(); defer s.mu.Unlock(); f() }

func (s *securityTokens) count() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.asked) }

func assumed(n int) verifier {
	return verifier{service: "glue", region: "eu-central-1", token: fmt.Sprintf("assumed-session-%d", n),
		keys: map[string]string{fmt.Sprintf("ASSUMED%d", n): fmt.Sprintf("assumed-secret-%d", n)}}
}

func roleAt(endpoint string) SigV4Config {
	c := staticKeys("glue")
	c.RoleARN, c.ExternalID, c.STSEndpoint = "arn:aws:iam::123456789012:role/lake", "external-id-0815", endpoint
	return c
}

func configCall(base string) call {
	return call{kind: kindConfig, method: http.MethodGet, url: base + "/v1/config"}
}

func TestARoleIsAssumedOnceWithItsExternalIDAndSignsTheRequests(t *testing.T) {
	tokens := newSecurityTokens(t, verifier{service: "sts", region: "eu-central-1", keys: map[string]string{testKeyID: testSecret}, lax: true})
	remote := newSignedRemote(t, assumed(1))
	k := signing(t, remote.URL, roleAt(tokens.URL))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := k.do(context.Background(), configCall(remote.URL)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, errs := remote.seen()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	form := tokens.asked[0]
	if tokens.count() != 1 || tokens.errs[0] != nil || form.Get("Action") != "AssumeRole" || form.Get("ExternalId") != "external-id-0815" ||
		form.Get("RoleArn") != "arn:aws:iam::123456789012:role/lake" || len(form.Get("RoleSessionName")) < 2 {
		t.Errorf("asked %d times: %v, %v", tokens.count(), form, tokens.errs[0])
	}
}

func TestAnExpiredSignatureIsRenewedOnceAndTheCallSentAgain(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter) bool{
		"a type": func(w http.ResponseWriter) bool {
			w.WriteHeader(403)
			_, _ = w.Write([]byte(`{"error":{"message":"no","type":"ExpiredTokenException","code":403}}`))
			return true
		},
		"a sentence": func(w http.ResponseWriter) bool {
			w.WriteHeader(403)
			_, _ = w.Write([]byte(`{"error":{"message":"The security token included in the request is expired","type":"ForbiddenException","code":403}}`))
			return true
		},
		"a header": func(w http.ResponseWriter) bool {
			w.Header().Set("X-Amzn-ErrorType", "UnrecognizedClientException:http://internal.amazon.com/")
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"message":"no"}`))
			return true
		},
	} {
		tokens := newSecurityTokens(t, verifier{service: "sts", region: "eu-central-1", keys: map[string]string{testKeyID: testSecret}, lax: true})
		remote := newSignedRemote(t, assumed(2))
		once := false
		remote.refuse = func(w http.ResponseWriter) bool {
			if once {
				return false
			}
			once = true
			return refuse(w)
		}
		k := signing(t, remote.URL, roleAt(tokens.URL))
		a, err := k.do(context.Background(), configCall(remote.URL))
		if err != nil || a.status != 200 || tokens.count() != 2 {
			t.Errorf("%s: %v, %v after %d roles", name, a, err, tokens.count())
		}
		if _, errs := remote.seen(); len(errs) != 2 || errs[1] != nil {
			t.Errorf("%s: %v", name, errs)
		}
		// Refused for good, it is the mount's own login that is not good.
		remote.set(func() { remote.refuse = refuse })
		a, err = k.do(context.Background(), configCall(remote.URL))
		if err != nil {
			t.Fatal(err)
		}
		if e := mounts.AsError(refusal(call{}, a)); e.Kind != mounts.BadGateway || !strings.Contains(e.Message(), "mount's own login") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func (s *signedRemote) set(f func()) { s.mu.Lock(); defer s.mu.Unlock(); f() }

func TestADeniedActionIsNotTakenForABadSignature(t *testing.T) {
	remote := newSignedRemote(t, verifier{service: "glue", region: "eu-central-1", keys: map[string]string{testKeyID: testSecret}})
	remote.refuse = func(w http.ResponseWriter) bool {
		w.WriteHeader(403)
		_, _ = w.Write([]byte(`{"error":{"message":"User is not authorized to perform: glue:GetTable","type":"AccessDeniedException","code":403}}`))
		return true
	}
	k := signing(t, remote.URL, staticKeys("glue"))
	a, err := k.do(context.Background(), configCall(remote.URL))
	if err != nil {
		t.Fatal(err)
	}
	if e := mounts.AsError(refusal(call{}, a)); e.Kind != mounts.Forbidden {
		t.Errorf("%v", e)
	}
	if uris, _ := remote.seen(); len(uris) != 1 {
		t.Errorf("sent %d times", len(uris))
	}
}

func TestTheDefaultChainIsReadAgainWhenKeysAreReplaced(t *testing.T) {
	remote := newSignedRemote(t, verifier{service: "glue", region: "eu-north-1", token: "s-1", keys: map[string]string{"ENV1": "secret-1"}})
	k := signing(t, remote.URL, SigV4Config{Service: "glue"})
	t.Setenv("AWS_ACCESS_KEY_ID", "ENV1")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-1")
	t.Setenv("AWS_SESSION_TOKEN", "s-1")
	t.Setenv("AWS_REGION", "eu-north-1")
	if _, err := k.do(context.Background(), configCall(remote.URL)); err != nil {
		t.Fatal(err)
	}
	// The remote refuses the old keys; there are new ones in the shared file.
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_SESSION_TOKEN", "")
	file := "[default]\naws_access_key_id = FILE1\naws_secret_access_key = secret-2\n"
	if err := os.WriteFile(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	remote.set(func() {
		remote.refuse = func(w http.ResponseWriter) bool {
			remote.refuse, remote.verify = nil, verifier{service: "glue", region: "eu-north-1", keys: map[string]string{"FILE1": "secret-2"}}
			w.WriteHeader(401)
			return true
		}
	})
	if a, err := k.do(context.Background(), configCall(remote.URL)); err != nil || a.status != 200 {
		t.Fatal(a, err)
	}
	if _, errs := remote.seen(); len(errs) != 3 || errs[0] != nil || errs[2] != nil {
		t.Errorf("%v", errs)
	}
}

func TestCredentialsThatCannotBeHadAreUnavailableAndNothingIsSent(t *testing.T) {
	tokens := newSecurityTokens(t, verifier{lax: true})
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hang.Close()
	remote := newSignedRemote(t, verifier{})
	for name, c := range map[string]struct {
		config SigV4Config
		env    map[string]string
		refuse func(http.ResponseWriter, url.Values)
		says   string
	}{
		"empty chain": {config: SigV4Config{Service: "glue", Region: "eu-central-1"}, says: "default chain has no credentials"},
		"no region":   {config: SigV4Config{Service: "glue", AccessKeyID: "a", SecretAccessKey: "b"}, says: "no region"},
		"role denied": {config: roleAt(tokens.URL), says: "role could not be assumed (AccessDenied)", refuse: func(w http.ResponseWriter, _ url.Values) {
			w.WriteHeader(403)
			fmt.Fprintf(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>external-id-0815 and %s may not</Message></Error></ErrorResponse>`, testSecret)
		}},
		"strange code": {config: roleAt(tokens.URL), says: "role could not be assumed (status 400)", refuse: func(w http.ResponseWriter, _ url.Values) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `<ErrorResponse><Error><Code>external-id-0815</Code><Message>%s</Message></Error></ErrorResponse>`, testSecret)
		}},
		"redirect": {config: roleAt(tokens.URL), says: "role could not be assumed", refuse: func(w http.ResponseWriter, _ url.Values) {
			w.Header().Set("Location", remote.URL+"/steal")
			w.WriteHeader(307)
		}},
		"no XML": {config: roleAt(tokens.URL), says: "role could not be assumed", refuse: func(w http.ResponseWriter, _ url.Values) {
			fmt.Fprintf(w, `external-id-0815 %s`, testSecret)
		}},
		"hang": {config: SigV4Config{Service: "glue", Region: "eu-central-1"}, says: "did not come in time",
			env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": hang.URL}},
		"bad profile": {config: SigV4Config{Service: "glue", Region: "eu-central-1"}, says: "default chain has no credentials", env: map[string]string{"AWS_PROFILE": "absent"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := signing(t, remote.URL, c.config)
			s := k.login.(*signature)
			if name == "hang" {
				s.lease.timeout, s.with.timeout = 200*time.Millisecond, 200*time.Millisecond
			}
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			tokens.set(func() { tokens.refuse = c.refuse })
			_, err := k.do(context.Background(), configCall(remote.URL))
			e := mounts.AsError(err)
			if e == nil || e.Kind != mounts.Unavailable || e.OutcomeUnknown || !strings.Contains(e.Message(), c.says) || !strings.Contains(e.Message(), "nothing was sent") {
				t.Fatalf("%v", err)
			}
			for _, secret := range []string{testSecret, "external-id-0815"} {
				if strings.Contains(e.Error(), secret) {
					t.Errorf("the secret %s is in %v", secret, e)
				}
			}
			if uris, _ := remote.seen(); len(uris) != 0 {
				t.Errorf("sent %v", uris)
			}
			// The failure has a pause: the next call asks nobody.
			before := tokens.count()
			if _, err := k.do(context.Background(), configCall(remote.URL)); err == nil || tokens.count() != before {
				t.Errorf("again: %v after %d more questions", err, tokens.count()-before)
			}
		})
	}
}

func TestARoleIsRenewedAheadOfItsEndAndNobodyWaits(t *testing.T) {
	tokens := newSecurityTokens(t, verifier{service: "sts", region: "eu-central-1", keys: map[string]string{testKeyID: testSecret}, lax: true})
	isolate(t)
	at := newClock()
	s := roleAt(tokens.URL).open(loginDeps{base: "https://glue.example", http: plainClient(http.DefaultTransport), timeout: 5 * time.Second, now: at.now}).(*signature)
	defer s.close()
	k, err := s.lease.get(context.Background())
	if err != nil || k.AccessKeyID != "ASSUMED1" {
		t.Fatal(k.AccessKeyID, err)
	}
	at.advance(59*time.Minute + 30*time.Second)
	hold := make(chan struct{})
	tokens.set(func() { tokens.hold, tokens.lifetime = hold, 2*time.Hour })
	if k, err := s.lease.get(context.Background()); err != nil || k.AccessKeyID != "ASSUMED1" {
		t.Errorf("waited for %v, %v", k.AccessKeyID, err)
	}
	close(hold)
	s.owner.running.Wait()
	if k, err := s.lease.get(context.Background()); err != nil || k.AccessKeyID != "ASSUMED2" || tokens.count() != 2 {
		t.Errorf("after the renewal: %v, %v", k.AccessKeyID, err)
	}
}
