package vend

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

func (s *stsService) options() AWSOptions {
	return AWSOptions{RoleARN: "arn:aws:iam::123456789012:role/team/lake", STSEndpoint: s.URL, Region: "eu-central-1",
		AccessKeyID: s.id, SecretAccessKey: s.secret, SessionToken: s.token}
}

func mustAWS(t testing.TB, opt AWSOptions) Provider {
	t.Helper()
	p, err := AWS(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestAssumeRoleAsksForOneTableAndOnePrincipal(t *testing.T) {
	s := newSTS(t)
	s.token = "the session of the mount"
	opt := s.options()
	opt.ExternalID, opt.Duration = "external/id", 90*time.Minute
	p := mustAWS(t, opt)
	m, err := p.Mint(t.Context(), Ask{Location: "s3a://lake/wh/sales/orders/", Access: mounts.WriteStorage, Principal: "corp/alice@example.com", Tenant: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	form := s.last(t)
	want, err := sessionPolicy("aws", mustFolder(t, "s3://lake/wh/sales/orders"), mounts.WriteStorage, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Action": "AssumeRole", "RoleArn": opt.RoleARN, "ExternalId": "external/id", "DurationSeconds": "5400", "Policy": want} {
		if form.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, form.Get(name), value)
		}
	}
	if name := form.Get("RoleSessionName"); !regexp.MustCompile(`^icefield-[0-9a-f]{12}-corp-alice@example\.com$`).MatchString(name) {
		t.Errorf("the session is called %q", name)
	}
	for name := range form {
		if strings.HasPrefix(name, "Tags") {
			t.Errorf("tags that nobody asked for: %s", name)
		}
	}
	for name, value := range map[string]string{"s3.access-key-id": "ASIAVENDED", "s3.secret-access-key": "vended/secret+", "s3.session-token": "vended//token==",
		"s3.region": "eu-central-1", "client.region": "eu-central-1", "s3.session-token-expires-at-ms": millis(m.Expires)} {
		if m.Config[name] != value {
			t.Errorf("%s is %q, want %q", name, m.Config[name], value)
		}
	}
	if m.Prefix != "s3a://lake/wh/sales/orders" || len(m.Config) != 6 {
		t.Errorf("%q, %d keys", m.Prefix, len(m.Config))
	}
	if left := time.Until(m.Expires); left < 59*time.Minute || left > time.Hour {
		t.Errorf("good for %v", left)
	}
}

func TestSessionTagsOnlyIfConfigured(t *testing.T) {
	s := newSTS(t)
	opt := s.options()
	opt.SessionTags = true
	if _, err := mustAWS(t, opt).Mint(t.Context(), Ask{Location: "s3://lake/t", Access: mounts.ReadStorage, Principal: "corp/al<ice>*", Tenant: "acme"}); err != nil {
		t.Fatal(err)
	}
	form := s.last(t)
	if form.Get("Tags.member.1.Key") != "icefield:principal" || form.Get("Tags.member.1.Value") != "corp/al-ice--" || form.Get("Tags.member.2.Value") != "acme" {
		t.Errorf("%v", form)
	}
}

func TestThePartitionIsTheRoles(t *testing.T) {
	for role, bucket := range map[string]string{
		"arn:aws-cn:iam::123456789012:role/r":     "arn:aws-cn:s3:::lake/t/*",
		"arn:aws-us-gov:iam::123456789012:role/r": "arn:aws-us-gov:s3:::lake/t/*",
		"arn:aws:iam::000000000000:role/Vend":     "arn:aws:s3:::lake/t/*",
		"arn:aws:iam:::role/ceph":                 "arn:aws:s3:::lake/t/*",
		"arn:minio:iam:::role/idmp-x":             "arn:aws:s3:::lake/t/*",
	} {
		s := newSTS(t)
		opt := s.options()
		opt.RoleARN = role
		if _, err := mustAWS(t, opt).Mint(t.Context(), Ask{Location: "s3://lake/t", Access: mounts.ReadStorage}); err != nil {
			t.Fatal(err)
		}
		if policy := s.last(t).Get("Policy"); !strings.Contains(policy, `"`+bucket+`"`) {
			t.Errorf("%s: %s", role, policy)
		}
	}
}

func TestSessionNamesAreReadableAndTellPrincipalsApart(t *testing.T) {
	valid := regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	seen := map[string]string{}
	for _, principal := range []string{"", "corp/alice", "corp-alice", "corp alice", "corp/Alice", "key/ci", "é", "e\u0301", "🧊", strings.Repeat("x", 300), strings.Repeat("x", 301), "a\nb", "arn:aws:iam::1:role/x"} {
		for _, tenant := range []string{"acme", "globex"} {
			name := sessionName(tenant, principal)
			if !valid.MatchString(name) || sessionName(tenant, principal) != name {
				t.Errorf("%q is called %q", principal, name)
			}
			if other, twice := seen[name]; twice {
				t.Errorf("%q and %q are both called %q", other, principal, name)
			}
			seen[name] = tenant + " " + principal
		}
	}
}

func TestFailuresOfTheTokenServiceHaveTheirReasons(t *testing.T) {
	says := func(status int, code string) func(http.ResponseWriter, url.Values) {
		return func(w http.ResponseWriter, _ url.Values) {
			writeSTSError(w, status, code, "User: arn:aws:sts::123456789012:x is not authorized, external id external-secret, AKIA")
		}
	}
	raw := func(status int, text string) func(http.ResponseWriter, url.Values) {
		return func(w http.ResponseWriter, _ url.Values) { w.WriteHeader(status); _, _ = w.Write([]byte(text)) }
	}
	for name, row := range map[string]struct {
		answer func(http.ResponseWriter, url.Values)
		reason Reason
		kind   mounts.Kind
	}{
		"denied":            {says(403, "AccessDenied"), Denied, mounts.BadGateway},
		"policy refused":    {says(400, "MalformedPolicyDocument"), Denied, mounts.BadGateway},
		"too long a life":   {says(400, "ValidationError"), Denied, mounts.BadGateway},
		"packed too large":  {says(400, "PackedPolicyTooLarge"), TooLong, mounts.BadGateway},
		"expired login":     {says(403, "ExpiredToken"), Login, mounts.BadGateway},
		"unknown login":     {says(403, "InvalidClientTokenId"), Login, mounts.BadGateway},
		"throttled":         {says(400, "Throttling"), Throttled, mounts.Unavailable},
		"throttled plainly": {raw(429, ""), Throttled, mounts.Unavailable},
		"down":              {says(503, "ServiceUnavailable"), Unreachable, mounts.Unavailable},
		"a proxy":           {raw(502, "<html>Bad Gateway</html>"), Unreachable, mounts.Unavailable},
		"malformed":         {raw(200, "<AssumeRoleResponse><AssumeRoleResult><Cred"), Broken, mounts.BadGateway},
		"not XML":           {raw(200, `{"Credentials":{}}`), Broken, mounts.BadGateway},
		"empty":             {raw(200, ""), Broken, mounts.BadGateway},
		"without keys":      {raw(200, "<AssumeRoleResponse><AssumeRoleResult></AssumeRoleResult></AssumeRoleResponse>"), Broken, mounts.BadGateway},
		"half of the keys": {raw(200, "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>A</AccessKeyId><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"),
			Broken, mounts.BadGateway},
		"a redirect": {func(w http.ResponseWriter, _ url.Values) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(307)
		}, Broken, mounts.BadGateway},
		"huge":       {raw(200, "<AssumeRoleResponse><AssumeRoleResult>"+strings.Repeat(" ", 2*maxAnswer)), Broken, mounts.BadGateway},
		"huge error": {raw(403, "<ErrorResponse>"+strings.Repeat("<x>", maxAnswer)), Broken, mounts.BadGateway},
		"over":       {func(w http.ResponseWriter, _ url.Values) { writeSession(w, time.Now().Add(-time.Minute)) }, Broken, mounts.BadGateway},
		"cut off": {func(w http.ResponseWriter, _ url.Values) {
			w.Header().Set("Content-Length", "500")
			_, _ = w.Write([]byte("<Assume"))
		}, Unreachable, mounts.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSTS(t)
			opt := s.options()
			opt.ExternalID = "external-secret"
			s.answers(row.answer)
			seen := &events{}
			v := Around(mounts.Unsupported{}, Options{Provider: mustAWS(t, opt), Observe: seen.see}).(*vendor)
			defer v.Close()
			_, err := v.exchanges.get(t.Context(), orders)
			if err == nil {
				t.Fatal("credentials out of nothing")
			}
			e := mustFail(t, failed(&mounts.LoadTableRequest{}, err), row.kind)
			if f := (*Failure)(nil); row.reason != Broken && (!errors.As(err, &f) || f.Reason != row.reason) {
				t.Errorf("%v instead of %s", err, row.reason)
			}
			if seen.of(string(row.reason)) != 1 {
				t.Errorf("seen: %v", seen.all)
			}
			for _, secret := range []string{s.secret, "external-secret"} {
				if strings.Contains(e.Error(), secret) || strings.Contains(e.Message(), secret) {
					t.Errorf("%q is in %v", secret, e)
				}
			}
			if row.kind == mounts.Unavailable && e.RetryAfter <= 0 {
				t.Error("nobody is told when to try again")
			}
			if n := len(s.forms()); n > 2 {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

func TestASlowTokenServiceIsGivenUpInTime(t *testing.T) {
	s := newSTS(t)
	release := make(chan struct{})
	defer close(release)
	s.answers(func(http.ResponseWriter, url.Values) { <-release })
	v := Around(mounts.Unsupported{}, Options{Provider: mustAWS(t, s.options()), Timeout: 200 * time.Millisecond}).(*vendor)
	defer v.Close()
	start := time.Now()
	_, err := v.exchanges.get(t.Context(), orders)
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != Slow || time.Since(start) > 3*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	mustFail(t, failed(&mounts.LoadTableRequest{}, err), mounts.Unavailable)
}

func TestAServiceThatIsGoneIsUnreachable(t *testing.T) {
	s := newSTS(t)
	s.Close()
	_, err := mustAWS(t, s.options()).Mint(t.Context(), orders)
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != Unreachable {
		t.Errorf("%v", err)
	}
}

func TestAWrongSecretIsNoticed(t *testing.T) {
	s := newSTS(t)
	opt := s.options()
	opt.SecretAccessKey += "x"
	_, err := mustAWS(t, opt).Mint(t.Context(), orders)
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != Login {
		t.Errorf("%v", err)
	}
}

func TestALongLocationIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	s := newSTS(t)
	ask := orders
	ask.Location = "s3://lake/" + strings.Repeat("x", 1000)
	_, err := mustAWS(t, s.options()).Mint(t.Context(), ask)
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != TooLong || len(s.forms()) != 0 {
		t.Errorf("%v, %d requests", err, len(s.forms()))
	}
}

func TestWholeBucketsAndOtherStoresAreNeverMinted(t *testing.T) {
	s := newSTS(t)
	p := mustAWS(t, s.options())
	for _, location := range []string{"s3://lake", "s3://lake/", "gs://lake/t", "file:///t", "", "s3://lake/../t", "s3://*/t"} {
		if _, err := p.Mint(t.Context(), Ask{Location: location, Access: mounts.ReadStorage}); err == nil {
			t.Errorf("%q has credentials", location)
		}
	}
	if len(s.forms()) != 0 || p.Covers("gs://lake/t") || !p.Covers("s3n://lake/t") {
		t.Errorf("%d requests", len(s.forms()))
	}
}

func TestTheDefaultChainIsReadAnewWhenItsLoginIsRefused(t *testing.T) {
	s := newSTS(t)
	file := filepath.Join(t.TempDir(), "credentials")
	for name, value := range map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_CONFIG_FILE": file + ".none", "AWS_PROFILE": "default",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_EC2_METADATA_DISABLED": "true", "AWS_REGION": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": ""} {
		t.Setenv(name, value)
	}
	opt := s.options()
	opt.AccessKeyID, opt.SecretAccessKey, opt.SessionToken, opt.Region = "", "", "", ""
	p := mustAWS(t, opt)
	login := func(secret string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("[default]\naws_access_key_id = "+s.id+"\naws_secret_access_key = "+secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	login("an old one")
	if _, err := p.Mint(t.Context(), orders); err == nil {
		t.Fatal("an old secret was good")
	}
	login(s.secret)
	m, err := p.Mint(t.Context(), orders)
	if err != nil {
		t.Fatal(err)
	}
	if _, told := m.Config["s3.region"]; told {
		t.Error("clients are told a region that nobody set")
	}
}

func TestOptionsOfAWSAreChecked(t *testing.T) {
	s := newSTS(t)
	for name, change := range map[string]func(*AWSOptions){
		"no role":            func(o *AWSOptions) { o.RoleARN = "" },
		"a user":             func(o *AWSOptions) { o.RoleARN = "arn:aws:iam::123456789012:user/x" },
		"no account":         func(o *AWSOptions) { o.RoleARN = "arn:aws:iam:::role/x" },
		"a wild partition":   func(o *AWSOptions) { o.RoleARN = "arn:*:iam::123456789012:role/x" },
		"a short life":       func(o *AWSOptions) { o.Duration = 14 * time.Minute },
		"a long life":        func(o *AWSOptions) { o.Duration = 13 * time.Hour },
		"half of a login":    func(o *AWSOptions) { o.SecretAccessKey = "" },
		"no URL":             func(o *AWSOptions) { o.STSEndpoint = "sts.example.com" },
		"a login in the URL": func(o *AWSOptions) { o.STSEndpoint = "https://a:b@sts.example.com" },
		"a key elsewhere":    func(o *AWSOptions) { o.KMSKeys = []string{"arn:aws-cn:kms:x:1:key/k"} },
		"every key":          func(o *AWSOptions) { o.KMSKeys = []string{"arn:aws:kms:*:*:key/*"} },
	} {
		opt := s.options()
		if name != "no URL" && name != "a login in the URL" {
			opt.STSEndpoint = ""
		}
		change(&opt)
		if _, err := AWS(context.Background(), opt); err == nil || strings.Contains(err.Error(), s.secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
