package sign

import (
	"crypto/hmac"
	"crypto/sha256"
	enc "encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// asSent is the request that a client makes of an answer: its own headers, and
// what was answered over them.
type asSent struct {
	method, uri string
	header      map[string]string // names in lower case
}

func sent(t testing.TB, r *request, doc *mounts.Document) asSent {
	t.Helper()
	var answer struct {
		URI     string
		Headers map[string][]string
	}
	if err := json.Unmarshal(doc.Body, &answer); err != nil {
		t.Fatal(err)
	}
	s := asSent{method: r.method, uri: answer.URI, header: map[string]string{}}
	for name, value := range r.header {
		s.header[name] = value
	}
	for name, values := range answer.Headers {
		if len(values) != 1 {
			t.Fatalf("%s has the values %q", name, values)
		}
		s.header[strings.ToLower(name)] = values[0]
	}
	return s
}

// verify is Signature Version 4 from the specification, as a store does it: what
// is sent, all of it, and the secret. It shares no code with what signs.
func verify(s asSent, secret string) error {
	u, err := url.Parse(s.uri)
	if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(s.header["authorization"], "AWS4-HMAC-SHA256 ")
	if !ok {
		return fmt.Errorf("the authorization is %q", s.header["authorization"])
	}
	parts := map[string]string{}
	for piece := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(piece), "=")
		parts[name] = value
	}
	scope := strings.SplitN(parts["Credential"], "/", 2)
	covered := strings.Split(parts["SignedHeaders"], ";")
	if !slices.IsSorted(covered) || !slices.Contains(covered, "host") {
		return fmt.Errorf("the headers %q are signed", covered)
	}
	for name := range s.header {
		if strings.HasPrefix(name, "x-amz-") && !slices.Contains(covered, name) {
			return fmt.Errorf("%s is sent and not signed", name)
		}
	}
	var headers strings.Builder
	for _, name := range covered {
		value := s.header[name]
		if name == "host" {
			value = u.Host
		} else if _, there := s.header[name]; !there {
			return fmt.Errorf("%s is signed and not sent", name)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return err
	}
	var pairs []string
	for name, values := range query {
		for _, value := range values {
			pairs = append(pairs, awsEscape(name)+"="+awsEscape(value))
		}
	}
	slices.Sort(pairs)
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return err
		}
		segments[i] = awsEscape(plain)
	}
	canonical := strings.Join([]string{s.method, strings.Join(segments, "/"), strings.Join(pairs, "&"), headers.String(), parts["SignedHeaders"], s.header["x-amz-content-sha256"]}, "\n")
	digest := sha256.Sum256([]byte(canonical))
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", s.header["x-amz-date"], scope[1], enc.EncodeToString(digest[:])}, "\n")
	key := []byte("AWS4" + secret)
	for piece := range strings.SplitSeq(scope[1], "/") {
		key = mac(key, piece)
	}
	if want := enc.EncodeToString(mac(key, toSign)); parts["Signature"] != want {
		return fmt.Errorf("the signature is %s, want %s, of\n%s", parts["Signature"], want, canonical)
	}
	if _, err := time.Parse("20060102T150405Z", s.header["x-amz-date"]); err != nil || !strings.HasPrefix(s.header["x-amz-date"], strings.Split(scope[1], "/")[0]) {
		return fmt.Errorf("the date is %q", s.header["x-amz-date"])
	}
	return nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// awsEscape goes by url.QueryEscape, which differs in the blank only.
func awsEscape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
