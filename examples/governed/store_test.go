//go:build peers

package governed

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const bucket = "governed"

// holder is a client of the store that has nothing but what an answer gave.
func holder(t *testing.T, config map[string]string) *s3.Client {
	t.Helper()
	for _, name := range append([]string{"s3.endpoint", "s3.region", "s3.session-token-expires-at-ms"}, secretKeys...) {
		if config[name] == "" {
			t.Fatalf("%s is missing among %d members", name, len(config))
		}
	}
	return keyed(config["s3.endpoint"], config["s3.access-key-id"], config["s3.secret-access-key"], config["s3.session-token"])
}

// key is an object's in the bucket.
func key(t *testing.T, location string) *string {
	t.Helper()
	rest, found := strings.CutPrefix(location, "s3://"+bucket+"/")
	if !found {
		t.Fatalf("%q is not in the bucket", location)
	}
	return &rest
}

func get(t *testing.T, c *s3.Client, location string) int {
	t.Helper()
	out, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: key(t, location)})
	if err != nil {
		return status(t, err)
	}
	defer out.Body.Close()
	if _, err := io.Copy(io.Discard, out.Body); err != nil {
		t.Fatal(err)
	}
	return http.StatusOK
}

func put(t *testing.T, c *s3.Client, location string) int {
	t.Helper()
	_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: key(t, location), Body: strings.NewReader("planted")})
	return status(t, err)
}

func remove(t *testing.T, c *s3.Client, location string) int {
	t.Helper()
	_, err := c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: key(t, location)})
	return status(t, err)
}

func list(t *testing.T, c *s3.Client, prefix string) int {
	t.Helper()
	_, err := c.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: &prefix})
	return status(t, err)
}

// below are the keys that begin like a prefix, a thousand at most.
func below(t *testing.T, c *s3.Client, prefix string) (keys []string) {
	t.Helper()
	page, err := c.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: &prefix})
	if err != nil || aws.ToBool(page.IsTruncated) {
		t.Fatalf("%q is not listed whole: %v", prefix, err)
	}
	for _, object := range page.Contents {
		keys = append(keys, aws.ToString(object.Key))
	}
	return keys
}

// status is what the store answered.
func status(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return http.StatusOK
	}
	var refused *awshttp.ResponseError
	if !errors.As(err, &refused) {
		t.Fatalf("the store did not answer: %v", err)
	}
	return refused.HTTPStatusCode()
}

// expect asserts statuses of the store, and shows them.
func expect(t *testing.T, who string, want int, got map[string]int) {
	t.Helper()
	for what, got := range got {
		if got != want {
			t.Errorf("%s: %s: %d from the store, want %d", who, what, got, want)
		} else {
			t.Logf("%s: %s: %d", who, what, got)
		}
	}
}
