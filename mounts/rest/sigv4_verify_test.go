package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// verifier checks signatures as the AWS documentation describes them ("Create a
// signed AWS API request", IAM User Guide), from the bytes of the request line
// and the headers that arrived. It shares nothing with the signer.
type verifier struct {
	service, region string
	// once: the service signs a path as it is sent (S3).
	once bool
	keys map[string]string // access key id -> secret
	// token, if set, is demanded as the session token.
	token string
	// lax leaves out what only a real request must have.
	lax bool
}

// check reads the body of the request, and returns it.
func (v verifier) check(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return nil, errors.New("no AWS4-HMAC-SHA256 authorization")
	}
	said := make(map[string]string)
	for _, part := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		said[name] = value
	}
	scope := strings.Split(said["Credential"], "/")
	date := r.Header.Get("X-Amz-Date")
	if len(scope) != 5 || len(date) != 16 || scope[1] != date[:8] || scope[4] != "aws4_request" {
		return nil, fmt.Errorf("credential %q at %q", said["Credential"], date)
	}
	if scope[2] != v.region || scope[3] != v.service {
		return nil, fmt.Errorf("the scope is %v", scope)
	}
	secret, ok := v.keys[scope[0]]
	if !ok {
		return nil, fmt.Errorf("unknown key %q", scope[0])
	}
	names := strings.Split(said["SignedHeaders"], ";")
	if !sort.StringsAreSorted(names) {
		return nil, fmt.Errorf("unsorted headers %v", names)
	}
	if err := v.demands(r, names, body); err != nil {
		return nil, err
	}
	canonical, err := v.canonical(r, names, body)
	if err != nil {
		return nil, err
	}
	toSign := "AWS4-HMAC-SHA256\n" + date + "\n" + strings.Join(scope[1:], "/") + "\n" + hexSum([]byte(canonical))
	key := []byte("AWS4" + secret)
	for _, word := range append(scope[1:], toSign) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(word))
		key = mac.Sum(nil)
	}
	if got, want := said["Signature"], hex.EncodeToString(key); got != want {
		return nil, fmt.Errorf("the signature is %s, not %s, of\n%s", got, want, canonical)
	}
	return body, nil
}

// demands is what must be signed: the host, the content type and all of AWS's
// own headers.
func (v verifier) demands(r *http.Request, signed []string, body []byte) error {
	if v.lax {
		return nil
	}
	for name := range r.Header {
		lower := strings.ToLower(name)
		if (strings.HasPrefix(lower, "x-amz-") || lower == "content-type") && !slices.Contains(signed, lower) {
			return fmt.Errorf("%s is not signed", name)
		}
	}
	if !slices.Contains(signed, "host") {
		return errors.New("the host is not signed")
	}
	if sum := r.Header.Get("X-Amz-Content-Sha256"); sum != hexSum(body) {
		return fmt.Errorf("the payload hash header is %q", sum)
	}
	if got := r.Header.Get("X-Amz-Security-Token"); got != v.token {
		return fmt.Errorf("the session token is %q", got)
	}
	return nil
}

func (v verifier) canonical(r *http.Request, signed []string, body []byte) (string, error) {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if v.once {
			// S3: the key is encoded once, whatever the client wrote.
			plain, err := url.PathUnescape(s)
			if err != nil {
				return "", err
			}
			s = plain
		}
		segments[i] = uriEncode(s)
	}
	if path == "" {
		segments = []string{"", ""}
	}
	params, err := canonicalQuery(query)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n", r.Method, strings.Join(segments, "/"), params)
	for _, name := range signed {
		values := r.Header.Values(name)
		switch name {
		case "host":
			values = []string{r.Host}
		case "content-length":
			values = []string{strconv.FormatInt(r.ContentLength, 10)}
		}
		if len(values) == 0 {
			return "", fmt.Errorf("the signed header %s did not arrive", name)
		}
		for i, value := range values {
			values[i] = strings.Join(strings.Fields(value), " ")
		}
		fmt.Fprintf(&b, "%s:%s\n", name, strings.Join(values, ","))
	}
	fmt.Fprintf(&b, "\n%s\n%s", strings.Join(signed, ";"), hexSum(body))
	return b.String(), nil
}

func canonicalQuery(raw string) (string, error) {
	if raw == "" {
		return "", nil
	}
	var pairs []string
	for _, pair := range strings.Split(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return "", err
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return "", err
		}
		pairs = append(pairs, uriEncode(name)+"="+uriEncode(value))
	}
	sort.Strings(pairs)
	return strings.Join(pairs, "&"), nil
}

// uriEncode is UriEncode of the documentation.
func uriEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// TestTheVerifierAgreesWithTheDocumentedExample pins the verifier to the worked
// example of the AWS documentation (IAM ListUsers, 30 August 2015).
func TestTheVerifierAgreesWithTheDocumentedExample(t *testing.T) {
	const signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
	v := verifier{service: "iam", region: "us-east-1", lax: true,
		keys: map[string]string{"AKIDEXAMPLE": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}}
	example := func() *http.Request {
		return &http.Request{Method: "GET", RequestURI: "/?Action=ListUsers&Version=2010-05-08", Host: "iam.amazonaws.com", Body: http.NoBody,
			Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}, "X-Amz-Date": {"20150830T123600Z"},
				"Authorization": {"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, " +
					"SignedHeaders=content-type;host;x-amz-date, Signature=" + signature}}}
	}
	if _, err := v.check(example()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*http.Request){
		"method": func(r *http.Request) { r.Method = "POST" },
		"path":   func(r *http.Request) { r.RequestURI = "/x" + r.RequestURI[1:] },
		"query":  func(r *http.Request) { r.RequestURI += "1" },
		"host":   func(r *http.Request) { r.Host = "iam.example.com" },
		"header": func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"body":   func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("x")) },
	} {
		r := example()
		change(r)
		if _, err := v.check(r); err == nil {
			t.Errorf("another %s passes", name)
		}
	}
}
