package vend

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// stsService is a security token service of AWS: it checks what arrives as the
// documentation of AWS describes it, and answers as it is told to.
type stsService struct {
	*httptest.Server
	id, secret, token string

	mu     sync.Mutex
	asked  []url.Values
	faults []error
	answer func(w http.ResponseWriter, form url.Values)
}

func newSTS(t testing.TB) *stsService {
	t.Helper()
	s := &stsService{id: "AKIAOFTHEMOUNT", secret: "the mount's own secret/+="}
	s.answer = func(w http.ResponseWriter, form url.Values) { writeSession(w, time.Now().Add(time.Hour)) }
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stsService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, err := url.ParseQuery(string(body))
	if err == nil {
		err = s.verify(r, body)
	}
	s.mu.Lock()
	s.asked = append(s.asked, form)
	if err != nil {
		s.faults = append(s.faults, err)
	}
	answer := s.answer
	s.mu.Unlock()
	if err != nil {
		writeSTSError(w, http.StatusForbidden, "SignatureDoesNotMatch", err.Error())
		return
	}
	answer(w, form)
}

func (s *stsService) answers(f func(w http.ResponseWriter, form url.Values)) {
	s.mu.Lock()
	s.answer = f
	s.mu.Unlock()
}

func (s *stsService) forms() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *stsService) last(t testing.TB) url.Values {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		t.Errorf("the signature is wrong: %v", s.faults)
	}
	if len(s.asked) == 0 {
		t.Fatal("nothing was asked")
	}
	return s.asked[len(s.asked)-1]
}

func writeSession(w http.ResponseWriter, end time.Time) {
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/lake/x</Arn><AssumedRoleId>AROA:x</AssumedRoleId></AssumedRoleUser>`+
		`<Credentials><AccessKeyId>ASIAVENDED</AccessKeyId><SecretAccessKey>vended/secret+</SecretAccessKey><SessionToken>vended//token==</SessionToken><Expiration>%s</Expiration></Credentials><PackedPolicySize>6</PackedPolicySize></AssumeRoleResult></AssumeRoleResponse>`,
		end.UTC().Format(time.RFC3339))
}

func writeSTSError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r-1</RequestId></ErrorResponse>`, code, message)
}

// verify checks a Signature Version 4 from the request as it arrived (IAM User
// Guide, "Create a signed AWS API request"). It shares nothing with the signer.
func (s *stsService) verify(r *http.Request, body []byte) error {
	said := map[string]string{}
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return errors.New("no signature")
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		said[name] = value
	}
	scope, date := strings.Split(said["Credential"], "/"), r.Header.Get("X-Amz-Date")
	if len(scope) != 5 || scope[0] != s.id || scope[3] != "sts" || len(date) != 16 || scope[1] != date[:8] {
		return fmt.Errorf("signed as %q at %q", said["Credential"], date)
	}
	if r.Header.Get("X-Amz-Security-Token") != s.token {
		return errors.New("another session token")
	}
	names := strings.Split(said["SignedHeaders"], ";")
	if !slices.IsSorted(names) || !slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") {
		return fmt.Errorf("signed headers %q", names)
	}
	var headers strings.Builder
	for _, name := range names {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	sum := func(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }
	canonical := strings.Join([]string{r.Method, "/", "", headers.String(), said["SignedHeaders"], sum(body)}, "\n")
	toSign := "AWS4-HMAC-SHA256\n" + date + "\n" + strings.Join(scope[1:], "/") + "\n" + sum([]byte(canonical))
	mac := func(key, text []byte) []byte { m := hmac.New(sha256.New, key); m.Write(text); return m.Sum(nil) }
	key := []byte("AWS4" + s.secret)
	for _, part := range scope[1:] {
		key = mac(key, []byte(part))
	}
	if got := hex.EncodeToString(mac(key, []byte(toSign))); got != said["Signature"] {
		return fmt.Errorf("signature %s, not %s, of %q", said["Signature"], got, canonical)
	}
	if r.Method != http.MethodPost || bytes.Contains(body, []byte(s.secret)) {
		return errors.New("not a POST without the secret")
	}
	return nil
}
