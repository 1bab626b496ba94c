//go:build peers

package seaweed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/icefield/icefield/examples/internal/wire"
)

// delegated asks for credentials.
var delegated = http.Header{"X-Iceberg-Access-Delegation": {"vended-credentials"}}

// given is what an answer gives a client.
type given struct {
	MetadataLocation string `json:"metadata-location"`
	Metadata         struct {
		Location string
		UUID     string `json:"table-uuid"`
	}
	Config      map[string]string
	Credentials []struct {
		Prefix string
		Config map[string]string
	} `json:"storage-credentials"`
}

func ask(t *testing.T, status int, catalog *wire.Catalog, header http.Header, method, path string, body any) (*wire.Answer, given) {
	t.Helper()
	a, err := catalog.CallWithHeader(header, method, path, body)
	if err != nil || a.Status != status {
		t.Fatalf("%s %s: want %d, got %v, %v", method, path, status, a, err)
	}
	var g given
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &g); err != nil {
			t.Fatal(err)
		}
	}
	return a, g
}

// store is a client of the store that has nothing but what a config gives.
func store(t *testing.T, config map[string]string) *s3.Client {
	t.Helper()
	for _, name := range append([]string{"s3.endpoint", "s3.region"}, secretKeys...) {
		if config[name] == "" {
			t.Fatalf("%s is missing: %v", name, config)
		}
	}
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(config["s3.endpoint"]), Region: config["s3.region"], UsePathStyle: config["s3.path-style-access"] == "true",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: config["s3.access-key-id"], SecretAccessKey: config["s3.secret-access-key"],
				SessionToken: config["s3.session-token"]}, nil
		}),
		RetryMaxAttempts: 1,
	})
}

// split takes a location apart.
func split(t *testing.T, location string) (bucket, key *string) {
	t.Helper()
	b, k, found := strings.Cut(strings.TrimPrefix(location, "s3://"), "/")
	if !found {
		t.Fatalf("no location: %q", location)
	}
	return &b, &k
}

// put writes an object and reads it again. It returns the status of the first answer that is no success, 200 if none is.
func put(t *testing.T, client *s3.Client, location string) int {
	t.Helper()
	bucket, key := split(t, location)
	text := strings.NewReader("written by a client without a key")
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: text}); err != nil {
		return status(t, err)
	}
	return read(t, client, location)
}

// read returns the status of reading an object.
func read(t *testing.T, client *s3.Client, location string) int {
	t.Helper()
	bucket, key := split(t, location)
	object, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
	if err != nil {
		return status(t, err)
	}
	object.Body.Close()
	return http.StatusOK
}

// content is what an object holds.
func content(t *testing.T, client *s3.Client, location string) []byte {
	t.Helper()
	bucket, key := split(t, location)
	object, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer object.Body.Close()
	body, err := io.ReadAll(object.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func write(t *testing.T, client *s3.Client, location string, body []byte) {
	t.Helper()
	bucket, key := split(t, location)
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(body)}); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, err error) int {
	t.Helper()
	var refused *awshttp.ResponseError
	if !errors.As(err, &refused) {
		t.Fatalf("the store did not answer: %v", err)
	}
	return refused.HTTPStatusCode()
}

// checkGiven asserts that an answer to a load gives access in both places, which is renewed here.
func checkGiven(t *testing.T, g given, refresh string) {
	t.Helper()
	if len(g.Credentials) != 1 || g.Credentials[0].Prefix != g.Metadata.Location {
		t.Fatalf("storage credentials: %+v", g.Credentials)
	}
	for place, config := range map[string]map[string]string{"config": g.Config, "storage-credentials": g.Credentials[0].Config} {
		store(t, config)
		if got := config["client.refresh-credentials-endpoint"]; got != refresh {
			t.Errorf("%s: renewed at %q instead of %q", place, got, refresh)
		}
		end, err := strconv.ParseInt(config["s3.session-token-expires-at-ms"], 10, 64)
		if left := time.Until(time.UnixMilli(end)); err != nil || left < 10*time.Minute || left > 15*time.Minute {
			t.Errorf("%s: good for %v, %v", place, left, err)
		}
	}
	for _, name := range secretKeys {
		if g.Config[name] != g.Credentials[0].Config[name] {
			t.Errorf("the two places differ in %s", name)
		}
	}
}
