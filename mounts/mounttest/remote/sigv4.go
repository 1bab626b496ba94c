package remote

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// SigV4 is what a signature of AWS's Signature Version 4 must have been made
// with. It is checked from its definition, headers and query and body.
type SigV4 struct {
	Service, Region              string
	AccessKeyID, SecretAccessKey string
	SessionToken                 string
}

const sigV4Time = "20060102T150405Z"

// verify recomputes the signature of a request.
func (v *SigV4) verify(r *http.Request, body []byte) error {
	fields := map[string]string{}
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return errors.New("it is not signed")
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse(sigV4Time, date)
	if err != nil || time.Since(at).Abs() > 15*time.Minute {
		return fmt.Errorf("its time is %q", date)
	}
	scope := strings.Join([]string{date[:8], v.Region, v.Service, "aws4_request"}, "/")
	if fields["Credential"] != v.AccessKeyID+"/"+scope {
		return fmt.Errorf("it is for %q, not for %q", fields["Credential"], scope)
	}
	if r.Header.Get("X-Amz-Security-Token") != v.SessionToken {
		return errors.New("its session token is another one")
	}
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	if said := r.Header.Get("X-Amz-Content-Sha256"); said != "" && said != digest {
		return errors.New("its body has another digest")
	}
	canonical, err := v.canonical(r, strings.Split(fields["SignedHeaders"], ";"), digest)
	if err != nil {
		return err
	}
	hashed := sha256.Sum256([]byte(canonical))
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, hex.EncodeToString(hashed[:])}, "\n")
	key := []byte("AWS4" + v.SecretAccessKey)
	for _, part := range []string{date[:8], v.Region, v.Service, "aws4_request", toSign} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if fields["Signature"] != hex.EncodeToString(key) {
		return errors.New("it is wrong")
	}
	return nil
}

// canonical is the canonical request. Services but S3 have the path, encoded as
// it is on the wire, encoded once more.
func (v *SigV4) canonical(r *http.Request, signed []string, digest string) (string, error) {
	path, query := target(r)
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = awsEscape(segment)
	}
	var pairs [][]string
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		plainName, err1 := url.QueryUnescape(name)
		plainValue, err2 := url.QueryUnescape(value)
		if err := errors.Join(err1, err2); err != nil {
			return "", err
		}
		pairs = append(pairs, []string{awsEscape(plainName), awsEscape(plainValue)})
	}
	slices.SortFunc(pairs, slices.Compare)
	sorted := make([]string, len(pairs))
	for i, pair := range pairs {
		sorted[i] = pair[0] + "=" + pair[1]
	}
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	for _, must := range []string{"host", "x-amz-date"} {
		if !slices.Contains(signed, must) {
			return "", fmt.Errorf("%s is not signed", must)
		}
	}
	return strings.Join([]string{r.Method, strings.Join(segments, "/"), strings.Join(sorted, "&"), headers.String(), strings.Join(signed, ";"), digest}, "\n"), nil
}

// awsEscape is percent-encoding as AWS has it: all but the unreserved letters.
func awsEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
